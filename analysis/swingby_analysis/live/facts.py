"""How one sweep stands while it runs: plain facts from the store, how fast results come, and both as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from swingby.store import Store
from swingby.store.failures import Failure
from swingby.store.refined import Refined, refinements
from swingby.store.status import Delivery, InProgress
from swingby_analysis.live.phase import Phase

LATELY = 600.0
"""A process counts as a worker of its machine if it delivered within so many seconds of the sweep's last result."""
WINDOW = 300.0
"""Seconds over which a rate is measured, where enough shards came in them."""
ENOUGH = 5
"""Shards over which a rate is measured where fewer came in the window: a cell may take hours."""
STALE = 30.0
"""The store is published with some delay; results that are missing for longer than so many seconds have not come."""


class Host(NamedTuple):
    """A machine that delivered results: cells in all, processes that delivered lately, when the last result came."""

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
        refined: how its refinement stands, if it was refined.
    """

    sweep_id: str
    name: str
    experiment: str
    cells: int
    created: float
    resolved: Mapping[str, Any]
    batches: int
    core_seconds: float | None
    refined: Refined | None = None


@dataclass(frozen=True)
class Snapshot:
    """What one generation of the store says of a sweep."""

    sweep: SweepFacts
    generation: int
    published: float
    deliveries: tuple[Delivery, ...]
    failures: tuple[Failure, ...]
    in_progress: tuple[InProgress, ...]
    phase: Phase | None


@dataclass(frozen=True, slots=True)
class Rate:
    """Cells a minute, and the seconds that this was measured over, up to now."""

    per_minute: float
    over: float


@dataclass(frozen=True)
class Facts:
    """How a sweep stands at a moment.

    Attributes:
        snapshot: what the store says.
        counts: cells by how they stand: ok, diverged, failed, missing; they add up to the sweep's cells.
        hosts: the machines that delivered, the latest first.
        rate: how fast results come; None where nobody runs the sweep, or nothing came yet.
        left: seconds until the last result; None where nobody runs the sweep, or it cannot be told.
        holder: who runs it, in words.
        waiting: shards that are not in the store yet.
        now: the moment.
    """

    snapshot: Snapshot
    counts: Mapping[str, int]
    hosts: tuple[Host, ...]
    rate: Rate | None
    left: float | None
    holder: str | None
    waiting: int
    now: float

    @property
    def finished(self) -> bool:
        """Whether every cell has a result or failed, and nobody runs the sweep."""
        return self.holder is None and not self.counts["missing"]


def sweep_facts(store: Store, sweep_id: str) -> SweepFacts:
    """A sweep that the store has, by its id."""
    (row,) = store.sql(
        "select name, experiment, cells, epoch(created) as created, resolved from sweeps where sweep_id = ?", [sweep_id]
    ).rows()
    (plan,) = store.sql(
        "select batches from plans where sweep_id = ? order by sequence desc, plan_id limit 1", [sweep_id]
    ).rows()
    seconds = [note.get("forecast_seconds") for note in json.loads(plan.batches or "[]")]
    measured = [float(one) for one in seconds if isinstance(one, int | float)]
    total = sum(measured) if measured and len(measured) == len(seconds) else None
    resolved = json.loads(row.resolved)
    refined = refinements(store).get(sweep_id)
    return SweepFacts(
        sweep_id, row.name, row.experiment, row.cells, row.created, resolved, len(seconds), total, refined
    )


def facts(snapshot: Snapshot, holder: str | None, waiting: int, now: float) -> Facts:
    """How a sweep stands at a moment, by what the store says and who runs it."""
    counts: dict[str, int] = {"ok": 0, "diverged": 0, "failed": 0}
    by_host: dict[str, list[Delivery]] = {}
    for delivery in snapshot.deliveries:
        counts[delivery.status] = counts.get(delivery.status, 0) + delivery.cells
        by_host.setdefault(delivery.host, []).append(delivery)
    missing = snapshot.sweep.cells - sum(counts.values())
    latest = max((delivery.finished for delivery in snapshot.deliveries), default=0.0)
    hosts = [
        Host(
            host,
            cells=sum(delivery.cells for delivery in deliveries),
            workers=len({delivery.pid for delivery in deliveries if delivery.finished > latest - LATELY}),
            last=max(delivery.finished for delivery in deliveries),
        )
        for host, deliveries in by_host.items()
    ]
    hosts.sort(key=lambda host: (-host.last, host.host))
    rate, left = None, None
    if holder is not None:
        planned = snapshot.sweep.created
        finished = [(delivery.finished, delivery.cells) for delivery in snapshot.deliveries]
        rate = measured_rate(finished, planned, snapshot.published, now)
        left = seconds_left(missing, [cell.share for cell in snapshot.in_progress], rate, now - planned)
    return Facts(snapshot, {**counts, "missing": missing}, tuple(hosts), rate, left, holder, waiting, now)


# how fast results come


def measured_rate(finished: Sequence[tuple[float, int]], planned: float, published: float, now: float) -> Rate | None:
    """The rate of a run over its last minutes.

    Args:
        finished: when cells were finished (seconds since 1970), and how many, in any order.
        planned: when the run was planned; what was finished before does not count.
        published: when the store that these times come from was published.
        now: the time.

    Returns:
        None if nothing has been finished since the run was planned.
    """
    since = sorted(pair for pair in finished if pair[0] > planned)
    if not since:
        return None
    until = max(since[-1][0], published if published > now - STALE else now - STALE)
    start = min(until - WINDOW, since[-ENOUGH - 1][0] if len(since) > ENOUGH else planned)
    start = max(start, planned)
    cells = sum(count for moment, count in since if moment > start)
    over = until - start
    return Rate(60 * cells / over, over) if over > 0 else None


def seconds_left(missing: int, shares: Sequence[float], rate: Rate | None, elapsed: float) -> float | None:
    """Seconds until every cell has its result; None if nothing is known to tell it from.

    Args:
        missing: cells without a result.
        shares: how much is done of those among them that are in progress.
        rate: how fast results come, if any came.
        elapsed: seconds since the run was planned.
    """
    if not missing:
        return 0.0
    ahead = max(0.0, missing - sum(shares))
    if rate is not None:
        return 60 * ahead / rate.per_minute if rate.per_minute > 0 else None
    return max(0.0, elapsed) * ahead / sum(shares) if sum(shares) > 0 else None


# for scripts


def facts_json(sweep: Facts) -> dict[str, Any]:
    """The facts of a sweep as plain JSON values: times are ISO 8601 in UTC, durations seconds, unknown values null."""
    snapshot, known = sweep.snapshot, sweep.snapshot.sweep
    return {
        "sweep": known.name,
        "sweep_id": known.sweep_id,
        "experiment": known.experiment,
        "cells": known.cells,
        **sweep.counts,
        "finished": sweep.finished,
        "holder": sweep.holder,
        "cells_a_minute": None if sweep.rate is None else sweep.rate.per_minute,
        "measured_over_seconds": None if sweep.rate is None else sweep.rate.over,
        "seconds_left": sweep.left,
        "planned": {"at": _time(known.created), "batches": known.batches, "core_seconds": known.core_seconds},
        "hosts": [{**host._asdict(), "last": _time(host.last)} for host in sweep.hosts],
        "failures": [{**failure._asdict(), "last": _time(failure.last)} for failure in snapshot.failures],
        "begun": [asdict(cell) for cell in snapshot.in_progress],
        "waiting_shards": sweep.waiting,
        "refined": None if known.refined is None else asdict(known.refined),
        "generation": snapshot.generation,
        "published": _time(snapshot.published),
        "phase": None if snapshot.phase is None else _phase_json(snapshot.phase),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _phase_json(phase: Phase) -> dict[str, Any]:
    outcome, points = phase.outcome, []
    for (i, j), pool in sorted(phase.pools.items()):
        at = {axis.name: axis.values[index] for axis, index in ((phase.x, i), (phase.y, j)) if axis is not None}
        category = pool.commonest if outcome is None or outcome.value is None else outcome.value
        shown: dict[str, Any] = {"told": 0}
        if pool.numbers:
            middle = pool.median
            finite = middle is not None and math.isfinite(middle)
            shown = {"told": pool.with_outcome, "median": middle if finite else None}
        elif pool.counts and category is not None:
            low, high = pool.interval(category)
            shown = {"told": pool.with_outcome, "category": category, "share": pool.share(category)}
            shown |= {"low": low, "high": high}
        points.append({"at": at, "planned": pool.planned, "results": pool.results, **shown})
    return {
        "detector_table": None if outcome is None else outcome.table,
        "outcome": None if outcome is None else outcome.title or outcome.column,
        "value": None if outcome is None else outcome.value,
        "held": dict(phase.at),
        "pooled_over": list(phase.over),
        "points": points,
    }
