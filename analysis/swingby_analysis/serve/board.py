"""How far each sweep is, for pages that many look at: asked once for each published generation."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.store import Layout, Store
from swingby.store.views import quoted

FRESH = 1.0
"""Seconds for which an answer is given again without a look at the store."""
ROWS = "select sweep_id, name, title, experiment, cells, created, resolved from sweeps order by created desc, sweep_id"
NEWEST = "select sweep_id, max(finished) as finished from shards group by sweep_id"
COUNTS = """select m.sweep_id, e.status, count(*) as cells, max(e.steps) as steps, sum(e.steps) as sum
            from members m join {table} e using (cell_id) group by all"""


@dataclass(frozen=True)
class Standing:
    """How one sweep stands as of a generation.

    Attributes:
        ok, diverged, failed: cells with a final row, by status.
        begun: cells with some rows and no final one; the furthest is at step `furthest`.
        stamp: changes when a report of the sweep would.
        finished: when its newest result was; None without one.
        holder: who runs it now, in words; None if nobody does.
    """

    sweep_id: str
    name: str
    title: str
    experiment: str
    cells: int
    created: datetime
    resolved: str
    ok: int
    diverged: int
    failed: int
    begun: int
    furthest: int
    stamp: tuple[Any, ...]
    finished: datetime | None
    holder: str | None

    @property
    def missing(self) -> int:
        """Cells without a final row."""
        return max(0, self.cells - self.ok - self.diverged - self.failed)


@dataclass(frozen=True)
class Seen:
    """All sweeps (running ones first, then the newest), the generation, and when that was published."""

    sweeps: tuple[Standing, ...] = ()
    generation: int | None = None
    published: float | None = None

    def find(self, sweep: str) -> Standing | None:
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
        self._counted: tuple[int, list[dict[str, Any]], dict[str, list[tuple[str, str]]]] | None = None
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
        return {} if self._counted is None else self._counted[2]

    def close(self) -> None:
        """Lets go of the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def _look(self) -> Seen:
        newest = self._layout.newest()
        if newest is None:
            return Seen()
        if self._counted is None or self._counted[0] != newest.number:
            self._store = self._store or Store.open(self._records.data)
            self._counted = (newest.number, _counted(self._store), self._store.tables())
        found = [Standing(**row, holder=self._records.holder(row["sweep_id"])) for row in self._counted[1]]
        found.sort(key=lambda one: one.holder is None)
        return Seen(tuple(found), newest.number, newest.published)


def _counted(store: Store) -> list[dict[str, Any]]:
    """What the store says of each sweep."""
    rows = store.sql(ROWS).arrow().to_pylist()
    finished = {row.sweep_id: row.finished for row in store.sql(NEWEST).rows()}
    counts: dict[str, dict[str, Any]] = {}
    there = store.tables()
    for experiment in sorted({row["experiment"] for row in rows if row["experiment"] in there}):
        for row in store.sql(COUNTS.format(table=quoted(experiment))).rows():
            counts.setdefault(row.sweep_id, {})[row.status] = row
    return [{**row, **_told(row, counts.get(row["sweep_id"], {}), finished.get(row["sweep_id"]))} for row in rows]


def _told(row: Mapping[str, Any], counts: Mapping[str, Any], finished: datetime | None) -> dict[str, Any]:
    by_status = {status: count.cells for status, count in counts.items()}
    running = counts.get("running")
    steps = sum(int(count.sum or 0) for count in counts.values())
    return {
        "title": (row["title"] or "").strip() or row["name"],
        **{status: by_status.get(status, 0) for status in ("ok", "diverged", "failed")},
        "begun": by_status.get("running", 0),
        "furthest": int(running.steps or 0) if running else 0,
        "finished": finished,
        "stamp": (row["created"], tuple(sorted(by_status.items())), steps, finished),
    }
