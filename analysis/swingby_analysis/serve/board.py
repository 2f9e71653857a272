"""How sweeps stand, for pages that many look at: the store is asked once for each published generation."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.records import Records
from swingby.store import Layout, Store
from swingby.store.status import SweepStatus, statuses

FRESH = 1.0
"""Seconds for which an answer is given again without a look at the store."""


@dataclass(frozen=True)
class Seen:
    """All sweeps (running ones first, then the newest), the generation, and when that was published."""

    sweeps: tuple[SweepStatus, ...] = ()
    generation: int | None = None
    published: float | None = None

    def find(self, sweep: str) -> SweepStatus | None:
        """The sweep of that id, or the newest of that name."""
        by_id = [one for one in self.sweeps if one.sweep_id == sweep]
        named = [one for one in self.sweeps if one.name == sweep]
        return (by_id or sorted(named, key=lambda one: one.created, reverse=True) or [None])[0]


class Board:
    """Sweeps and tables of one data folder; several threads may ask at once, one of them looks."""

    def __init__(self, data: Path) -> None:
        self._records = Records.open(data, create=False)
        self._layout = Layout(self._records.data)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._known: tuple[int, Sequence[SweepStatus], dict[str, list[tuple[str, str]]]] | None = None
        self._seen, self._at = Seen(), float("-inf")

    def seen(self) -> Seen:
        """How the sweeps stand now; as of up to a second ago.

        Raises:
            SwingbyError: the store cannot be read.
        """
        with self._lock:
            if time.monotonic() - self._at >= FRESH:
                self._seen = self._look()
                self._at = time.monotonic()
            return self._seen

    def tables(self) -> Mapping[str, list[tuple[str, str]]]:
        """Every table of the store with its columns and their types."""
        self.seen()
        return {} if self._known is None else self._known[2]

    def close(self) -> None:
        """Lets go of the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _look(self) -> Seen:
        newest = self._layout.newest()
        if newest is None:
            return Seen()
        if self._known is None or self._known[0] != newest.number:
            self._store = self._store or Store.open(self._records.data)
            self._known = (newest.number, statuses(self._store), self._store.tables())
        found = [replace(one, holder=self._records.holder(one.sweep_id)) for one in self._known[1]]
        found.sort(key=lambda one: one.holder is None)
        return Seen(tuple(found), newest.number, newest.published)
