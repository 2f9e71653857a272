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
from swingby.plugins import experiment
from swingby.run.drive import run_sweep
from swingby.run.gang_local import Local
from swingby.store import Store, ingest
from tests.diffusion_kit import TINY, cell, close

pytestmark = pytest.mark.xdist_group("ray")
"""One after the other: some start several processes."""
STEPS = 60


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are compared bit for bit, and two tests run at once."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


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
    from swingby.records import Records

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
    gang = Local(size) if size > 1 else None
    options = {} if gang is None else {"gang": gang}
    batch = Batch((cell(training_steps=50),), Recording("sqrt", 20), **options)
    (table,) = of.run(batch)
    names = ("loss", "loss_diffusion", "loss_prior", "loss_reconstruction", "gradient_norm", "gamma_0", "gamma_1")
    assert table["processes"].to_pylist() == [size]
    return [[value for value in table[name].to_pylist()[0] if value is not None] for name in names]


def test_processes_share_a_batch() -> None:
    """One, two and four processes with the same global batch: the same losses within 1e-4 over 50 steps."""
    alone = curves(1)
    for size in (2, 4):
        assert all(close(a, b, 1e-4) for a, b in zip(alone, curves(size), strict=True))


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


def driver(folder: Path, **options: Any) -> subprocess.Popen[str]:
    """A run of the sweep file in this folder, in its own process, that leaves a shard at every evaluation."""
    environment = os.environ | {"SWINGBY_WATCH_SECONDS": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    program = DRIVER.replace("OPTIONS", repr(options))
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def wait_for_shards(folder: Path, count: int) -> None:
    """Waits until so many shards are there."""
    deadline = time.monotonic() + 120
    while len(list((folder / "data" / "shards").glob("*/b*.parquet"))) < count:
        assert time.monotonic() < deadline, "nothing is evaluated"
        time.sleep(0.02)


def test_killed_and_continued(tmp_path: Path) -> None:
    """A run killed in the middle, twice, ends with the numbers of one that was never touched, bit for bit."""
    (tmp_path / "rounds.yaml").write_text(text(axes={"contrast": [0.5]}))
    for count in (4, 9):
        child = driver(tmp_path, local=True)
        wait_for_shards(tmp_path, count)
        child.send_signal(signal.SIGKILL)
        child.communicate()
    last = driver(tmp_path, local=True)
    said = last.communicate(timeout=200)[0]
    assert last.returncode == 0, said
    untouched = tmp_path / "untouched"
    untouched.mkdir()
    (untouched / "rounds.yaml").write_text(text(axes={"contrast": [0.5]}))
    assert driver(untouched, local=True).wait(200) == 0
    names = "step, loss, gamma_0, gradient_norm, color, size, found, cell_id, status"
    assert str(rows(tmp_path / "data", names)) == str(rows(untouched / "data", names))
    assert not list((tmp_path / "data" / "work").rglob("*.safetensors"))


CLUSTER = """
import ray
from ray.cluster_utils import Cluster
"""
