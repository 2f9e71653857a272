"""Laws of drivers at work on one data folder: what one has reserved the others leave alone, and wait for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psutil
import pytest

from swingby.data.locks import held, holding
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.forecast import Planned, summary
from swingby.run.options import RunOptions
from swingby.run.pending import Reservations
from swingby.run.plan import Planner
from swingby.run.preview import plan
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, run_batch
from swingby.store import ingest
from tests.support.waiting import awaited


class Other:
    """Another driver, step by step: it holds its sweep's lock and has planned the sweep."""

    def __init__(self, walk: Any, sweep: Any, **options: Any) -> None:
        self.walk, self.sweep, self.held = walk, sweep, ExitStack()
        hold = self.held.enter_context(walk.records().lock(sweep.sweep_id, "swingby run other"))
        self.reservations = Reservations(walk.records(), {sweep.sweep_id: hold})
        self.planner = Planner(sweep, walk.records(), reservations=self.reservations, **options)

    def commits(self) -> Planned:
        """Plans what is missing."""
        self.planned = self.planner.commit()
        return self.planned

    def trains(self, *batches: int) -> None:
        """Trains some batches of its plan (without any: all)."""
        for batch in batches or range(len(self.planned.batches)):
            run_batch(Assignment(self.walk.data, self.planned.plan.plan_id, (batch,)))
        ingest(self.walk.records())

    def dies(self) -> None:
        """Its lock is free."""
        self.held.close()


@pytest.fixture
def other(walk: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Other]:
    """Another driver of a sweep of twelve cells."""
    monkeypatch.setattr("swingby.run.driver.WAIT_SECONDS", 0.01)
    driver = Other(walk, walk.sweep(name="other"))
    yield driver
    driver.dies()


def mine(walk: Any, **changes: Any) -> Any:
    """A sweep of twelve cells, eight of which the other one has, too."""
    return walk.sweep(**{"name": "mine", "seeds": {"count": 3, "first": 1}, **changes})


class Meanwhile(Progress):
    """What others do as soon as this driver waits."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self.do, self.lines = do, list[str]()

    def line(self, text: str) -> None:
        self.lines.append(text)
        if text.startswith("waiting for"):
            self.do()


def run(walk: Any, sweep: Any, meanwhile: Callable[[], object], **options: Any) -> tuple[Any, list[str]]:
    """A run, what it said, while others do something as soon as it waits."""
    progress = Meanwhile(meanwhile)
    result = run_sweep(sweep, walk.data, **{"local": True, "pilot": False, "progress": progress, **options})
    return result, progress.lines


def test_what_others_train_is_waited_for(walk: Any, other: Other) -> None:
    """Cells that another driver has planned are trained by it alone; a run and a plan say how many, and by whom. Who
    waits has trained all of its own, and reserves nothing: two can never wait for each other."""
    other.commits()
    told = summary(plan(mine(walk), walk.records(), RunOptions(pilot=False)))
    assert "mine: 12 cells: 4 missing" in told
    assert "8 more cells of it are being trained by sweep other: process " in told
    assert "(swingby run other)" in told
    reserved: list[str] = []

    def look() -> None:
        reserved.extend(one.owner for one in Reservations(walk.records()).others("walk"))
        assert sum(walk.started().values()) == 4
        other.trains()

    result, said = run(walk, mine(walk), look)
    assert [who.partition(":")[0] for who in reserved] == ["sweep other"]
    assert (result.ok, result.missing, result.trained) == (12, 0, 4)
    assert set(walk.started().values()) == {1}
    assert "waiting for 8 cells that others train; Ctrl-C ends the wait" in said
    assert sum("being trained by" in line for line in said) == 1


def test_what_a_dead_driver_left_is_taken_over(walk: Any, other: Other) -> None:
    """Once a driver is dead its lock is free, and what it has not trained is trained by who waited, each cell once."""
    other.commits()

    def dies() -> None:
        other.trains(0)
        other.dies()

    result, said = run(walk, mine(walk), dies)
    assert (result.ok, result.missing) == (12, 0)
    assert result.trained > 4
    assert set(walk.started().values()) == {1}
    assert said.count("waiting for 8 cells that others train; Ctrl-C ends the wait") == 1


def test_two_rounds_are_one_result(walk: Any, other: Other) -> None:
    """What a dead driver left is shared out anew: a part is trained here, a part by a third one, and all is counted."""
    other.commits()
    third = Other(walk, walk.sweep(name="third", seeds={"count": 1, "first": 1}))
    turns: list[Callable[[], object]] = [lambda: (other.dies(), third.commits()), third.trains]
    result, said = run(walk, mine(walk), lambda: turns.pop(0)())
    third.dies()
    assert (result.ok, result.trained, result.bad) == (12, 8, ())
    assert [line for line in said if line.startswith("waiting")] == [
        f"waiting for {count} cells that others train; Ctrl-C ends the wait" for count in (8, 4)
    ]
    assert set(walk.started().values()) == {1}


def test_what_fails_elsewhere_is_left_alone(walk: Any, other: Other) -> None:
    """A cell that fails where it is trained ends the wait; it is tried again by who was asked to, and only then."""
    bad = {"axes": {"width": [1]}, "base": {"wants": "raise"}}
    failing = Other(walk, walk.sweep(name="failing", **bad))
    failing.commits()
    result, _ = run(walk, mine(walk, seeds=2, **bad), failing.trains)
    assert (result.failed, result.trained) == (2, 0)
    again, said = run(walk, mine(walk, seeds=2, **bad), failing.dies, retry_failed=True)
    assert (again.failed, again.trained) == (2, 2)
    assert sum(line.startswith("waiting") for line in said) == 1


def test_a_run_tries_a_cell_once(walk: Any, other: Other) -> None:
    """A driver that is at its end reserves nothing, though it lives: what it has not trained who waited for it trains,
    but no cell that it has tried before in the same run, not even one to be retried."""
    bad = {"axes": {"width": [1]}, "base": {"wants": "raise"}}
    failing = Other(walk, walk.sweep(name="failing", **bad))
    failing.commits()
    sweep = mine(walk, **bad)
    result, said = run(walk, sweep, failing.reservations.release, retry_failed=True)
    assert (result.failed, result.trained) == (3, 3)
    assert not any("named before it" in line for line in said)
    (last,) = (cell.cell_id for cell in sweep.cells() if cell.seed == 3)
    assert walk.started()[last] == 1


def test_a_recording_that_nobody_makes_is_made(walk: Any, other: Other) -> None:
    """A cell is not left to a driver that records less of it than this sweep asks for."""
    other.commits()
    result, said = run(walk, mine(walk, record={"also": ["noise"]}), other.trains)
    assert (result.ok, result.trained) == (12, 12)
    assert not any(line.startswith("waiting") for line in said)


def test_pilots_are_reserved(walk: Any, other: Other) -> None:
    """Two drivers that measure the same shapes at the same time do so on different cells."""
    both = [walk.sweep(name=name, seeds=10) for name in ("first", "second")]
    drivers = [Other(walk, sweep, stop=lambda: True) for sweep in both]
    for driver in drivers:
        driver.planner.measure()
    first, second = (set(one.ids.to_pylist()) for one in Reservations(walk.records()).others("walk"))
    assert first
    assert second
    assert first.isdisjoint(second)
    for driver in drivers:
        driver.dies()


def test_a_wait_can_be_ended(walk: Any, other: Other) -> None:
    """A run that is asked to stop while it waits ends with what it has."""
    other.commits()
    drain = Drain()
    result, said = run(walk, mine(walk), drain.ask, drain=drain)
    assert (result.ok, result.missing, result.trained, result.drained) == (4, 8, 4, True)
    assert "stopping: the cells that others train are left to them" in said


def test_strange_locks_reserve_nothing(walk: Any, other: Other) -> None:
    """What no driver made reserves nothing: a pipe, a folder, a link that leads nowhere, a plan that is
    none or leads elsewhere."""
    locks = walk.data / "locks"
    os.mkfifo(locks / "pipe.lock")
    (locks / "folder.lock").mkdir()
    (locks / "loop.lock").symlink_to("loop.lock")
    with ExitStack() as stack:
        for number, plan_id in enumerate(
            ("", "no-such-plan", "../swingby", "a\0b", 7, None, {"plan": []}, "x" * 70_000)
        ):
            stack.enter_context(held(locks / f"{number}.lock", "a lock")).say(plan=plan_id)
        assert Reservations(walk.records()).others("walk") == []
    other.commits()
    (reservation,) = Reservations(walk.records()).others("walk")
    assert reservation.owner.startswith("sweep other: ")
    assert Reservations(walk.records()).others("sim") == []


def test_a_lock_says_what_its_holder_says_now(tmp_path: Any) -> None:
    """What was said before is forgotten, though it was longer, and by whomever; of a free lock nothing is said."""
    path = tmp_path / "a.lock"
    for command in ("a long command, " * 20, "short"):
        with held(path, "a lock", command) as hold:
            assert (holding(path) or {})["command"] == command
            hold.say(plan="a-plan-of-a-long-name")
            assert (holding(path) or {})["plan"] == "a-plan-of-a-long-name"
            hold.say()
            assert "plan" not in (holding(path) or {})
            hold.say(plan="left behind")
        assert holding(path) is None


DRIVER = """
import sys
from swingby.run import batches
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
batches.UNMEASURED = 2
sweep = Sweep.load("{name}.yaml")
print(run_sweep(sweep, "data", pilot=False, ray=True, workers=2, progress=Lines(sys.stdout)), flush=True)
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_killed_driver_of_tune_is_followed(walk: Any) -> None:
    """Two commands through Ray, the first killed while the second waits for it: the second trains what is left, in
    another round of the same Ray, and no cell twice but those that were being trained."""
    seeds = {"long": 60, "short": {"count": 3, "first": 58}}
    texts = {name: walk.text(name=name, seeds=of, base={"pause": 0.6}) for name, of in seeds.items()}
    for name, text in texts.items():
        (walk.folder / f"{name}.yaml").write_text(text)
    first = walk.driver(DRIVER.format(name="long"))
    awaited(lambda: walk.started().total() > 0, 240)  # on a busy machine Ray takes minutes to start
    second = walk.driver(DRIVER.format(name="short"))
    said = list(itertools.takewhile(lambda line: not line.startswith("waiting"), second.stdout))
    assert any("8 more cells of it are being trained by sweep long: process" in line for line in said)
    agents = [child for child in psutil.Process(first.pid).children(recursive=True) if "Agent" in child.name()]
    assert first.poll() is None
    first.kill()
    first.wait()
    begun, done = set(walk.started()), {row.cell_id for row in walk.rows("select cell_id from walk")}
    for agent in agents:  # they would look for their scheduler for a minute
        agent.kill()
    rest = second.communicate(timeout=120)[0]
    assert second.returncode == 0, rest
    assert "12 cells: 12 ok" in rest
    assert {cell for cell, times in walk.started().items() if times > 1} <= begun - done
