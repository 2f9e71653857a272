"""Laws of processes that are stopped, or killed for want of memory: nobody waits for them for ever, and time in which a
process was stopped is nobody's silence."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.run.commit_lock import commit_lock
from swingby.run.plan import Planner
from swingby.run.processes.watchdog import WRITING, Countdown, allowed
from swingby.run.worker.batch import Assignment, run_batch
from tests.support.memory import little_memory
from tests.support.waiting import awaited

WORKER = """
import sys
from pathlib import Path
from swingby.run.processes import watchdog
from swingby.run.worker.batch import Assignment, run_batch
watchdog.WRITING = (3.0, 300.0)
data, plan, note = sys.argv[1:]
with watchdog.WATCHDOG.watching(float(60 if note.endswith("killed") else 5), Path(note)) as beat:
    run_batch(Assignment(Path(data), plan, (0,)), beat=beat)
"""


def worker(kit: Any, plan_id: str, note: Path, **environment: str) -> subprocess.Popen[bytes]:
    """A worker with its watchdog, which trains the first batch."""
    command = [sys.executable, "-c", WORKER, str(kit.data), plan_id, str(note)]
    return subprocess.Popen(command, env=kit.environment(**environment))


def test_who_is_frozen_with_the_commit_lock_is_ended_and_the_others_go_on(walk: Any) -> None:
    """A worker stopped while it holds the commit lock is ended by its deadline; one that waits meanwhile gives
    signs of life, and writes; what the first had trained is trained again, and every cell is there once."""
    sweep = walk.sweep(axes={"zip": [{"width": [1, 2], "wants": ["door", "ok"]}]}, seeds=2)
    one = Planner(sweep, walk.records()).commit()
    note = walk.folder / "note"
    frozen = worker(walk, one.plan.plan_id, note)
    awaited(Path(f"{walk.ledger}.door").exists)
    assert walk.records().holder(sweep.sweep_id) is None
    beats: list[str] = []
    assert run_batch(Assignment(walk.data, one.plan.plan_id, (1,)), beat=beats.append).ok == 2
    assert beats.count("training") > 3
    assert beats[beats.index("writing") - 1] == "training"
    assert frozen.wait(timeout=60) == -signal.SIGKILL
    awaited(note.exists)
    assert note.read_text() == "deadline: it gave no sign of life for too long (it was frozen), and was ended"
    assert run_batch(Assignment(walk.data, one.plan.plan_id, (0,), attempt=1)).ok == 2
    rows = walk.rows("select cell_id, status from walk")
    assert Counter(row.cell_id for row in rows) == Counter(cell.cell_id for cell in sweep.cells())
    assert list(walk.records().unfinished()) == []


def test_who_gives_up_waiting_is_told_who_is_inside(walk: Any) -> None:
    """By process and machine."""
    told = rf"commit lock of sweep ab12 is held by process {os.getpid()} on {socket.gethostname()} since"
    records = walk.records()
    with (
        commit_lock(records, "ab12"),
        pytest.raises(SwingbyError, match=told),
        commit_lock(records, "ab12", wait=0.05),
    ):
        raise AssertionError("two are inside")


@given(seconds=st.floats(0.01, 1e5))
def test_a_deadline_holds_for_who_writes(seconds: float) -> None:
    """Whoever writes has its own deadline, but a busy disk has time and nobody waits for long for a frozen one."""
    assert allowed("training", seconds) == seconds
    assert WRITING[0] <= allowed("writing", seconds) <= WRITING[1]
    assert WRITING[0] > seconds or allowed("writing", seconds) == min(seconds, WRITING[1])


STOPPED = """
import sys, time
from swingby.run.processes.watchdog import timeout
with timeout(1.2) as beat:
    print("on", flush=True)
    sys.stdin.readline()
    beat("training")
    try:
        time.sleep(30)
    except BaseException as error:
        print(error)
"""


def test_a_process_that_was_stopped_was_not_silent() -> None:
    """A driver that is stopped for longer than a deadline goes on when it is woken, though its next sign of life comes
    later; the deadline still holds."""
    child = subprocess.Popen([sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "on\n"
    began = time.monotonic()
    child.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    child.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    said, _ = child.communicate("\n", timeout=60)
    assert said == "deadline: no sign of life for 1.2 s\n"
    assert child.returncode == 0
    assert time.monotonic() - began > 1.5 + 0.2 + 1.0


@given(slices=st.lists(st.floats(0.0, 50.0), max_size=60), seconds=st.floats(0.5, 100.0))
def test_a_countdown_ends_by_what_was_waited(slices: list[float], seconds: float) -> None:
    """However long a slice takes, it counts for no more than twice what it was meant to, and all of them end it."""
    with pytest.MonkeyPatch.context() as patch:
        now = [0.0]
        patch.setattr("swingby.run.processes.watchdog.time.monotonic", lambda: now[0])
        countdown, most = Countdown(seconds), 0.0
        for took in slices:
            asked = countdown.slice()
            now[0] += took
            most += min(took, 2 * min(1.0, seconds / 20))
            assert 0 <= asked <= 1.0
            waited = countdown.waited()
            assert waited == (most < seconds) or most == pytest.approx(seconds, rel=1e-9)  # two orders of summing up


def test_the_system_kills_for_memory(walk: Any) -> None:
    """A worker that the kernel kills since there is no memory left is told of as that."""
    sweep = walk.sweep(axes={"wants": ["kernel"]}, seeds=1)
    one = Planner(sweep, walk.records()).commit()
    note = walk.folder / "killed"
    with little_memory() as group:
        if group is None:
            pytest.skip("no group of processes with little memory can be made here")
        killed = worker(walk, one.plan.plan_id, note, TEST_GROUP=str(group))
        assert killed.wait(timeout=60) == -signal.SIGKILL
    awaited(note.exists)
    least = "it died; this system does not tell of what"
    assert note.read_text() in (
        "it was killed by SIGKILL (out of memory: the system ended processes for want of it)",
        least,
    )
