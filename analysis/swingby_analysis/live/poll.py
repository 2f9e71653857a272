"""Looking at sweeps again and again: the store is asked only when it was published anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from swingby.data.records import Records
from swingby.store import Layout, Store
from swingby.store.lookup import find_sweep, known_sweeps
from swingby.store.status import cells_in_progress, deliveries, failure_reasons, shards_to_ingest
from swingby_analysis.live.facts import Facts, Snapshot, facts, known
from swingby_analysis.live.grid import Grid, grid
from swingby_analysis.live.phase import Phase, chosen_outcome, phase, pools, section

TRIES = 5


class Watch:
    """Looks at some sweeps of a data folder, or at those that run; nothing is written there. A context manager.

    Args:
        data: the data folder.
        names: sweeps by name, id or file; none: those that run, and whatever was looked at before; the newest one where
            none does.
        outcome: what the phase diagram shows, `name` or `name=value`.
        at: axes to hold, each with a value.

    Raises:
        SwingbyError: no data folder, nothing was ever ingested there, or it cannot be read.
    """

    def __init__(
        self,
        data: str | Path,
        names: Sequence[str] = (),
        outcome: str | None = None,
        at: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._records = Records.open(data, create=False)
        self._store = Store.open(data)
        self._layout = Layout(self._records.data)
        self._names, self._outcome, self._at = list(names), outcome, list(at)
        self._chosen: list[str] = []
        self._grids: dict[str, Grid] = {}
        self._seen: dict[str, Snapshot] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def poll(self, now: float) -> tuple[Facts, ...]:
        """How the sweeps stand now, in the order in which they were named, or were first seen to run.

        Raises:
            SwingbyError: no such sweep, axis or outcome; or the store cannot be read at this moment.
        """
        self._choose()
        found = [self._current(sweep_id) for sweep_id in self._chosen]
        holders = [self._records.holder(sweep_id) for sweep_id in self._chosen]
        waiting = 0 if all(holders) else shards_to_ingest(self._store, self._records)
        return tuple(facts(one, holder, waiting, now) for one, holder in zip(found, holders, strict=True))

    def _choose(self) -> None:
        if self._names:
            if not self._chosen:
                found = [find_sweep(self._store, name).sweep_id for name in self._names]
                self._chosen = list(dict.fromkeys(found))
            return
        every = [sweep.sweep_id for sweep in known_sweeps(self._store)]
        running = [sweep_id for sweep_id in every if self._records.holder(sweep_id) is not None]
        self._chosen = list(dict.fromkeys([*self._chosen, *reversed(running)])) or every[:1]

    def _current(self, sweep_id: str) -> Snapshot:
        """What the newest generation says; asked again where one was published between two questions."""
        number = self._store.generation
        kept = self._seen.get(sweep_id)
        if kept is not None and kept.generation == number:
            return kept
        found = self._ask(sweep_id, number)
        for _ in range(TRIES):
            if (later := self._store.generation) == number:
                break
            number = later
            found = self._ask(sweep_id, number)
        self._seen[sweep_id] = found
        return found

    def _ask(self, sweep_id: str, number: int) -> Snapshot:
        store = self._store
        sweep = known(store, sweep_id)
        ended = deliveries(store, sweep.experiment, sweep_id)
        failed = any(shard.status == "failed" for shard in ended)
        newest = self._layout.newest()
        return Snapshot(
            sweep,
            number,
            newest.published if newest is not None else 0.0,
            ended,
            failure_reasons(store, sweep.experiment, sweep_id) if failed else (),
            tuple(cells_in_progress(store, self._records, sweep.experiment, sweep_id)),
            self._phase(sweep.experiment, sweep_id, sweep.resolved),
        )

    def _phase(self, experiment: str, sweep_id: str, resolved: Mapping[str, Any]) -> Phase:
        if sweep_id not in self._grids:
            self._grids[sweep_id] = grid(self._store, experiment, sweep_id, resolved)
        points = self._grids[sweep_id]
        asked = chosen_outcome(self._store, sweep_id, resolved, self._outcome)
        known_there = pools(self._store, experiment, sweep_id, asked, points)
        return phase(points, known_there, asked, section(resolved, "diagram"), self._at)
