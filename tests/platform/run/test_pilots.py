"""Laws of pilots: they are shown like any training, and Ctrl-C ends the one in progress; what has ended is kept."""

from __future__ import annotations

import os
import signal
import time
from io import StringIO
from typing import Any

import psutil
import pytest

from swingby.run.driver import run_sweep
from swingby.run.plan import Planner
from swingby.run.processes.child import STOPPING, ChildProcess
from swingby.run.progress import Lines, Progress
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
    awaited(lambda: len(walk.started()) == 2)  # the one without a pause, and the one with it
    began = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=50)
    assert time.monotonic() - began < 50
    assert child.returncode == 0, out
    assert "stopping: measuring was ended, and 1 finished cell of it is kept" in out
    assert "drained True ok 1" in out
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
