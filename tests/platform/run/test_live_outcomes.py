"""Laws of deriving while a run goes on: phases fill in, every cell once, and the run is neither delayed nor stopped."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run import ingest_thread
from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from swingby.run.progress import Progress
from swingby.run.worker.batch import BatchDone
from swingby.store import Store, ingest

PATIENCE = 60.0


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that ingests and derives at every moment."""
    monkeypatch.setattr("swingby.run.ingest_thread.INGEST_SECONDS", 0.05)
    for name, value in {"TURN_EVERY": 0.05, "TURN_COST": 0.0, "SHARD_GROWTH": 1.0}.items():
        monkeypatch.setattr(ingest_thread, name, value)


def outcomes(walk: Any) -> int:
    """How many outcomes a reader sees now."""
    with Store.open(walk.data) as store:
        return len(store.sql("from outcomes_walk_height")) if "outcomes_walk_height" in store.tables() else 0


class Look(Progress):
    """After the second batch, the run waits until a reader has seen outcomes; it keeps what was said."""

    def __init__(self, walk: Any) -> None:
        super().__init__()
        self.walk, self.seen, self.said = walk, 0, list[str]()

    def line(self, text: str) -> None:
        self.said.append(text)

    def batch_done(self, done: BatchDone) -> None:
        super().batch_done(done)
        deadline = time.monotonic() + PATIENCE
        while self.batches == 2 and not self.seen and time.monotonic() < deadline:
            self.seen = outcomes(self.walk)
            time.sleep(0.02)


def told(walk: Any) -> Counter[str]:
    """How often each cell stands in the derived files."""
    records = walk.records()
    return Counter(cell for name in records.derived() for cell in records.read_derived(name)[1]["cell_id"].to_pylist())


@pytest.mark.usefixtures("hasty")
def test_outcomes_come_while_the_run_goes_on(walk: Any) -> None:
    """Outcomes are read before the last batch is done, and at the end each cell stands in one derived file, once."""
    look, sweep = Look(walk), walk.sweep(axes={"width": [1, 2, 3]}, seeds=2)
    result = run_sweep(sweep, walk.data, local=True, pilot=False, progress=look)
    assert result.ok == 6
    assert 0 < look.seen < 6
    assert told(walk) == {cell.cell_id: 1 for cell in sweep.cells()}
    assert derive(walk.records()) == {"walk_height": 0}
    assert outcomes(walk) == 6


@pytest.mark.usefixtures("hasty")
def test_a_detector_that_raises_does_not_stop_the_run(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that breaks a detector has no outcome, the others have theirs while the run goes on; its end names it."""
    kind = type(registry.detector("walk_height"))
    sweep, sound = walk.sweep(axes={"width": [1, 2, 3]}, seeds=2), kind.detect
    bad = min(cell.cell_id for cell in sweep.cells() if cell.params.model_dump()["width"] == 1)

    def brittle(self: Any, table: pa.Table) -> pa.Table:
        if bad in table["cell_id"].to_pylist():
            raise ZeroDivisionError("no height")
        return sound(self, table)

    monkeypatch.setattr(kind, "detect", brittle)
    look = Look(walk)
    with pytest.raises(SwingbyError, match=f"no outcome of cell {bad}"):
        run_sweep(sweep, walk.data, local=True, pilot=False, progress=look)
    assert look.done == 6
    assert look.seen > 0
    assert told(walk) == {cell.cell_id: 1 for cell in sweep.cells() if cell.cell_id != bad}


@pytest.mark.usefixtures("hasty")
def test_a_detector_that_always_raises_waits_for_the_end(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many faults it is not asked again while the run goes on, which is said once."""
    monkeypatch.setattr(ingest_thread, "FAULTS", 1)
    kind, asked, said = type(registry.detector("walk_height")), list[int](), list[str]()

    def broken(self: Any, table: pa.Table) -> pa.Table:
        asked.append(table.num_rows)
        raise ZeroDivisionError("no height")

    run_sweep(walk.sweep(seeds=1), walk.data, local=True, pilot=False, progress=Progress())
    monkeypatch.setattr(kind, "version", "2")
    monkeypatch.setattr(kind, "detect", broken)
    one = ingest_thread.LiveOutcomes(walk.records(), [walk.sweep(seeds=1).sweep_id], lambda: False, said.append)
    for shards in (1, 2, 3):
        one._due = 0.0
        assert not one.turn(shards)
    assert sorted(asked) == [1, 1, 1, 1, 2, 2, 4]
    assert len(said) == 1
    assert "it raised for 4 cells" in said[0]


def test_turns_are_short_and_wait_for_what_the_last_one_found(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, a turn looks at one chunk of cells and no more; the next begins once that is published, and takes the
    rest; no turn begins before it is due, without new shards, or after the stop."""
    sweep = walk.sweep(axes={"width": [1, 2, 3]}, seeds=2)
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    monkeypatch.setattr(type(registry.detector("walk_height")), "version", "2")
    monkeypatch.setattr(ingest_thread, "TURN_CELLS", 2)
    asked = iter([False, True])
    one = ingest_thread.LiveOutcomes(walk.records(), [sweep.sweep_id], lambda: next(asked, True), lambda text: None)
    assert not one.turn(3)
    one._due = 0.0
    assert one.turn(3)
    assert told(walk).total() == 6 + 2
    one._stop, one._due = (lambda: False), 0.0
    assert not one.turn(3)
    ingest(walk.records())
    one._due = 0.0
    assert one.turn(3)
    assert told(walk).total() == 12
    monkeypatch.setattr(type(registry.detector("walk_height")), "version", "3")  # there would be something to do
    one._due = 0.0
    ingest(walk.records())
    assert not one.turn(3)
    one._stop, one._due = (lambda: True), 0.0
    assert not one.turn(4)
    assert set(told(walk).values()) == {2}
