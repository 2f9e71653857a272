"""The SQL of a sweep's phase diagram over the tables of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store.views import OUTCOMES_OF, literal, quoted
from swingby.sweepfile.parameters import PRESET, split

Tables = Mapping[str, Sequence[tuple[str, str]]]


def point_query(sweep_id: str, experiment: str, resolved: Mapping[str, Any], tables: Tables) -> str:
    """The SQL of a sweep's phase diagram: a row a point, with the parameters that vary, cells, and the outcome.

    Args:
        resolved: the resolved sweep; what it lacks is left out.
        tables: those of the store, with their columns and types.
    """
    try:
        axes = [str(name) for axis in resolved.get("axes", ()) for name in axis["names"]]
        outcome = (resolved.get("diagram") or resolved).get("outcome")
    except (KeyError, TypeError, AttributeError):
        axes, outcome = [], None
    if experiment not in tables:
        return f"select * from members where sweep_id = {literal(sweep_id)}"
    columns = {name for name, _ in tables[experiment]}
    value, join = _outcome(experiment, outcome, tables)
    parts = ["m.point"]
    for name in dict.fromkeys(axes):
        column, entry = split(name)
        if column in columns or name == PRESET:
            # `rates.1` is entry 1, counted from 0, of the list rates; SQL counts from 1.
            code = quoted(column) if entry is None else f"{quoted(column)}[{entry + 1}]"
            parts.append(code if code == quoted(name) else f"{code} as {quoted(name)}")
    preset = "\njoin conventions using (sweep_id, point)" if PRESET in axes else ""
    return (
        f"select {', '.join([*parts, 'count(*) as cells', value])}\n"
        f"from members m join {quoted(experiment)} e using (cell_id){join}{preset}\n"
        f"where m.sweep_id = {literal(sweep_id)}\ngroup by all order by m.point"
    )


def _outcome(experiment: str, outcome: str | None, tables: Tables) -> tuple[str, str]:
    """The outcome over seeds (None: the first one of a detector) as SQL, and the join with the table that has it."""
    view = f"{OUTCOMES_OF}{experiment}"
    if outcome is not None and outcome in dict(tables.get(view, ())):
        join = f" left join {quoted(view)} o on o.sweep_id = m.sweep_id and o.cell_id = m.cell_id"
        return _over_seeds("o", outcome, dict(tables[view])[outcome]), join
    try:
        detectors = registry.detectors_for(experiment)
    except SwingbyError:
        detectors = []
    for detector in detectors:
        table = f"outcomes_{detector.name}"
        chosen = outcome if outcome in detector.kinds else None if outcome else next(iter(detector.kinds), None)
        if chosen in {name for name, _ in tables.get(table, ())}:
            column = f"o.{quoted(chosen)}"
            by_kind = {"category": f"mode({column})", "number": f"avg({column})"}
            value = by_kind.get(detector.kinds[chosen], f"avg({column}::int)")
            return f"{value} as {quoted(chosen)}", f" join {quoted(table)} o using (cell_id)"
    if outcome is not None and outcome in dict(tables[experiment]):
        return _over_seeds("e", outcome, dict(tables[experiment])[outcome]), ""
    return "avg((e.status = 'ok')::int) as ok", ""


def _over_seeds(alias: str, outcome: str, type_: str) -> str:
    """A column over seeds as SQL: the most common text, the share of yes, or the mean."""
    column = f"{alias}.{quoted(outcome)}"
    value = {"VARCHAR": f"mode({column})", "BOOLEAN": f"avg({column}::int)"}.get(type_, f"avg({column})")
    return f"{value} as {quoted(outcome)}"
