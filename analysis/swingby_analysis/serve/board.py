"""The progress of sweeps, for pages that many people open: the store is asked once for each published generation."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.records import Records
from swingby.store import Layout, Store
from swingby.store.comments import Described, described
from swingby.store.status import SweepStatus, statuses

FRESH = 1.0
"""Seconds for which an answer is given again without asking the store."""


@dataclass(frozen=True)
class Standing:
    """How all sweeps stand (running ones first, then the newest), as of which generation, and when it was published."""

    sweeps: tuple[SweepStatus, ...] = ()
    generation: int | None = None
    published: float | None = None

    def find(self, sweep: str) -> SweepStatus | None:
        """The sweep of that id, or the newest of that name."""
        by_id = [one for one in self.sweeps if one.sweep_id == sweep]
        named = [one for one in self.sweeps if one.name == sweep]
        return (by_id or sorted(named, key=lambda one: one.created, reverse=True) or [None])[0]


class Board:
    """Sweeps and tables of one data folder. Several threads may ask at once; one of them asks the store."""

    def __init__(self, data: Path) -> None:
        self._records = Records.open(data, create=False)
        self._layout = Layout(self._records.data)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._read: tuple[int, Sequence[SweepStatus], dict[str, list[tuple[str, str]]]] | None = None
        self._meanings: tuple[int, Mapping[str, Described]] | None = None
        self._standing, self._at = Standing(), float("-inf")

    def standing(self) -> Standing:
        """How the sweeps stand, at most a second ago.

        Raises:
            SwingbyError: the store cannot be read.
        """
        with self._lock:
            if time.monotonic() - self._at < FRESH:
                return self._standing
            newest = self._layout.newest()
            if newest is None:
                self._standing = Standing()
            else:
                if self._read is None or self._read[0] != newest.number:
                    self._store = self._store or Store.open(self._records.data)
                    self._read = (newest.number, statuses(self._store), self._store.tables())
                sweeps = [replace(one, holder=self._records.holder(one.sweep_id)) for one in self._read[1]]
                sweeps.sort(key=lambda one: one.holder is None)
                self._standing = Standing(tuple(sweeps), newest.number, newest.published)
            self._at = time.monotonic()
            return self._standing

    def tables(self) -> Mapping[str, list[tuple[str, str]]]:
        """Every table of the store with its columns and their types."""
        self.standing()
        return {} if self._read is None else self._read[2]

    def meanings(self) -> Mapping[str, Described]:
        """What tables and columns mean; looked up once for each generation, and not before somebody asks."""
        self.standing()
        with self._lock:
            if self._read is None or self._store is None:
                return {}
            if self._meanings is None or self._meanings[0] != self._read[0]:
                self._meanings = self._read[0], described(self._store)
            return self._meanings[1]

    def close(self) -> None:
        """Closes the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
