"""Example queries for the SQL page, made of the tables and columns that are there: each of them runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store.comments import ALL, OUTCOMES, POINTS
from swingby.store.status import SweepStatus
from swingby.store.views import OF_SHARD, OUTCOMES_OF, SHARE_FIT, literal, quoted
from swingby.sweepfile.parameters import PRESET, split

FIRST = "select name, experiment, cells, created from sweeps order by created desc"
"""The first example on the SQL page."""
SWEEPS, EXPERIMENTS, DETECTORS = 5, 3, 4
"""The most sweeps, experiments and tables of detectors that have examples of their own."""
IDS = ("cell_id", OF_SHARD)
NUMBERS = ("DOUBLE", "FLOAT", "BIGINT", "INTEGER")
Tables = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Example:
    """A query with what it asks for."""

    title: str
    sql: str


def examples(tables: Tables, sweeps: Sequence[SweepStatus]) -> list[Example]:
    """Queries that fit the tables.

    Args:
        sweeps: those of the store, in the order in which they are offered.
    """
    queries = [Example("all sweeps", FIRST)]
    newest = {one.name: one for one in reversed(sweeps)}  # of each name
    offered = list(newest.values())[::-1]
    queries += [Example(f"phase diagram of {one.name}", phase_query(one, tables)) for one in offered[:SWEEPS]]
    for one in offered[:SWEEPS]:
        if one.refined is not None and SHARE_FIT in tables:
            query = f"""select outcome, verdict, count(*) as points, min(mean) as lowest, max(mean) as highest
from {SHARE_FIT} where sweep_id = {literal(one.sweep_id)}
group by all order by outcome, verdict"""
            queries.append(Example(f"{one.name}: points by the side of the line, as fitted", query))
    first: dict[str, SweepStatus] = {}
    for one in offered:
        if one.experiment in tables:
            first.setdefault(one.experiment, one)
    for one in list(first.values())[:EXPERIMENTS]:
        queries += _of_experiment(one, tables)
    detectors = [name for name in tables if name.startswith(OUTCOMES) and not name.startswith(OUTCOMES_OF)]
    for table in [name for name in detectors if not name.endswith(ALL)][:DETECTORS]:
        queries += _of_detector(table, tables[table])
    if "shards" in tables:
        query = """select host, device, count(*) as files, sum("rows") as "rows", round(sum(seconds), 1) as seconds
from shards group by all order by seconds desc"""
        queries.append(Example("where results were trained, and for how long", query))
    return queries


def _of_experiment(sweep: SweepStatus, tables: Tables) -> Iterator[Example]:
    """Queries on the cells of an experiment, and on the curves of its newest sweep."""
    name, columns = sweep.experiment, [column for column, _ in tables[sweep.experiment]]
    table, types = quoted(name), dict(tables[sweep.experiment])
    results = columns[columns.index("attempt") + 1 :]  # scalars, then curves, behind what every table has
    yield Example(
        f"{name}: how cells ended, and why",
        f"select status, message, count(*) as cells\nfrom {table}\ngroup by all order by cells desc limit 100",
    )
    scalar = next((column for column in results if types[column] in NUMBERS), None)
    if scalar is not None:
        yield Example(
            f"{name}: the cells with the largest {scalar}",
            f"select cell_id, seed, {quoted(scalar)}\nfrom {table}\nwhere {quoted(scalar)} is not null\n"
            f"order by {quoted(scalar)} desc limit 20",
        )
    points = {column for column, type_ in tables.get(f"{name}{POINTS}", ()) if type_ in NUMBERS}
    curve = next((column for column in results if column in points and column != "step"), None)
    if curve is not None:
        at = quoted(curve)
        yield Example(
            f"{name}: where {curve} begins, ends and is least",
            f"select cell_id, seed, {at}[1] as first, {at}[-1] as last, list_min({at}) as least\n"
            f"from {table}\nwhere len({at}) > 0\nlimit 100",
        )
        yield Example(
            f"{sweep.name}: mean {curve} at each step",
            f"select step, avg({at}) as mean, min({at}) as least, max({at}) as most, count(*) as cells\n"
            f"from {quoted(name + POINTS)} join members m using (cell_id)\n"
            f"where m.sweep_id = {literal(sweep.sweep_id)}\ngroup by step order by step",
        )
    yield Example(
        f"{name}: what its columns mean",
        f"select column_name, data_type, comment from duckdb_columns()\n"
        f"where table_name = {literal(name)} and database_name = current_database()\norder by column_index",
    )


def _of_detector(table: str, columns: Sequence[tuple[str, str]]) -> Iterator[Example]:
    """How often each value of the first outcome that is a category or yes or no occurs."""
    chosen = next((name for name, type_ in columns if type_ == "BOOLEAN"), None)
    chosen = chosen or next((name for name, type_ in columns if type_ == "VARCHAR" and name not in IDS), None)
    if chosen is not None:
        query = f"select {quoted(chosen)}, count(*) as cells\nfrom {quoted(table)}\ngroup by all order by cells desc"
        yield Example(f"{table}: how often {chosen}", query)


def phase_query(sweep: SweepStatus, tables: Tables) -> str:
    """The SQL of a sweep's phase diagram: a row a point, with the parameters that vary, cells, and the outcome."""
    try:
        resolved: dict[str, Any] = json.loads(sweep.resolved)
        axes = [str(name) for axis in resolved.get("axes", ()) for name in axis["names"]]
        outcome = (resolved.get("diagram") or resolved).get("outcome")
    except (ValueError, KeyError, TypeError, AttributeError):
        axes, outcome = [], None
    if sweep.experiment not in tables:
        return f"select * from members where sweep_id = {literal(sweep.sweep_id)}"
    columns = {name for name, _ in tables[sweep.experiment]}
    value, join = _outcome(sweep, outcome, tables)
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
        f"from members m join {quoted(sweep.experiment)} e using (cell_id){join}{preset}\n"
        f"where m.sweep_id = {literal(sweep.sweep_id)}\ngroup by all order by m.point"
    )


def _outcome(sweep: SweepStatus, outcome: str | None, tables: Tables) -> tuple[str, str]:
    """The outcome over seeds (None: the first one of a detector) as SQL, and the join with the table that has it."""
    experiment, view = sweep.experiment, f"{OUTCOMES_OF}{sweep.experiment}"
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
