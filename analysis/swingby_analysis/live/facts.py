"""What the store says of one sweep while it runs, as plain facts; what hangs on the moment comes as arguments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from swingby.store import Store
from swingby.store.status import Delivery, InProgress, Reason
from swingby_analysis.live.phase import Phase
from swingby_analysis.live.rate import Rate, measured_rate, seconds_left

LATELY = 600.0
"""Seconds before the last result in which a machine delivered one."""


class Host(NamedTuple):
    """A machine that delivered results: cells in all, processes that delivered lately, when the last came."""

    host: str
    cells: int
    workers: int
    last: float


class SweepFacts(NamedTuple):
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
class Snapshot:
    """What one generation of the store says of a sweep."""

    known: SweepFacts
    generation: int
    published: float
    deliveries: tuple[Delivery, ...]
    failures: tuple[Reason, ...]
    in_progress: tuple[InProgress, ...]
    phase: Phase | None


@dataclass(frozen=True)
class Facts:
    """How a sweep stands now.

    Attributes:
        seen: what the store says.
        counts: cells by how they stand: ok, diverged, failed, missing; they add up to the sweep's cells.
        hosts: the machines that delivered, the latest first.
        rate, left: how fast results come, and seconds until the last is there; only while it runs.
        holder: who runs it, in words.
        waiting: shards that are not in the store yet.
        now: when this was.
    """

    seen: Snapshot
    counts: Mapping[str, int]
    hosts: tuple[Host, ...]
    rate: Rate | None
    left: float | None
    holder: str | None
    waiting: int
    now: float

    @property
    def finished(self) -> bool:
        """Every cell has a result or failed, and nobody runs the sweep."""
        return self.holder is None and not self.counts["missing"]


def known(store: Store, sweep_id: str) -> SweepFacts:
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
    return SweepFacts(sweep_id, row.name, row.experiment, row.cells, row.created, resolved, len(seconds), whole)


def facts(seen: Snapshot, holder: str | None, waiting: int, now: float) -> Facts:
    """How a sweep stands at a moment, by what the store says and who runs it."""
    counts: dict[str, int] = {"ok": 0, "diverged": 0, "failed": 0}
    for shard in seen.deliveries:
        counts[shard.status] = counts.get(shard.status, 0) + shard.cells
    missing = seen.known.cells - sum(counts.values())
    found, ahead = None, None
    if holder is not None:
        marks = [(shard.finished, shard.cells) for shard in seen.deliveries]
        begun = seen.known.created
        found = measured_rate(marks, begun, seen.published, now)
        shares = [cell.share for cell in seen.in_progress]
        ahead = seconds_left(missing, shares, found, now - begun)
    return Facts(seen, {**counts, "missing": missing}, hosts(seen.deliveries), found, ahead, holder, waiting, now)


def hosts(deliveries: Iterable[Delivery]) -> tuple[Host, ...]:
    """The machines that delivered results, the latest first."""
    by_host: dict[str, list[Delivery]] = {}
    for shard in deliveries:
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
