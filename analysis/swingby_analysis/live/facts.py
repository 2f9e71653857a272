"""What the store says of one sweep while it runs, as plain facts; what hangs on the moment comes as arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from swingby.store import Store
from swingby_analysis.live.phase import Phase
from swingby_analysis.live.rate import Pace, left, pace

FAILURES = 5
LATELY = 600.0
"""Seconds before the last result in which a machine delivered one."""


class Shard(NamedTuple):
    """Cells of a sweep that came from one place with one status: times are seconds since 1970."""

    status: str
    cells: int
    host: str
    pid: int
    finished: float


class Failure(NamedTuple):
    """Cells that failed for the same reason, numbers apart: the latest message, how many, and when the last one did."""

    message: str
    cells: int
    last: float


class Host(NamedTuple):
    """A machine that delivered results: cells in all, processes that delivered lately, when the last came."""

    host: str
    cells: int
    workers: int
    last: float


class BegunCell(NamedTuple):
    """A cell that is under way: its last recorded step, and how many it takes (0: nobody knows)."""

    cell_id: str
    steps: int
    total: int


class Known(NamedTuple):
    """A sweep as the store has it.

    Attributes:
        created: when its newest plan was made.
        resolved: the sweep as plain JSON.
        batches, core_seconds: of that plan; seconds are None if they were not measured.
    """

    sweep_id: str
    name: str
    experiment: str
    cells: int
    created: float
    resolved: Mapping[str, Any]
    batches: int
    core_seconds: float | None


@dataclass(frozen=True)
class Seen:
    """What one generation of the store says of a sweep."""

    known: Known
    generation: int
    published: float
    shards: tuple[Shard, ...]
    failures: tuple[Failure, ...]
    begun: tuple[BegunCell, ...]
    phase: Phase | None


@dataclass(frozen=True)
class Facts:
    """How a sweep stands now.

    Attributes:
        seen: what the store says.
        counts: cells by how they stand: ok, diverged, failed, missing; they add up to the sweep's cells.
        hosts: the machines that delivered, the latest first.
        pace, left: how fast results come and in how many seconds the last will be there; only while it runs.
        holder: who runs it, in words.
        waiting: shards that are not folded into the store.
        now: when this was.
    """

    seen: Seen
    counts: Mapping[str, int]
    hosts: tuple[Host, ...]
    pace: Pace | None
    left: float | None
    holder: str | None
    waiting: int
    now: float

    @property
    def finished(self) -> bool:
        """Every cell has a result or failed, and nobody runs the sweep."""
        return self.holder is None and not self.counts["missing"]


def known(store: Store, sweep_id: str) -> Known:
    """A sweep that the store has."""
    (row,) = store.sql(
        "select name, experiment, cells, epoch(created) as created, resolved from sweeps where sweep_id = ?", [sweep_id]
    ).rows()
    (plan,) = store.sql(
        "select batches from plans where sweep_id = ? order by sequence desc, plan_id limit 1", [sweep_id]
    ).rows()
    seconds = [note.get("forecast_seconds") for note in json.loads(plan.batches or "[]")]
    measured = [float(one) for one in seconds if isinstance(one, int | float)]
    whole = sum(measured) if measured and len(measured) == len(seconds) else None
    resolved = json.loads(row.resolved)
    return Known(sweep_id, row.name, row.experiment, row.cells, row.created, resolved, len(seconds), whole)


def results(store: Store, experiment: str, sweep_id: str) -> tuple[Shard, ...]:
    """The sweep's cells that came to an end, by where and when they did."""
    if experiment not in store.tables():
        return ()
    rows = store.sql(
        f"""with ended as (
              select e.status, e.shard, count(*) as cells from members m join "{experiment}" e using (cell_id)
              where m.sweep_id = ? and e.status <> 'running' group by all)
            select status, ended.cells, coalesce(host, '') as host, coalesce(pid, 0) as pid, epoch(finished) as finished
            from ended left join shards using (shard)""",
        [sweep_id],
    ).rows()
    return tuple(Shard(*row) for row in rows)


def failures(store: Store, experiment: str, sweep_id: str) -> tuple[Failure, ...]:
    """Why cells failed, the latest reasons first; messages that differ in numbers only are one."""
    rows = store.sql(
        f"""select arg_max(coalesce(e.message, ''), (s.finished, e.cell_id)) as message, count(*) as cells,
                   epoch(max(s.finished)) as last
            from members m join "{experiment}" e using (cell_id) join shards s on s.shard = e.shard
            where m.sweep_id = ? and e.status = 'failed'
            group by regexp_replace(coalesce(e.message, ''), '[-+]?[0-9][0-9.eE+-]*', '#', 'g')
            order by last desc, cells desc, message limit {FAILURES}""",
        [sweep_id],
    ).rows()
    return tuple(Failure(*row) for row in rows)


def facts(seen: Seen, holder: str | None, waiting: int, now: float) -> Facts:
    """How a sweep stands at a moment, by what the store says and who runs it."""
    counts: dict[str, int] = {"ok": 0, "diverged": 0, "failed": 0}
    for shard in seen.shards:
        counts[shard.status] = counts.get(shard.status, 0) + shard.cells
    missing = seen.known.cells - sum(counts.values())
    found, ahead = None, None
    if holder is not None:
        marks = [(shard.finished, shard.cells) for shard in seen.shards]
        begun = seen.known.created
        found = pace(marks, begun, seen.published, now)
        shares = [min(1.0, cell.steps / cell.total) for cell in seen.begun if cell.total]
        ahead = left(missing, shares, found, now - begun)
    return Facts(seen, {**counts, "missing": missing}, hosts(seen.shards), found, ahead, holder, waiting, now)


def hosts(shards: Iterable[Shard]) -> tuple[Host, ...]:
    """The machines that delivered, the latest first."""
    by_host: dict[str, list[Shard]] = {}
    for shard in shards:
        by_host.setdefault(shard.host, []).append(shard)
    latest = max((shard.finished for found in by_host.values() for shard in found), default=0.0)
    every = [
        Host(
            host,
            sum(shard.cells for shard in found),
            len({shard.pid for shard in found if shard.finished > latest - LATELY}),
            max(shard.finished for shard in found),
        )
        for host, found in by_host.items()
    ]
    return tuple(sorted(every, key=lambda host: (-host.last, host.host)))
