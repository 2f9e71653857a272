"""Asks again and again how sweeps stand; the store itself is asked only when it was published anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from swingby.data.records import Records
from swingby.store import Layout, Store
from swingby.store.failures import MOST_REASONS, failures_of
from swingby.store.lookup import find_sweep, known_sweeps
from swingby.store.status import cells_in_progress, deliveries, shards_to_ingest
from swingby_analysis.grid import SweepGrid
from swingby_analysis.live.facts import Facts, Snapshot, facts, sweep_facts
from swingby_analysis.live.phase import chosen_outcome, phase, pools, section, sweep_grid

TRIES = 5


class Watch:
    """Watches some sweeps of a data folder, or those that run; writes nothing there. A context manager.

    Args:
        data: the data folder.
        names: sweeps by name, id or file; none: those that run, and those that an earlier poll saw run; the newest one
            where none does.
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
        self._sweeps: list[str] = []
        self._grids: dict[str, tuple[SweepGrid, dict[int, int]]] = {}
        self._snapshots: dict[str, Snapshot] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def poll(self, now: float) -> tuple[Facts, ...]:
        """How the sweeps stand now, in the order in which they were named, or were first seen to run.

        Raises:
            SwingbyError: no such sweep, axis or outcome; or the store cannot be read at this moment.
        """
        if not self._names:
            known = [sweep.sweep_id for sweep in known_sweeps(self._store)]
            running = [sweep_id for sweep_id in known if self._records.holder(sweep_id) is not None]
            self._sweeps = list(dict.fromkeys([*self._sweeps, *reversed(running)])) or known[:1]
        elif not self._sweeps:
            named = [find_sweep(self._store, name).sweep_id for name in self._names]
            self._sweeps = list(dict.fromkeys(named))
        snapshots = [self._newest(sweep_id) for sweep_id in self._sweeps]
        holders = [self._records.holder(sweep_id) for sweep_id in self._sweeps]
        waiting = 0 if all(holders) else shards_to_ingest(self._store, self._records)
        return tuple(facts(one, holder, waiting, now) for one, holder in zip(snapshots, holders, strict=True))

    def _newest(self, sweep_id: str) -> Snapshot:
        """What the newest generation says; asked again where one was published between two questions."""
        number = self._store.generation
        kept = self._snapshots.get(sweep_id)
        if kept is not None and kept.generation == number:
            return kept
        snapshot = self._ask(sweep_id, number)
        for _ in range(TRIES):
            if (later := self._store.generation) == number:
                break
            number = later
            snapshot = self._ask(sweep_id, number)
        self._snapshots[sweep_id] = snapshot
        return snapshot

    def _ask(self, sweep_id: str, number: int) -> Snapshot:
        store = self._store
        sweep = sweep_facts(store, sweep_id)
        delivered = deliveries(store, sweep.experiment, sweep_id)
        failed = any(delivery.status == "failed" for delivery in delivered)
        newest = self._layout.newest()
        if sweep_id not in self._grids:
            self._grids[sweep_id] = sweep_grid(store, sweep.experiment, sweep_id, sweep.resolved)
        grid, planned = self._grids[sweep_id]
        outcome = chosen_outcome(store, sweep_id, sweep.resolved, self._outcome)
        points = pools(store, sweep.experiment, sweep_id, outcome, planned)
        return Snapshot(
            sweep,
            number,
            newest.published if newest is not None else 0.0,
            delivered,
            failures_of(store, sweep.experiment, sweep_id)[:MOST_REASONS] if failed else (),
            tuple(cells_in_progress(store, self._records, sweep.experiment, sweep_id)),
            phase(grid, points, outcome, section(sweep.resolved, "diagram"), self._at),
        )
