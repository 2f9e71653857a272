"""Laws of pilots: they are shown like any training, and Ctrl-C ends those in progress; what has ended is kept. And of
what they are for: forecasts, and the time that is left."""

from __future__ import annotations

import os
import re
import signal
import time
from io import StringIO
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.run.batches import choose
from swingby.run.cost import Sample, costs
from swingby.run.driver import run_sweep
from swingby.run.estimate import Estimate, Sizes
from swingby.run.options import RunOptions
from swingby.run.plan import Planner
from swingby.run.processes.child import STOPPING, ChildProcess
from swingby.run.progress import Lines, Progress
from swingby.run.worker.batch import Assignment
from tests.support.waiting import awaited

DRIVER = """
from swingby.run.driver import run_sweep
from swingby.sweepfile.sweep import Sweep
result = run_sweep(Sweep.load("walks.yaml"), "data", {how})
print("drained", result.drained, "ok", result.ok)
"""


@pytest.mark.parametrize("how", ["ray=False", "local=True"])
def test_an_interrupt_ends_the_pilot_in_progress(walk: Any, how: str) -> None:
    """One Ctrl-C while a pilot of a minute is trained ends the run: it says what is kept, the process that trained is
    gone, and the next run trains everything that is missing."""
    changes = {"axes": {"zip": [{"width": [1, 2], "pause": [0.0, 60.0]}]}, "seeds": 6}
    (walk.folder / "walks.yaml").write_text(walk.text(**changes))
    child = walk.driver(DRIVER.format(how=how))
    awaited(lambda: len(walk.started()) > 1)  # the first without a pause, and the one with it
    began = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=50)
    assert time.monotonic() - began < 50
    assert child.returncode == 0, out
    assert (kept := re.search(r"stopping: measuring was ended, and (\d+) finished cells? of it", out)), out
    assert f"drained True ok {kept[1]}" in out
    assert not any(psutil.pid_exists(pid) for pid in walk.pids())
    quick = walk.sweep(**{**changes, "axes": {"zip": [{"width": [1, 2], "pause": [0.0, 0.0]}]}})
    assert run_sweep(quick, walk.data, local=True, pilot=False, progress=Progress()).missing == 0


def test_a_frozen_pilot_is_killed(walk: Any) -> None:
    """A child process that cannot heed a request to stop is killed a second after it."""
    frozen, asked = walk.ledger.with_name(f"{walk.ledger.name}.frozen"), list[float]()

    def stop() -> bool:
        if frozen.exists() and not asked:
            asked.append(time.monotonic())
        return bool(asked)

    sweep = walk.sweep(axes={"zip": [{"width": [1], "wants": ["freeze"]}]}, seeds=6)
    with ChildProcess() as child:
        planner = Planner(sweep, walk.records(), stop=stop, child=child)
        planner.measure()
        assert STOPPING < time.monotonic() - asked[0] < 60
    assert planner.piloted == 0
    assert not any(psutil.pid_exists(pid) for pid in walk.pids())


def test_pilots_are_counted(walk: Any) -> None:
    """The display counts the pilots to their end, and says what they are for."""
    shown = StringIO()
    run_sweep(walk.sweep(axes={"width": [1]}, seeds=20), walk.data, local=True, progress=Lines(shown))
    lines = [line for line in shown.getvalue().splitlines() if "that measure the cost" in line]
    done, total = lines[-1].split("] ")[1].split(" cells")[0].split(" of ")
    assert done == total


def test_a_long_pilot_makes_way(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot that takes longer than the patience is ended, and so is measuring: every worker gets a batch at once.
    Cells that are trained one after another have batches of one, those of a batch that may cost as much as one cell
    share the workers."""
    monkeypatch.setattr("swingby.run.pilots.PATIENCE", 0.5)
    sweep, began = walk.sweep(axes={"width": [1], "pause": [60.0]}, seeds=16), time.monotonic()
    with ChildProcess() as child:
        planner = Planner(sweep, walk.records(), RunOptions(), workers=8, child=child)
        planner.measure()
        assert time.monotonic() - began < 30
        assert planner.piloted == 0
        planned = planner.preview()
        assert planned.slow
        assert {note.cells for note in planned.batches} == {2}
        monkeypatch.setattr(type(sweep.experiment), "batched", False)
        assert {note.cells for note in planner.preview().batches} == {1}


def test_pilots_of_several_shapes_run_side_by_side(walk: Any) -> None:
    """Shapes are measured by as many processes as there are workers, and all of their pilots are results."""
    sweep = walk.sweep(axes={"width": [1, 2, 3]}, seeds=6)
    with ChildProcess() as child:
        planner = Planner(sweep, walk.records(), workers=2, child=child)
        planner.measure()
    assert len(walk.pids()) == 2
    assert planner.piloted == planner.preview().counts.done == 3 * (1 + 2)


def test_a_pilot_sees_no_gpu_that_was_not_asked_for(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child process that trains on the CPU sees no GPU, as a worker of Ray's sees none; one for a GPU is another."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plan = Planner(walk.sweep(axes={"width": [1]}, seeds=1), walk.records()).commit().plan
    with ChildProcess() as child:
        child.run(Assignment(walk.data, plan.plan_id, (0,)), 60)
        (pid,) = walk.pids()
        assert psutil.Process(pid).environ()["CUDA_VISIBLE_DEVICES"] == ""


def test_cells_of_unknown_cost_begin_on_all_workers() -> None:
    """Forty cells of unknown cost are never one batch where eight workers wait."""
    for together in (True, False):
        batches = choose(["a"] * 40, {}, {"a": 4096}, workers=8, together=together)
        assert len(batches) >= 8


@given(base=st.floats(10, 1e4), power=st.floats(-1.0, 1.5))
def test_the_cost_of_sizes_is_learned(base: float, power: float) -> None:
    """Where a cell's cost is a power of its width, what is left of a run is known once a third of it is done, and a
    forecast for wider cells than those that were measured is of the right size."""
    widths = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    took, sizes = base * widths**power, np.log(widths)[:, None] / np.log(widths).std()
    estimate = Estimate(measured=False)
    estimate.add(range(18), [1.0] * 18, [1.0] * 18, np.tile(sizes, (3, 1)))
    for at in range(6):
        estimate.done([at], took[at])
    left = estimate.left(1.0, 0.0, float(took.sum()))
    assert left is not None
    assert left.seconds == pytest.approx(2 * took.sum(), rel=0.15)
    assert left.low <= 2 * took.sum() <= left.high
    samples = [Sample("a", 1, took[at], 0, sizes[at]) for at in range(4)]
    known = costs(samples, {"a": 1.0})
    factors = Sizes.of(samples, known).factors(sizes)
    assert 0.5 < known["a"].seconds(1) * factors[5] / took[5] < 2


def test_an_estimate_grows_sharper() -> None:
    """The range around what is left narrows as batches end, and time that passes counts before the next one does."""
    estimate, ranges = Estimate(measured=False), list[float]()
    estimate.add(range(40), [1.0] * 40, [1.0] * 40, np.zeros((40, 0)))
    for at in range(32):
        estimate.done([at], 3600.0)
        if at % 8 == 7:
            left = estimate.left(8.0, 0.0, 3600.0 * (at + 1) / 8)
            assert left is not None
            assert left.seconds == pytest.approx(3600.0 * (39 - at) / 8)
            ranges.append(left.high - left.low)
    assert ranges == sorted(ranges, reverse=True)
    later = estimate.left(8.0, 0.0, 3600.0 * 4.5)
    assert later is not None
    assert later.seconds == pytest.approx(1800.0)
