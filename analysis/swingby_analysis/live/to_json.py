"""Facts as plain JSON values, for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from swingby_analysis.live.facts import Facts
from swingby_analysis.live.phase import Phase, Pool


def facts_json(one: Facts) -> dict[str, Any]:
    """The facts of a sweep: times are ISO 8601 in UTC, durations seconds, and what is not known is null."""
    seen, known = one.seen, one.seen.known
    return {
        "sweep": known.name,
        "sweep_id": known.sweep_id,
        "experiment": known.experiment,
        "cells": known.cells,
        **one.counts,
        "finished": one.finished,
        "holder": one.holder,
        "cells_a_minute": None if one.rate is None else one.rate.per_minute,
        "measured_over_seconds": None if one.rate is None else one.rate.over,
        "seconds_left": one.left,
        "planned": {"at": _time(known.created), "batches": known.batches, "core_seconds": known.core_seconds},
        "hosts": [{**host._asdict(), "last": _time(host.last)} for host in one.hosts],
        "failures": [{**failure._asdict(), "last": _time(failure.last)} for failure in seen.failures],
        "begun": [asdict(cell) for cell in seen.in_progress],
        "waiting_shards": one.waiting,
        "generation": seen.generation,
        "published": _time(seen.published),
        "phase": None if seen.phase is None else _phase(seen.phase),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _phase(found: Phase) -> dict[str, Any]:
    asked, x, y = found.asked, found.x, found.y
    points = []
    for (column, row), pool in sorted(found.pools.items()):
        places = {axis.name: axis.values[place] for axis, place in ((x, column), (y, row)) if axis is not None}
        points.append({"at": places, "planned": pool.planned, "results": pool.results, **_outcome(found, pool)})
    return {
        "detector_table": None if asked is None else asked.table,
        "outcome": None if asked is None else asked.column,
        "value": None if asked is None else asked.value,
        "held": dict(found.at),
        "pooled_over": list(found.over),
        "points": points,
    }


def _outcome(found: Phase, pool: Pool) -> Mapping[str, Any]:
    value = None if found.asked is None else found.asked.value
    category = pool.most if value is None else value
    if pool.numbers:
        middle = pool.median
        return {"told": pool.told, "median": middle if middle is not None and math.isfinite(middle) else None}
    if not pool.counts or category is None:
        return {"told": 0}
    low, high = pool.interval(category)
    return {"told": pool.told, "category": category, "share": pool.share(category), "low": low, "high": high}
