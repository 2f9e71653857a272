"""A plan into the index: itself, the members of its sweep, and the parameters of its cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from swingby.data.records.headers import PLAN_COLUMNS, Plan
from swingby.errors import SwingbyError, plain_words
from swingby.store.database import DatabaseError
from swingby.store.sql import script
from swingby.store.tables import (
    Connection,
    Place,
    alterations,
    check_columns,
    ensure_experiment,
    fetch,
    insert,
    insert_one,
    instant,
    note_columns,
    storable,
)
from swingby.store.views import CELL_COLUMNS, quoted

MOST_POINTS = 1_000_000_000
"""The most points of a sweep of which `conventions` can have a row each."""


def apply_plan(connection: Connection, plan: Plan, name: str) -> None:
    """Applies one plan: its own row, the members of its sweep if they are new, the parameters of its cells.

    Raises:
        SwingbyError: a cell has no id, or a parameter clashes with a column that is there.
    """
    table = plan.table
    _check_readable(connection, plan)
    if table["cell_id"].null_count:
        raise SwingbyError("the id of a cell is missing")
    columns = [name for name in table.column_names if name not in PLAN_COLUMNS]
    cells = storable(table.select([*CELL_COLUMNS, *columns]))
    roles = dict.fromkeys((name for name in columns if name in cells.column_names), "parameter")
    check_columns(connection, plan.experiment, roles)
    ensure_experiment(connection, plan.experiment)
    note_columns(connection, plan.experiment, roles)
    _apply_members(connection, plan)
    _apply_cells(connection, Place("ix", "cells", plan.experiment), cells, list(roles))
    insert_one(connection, "ix.plans", _plan_row(plan, name))


def _apply_members(connection: Connection, plan: Plan) -> None:
    """Adds the cells of a plan to those of its sweep: other plans may list the same ones, or some of them."""
    sweep = pa.repeat(pa.scalar(plan.sweep_id), plan.table.num_rows)
    members = plan.table.select(["cell_id", "point"]).append_column("sweep_id", sweep)
    if fetch(connection, "select 1 from ix.plans where sweep_id = ? limit 1", plan.sweep_id):
        (known,) = fetch(connection, "select count(*) from ix.members where sweep_id = ?", plan.sweep_id)[0]
        if known >= _grid_cells(plan):
            return
        connection.register("incoming", members)
        connection.execute(
            """insert into ix.members by name select * from incoming
               anti join (select cell_id from ix.members where sweep_id = ?) using (cell_id)""",
            [plan.sweep_id],
        )
        connection.unregister("incoming")
    else:
        insert(connection, "ix.members", members)


def _grid_cells(plan: Plan) -> float:
    """Cells of the whole grid of a plan's sweep; infinite where its header does not say."""
    points, seeds = plan.resolved.get("points"), plan.resolved.get("seeds")
    return points * len(seeds) if isinstance(points, int) and isinstance(seeds, list) else float("inf")


def replaced(connection: Connection, plan: Plan, name: str) -> bool:
    """Whether a merge has put another plan in the place of the one that was applied under this name."""
    row = _header_row(plan)
    known = fetch(connection, f"select {', '.join(row)} from ix.plans where plan_id = ?", name)
    return bool(known) and known[0] != tuple(row.values())


def reapply_plan(connection: Connection, plan: Plan, name: str) -> None:
    """Applies the plan that has taken the name of another one; both are of one sweep, so its cells stay."""
    _apply_members(connection, plan)
    connection.execute("delete from ix.plans where plan_id = ?", [name])
    insert_one(connection, "ix.plans", _plan_row(plan, name))


def _plan_row(plan: Plan, name: str) -> dict[str, Any]:
    title = plan.resolved.get("title")
    return {
        "plan_id": name,
        "sweep_id": plan.sweep_id,
        "name": plan.name,
        "experiment": plan.experiment,
        "title": None if title is None else str(title),
        "sequence": plan.sequence,
        "cells": plan.table.num_rows,
        "stream_version": plan.stream_version,
        "git_commit": plan.provenance.get("git_commit"),
        "git_dirty": plan.provenance.get("git_dirty"),
        "recording": list(plan.recording.tokens),
        **_header_row(plan),
    }


def _header_row(plan: Plan) -> dict[str, Any]:
    """The columns in which plans of one name differ."""
    return {
        "created": instant(plan.created),
        "resolved": _json(plan.resolved),
        "provenance": _json(plan.provenance),
        "decision": _json(plan.decision) if plan.decision else None,
        "batches": _json(plan.header()["batches"]),
    }


def _json(value: Any) -> str:
    """JSON as every reader takes it.

    Raises:
        SwingbyError: it holds Infinity or NaN, which JSON does not have.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise SwingbyError(f"its header is no JSON: {error}") from error


def _check_readable(connection: Connection, plan: Plan) -> None:
    """Refuses a plan that a view over all plans could not take: one such plan would take the others' answers with it.

    Raises:
        SwingbyError: says so.
    """
    resolved = _json(plan.resolved)
    try:
        ((points,),) = fetch(connection, script("plan"), resolved)
    except DatabaseError as error:
        raise SwingbyError(f"its sweep cannot be read: {plain_words(error).splitlines()[0]}") from error
    if points is not None and not 0 <= points <= MOST_POINTS:
        raise SwingbyError(f"its sweep has {points:,} points; allowed: 0 to {MOST_POINTS:,}")


def _apply_cells(connection: Connection, place: Place, cells: pa.Table, parameters: Sequence[str]) -> None:
    """Inserts new cells, and gives known cells the parameters that they lack."""
    for change in alterations(connection, place, cells.schema):
        connection.execute(change)
    connection.register("incoming", cells)
    if parameters:
        fill = ", ".join(f"{quoted(name)} = coalesce(c.{quoted(name)}, n.{quoted(name)})" for name in parameters)
        lacks = " or ".join(f"c.{quoted(name)} is null and n.{quoted(name)} is not null" for name in parameters)
        connection.execute(f"update {place} c set {fill} from incoming n where c.cell_id = n.cell_id and ({lacks})")
    # Making rows distinct takes ten times as long as checking that they are.
    (once,) = fetch(connection, "select count(*) = count(distinct cell_id) from incoming")[0]
    connection.execute(
        f"insert into {place} by name select {'' if once else 'distinct on (cell_id)'} * from incoming n "
        f"where not exists (select 1 from {place} c where c.cell_id = n.cell_id)"
    )
    connection.unregister("incoming")
