"""Laws of diffusion sweeps: every evaluation is in the store once, whoever shares the work and whatever is killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

from swingby.api import Sweep
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.experiment import Batch, Recording
from swingby.model.process_group import ALONE, LostWorkerError, Rank
from swingby.model.registry import experiment
from swingby.run.driver import run_sweep
from swingby.run.processes.local_group import LocalGroup
from swingby.store import Store, ingest
from swingby_sweeps.diffusion import checkpoint
from swingby_sweeps.diffusion.runner import Task
from swingby_sweeps.diffusion.train import Training
from tests.support.cluster import two_nodes
from tests.support.diffusion import TINY, cell, close

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
    record, steps = {"steps": "sqrt", "points": 12, "also": ["samples"]}, 24
    sweep = Sweep.parse(text(record=record, base={"training_steps": steps}), "rounds.yaml")
    result = run_sweep(sweep, tmp_path / "data", local=True)
    assert (result.ok, result.missing, result.failed) == (2, 0, 0)
    expected = Recording("sqrt", 12).at(steps).tolist()
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


def curves(size: int, steps: int, points: int) -> list[Any]:
    """Losses and distances of one run over so many steps, shared by so many processes."""
    of = experiment("diffusion")
    group = LocalGroup(size) if size > 1 else ALONE
    recording = Recording("sqrt", points, also=("nearest",))
    tables = list(of.run(Batch((cell(training_steps=steps),), recording, group=group)))
    names = ("loss", "loss_diffusion", "loss_prior", "loss_reconstruction", "gradient_norm", "gamma_0", "gamma_1")
    names += ("memorized", "nearest", "nearest_by_class", "ratio", "train_loss", "test_loss")
    assert tables[-1]["processes"].to_pylist() == [size]
    return [[value for table in tables for value in table[name].to_pylist()[0] if value is not None] for name in names]


@pytest.mark.parametrize(
    ("size", "steps", "points"),
    [(2, 20, 6), *(pytest.param(size, 50, 20, marks=pytest.mark.slow) for size in (2, 4))],
)
def test_processes_share_a_batch(size: int, steps: int, points: int) -> None:
    """One process, two and four with the same global batch: the same losses, and distances of images, within
    1e-4 over up to 50 steps."""
    alone, shared = (curves(count, steps, points) for count in (1, size))
    assert all(close(a, b, 1e-4) for a, b in zip(alone, shared, strict=True))


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
from swingby.run.driver import run_sweep
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
    deadline = time.monotonic() + 240
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


@pytest.mark.slow
def test_killed_and_continued(tmp_path: Path) -> None:
    """A run killed in the middle ends with the numbers of one that was never touched, bit for bit."""
    once, untouched = text(axes={"contrast": [0.5]}), tmp_path / "untouched"
    (tmp_path / "rounds.yaml").write_text(once)
    child = driver(tmp_path, local=True)
    wait_for_shards(tmp_path, 6)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    for folder in (tmp_path, untouched):
        run_sweep(Sweep.parse(once, "rounds.yaml"), folder / "data", local=True)
    assert numbers(tmp_path) == numbers(untouched)
    assert not list((tmp_path / "data" / "work").rglob("*.safetensors"))
    starts = starts_of(tmp_path / "data")
    assert [min(first) > 0 for _, first in sorted(starts.items())] == [False, True]


@pytest.mark.slow
@pytest.mark.timeout(900)  # two nodes of Ray beside other work
def test_a_worker_killed_on_two_nodes(tmp_path: Path) -> None:
    """Through Tune on two nodes, a run on each: the worker of one is killed in the middle. All evaluations of both are
    in the store once, and the killed one went on where it stopped: the numbers are those of a plain for-loop."""
    (tmp_path / "rounds.yaml").write_text(text())
    with two_nodes('{"num_cpus": 1}') as nodes:
        child = driver(tmp_path, {"RAY_AUTH_TOKEN_PATH": nodes.token}, address=nodes.address, code="installed")
        with halfway(tmp_path / "data", runs=2) as workers:
            assert len(set(workers.values())) == 2
            killed = next(cell_id for cell_id, left in segments_left(tmp_path / "data").items() if not left.final)
            os.kill(workers[killed], signal.SIGKILL)
        said = finished(child)
    assert said.count("is tried again") == 1, said
    run_sweep(Sweep.parse(text(), "rounds.yaml"), tmp_path / "untouched" / "data", local=True)
    assert numbers(tmp_path) == numbers(tmp_path / "untouched")
    segments = segments_of(tmp_path / "data")
    assert len(segments) == len(set(segments))
    attempts = {cell_id: {attempt for cell, attempt, _ in segments if cell == cell_id} for cell_id, _, _ in segments}
    assert sorted(len(found) for found in attempts.values()) == [1, 2]
    assert len(attempts[killed]) == 2
    again = min(start for cell_id, attempt, start in segments if (cell_id, attempt) == (killed, max(attempts[killed])))
    assert again > 0


class Left(NamedTuple):
    """What a run has left so far: how many segments, whether the last one is there, and which process writes them."""

    segments: int
    final: bool
    pid: int


def segments_left(data: Path) -> dict[str, Left]:
    """What each run has left so far, by cell."""
    found: dict[str, Left] = {}
    records = Records.open(data)
    for name in records.shards():
        header, table = records.read_shard(name)
        for row in table.select(["cell_id", "final"]).to_pylist():
            before = found.get(row["cell_id"], Left(0, False, 0))
            found[row["cell_id"]] = Left(before.segments + 1, before.final or row["final"], header.pid)
    return found


@contextmanager
def halfway(data: Path, runs: int) -> Iterator[dict[str, int]]:
    """The processes of so many runs, by cell, all of them stopped; they go on afterwards, if they live.

    Each is stopped once it has left two segments, and so has a checkpoint: the first one's is there before the second.
    """
    workers: dict[str, int] = {}
    deadline = time.monotonic() + 200
    try:
        while len(workers) < runs:
            assert time.monotonic() < deadline, f"of {runs} runs {len(workers)} have begun"
            time.sleep(0.02)
            for cell_id, left in segments_left(data).items() if any((data / "shards").glob("*/*.parquet")) else ():
                if left.segments >= 2 and cell_id not in workers:
                    os.kill(left.pid, signal.SIGSTOP)
                    workers[cell_id] = left.pid
        yield workers
    finally:
        for pid in workers.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def starts_of(data: Path) -> dict[int, list[int]]:
    """Where the segments start that each attempt left."""
    found: dict[int, list[int]] = {}
    for _, attempt, start in segments_of(data):
        found.setdefault(attempt, []).append(start)
    return found


def test_a_fault_costs_no_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is struck by a fault goes on from its checkpoint, and ends with the numbers of a run that never was, bit for
    bit. A GPU that answers no more is no fault of the run: the same command goes on. A full disk is told of in the row
    of the run, which is tried again when that is asked for."""
    once = text(axes={"contrast": [0.5]}, base={"training_steps": 12}, record={"steps": "sqrt", "points": 7})
    sweep, data = Sweep.parse(once, "rounds.yaml"), tmp_path / "data"
    with monkeypatch.context() as patch:
        patch.setattr(Training, "_train", failing(5, torch.AcceleratorError("CUDA error: uncorrectable ECC error")))
        with pytest.raises(SwingbyError, match=r"GPU any more: CUDA error: uncorrectable ECC error.* goes on"):
            run_sweep(sweep, data, local=True)
    assert [row.status for row in rows(data, "status")] == ["running"]
    with monkeypatch.context() as patch:
        patch.setattr(Training, "_train", failing(9, OSError(28, "No space left on device")))
        assert run_sweep(sweep, data, local=True).failed == 1
    assert [row.message.splitlines()[0] for row in rows(data, "message")] == [
        "OSError: [Errno 28] No space left on device"
    ]
    assert run_sweep(sweep, data, local=True, retry_failed=True).ok == 1
    starts = [min(found) for _, found in sorted(starts_of(data).items())]
    assert starts == sorted({0, *starts})
    assert len(starts) == 3
    assert not list((data / "work").rglob("*.safetensors"))
    run_sweep(sweep, tmp_path / "untouched" / "data", local=True)
    assert numbers(tmp_path) == numbers(tmp_path / "untouched")


def failing(at: int, error: Exception) -> Any:
    """A `Training._train` that raises at a step."""
    train = Training._train

    def raising(self: Training, step: int) -> None:
        if step == at:
            raise error
        train(self, step)

    return raising


def test_processes_that_see_different_checkpoints(tmp_path: Path) -> None:
    """Where one process does not see the checkpoint that another goes on from, none trains a step: the batch is lost,
    and tried again."""
    task = Task(cell(), (0, 12), "cpu", tmp_path / checkpoint.NAME, 1)
    with task.session(Rank(0, 1, "", 0)) as accelerator:
        training = task.training(accelerator)
        list(training.run())
        training.save()
    with (
        pytest.raises(LostWorkerError, match=r"different checkpoints of one run: at steps 12, 0"),
        LocalGroup(2).start("tests.support.diffusion:follow_astray", task) as member,
        task.session(member) as accelerator,
    ):
        task.training(accelerator)


def segments_of(data: Path) -> list[tuple[str, int, int]]:
    """Every segment on disk: its cell, the attempt, and where it starts."""
    records = Records.open(data)
    tables = [records.read_shard(name)[1] for name in records.shards()]
    columns = ("cell_id", "attempt", "from_step")
    return [tuple(row.values()) for table in tables for row in table.select(columns).to_pylist()]
