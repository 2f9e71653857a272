"""The law of a run that is killed: whatever dies, and whenever, each planned cell ends in the store exactly once, no
cell with a committed result is trained again, and the store made again from the files is the one that lives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from swingby.run.driver import run_sweep
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, run_batch
from swingby.store import Store, rebuild
from swingby.sweepfile.sweep import Sweep
from tests.support.places import MISBEHAVING

SLACK = 20_000_000
"""Nanoseconds that the time of a rename may lag behind the clock (the kernel stamps files by ticks of up to 10 ms)."""

WINDOWS = {
    "rename plans": (1, 1),
    "rename shards": (1, 3),
    "apply": (1, 2),
    "commit seg": (1, 2),
    "commit ix": (1, 3),
    "publish": (1, 2),
    "rename store": (1, 3),
    "rename derived": (1,),
}
"""What a driver is killed before and after -> at which of its turns. A publication is three renames: index, segment,
pointer. The curves and the index are two databases, so a shard is two commits; a plan is one."""
KILLS = 2 * sum(map(len, WINDOWS.values()))
PHASES = {
    "plan and shards": ("before rename plans", "after rename plans", "before rename shards 3", "after rename shards 3"),
    "store and outcomes": (
        "after apply 2",
        "after commit seg 2",
        "after commit ix 3",
        "after rename store 1",
        "after rename store 3",
        "before rename derived",
        "after rename derived",
    ),
}
"""One kill of each state that a driver can leave: a window that lies between the same two writes as one of these, such
as that before the commit which follows an application, leaves the same. The shards are those of cells, not the first
of all; the renames of a publication are killed one by one where an ingest is."""
SHARING = ("left", 0), ("right", 3)
"""Two sweeps, and the first of the six seeds of each: half of their cells are the same."""


class ForkServer:
    """Drivers that can be stopped at a window and killed (see fork_server); one process serves many tests."""

    def __init__(self, folder: Path) -> None:
        self.at = folder / "at"
        self.process = subprocess.Popen(
            [sys.executable, str(MISBEHAVING / "fork_server.py")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(MISBEHAVING), os.environ.get("PYTHONPATH", "")])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """Ends the fork server."""
        self.process.communicate(timeout=120)

    def start(self, walk: Any, text: str, do: str = "run", window: str = "", hit: int = 1) -> int:
        """Starts a driver; its process id."""
        assert self.process.stdin is not None
        self.at.unlink(missing_ok=True)
        where = {"data": str(walk.data), "ledger": str(walk.ledger), "at": str(self.at)}
        order = {**where, "do": do, "text": text, "window": window, "hit": hit}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self._read())

    def ended(self) -> int:
        """Waits for the driver; its exit status."""
        return int(self._read())

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def kill_at(self, walk: Any, text: str, window: str, hit: int, do: str = "run") -> None:
        """Starts a driver and kills it at a window."""
        driver = self.start(walk, text, do, window, hit)
        deadline = time.monotonic() + 60
        while not self.at.exists() and psutil.pid_exists(driver) and time.monotonic() < deadline:
            time.sleep(0.002)
        came = self.at.exists()
        with suppress(ProcessLookupError):
            os.kill(driver, signal.SIGKILL)
        assert (self.ended(), came) == (-signal.SIGKILL, True), f"the driver never came to {window!r} a {hit}. time"


@pytest.fixture(scope="module")
def fork_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ForkServer, ForkServer]]:
    """Two fork_servers, for two drivers at once."""
    both = ForkServer(tmp_path_factory.mktemp("first")), ForkServer(tmp_path_factory.mktemp("second"))
    yield both
    for fork_server in both:
        fork_server.close()


@pytest.fixture
def fork_server(fork_servers: tuple[ForkServer, ForkServer]) -> ForkServer:
    """A fork server."""
    return fork_servers[0]


def committed(walk: Any) -> dict[str, int]:
    """The cells that have a final row in some shard -> when the first of these came to be (nanoseconds)."""
    records, found = walk.records(), {}
    for name in records.shards():
        came = records.shard_path(name).stat().st_ctime_ns
        rows = records.read_shard(name)[1]
        for cell_id in rows.filter(rows["final"])["cell_id"].to_pylist():
            found[cell_id] = min(came, found.get(cell_id, came))
    return found


def check_no_rerun(walk: Any) -> None:
    """No cell began after it had a committed result, and no process trained one twice unless the batch was halved."""
    came = committed(walk)
    lines = [line.split() for line in walk.ledger.read_text().splitlines()]
    late = [cell for cell, _, at in lines if cell in came and int(at) > came[cell] + SLACK]
    assert not late, f"{len(late)} cells with a committed result began again"
    assert max(Counter((cell, pid) for cell, pid, _ in lines).values()) == 1


def content(data: Path) -> dict[str, list[str]]:
    """All rows of all tables that a reader sees."""
    with Store.open(data) as store:
        return {name: sorted(map(repr, store.sql(f'from "{name}"').rows())) for name in store.tables()}


def check_finished(walk: Any, *sweeps: Any) -> None:
    """Every planned cell is there exactly once with its whole curve and outcome, and a rebuild changes nothing."""
    planned = {cell.cell_id for sweep in sweeps for cell in sweep.cells()}
    rows = walk.rows("select cell_id, status, step, position, length from walk")
    assert Counter(row.cell_id for row in rows) == Counter(planned)
    assert {row.status for row in rows} <= {"ok", "diverged"}
    assert all(row.step == list(range(row.length + 1)) and len(row.position) == len(row.step) for row in rows)
    assert {row.cell_id for row in walk.rows("from outcomes_walk_height")} == planned
    assert walk.rows("from bad_shards") == []
    live = content(walk.data)
    rebuild(walk.records())
    assert content(walk.data) == live


def small(walk: Any, **changes: Any) -> str:
    """Eight batches: short cells, cells in pieces, cells that diverge."""
    axes = {"width": [1, 2], "pieces": [0, 2], "wants": ["ok", "diverge"]}
    return walk.text(**{"axes": axes, "seeds": 3, "base": {"length": 5}, **changes})


@pytest.mark.parametrize("phases", PHASES)
def test_killed_in_each_phase(walk: Any, fork_server: ForkServer, phases: str) -> None:
    """A run killed in one state after another, then finished."""
    text = small(walk)
    for phase in PHASES[phases]:
        window, _, hit = phase.rpartition(" ") if phase[-1].isdigit() else (phase, "", "1")
        fork_server.kill_at(walk, text, window, int(hit))
    fork_server.start(walk, text)
    assert fork_server.ended() == 0
    check_no_rerun(walk)
    check_finished(walk, Sweep.parse(text, "small"))


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
def test_killed_at_a_window(walk: Any, fork_server: ForkServer, window: str) -> None:
    """A run killed before and after this step, again and again, then finished."""
    text = small(walk)
    for hit in WINDOWS[window]:
        fork_server.kill_at(walk, text, f"before {window}", hit)
        fork_server.kill_at(walk, text, f"after {window}", hit)
    fork_server.start(walk, text)
    assert fork_server.ended() == 0
    check_no_rerun(walk)
    check_finished(walk, Sweep.parse(text, "small"))


def after_a_shard(walk: Any) -> Callable[[], bool]:
    """Stops a batch once it has left a shard: in the middle of a cell that leaves several."""
    there = len(walk.records().shards())
    return lambda: len(walk.records().shards()) > there


def test_ingest_killed_at_every_window(walk: Any, fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ingest killed before, inside and after its commits and its publication; readers always see whole cells, and
    none that they have seen goes away."""
    text, seen, before = small(walk, seeds=6), [], set[str]()
    monkeypatch.setattr("swingby.run.batches.UNMEASURED", 3)
    planned = Planner(Sweep.parse(text, "small"), walk.records()).commit()
    batches = iter(planned.batches)
    for step in ("apply", "commit seg", "commit ix", "publish", "rename store"):
        for when in ("before", "after"):
            stop = after_a_shard(walk) if when == "after" else lambda: False
            run_batch(Assignment(walk.data, planned.plan.plan_id, (next(batches).batch,)), stop)
            fork_server.kill_at(walk, text, f"{when} {step}", 1, do="ingest")
            with Store.open(walk.data) as store:
                if "walk_points" in store.tables():
                    seen = store.sql("select cell_id, step, status from walk").rows()
                    assert len(seen) == len({row.cell_id for row in seen})
                    assert all(row.step == list(range(6)) for row in seen if row.status != "running")
            assert before <= {row.cell_id for row in seen}
            before = {row.cell_id for row in seen}
    assert {row.status for row in seen} == {"ok", "diverged", "running"}
    fork_server.start(walk, text)
    assert fork_server.ended() == 0
    check_no_rerun(walk)
    check_finished(walk, Sweep.parse(text, "small"))


@pytest.mark.slow
def test_killed_at_random_moments(walk: Any, fork_server: ForkServer) -> None:
    """A run killed a dozen times at moments that a seeded generator chose, then finished."""
    moments, killed = random.Random(20), 0
    text = small(walk, seeds=24, base={"length": 5, "pause": 0.004})
    for _ in range(12):
        driver = fork_server.start(walk, text)
        time.sleep(moments.uniform(0.02, 0.5))
        with suppress(ProcessLookupError):  # a fast machine is through with everything before the last of them
            os.kill(driver, signal.SIGKILL)
        killed += fork_server.ended() == -signal.SIGKILL
    assert killed > 3
    fork_server.start(walk, text)
    assert fork_server.ended() == 0
    check_no_rerun(walk)
    check_finished(walk, Sweep.parse(text, "small"))


def test_two_sweeps_at_once(walk: Any, fork_servers: tuple[ForkServer, ForkServer]) -> None:
    """Two sweeps that share half of their cells run at once on one store, killed at random, and both are finished; a
    shared cell is trained by one of them, unless it was being trained when that one was killed."""
    moments = random.Random(5)
    base = {"length": 5, "pause": 0.004}
    texts = [
        small(walk, name="left", seeds=6, base=base),
        small(walk, name="right", seeds={"count": 6, "first": 3}, base=base),
    ]
    for _ in range(2):
        begun = len(trainings(walk))
        drivers = [home.start(walk, text) for home, text in zip(fork_servers, texts, strict=True)]
        for driver, home in zip(drivers, fork_servers, strict=True):
            begun += moments.randint(1, 12)
            wait_for_trainings(walk, begun)
            time.sleep(moments.uniform(0, 0.1))
            os.kill(driver, signal.SIGKILL)
            assert home.ended() == -signal.SIGKILL
    for home, text in zip(fork_servers, texts, strict=True):
        home.start(walk, text)
    assert [home.ended() for home in fork_servers] == [0, 0]
    check_no_rerun(walk)
    check_finished(walk, *(Sweep.parse(text, "small") for text in texts))


def sharing(walk: Any) -> list[str]:
    """The files of two sweeps of four batches each, of which half are of the same cells."""
    return [walk.text(name=name, axes={"width": [1, 2]}, seeds={"count": 6, "first": at}) for name, at in SHARING]


@pytest.mark.slow
def test_two_sweeps_begun_at_once(walk: Any, fork_servers: tuple[ForkServer, ForkServer]) -> None:
    """Two sweeps that share half of their cells, started in the same moment and left alone, train each cell once."""
    texts = sharing(walk)
    for home, text in zip(fork_servers, texts, strict=True):
        home.start(walk, text)
    assert [home.ended() for home in fork_servers] == [0, 0]
    assert set(walk.started().values()) == {1}
    check_finished(walk, *(Sweep.parse(text, "sharing") for text in texts))


@pytest.mark.parametrize(("when", "again"), [("before", 3), ("after", 0)])
def test_another_takes_over_what_a_killed_driver_left(
    walk: Any, fork_servers: tuple[ForkServer, ForkServer], when: str, again: int
) -> None:
    """While a driver lives, though it does nothing, another leaves alone what it has planned. Once it is killed the
    other trains what is left: no cell twice but those of the batch whose shard was not there yet."""
    (left, right), texts = fork_servers, sharing(walk)
    mine, yours = ({cell.cell_id for cell in Sweep.parse(text, "sharing").cells()} for text in texts)
    frozen = left.start(walk, texts[0], window=f"{when} rename shards", hit=3)
    wait_until(left.at.exists)
    begun = set(walk.started())
    right.start(walk, texts[1])
    wait_until(lambda: yours - mine <= set(walk.started()))
    time.sleep(0.5)
    assert set(walk.started()) == begun | (yours - mine)
    os.kill(frozen, signal.SIGKILL)
    assert (left.ended(), right.ended()) == (-signal.SIGKILL, 0)
    left.start(walk, texts[0])
    assert left.ended() == 0
    assert Counter(walk.started().values()) == Counter({1: 18 - again, 2: again})
    check_no_rerun(walk)
    check_finished(walk, *(Sweep.parse(text, "sharing") for text in texts))


TUNE = """
import sys
from swingby.run import batches
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
batches.UNMEASURED = 4
sweep = Sweep.load("walks.yaml")
print(run_sweep(sweep, "data", pilot=False, ray=True, workers=2, progress=Lines(sys.stdout)), flush=True)
"""


@pytest.mark.xdist_group("ray")
def test_killed_workers_and_drivers_of_tune(walk: Any) -> None:
    """By Ray Tune: workers killed at random while they train, the driver killed, its workers perhaps still at it when
    the next one begins, which finishes; that one needs no Ray for it."""
    moments = random.Random(3)
    text = small(walk, seeds=3, base={"length": 5, "pause": 0.1})
    (walk.folder / "walks.yaml").write_text(text)
    driver, begun = walk.driver(TUNE), 0
    for _ in range(2):
        wait_for_trainings(walk, begun + 3)
        time.sleep(moments.uniform(0, 0.3))
        worker = int(trainings(walk)[-1].split()[1])
        assert worker != driver.pid
        os.kill(worker, signal.SIGKILL)
        begun = len(trainings(walk))
    wait_for_trainings(walk, begun + 3)
    agents = [child for child in psutil.Process(driver.pid).children(recursive=True) if "Agent" in child.name()]
    assert driver.poll() is None
    driver.kill()
    driver.wait()
    for agent in agents:  # they would look for their scheduler for a minute
        agent.kill()
    sweep = Sweep.parse(text, "walks.yaml")
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    check_no_rerun(walk)
    check_finished(walk, sweep)


def trainings(walk: Any) -> list[str]:
    """The ledger's lines."""
    return walk.ledger.read_text().splitlines() if walk.ledger.exists() else []


def wait_for_trainings(walk: Any, count: int) -> None:
    """Waits until so many cells have begun."""
    wait_until(lambda: len(trainings(walk)) >= count)


def wait_until(true: Callable[[], bool]) -> None:
    """Waits for what drivers do."""
    deadline = time.monotonic() + 90
    while not true():
        assert time.monotonic() < deadline, "nothing is trained"
        time.sleep(0.02)


def test_enough_is_killed() -> None:
    """The windows above kill at least thirty times; the ingest, the random moments and Tune come on top."""
    assert KILLS >= 30
