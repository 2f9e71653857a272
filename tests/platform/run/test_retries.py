"""Laws of what dies: it is tried again and narrowed down to the cells at fault, and nothing is lost or shown twice."""

from __future__ import annotations

import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swingby.data.records import BatchNote
from swingby.errors import SwingbyError
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.options import DEADLINE_FACTOR, SHORTEST_DEADLINE, UNKNOWN_DEADLINE, RunOptions
from swingby.run.plan import Planner
from swingby.run.processes.child import ChildProcess
from swingby.run.processes.watchdog import DeadlineError, timeout
from swingby.run.progress import Progress
from swingby.run.retries import HOPELESS, Retries
from swingby.run.scheduler import RETRIES, TOGETHER, Scheduler, Trial
from swingby.run.worker import batch as batches
from swingby.run.worker.batch import Assignment, run_batch
from swingby.store import Store, rebuild
from tests.support.waiting import awaited


def planned(sizes: list[int], seconds: float | None = None, deadline: float | None = None) -> Any:
    """As much of a plan as a scheduler reads: batches of these sizes, all of one shape."""
    notes = tuple(BatchNote(k, "a", size, seconds) for k, size in enumerate(sizes))
    plan = SimpleNamespace(experiment="toy", plan_id="p")
    return SimpleNamespace(batches=notes, max_batch={"a": 10_000}, plan=plan, options=RunOptions(deadline=deadline))


def cells_of(trial: Trial, sizes: list[int]) -> list[tuple[int, int]]:
    """Which cells a trial trains, by batch and place."""
    every = [(note, k) for note in trial.batches for k in range(sizes[note])]
    return every[trial.low : trial.low + trial.cells]


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8), data=st.data())
def test_what_lacks_memory_again_comes_last(sizes: list[int], data: st.DataObject) -> None:
    """Trials that find no memory beside others count no death; after the second time they come when nothing else is
    left, and each cell is trained once."""
    lacks = Counter({note: data.draw(st.integers(0, 2)) for note in range(len(sizes))})
    scheduler, lacked, back = Scheduler([planned(sizes)], 1), Counter[int](), list[tuple[int, ...]]()
    while (trial := scheduler.next()) is not None:
        first = trial.batches[0]
        assert trial.deaths == ()
        if lacked[first] < lacks[first]:
            lacked[first] += 1
            scheduler.again(trial, at_last=lacked[first] > 1)
        else:
            back.append(trial.batches)
    assert sorted(note for trial in back for note in trial) == list(range(len(sizes)))
    last = [lacks[first] > 1 for first, *_ in back]
    assert last == sorted(last)


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8), data=st.data())
def test_only_the_guilty_are_given_up(sizes: list[int], data: st.DataObject) -> None:
    """Whatever cells kill their process: every other one comes back, once; the guilty ones are given up after
    RETRIES + 1 deaths alone; and no other is trained more than TOGETHER + log2(cells of its trial) + 1 times."""
    every = [(note, k) for note, size in enumerate(sizes) for k in range(size)]
    guilty = set(data.draw(st.lists(st.sampled_from(every), unique=True, max_size=6)))
    scheduler, back, given_up, tried, numbers = Scheduler([planned(sizes)], 1), [], [], Counter(), set()
    while (trial := scheduler.next()) is not None:
        own = cells_of(trial, sizes)
        assert (trial.batches[0], trial.attempt) not in numbers
        numbers.add((trial.batches[0], trial.attempt))
        tried.update(own)
        if guilty.isdisjoint(own):
            back += own
            scheduler.record_time(trial, 0.1 * trial.cells)
        elif not scheduler.retry(trial, "it was killed"):
            given_up += own
            assert len(trial.deaths) == RETRIES
    assert sorted(back) == sorted(set(every) - guilty)
    assert sorted(given_up) == sorted(guilty)
    bound = TOGETHER + math.ceil(math.log2(max(2, len(every)))) + 1
    assert max([tried[cell] for cell in back], default=0) <= bound
    assert max([tried[cell] for cell in guilty], default=0) <= bound + RETRIES


@given(seconds=st.none() | st.floats(0.01, 1e4), asked=st.none() | st.floats(0.1, 1e5))
def test_a_deadline_is_asked_for_or_generous(seconds: float | None, asked: float | None) -> None:
    """A deadline is what was asked for; else many times the forecast and never short, and long where there is none."""
    scheduler = Scheduler([planned([10], seconds, asked)], 1)
    trial = scheduler.next()
    assert trial is not None
    expected = UNKNOWN_DEADLINE if seconds is None else max(SHORTEST_DEADLINE, DEADLINE_FACTOR * seconds)
    assert scheduler.deadline(trial) == pytest.approx(expected if asked is None else asked)


def test_when_everything_dies_no_cell_is_blamed(walk: Any) -> None:
    """So many deaths in a row end the run: it is the machine, and the cells are left for the next run."""
    scheduler = Scheduler([planned([10_000])], 1)
    retries = Retries(scheduler, walk.records(), Progress())
    for _ in range(HOPELESS):
        retries.died(Trial(planned([2]), planned([2]).batches), "it was killed")
    with pytest.raises(SwingbyError, match="no cell can be at fault"):
        retries.died(Trial(planned([2]), planned([2]).batches), "it was killed")
    retries.came_back(None, batches.BatchDone(0))
    retries.died(Trial(planned([2]), planned([2]).batches), "it was killed")


@given(guilty=st.integers(0, 200), innocent=st.lists(st.integers(1, 50), max_size=12), workers=st.integers(1, 16))
@example(guilty=11, innocent=[], workers=1)  # its first cell has died often enough before the run ends
def test_a_batch_of_which_every_cell_is_guilty_holds_nobody_up(guilty: int, innocent: list[int], workers: int) -> None:
    """However many cells of one batch kill their process: all others come back, and just the guilty fail. Where
    nothing comes back at all, the run ends sooner or later and blames no cell, unless it is through with all."""
    batch = planned([guilty or 1, *innocent])
    scheduler, blamed, back, out = Scheduler([batch], workers), [], 0, deque[Trial]()
    said = SimpleNamespace(line=lambda text: None, batch_done=lambda done: None)
    retries = Retries(scheduler, SimpleNamespace(data=Path()), said)  # type: ignore[arg-type]

    def failing(assignment: Assignment, *_: Any) -> tuple[str, batches.BatchDone]:
        blamed.append((assignment.part or (0, 0))[0])
        return "cell", batches.BatchDone(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swingby.run.retries.fail_cell", failing)
        ended = False
        while not ended:
            while len(out) < workers and (trial := scheduler.next()) is not None:
                out.append(trial)
            if not out:
                break
            trial = out.popleft()
            if guilty and 0 in trial.batches:
                try:
                    retries.died(trial, "it was killed")
                except SwingbyError:
                    ended = True
            else:
                back += trial.cells
                retries.came_back(trial, batches.BatchDone(0, ok=trial.cells, seconds=0.1 * trial.cells))
        if ended:
            assert (innocent, blamed) == ([], [])
            return
        retries.fail_suspects()
    assert back == sum(innocent) + (not guilty)
    assert sorted(blamed) == list(range(guilty))


CHILD = """
import os, signal, sys, time
from pathlib import Path
from swingby.run.processes.watchdog import WATCHDOG
seconds = float(sys.argv[3])
with WATCHDOG.watching(seconds, Path(sys.argv[2])) as beat:
    for _ in range(4):  # together longer than a short deadline
        time.sleep(0.3 * seconds if seconds < 10 else 0)
        beat("training")
    if sys.argv[1] == "exit":
        os._exit(3)
    if sys.argv[1] == "hang":
        time.sleep(1000)
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("what", "seconds", "code", "said"),
    [
        ("SIGKILL", 60, -9, "it was killed by SIGKILL"),
        ("exit", 60, 3, "it ended with exit code 3"),
        ("hang", 0.3, -9, "deadline: it gave no sign of life for too long, and was ended"),
        ("SIGSTOP", 1.5, -9, "deadline: it gave no sign of life for too long (it was frozen), and was ended"),
    ],
)
def test_a_watchdog_ends_and_tells(tmp_path: Path, what: str, seconds: float, code: int, said: str) -> None:
    """A worker that is silent past its deadline is ended, frozen or not, and one that gives signs of life is not; how
    it died is told."""
    note = tmp_path / "note"
    done = subprocess.run([sys.executable, "-c", CHILD, what, str(note), str(seconds)], timeout=60)
    awaited(note.exists)
    assert done.returncode == code
    assert note.read_text() in (said, "it died; this system does not tell of what")
    assert what in ("SIGKILL", "exit") or note.read_text() == said


def sleep_through_an_alarm(written: list[float]) -> None:
    """It rings after 0.2 s, but not while rows are written."""
    with timeout(0.2) as beat:
        beat("writing")
        time.sleep(0.4)
        written.append(0.4)
        beat("training")
        time.sleep(60)


def test_an_alarm_gives_back_what_it_took() -> None:
    """Signs of life put an alarm off, writing rows is left in peace, and somebody else's alarm goes off as it would."""
    rung: list[int] = []
    written: list[float] = []

    def ring(number: int, frame: object) -> None:
        rung.append(number)

    before = signal.signal(signal.SIGALRM, ring)
    # Far from the other alarm: of two at one moment, a process may see one.
    timer = signal.setitimer(signal.ITIMER_REAL, 3.0)
    try:
        with pytest.raises(DeadlineError, match="no sign of life"):
            sleep_through_an_alarm(written)
        assert written
        assert signal.getsignal(signal.SIGALRM) is ring
        awaited(lambda: rung)
        assert rung == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def test_a_loop_ends_what_hangs(walk: Any) -> None:
    """By the for-loop: a cell that never returns fails with the reason, all others have their rows, and each is there
    once; tried again on request, it fails again and is still there once."""
    sweep = walk.sweep(axes={"wants": ["ok", "hang"]}, seeds={"count": 1, "first": 4})
    for retry in (False, True):
        options: dict[str, Any] = {"local": True, "pilot": False, "retry_failed": retry, "deadline": 0.1}
        result = run_sweep(sweep, walk.data, progress=Progress(), **options)
        assert (result.ok, result.failed, result.missing) == (1, 1, 0)
        (reason,) = result.given_up.values()
        assert reason == "its process died 4 times: deadline: no sign of life for 0.1 s"
        assert f"at wants = hang: {reason}" in str(result)
    rows = walk.rows("select cell_id, status, message from walk order by status")
    assert [row.status for row in rows] == ["failed", "ok"]
    assert rows[0].message == reason


def test_a_partial_curve_outlives_its_cell(walk: Any) -> None:
    """A cell that fails after some rows keeps them, and goes on from its checkpoint when it is tried again."""
    sweep = walk.sweep(axes={"width": [1]}, seeds=1, base={"pieces": 4, "length": 7})
    one, asked = Planner(sweep, walk.records()).commit(), itertools.count()
    done = run_batch(Assignment(walk.data, one.plan.plan_id, (0,)), lambda: next(asked) >= 4)
    assert done.left == 1
    batches.fail_cell(Assignment(walk.data, one.plan.plan_id, (0,), (0, 1), 1), "its process died 4 times")
    (row,) = walk.rows("select status, step from walk")
    assert row.status == "failed"
    assert row.step == list(range(len(row.step)))
    assert 2 <= len(row.step) < 8
    result = run_sweep(sweep, walk.data, local=True, pilot=False, retry_failed=True, progress=Progress())
    assert (result.ok, result.failed) == (1, 0)
    (row,) = walk.rows("select step, position from walk")
    assert row.step == list(range(8))
    again = [walk.records().read_shard(name)[1] for name in walk.records().shards() if "-0002/" in name]
    assert min(low for rows in again for low in rows["from_step"].to_pylist()) > 0


def test_what_an_earlier_run_left_outlives_its_cell(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So do rows of a run before the one in which it fails, and there is no gap between them and its end."""
    base = {"pieces": 4, "length": 7, "wants": "hang"}
    sweep = walk.sweep(axes={"width": [1]}, seeds=1, base=base)
    options: dict[str, Any] = {"local": True, "pilot": False}

    class AfterTwo(Drain):
        def __call__(self) -> bool:
            return len(walk.records().shards()) >= 2

    with monkeypatch.context() as patch:
        patch.setattr(type(sweep.experiment), "_misbehave", lambda *_: None)
        assert run_sweep(sweep, walk.data, progress=Progress(), drain=AfterTwo(), **options).missing == 1
    assert run_sweep(sweep, walk.data, progress=Progress(), deadline=0.1, **options).failed == 1
    (row,) = walk.rows("select status, step from walk")
    assert (row.status, row.step) == ("failed", [0, 1, 2, 3])
    with Store.open(walk.data) as store:
        assert store.gaps() == []


@pytest.mark.parametrize(("asleep", "meanwhile"), [(0, 1), (1, 0)])
def test_one_that_was_taken_for_dead_writes_nothing_twice(
    walk: Any, monkeypatch: pytest.MonkeyPatch, asleep: int, meanwhile: int
) -> None:
    """Of two processes that train the same cells, because one was taken for dead, the second that has rows to write is
    refused, be it the earlier or the later one, and every cell is there once."""
    one = Planner(walk.sweep(axes={"width": [1]}, base={"pieces": 2}, seeds=6), walk.records()).commit()
    real = type(one.sweep.experiment).run
    which = walk.data, one.plan.plan_id, (0,)

    def sleeping(self: Any, batch: Any) -> Any:
        monkeypatch.setattr(type(self), "run", real)
        run_batch(Assignment(*which, attempt=meanwhile))
        yield from real(self, batch)

    monkeypatch.setattr(type(one.sweep.experiment), "run", sleeping)
    with pytest.raises(OvertakenError, match="taken for dead"):
        run_batch(Assignment(*which, attempt=asleep))
    rows = walk.rows("select cell_id, step, status from walk")
    assert len(rows) == len({row.cell_id for row in rows}) == 6
    assert all(row.step == list(range(5)) and row.status == "ok" for row in rows)
    rebuild(walk.records())
    assert sorted(map(repr, walk.rows("select cell_id, step, status from walk"))) == sorted(map(repr, rows))


def test_one_that_finds_nothing_left_is_told_why(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that goes on from a checkpoint at the end, which another one left that was taken for dead, has no rows:
    the other one finished the cells, and the experiment broke no contract."""
    one = Planner(walk.sweep(axes={"width": [1]}, seeds=2), walk.records()).commit()
    real = type(one.sweep.experiment).run
    which = walk.data, one.plan.plan_id, (0,)

    def finished_meanwhile(self: Any, batch: Any) -> Any:
        monkeypatch.setattr(type(self), "run", real)
        run_batch(Assignment(*which, attempt=0))
        yield from ()

    monkeypatch.setattr(type(one.sweep.experiment), "run", finished_meanwhile)
    with pytest.raises(OvertakenError, match="taken for dead"):
        run_batch(Assignment(*which, attempt=1))
    assert run_batch(Assignment(*which, attempt=2)).cells == 0


def test_parts_of_a_batch_are_trained_apart(walk: Any) -> None:
    """Halves of a batch leave the rows of the whole, and a cell is not trained again where it has its row."""
    one = Planner(walk.sweep(axes={"width": [1]}, seeds=6), walk.records()).commit()
    which = walk.data, one.plan.plan_id, (0,)
    first, second = (run_batch(Assignment(*which, part, attempt)) for attempt, part in enumerate([(0, 2), (2, 6)]))
    assert (first.ok, second.ok) == (2, 4)
    assert first.share + second.share == pytest.approx(1.0)
    assert run_batch(Assignment(*which, attempt=2)).cells == 0
    cell_id, done = batches.fail_cell(Assignment(*which, (0, 1), 3), "it is done")
    assert (cell_id, done.failed) == (one.plan.table["cell_id"][0].as_py(), 0)
    assert set(walk.started().values()) == {1}


def test_a_child_process_dies_alone(walk: Any) -> None:
    """Pilots of a run by Ray are trained in a process of their own: what it dies of is told, and another goes on."""
    sweep = walk.sweep(axes={"zip": [{"wants": ["die", "ok", "hang"], "width": [1, 2, 3]}]}, seeds=1)
    one = Planner(sweep, walk.records()).commit()
    place = {note.shape: Assignment(walk.data, one.plan.plan_id, (note.batch,)) for note in one.batches}
    with ChildProcess() as child:
        with pytest.raises(Exception, match="was killed by SIGKILL"):
            child.run(place["w1"], 60)
        assert child.run(place["w2"], 60).ok == 1
        with pytest.raises(Exception, match="and was ended"):
            child.run(place["w3"], 0.2)
    assert {os.getpid()}.isdisjoint(walk.pids())


@pytest.mark.parametrize("seconds", [0, -1, 1e12])
def test_a_deadline_that_is_none_is_refused(walk: Any, seconds: float) -> None:
    """A deadline is a positive number of seconds."""
    with pytest.raises(SwingbyError, match="deadline="):
        run_sweep(walk.sweep(), walk.data, local=True, deadline=seconds, progress=Progress())


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_tune_narrows_down_to_the_guilty(walk: Any) -> None:
    """By Ray Tune, all cells in one batch: those that kill their process, leave it, take all memory or hang fail with
    the reason; one whose process is frozen once is trained by another; every other cell has its row; each is there
    once."""
    wants = ["ok", "die", "leave", "memory", "hang", "freeze"]
    sweep = walk.sweep(axes={"wants": wants}, seeds=1)
    result = run_sweep(sweep, walk.data, pilot=False, ray=True, workers=2, deadline=6, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (2, 4, 0)
    rows = walk.rows("select cell_id, wants, status, message from walk")
    assert Counter(row.cell_id for row in rows) == Counter(cell.cell_id for cell in sweep.cells())
    said = {row.wants: row.message for row in rows if row.status == "failed"}
    assert set(said) == {"die", "leave", "memory", "hang"}
    assert "os._exit(3)" in said["leave"]  # told with its place, as any exception of the cell
    for want, reason in {"die": "SIGKILL", "hang": "deadline"}.items():
        assert said[want].startswith("its process died 4 times")
        assert reason in said[want] or "does not tell" in said[want]
    assert not list((walk.data / "work").glob("*.died"))


DRIVER = """
import sys
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
run_sweep(Sweep.load("walks.yaml"), "data", pilot=False, ray=True, workers=2, progress=Lines(sys.stdout))
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_driver_killed_while_it_narrows_down_loses_nothing(walk: Any) -> None:
    """The next run finds those at fault anew; every other cell has its row, and each is there once."""
    changes = {"axes": {"wants": ["ok", "die"]}, "seeds": 8}
    (walk.folder / "walks.yaml").write_text(walk.text(**changes))
    child = walk.driver(DRIVER)
    said: list[str] = []
    while sum("in halves" in line for line in said) < 2:
        said.append(child.stdout.readline())
        assert said[-1], "".join(said)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    sweep = walk.sweep(**changes)
    result = run_sweep(sweep, walk.data, pilot=False, ray=True, workers=2, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (8, 8, 0)
    rows = walk.rows("select cell_id, wants, status, message from walk")
    assert Counter(row.cell_id for row in rows) == Counter(cell.cell_id for cell in sweep.cells())
    assert {(row.wants, row.status) for row in rows} == {("ok", "ok"), ("die", "failed")}
    assert all("SIGKILL" in row.message for row in rows if row.wants == "die")
