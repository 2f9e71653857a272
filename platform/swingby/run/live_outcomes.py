"""Outcomes while a run goes on: short turns of deriving, now and then, so that phases fill in before its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.records import Records
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.run import outcomes
from swingby.store import Store

EVERY = 10.0
"""Seconds from one turn to the next, at least: each leaves a file, and a run may take days."""
COST = 10.0
"""The same, in the time that the last turn took."""
GROWTH = 1.01
"""Shards there must be, in those of the last turn: so a run of any length leaves some hundred files, not thousands."""
TURN = 1.0
"""Seconds after which a turn asks for no more cells."""
CELLS = 1_000
"""Cells that a detector sees at once: no turn takes longer than TURN and one such look by each detector."""
FAULTS = 20
"""So many cells may make a detector raise; from then on it waits for the end, which names them all."""


class Live:
    """Derives for some sweeps while they run; it is asked often, and seldom does anything.

    Whatever a detector does, nothing is raised here for it: the end of the run derives again, and says so.

    Args:
        records: the data folder.
        sweep_ids: whose cells are looked at.
        stop: true when the run is at its end, or was asked to stop: then no turn begins, and one that goes on ends.
        line: is told what is worth saying once.
    """

    def __init__(
        self, records: Records, sweep_ids: Sequence[str], stop: Callable[[], bool], line: Callable[[str], None]
    ) -> None:
        self._records, self._sweep_ids, self._stop, self._line = records, list(sweep_ids), stop, line
        self._due = time.monotonic() + EVERY
        self._shards = 0
        self._written: set[str] = set()
        self._failed: dict[str, set[str]] = {}
        self._waiting: set[str] = set()

    def turn(self, shards: int) -> bool:
        """Takes a turn if one is due, there being so many shards; true if it left outcomes, to be folded in.

        Raises:
            SwingbyError: the store cannot be read, or the disk refuses.
        """
        if time.monotonic() < self._due or shards <= GROWTH * self._shards or self._stop():
            return False
        start = time.monotonic()
        try:
            with Store.open(self._records.data) as store:
                # What the last turn found is seen only once it is published: the same cells would be told of again.
                return self._settled(store) and self._derive(store, start)
        finally:
            now = time.monotonic()
            self._due = now + max(EVERY, COST * (now - start))

    def _settled(self, store: Store) -> bool:
        names = [f"derived/{name}" for name in self._written]
        query = "select count(*) as folded from ix.records where list_contains(?, record)"
        return not names or store.sql(query, [names]).rows()[0].folded == len(names)

    def _derive(self, store: Store, start: float) -> bool:
        self._written = set()
        whole = True
        query = "select distinct experiment from sweeps where list_contains(?, sweep_id) order by all"
        for row in store.sql(query, [self._sweep_ids]).rows():
            for detector in registry.detectors_for(row.experiment):
                if detector.name not in self._waiting:
                    whole = self._apply(store, row.experiment, detector, start) and whole
        if whole:  # of what is published: shards that are not yet are for the next turn
            self._shards = store.sql("select count(*) as seen from shards").rows()[0].seen
        return bool(self._written)

    def _apply(self, store: Store, experiment: str, detector: Detector, start: float) -> bool:
        """One detector's share of a turn; true if it saw all there was to see."""
        said: list[pa.Table] = []
        try:
            whole = self._look(store, experiment, detector, start, said)
        except Exception as error:
            self._wait(detector, f"{type(error).__name__}: {error}")
            whole = True
        if said:
            name, _ = outcomes.write(self._records, experiment, detector, said)
            self._written.add(name)
        return whole

    def _look(self, store: Store, experiment: str, detector: Detector, start: float, said: list[Any]) -> bool:
        failed = self._failed.setdefault(detector.name, set())
        for table in outcomes.lacking(store, experiment, detector, self._sweep_ids, CELLS):
            known = pc.call_function("is_in", [table["cell_id"]], pc.SetLookupOptions(pa.array(failed, pa.string())))
            fresh = table.filter(pc.call_function("invert", [known]))
            if fresh.num_rows:
                told, wrong = outcomes.told(detector, fresh)
                said += told
                failed |= wrong.keys()
            if len(failed) > FAULTS:
                self._wait(detector, f"it raised for {len(failed)} cells")
                return True
            if self._stop() or time.monotonic() - start > TURN:
                return False
        return True

    def _wait(self, detector: Detector, reason: str) -> None:
        self._waiting.add(detector.name)
        self._line(f"outcomes by detector {detector.name!r} wait for the end of the run: {reason}")
