"""The SQL behind a sweep's phase diagram, to begin with in the SQL box."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store.status import SweepStatus
from swingby.store.views import literal, quoted

FIRST = "select name, experiment, cells, created from sweeps order by created desc"


def phase_query(sweep: SweepStatus, tables: Mapping[str, Collection[tuple[str, str]]]) -> str:
    """A row a point of the grid: the parameters that the axes vary, how many cells, and the outcome over seeds."""
    try:
        resolved: dict[str, Any] = json.loads(sweep.resolved)
        axes = [str(name) for axis in resolved.get("axes", ()) for name in axis["names"]]
        outcome = (resolved.get("diagram") or resolved).get("outcome")
    except (ValueError, KeyError, TypeError, AttributeError):
        axes, outcome = [], None
    if sweep.experiment not in tables:
        return f"select * from members where sweep_id = {literal(sweep.sweep_id)}"
    columns = {name for name, _ in tables[sweep.experiment]}
    told, join = _outcome(sweep.experiment, outcome, tables)
    named = {name: _column(name) for name in axes if name.partition(".")[0] in columns or name == "preset"}
    preset = "\njoin conventions using (sweep_id, point)" if "preset" in named else ""
    shown = [code if code == quoted(name) else f"{code} as {quoted(name)}" for name, code in named.items()]
    parts = ["m.point", *shown, "count(*) as cells", told]
    return (
        f"select {', '.join(parts)}\nfrom members m join {quoted(sweep.experiment)} e using (cell_id){join}{preset}\n"
        f"where m.sweep_id = {literal(sweep.sweep_id)}\ngroup by all order by m.point"
    )


def _column(name: str) -> str:
    """An axis as SQL: `rates.1` is entry 1, counted from 0, of the list rates."""
    column, _, entry = name.partition(".")
    return f"{quoted(column)}[{int(entry) + 1}]" if entry.isdecimal() else quoted(column)


def _outcome(
    experiment: str, outcome: str | None, tables: Mapping[str, Collection[tuple[str, str]]]
) -> tuple[str, str]:
    """What is summed up over seeds, and the table that it is in."""
    try:
        detectors = registry.detectors_for(experiment)
    except SwingbyError:
        detectors = []
    for detector in detectors:
        table = f"outcomes_{detector.name}"
        there = {name for name, _ in tables.get(table, ())}
        chosen = outcome if outcome in detector.kinds else None if outcome else next(iter(detector.kinds), None)
        if chosen in there:
            return _summed(chosen, detector.kinds[chosen]), f" join {quoted(table)} o using (cell_id)"
    return "avg((e.status = 'ok')::int) as ok", ""


def _summed(outcome: str, kind: str) -> str:
    if kind == "category":
        return f"mode(o.{quoted(outcome)}) as {quoted(outcome)}"
    value = f"o.{quoted(outcome)}" if kind == "number" else f"o.{quoted(outcome)}::int"
    return f"avg({value}) as {quoted(outcome)}"
