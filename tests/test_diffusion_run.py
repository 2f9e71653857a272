"""Laws of diffusion sweeps: every evaluation is in the store once, whoever shares the work and whatever is killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from swingby.api import Sweep
from swingby.experiment import Batch, Recording
from swingby.gang import ALONE
from swingby.plugins import experiment
from swingby.records import Records
from swingby.run.drive import run_sweep
from swingby.run.gang_local import Local
from swingby.store import Store, ingest
from tests.cluster_kit import two_nodes
from tests.diffusion_kit import TINY, cell, close

pytestmark = pytest.mark.xdist_group("ray")
"""One after the other: some start several processes."""
STEPS = 60


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are compared bit for bit, and two tests run at once. Every evaluation leaves a shard."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("SWINGBY_WATCH_SECONDS", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


def text(name: str = "rounds", **changes: Any) -> str:
    """A sweep file of two runs."""
    content = {
        "name": name,
        "experiment": "diffusion",
        "preset": "small",
        "base": {**TINY, "training_steps": STEPS, **changes.pop("base", {})},
        "axes": {"contrast": [0.3, 0.6]},
        "seeds": 1,
        "record": {"steps": "sqrt", "points": 12},
    }
    return yaml.safe_dump({**content, **changes}, sort_keys=False)


def rows(data: Path, columns: str = "*") -> list[Any]:
    """What the store has of each run, by contrast."""
    ingest(Records.open(data))
    with Store.open(data) as store:
        return store.sql(f"select {columns} from diffusion order by contrast, seed").rows()


def test_a_sweep_in_the_for_loop(tmp_path: Path) -> None:
    """Every promised column arrives: curves with an entry an evaluation and a class, both judges, pictures, scalars."""
    sweep = Sweep.parse(text(record={"steps": "sqrt", "points": 12, "also": ["samples"]}), "rounds.yaml")
    result = run_sweep(sweep, tmp_path / "data", local=True)
    assert (result.ok, result.missing, result.failed) == (2, 0, 0)
    expected = Recording("sqrt", 12).at(STEPS).tolist()
    for row in rows(tmp_path / "data"):
        assert list(row.step) == expected
        for name in ("color", "color_sd", "size", "size_sd", "found", "color_right", "size_right"):
            assert np.shape(getattr(row, name)) == (len(expected), 4)
        assert row.loss[0] is None
        terms = np.array([row.loss_diffusion, row.loss_prior, row.loss_reconstruction], float)[:, 1:]
        assert np.allclose(terms.sum(0), np.array(row.loss[1:], float))
        kept = [picture for picture in row.samples if picture is not None]
        assert len(kept) == 8
        assert Image.open(io.BytesIO(kept[-1])).size == (2 * 8, 4 * 8)
        assert row.status == "ok"
        assert row.processes == 1
        assert row.judge_color_accuracy is None


def curves(size: int) -> list[Any]:
    """Losses of one run over 50 steps, shared by so many processes."""
    of = experiment("diffusion")
    batch = Batch((cell(training_steps=50),), Recording("sqrt", 20), gang=Local(size) if size > 1 else ALONE)
    tables = list(of.run(batch))
    names = ("loss", "loss_diffusion", "loss_prior", "loss_reconstruction", "gradient_norm", "gamma_0", "gamma_1")
    assert tables[-1]["processes"].to_pylist() == [size]
    return [[value for table in tables for value in table[name].to_pylist()[0] if value is not None] for name in names]


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_processes_share_a_batch(size: int) -> None:
    """One process, two and four with the same global batch: the same losses within 1e-4 over 50 steps."""
    assert all(close(a, b, 1e-4) for a, b in zip(curves(1), curves(size), strict=True))


def test_a_batch_that_processes_cannot_share(tmp_path: Path) -> None:
    """The cell fails with an error that says what is allowed; nothing hangs."""
    sweep = Sweep.parse(text(base={"batch_size": 9}, axes={"contrast": [0.5]}), "rounds.yaml")
    result = run_sweep(sweep, tmp_path / "data", local=True, processes=2)
    assert result.failed == 1
    (row,) = rows(tmp_path / "data", "message")
    assert "batch_size = 9 cannot be shared by 2 processes" in row.message


DRIVER = """
import sys
from swingby.api import Sweep
from swingby.run.drive import run_sweep
from swingby.run.progress import Lines
if __name__ == "__main__":
    print(run_sweep(Sweep.load("rounds.yaml"), "data", progress=Lines(sys.stdout), **OPTIONS), flush=True)
"""


def driver(folder: Path, more: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """A run of the sweep file in this folder, in its own process, that leaves a shard at every evaluation."""
    program = DRIVER.replace("OPTIONS", repr(options))
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=os.environ | (more or {}), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def wait_for_shards(folder: Path, count: int) -> None:
    """Waits until so many shards are there."""
    deadline = time.monotonic() + 120
    while len(list((folder / "data" / "shards").glob("*/b*.parquet"))) < count:
        assert time.monotonic() < deadline, "nothing is evaluated"
        time.sleep(0.02)


def finished(child: subprocess.Popen[str]) -> str:
    """What a run that ends well has said."""
    said = child.communicate(timeout=250)[0]
    assert child.returncode == 0, said
    return said


def numbers(folder: Path) -> str:
    """Every number of every run that training decides."""
    names = "step, loss, gamma_0, gradient_norm, color, size, found, cell_id, status"
    return str(rows(folder / "data", names))


def test_killed_and_continued(tmp_path: Path) -> None:
    """A run killed in the middle ends with the numbers of one that was never touched, bit for bit."""
    (tmp_path / "rounds.yaml").write_text(text(axes={"contrast": [0.5]}))
    child = driver(tmp_path, local=True)
    wait_for_shards(tmp_path, 6)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    finished(driver(tmp_path, local=True))
    untouched = tmp_path / "untouched"
    untouched.mkdir()
    (untouched / "rounds.yaml").write_text(text(axes={"contrast": [0.5]}))
    finished(driver(untouched, local=True))
    assert numbers(tmp_path) == numbers(untouched)
    assert not list((tmp_path / "data" / "work").rglob("*.safetensors"))


def test_a_worker_killed_on_two_nodes(tmp_path: Path) -> None:
    """Through Tune on two nodes, a run on each: the worker of one is killed in the middle. All evaluations of both are
    in the store once, and the killed one went on where it stopped: the numbers are those of a plain for-loop."""
    (tmp_path / "rounds.yaml").write_text(text())
    with two_nodes('{"num_cpus": 1}') as nodes:
        child = driver(tmp_path, {"RAY_AUTH_TOKEN_PATH": nodes.token}, address=nodes.address, code="installed")
        wait_for_shards(tmp_path, 7)
        trials = nodes.workers("Trial.train")
        assert len(trials) == 2
        os.kill(trials[0], signal.SIGKILL)
        said = finished(child)
    assert said.count("is tried again") == 1, said
    untouched = tmp_path / "untouched"
    untouched.mkdir()
    (untouched / "rounds.yaml").write_text(text())
    finished(driver(untouched, local=True))
    assert numbers(tmp_path) == numbers(untouched)
    segments = segments_of(tmp_path / "data")
    assert len(segments) == len(set(segments))
    attempts = {cell_id: {attempt for cell, attempt, _ in segments if cell == cell_id} for cell_id, _, _ in segments}
    assert sorted(len(found) for found in attempts.values()) == [1, 2]
    killed = next(cell_id for cell_id, found in attempts.items() if len(found) == 2)
    again = min(start for cell_id, attempt, start in segments if (cell_id, attempt) == (killed, max(attempts[killed])))
    assert again > 0


def segments_of(data: Path) -> list[tuple[str, int, int]]:
    """Every segment on disk: its cell, the attempt, and where it starts."""
    records = Records.open(data)
    tables = [records.read_shard(name)[1] for name in records.shards()]
    columns = ("cell_id", "attempt", "from_step")
    return [tuple(row.values()) for table in tables for row in table.select(columns).to_pylist()]
