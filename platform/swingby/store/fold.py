"""Folding one record after another into the index and the open curve segment, over a connection that the store opened.

The index is attached as `ix`, the open segment as `seg`. Nothing here begins or commits a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.errors import SwingbyError
from swingby.experiment import SEGMENT_COLUMNS
from swingby.headers import PLAN_COLUMNS, Plan, ShardHeader
from swingby.retractions import Retraction
from swingby.store import standing
from swingby.store.packing import packed, shared_steps
from swingby.store.tables import (
    Connection,
    Place,
    alterations,
    check_columns,
    check_name,
    check_spelling,
    ensure_experiment,
    fetch,
    insert,
    insert_one,
    note_columns,
    storable,
)
from swingby.store.views import CELL_COLUMNS, CURVE_COLUMNS, DERIVED_COLUMNS, quoted


def instant(text: str) -> datetime:
    """An ISO 8601 time as a naive datetime in UTC.

    Raises:
        SwingbyError: it is not one.
    """
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise SwingbyError(f"{text!r} is not a time (ISO 8601)") from error
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


# plans


def fold_plan(connection: Connection, plan: Plan, name: str) -> None:
    """One plan: itself under that name, the members of its sweep if they are new, and the parameters of its cells."""
    table = plan.table
    if table["cell_id"].null_count:
        raise SwingbyError("the id of a cell is missing")
    columns = [name for name in table.column_names if name not in PLAN_COLUMNS]
    cells = storable(table.select([*CELL_COLUMNS, *columns]))
    roles = dict.fromkeys((name for name in columns if name in cells.column_names), "parameter")
    check_columns(connection, plan.experiment, roles)
    ensure_experiment(connection, plan.experiment)
    note_columns(connection, plan.experiment, roles)
    _fold_members(connection, plan, table)
    _fold_cells(connection, Place("ix", "cells", plan.experiment), cells, list(roles))
    insert_one(connection, "ix.plans", _plan_row(plan, name))


def replaced(connection: Connection, plan: Plan, name: str) -> bool:
    """Whether the plan of that name is another one than when it was folded: a merge put the older of two there."""
    told = _header_row(plan)
    known = fetch(connection, f"select {', '.join(told)} from ix.plans where plan_id = ?", name)
    return bool(known) and known[0] != tuple(told.values())


def refold_plan(connection: Connection, plan: Plan, name: str) -> None:
    """Says of a plan what its file says now; its sweep has the same cells."""
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
    """What tells plans of one name apart."""
    return {
        "created": instant(plan.created),
        "resolved": json.dumps(plan.resolved),
        "provenance": json.dumps(plan.provenance),
        "batches": json.dumps(plan.header()["batches"]),
    }


def _fold_members(connection: Connection, plan: Plan, table: pa.Table) -> None:
    # The sweep's id is a hash of its cells: every plan of it lists the same ones.
    if fetch(connection, "select 1 from ix.plans where sweep_id = ? limit 1", plan.sweep_id):
        return
    members = table.select(["cell_id", "point"])
    sweep = pa.repeat(pa.scalar(plan.sweep_id), members.num_rows)
    insert(connection, "ix.members", members.append_column("sweep_id", sweep))


def _fold_cells(connection: Connection, place: Place, cells: pa.Table, parameters: Sequence[str]) -> None:
    """New cells; for known ones, the parameters that were not known of them when they came."""
    for change in alterations(connection, place, cells.schema):
        connection.execute(change)
    connection.register("incoming", cells)
    if parameters:
        fill = ", ".join(f"{quoted(name)} = coalesce(c.{quoted(name)}, n.{quoted(name)})" for name in parameters)
        lacks = " or ".join(f"c.{quoted(name)} is null and n.{quoted(name)} is not null" for name in parameters)
        connection.execute(f"update {place} c set {fill} from incoming n where c.cell_id = n.cell_id and ({lacks})")
    # To make rows distinct takes ten times what it takes to see that they are.
    (once,) = fetch(connection, "select count(*) = count(distinct cell_id) from incoming")[0]
    connection.execute(
        f"insert into {place} by name select {'' if once else 'distinct on (cell_id)'} * from incoming n "
        f"where not exists (select 1 from {place} c where c.cell_id = n.cell_id)"
    )
    connection.unregister("incoming")


# shards


@dataclass(frozen=True, slots=True)
class Piece:
    """A shard, ready to fold: its entry in `shards`, its rows for the index, its curves for the segment.

    Attributes:
        curves: packed; `step` is null where all rows share one list.
        steps: that list, as an array of one.
        ragged: curves that have not one entry for each recorded step.
    """

    name: str
    experiment: str
    entry: Mapping[str, Any]
    rows: pa.Table
    curves: pa.Table
    steps: pa.ListArray | None
    roles: Mapping[str, str]
    ragged: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.rows.nbytes + self.curves.nbytes


def piece(name: str, size: int, header: ShardHeader, table: pa.Table) -> Piece:
    """Takes a shard apart.

    Raises:
        SwingbyError: a curve it names is not there, or a time is none.
    """
    count = table.num_rows
    missing = [curve for curve in header.curves if curve not in table.column_names]
    if missing:
        raise SwingbyError(f"its header names curves that it lacks: {', '.join(missing)}")
    curves = storable(table.select(list(header.curves)))
    own = {*SEGMENT_COLUMNS, "attempt", *header.curves}
    scalars = storable(table.select([column for column in table.column_names if column not in own]))
    rows = table.select([*SEGMENT_COLUMNS, "attempt"]).cast(pa.schema({**SEGMENT_COLUMNS, "attempt": pa.int64()}))
    constants = {
        "sweep_id": pa.scalar(header.sweep_id),
        "shard": pa.scalar(name),
        "recorded": pa.scalar(list(header.recorded), pa.list_(pa.string())),
    }
    for column, value in constants.items():
        rows = rows.append_column(column, pa.repeat(value, count))
    rows = rows.append_column("place", pa.array(np.arange(count)))
    rows = rows.set_column(rows.column_names.index("from_step"), "from_step", pc.fill_null(rows["from_step"], 0))
    for column in scalars.column_names:
        rows = rows.append_column(column, scalars[column])
    roles = {**dict.fromkeys(scalars.column_names, "scalar"), **dict.fromkeys(curves.column_names, "curve")}
    entry, ragged, steps = _shard_row(name, size, header, count), _ragged(curves), shared_steps(curves)
    if steps is not None:
        place = curves.column_names.index("step")
        curves = curves.set_column(place, "step", pa.nulls(count, curves.schema.field("step").type))
    return Piece(name, header.experiment, entry, rows, packed(curves), steps, roles, ragged)


def _shard_row(name: str, size: int, header: ShardHeader, count: int) -> dict[str, Any]:
    plain = ("plan_id", "sweep_id", "experiment", "batch", "attempt", "shape", "cells")
    worker = ("seconds", "host", "device", "pid")
    return {
        "shard": name,
        **{key: getattr(header, key) for key in (*plain, *worker)},
        "recorded": list(header.recorded),
        "rows": count,
        "bytes": size,
        "started": instant(header.started),
        "finished": instant(header.finished),
        "versions": json.dumps(dict(header.versions)),
    }


def _ragged(curves: pa.Table) -> tuple[str, ...]:
    """The curves that have not one entry for each recorded step."""
    if "step" not in curves.column_names:
        return ()
    lengths = {name: pc.call_function("list_value_length", [curves[name]]) for name in curves.column_names}
    differ = {name: pc.call_function("not_equal", [length, lengths["step"]]) for name, length in lengths.items()}
    return tuple(name for name, flags in differ.items() if pc.call_function("any", [flags]).as_py())


def admit(connection: Connection, shard: Piece) -> None:
    """Makes room for a shard: tables and columns that are missing, in the index and in the open segment.

    Raises:
        SwingbyError: its names or types do not go with what is there; nothing was changed.
    """
    check_name(shard.experiment, "experiment")
    check_columns(connection, shard.experiment, shard.roles)
    ensure_experiment(connection, shard.experiment)
    numbered = pa.schema([*(pa.field(name, pa.int64()) for name in CURVE_COLUMNS), *shard.curves.schema])
    changes = [
        *alterations(connection, Place("ix", "rows", shard.experiment), shard.rows.schema),
        *alterations(connection, Place("seg", "curves", shard.experiment), numbered),
    ]
    for change in changes:
        connection.execute(change)
    note_columns(connection, shard.experiment, shard.roles)


RAGGED = "update ix.columns set ragged = true where experiment = ? and name = ? and not ragged"


def alike(pieces: Iterable[Piece], tables: Mapping[str, pa.Table]) -> list[tuple[str, pa.Table]]:
    """Puts the tables of pieces of one experiment and schema together, so that many small shards are one insert."""
    groups: dict[tuple[str, pa.Schema], list[pa.Table]] = {}
    for shard in pieces:
        table = tables[shard.name]
        groups.setdefault((shard.experiment, table.schema), []).append(table)
    return [(experiment, pa.concat_tables(parts)) for (experiment, _), parts in groups.items()]


def fold_curves(connection: Connection, segment: int, pieces: Sequence[Piece]) -> dict[str, pa.Array]:
    """Curves into the open segment, where a shard that is there already keeps its numbers; the numbers of all rows."""
    known = dict(fetch(connection, "select shard, first from seg.shards"))
    (top,) = fetch(connection, 'select coalesce(max(first + "rows"), 0) from seg.shards')[0]
    numbers: dict[str, pa.Array] = {}
    tables: dict[str, pa.Table] = {}
    steps = _fold_steps(connection, [shard for shard in pieces if shard.name not in known])
    for shard in pieces:
        count = shard.rows.num_rows
        first = known.get(shard.name, top)
        start = (segment << 32) + first
        numbers[shard.name] = pa.array(np.arange(start, start + count))
        if shard.name in known:
            continue
        top += count
        curves = shard.curves.add_column(0, "curve", numbers[shard.name])
        tables[shard.name] = numbered_steps(curves, steps.get(shard.name))
        insert_one(connection, "seg.shards", {"shard": shard.name, "first": first, "rows": count})
    for experiment, table in alike([shard for shard in pieces if shard.name in tables], tables):
        insert(connection, str(Place("seg", "curves", experiment)), table)
    return numbers


def numbered_steps(curves: pa.Table, number: int | None) -> pa.Table:
    """Curves with the number of their list of steps; null: each row has its own."""
    return curves.add_column(1, "steps", pa.repeat(pa.scalar(number, pa.int64()), curves.num_rows))


STEPS = """
insert into seg.steps
select (select coalesce(max(number), 0) from seg.steps) + row_number() over (order by min(place)), step
from incoming anti join seg.steps using (step) group by step"""


def _fold_steps(connection: Connection, pieces: Sequence[Piece]) -> dict[str, int]:
    """The lists of steps that whole shards share, each into the open segment once; their numbers, shard by shard."""
    shared = {shard.name: shard.steps.cast(pa.list_(pa.int64())) for shard in pieces if shard.steps is not None}
    if not shared:
        return {}
    table = pa.table({"place": pa.array(range(len(shared))), "step": pa.concat_arrays(shared.values())})
    connection.register("incoming", table)
    connection.execute(STEPS)
    numbers = fetch(connection, "select number from incoming join seg.steps using (step) order by place")
    connection.unregister("incoming")
    return {name: number for name, (number,) in zip(shared, numbers, strict=True)}


def fold_rows(connection: Connection, pieces: Sequence[Piece], numbers: Mapping[str, pa.Array]) -> None:
    """Rows into the index, the shards' names with them, and what follows for the cells they touch."""
    tables = {shard.name: shard.rows.append_column("curve", numbers[shard.name]) for shard in pieces}
    for shard in pieces:
        insert_one(connection, "ix.shards", shard.entry)
        for curve in shard.ragged:
            connection.execute(RAGGED, [shard.experiment, curve])
    for experiment, table in alike(pieces, tables):
        insert(connection, str(Place("ix", "rows", experiment)), table)
        _settle(connection, experiment, table.select(["cell_id"]))


def _settle(connection: Connection, experiment: str, fresh: pa.Table) -> None:
    """Chooses again for the cells that got rows."""
    connection.register("fresh", fresh)
    touched = [cell for (cell,) in fetch(connection, standing.affected(experiment))]
    connection.unregister("fresh")
    if not touched:
        return
    connection.register("affected", pa.table({"cell_id": pa.array(touched, pa.string())}))
    for statement in standing.statements(experiment):
        connection.execute(statement)
    connection.unregister("affected")


# retractions


def fold_retraction(connection: Connection, record: str, retraction: Retraction) -> None:
    """One retraction; its cells are chosen again, without what it takes back."""
    insert_one(connection, "ix.retractions", _retraction_row(record, retraction))
    table = retraction.table.append_column("record", pa.repeat(pa.scalar(record), retraction.table.num_rows))
    insert(connection, "ix.retracted", table)
    known = "select table_name from duckdb_tables() where database_name = 'ix' and schema_name = 'rows'"
    for (experiment,) in fetch(connection, known):
        _settle(connection, experiment, table.select(["cell_id"]))


def _retraction_row(record: str, retraction: Retraction) -> dict[str, Any]:
    plain = ("reason", "sweep_id", "sweep", "who", "host", "command")
    cells = pc.call_function("count_distinct", [retraction.table["cell_id"]]).as_py()
    told = {name: getattr(retraction, name) for name in plain}
    return {"record": record, **told, "cells": cells, "created": instant(retraction.created)}


# derived


def fold_derived(connection: Connection, record: str, header: Mapping[str, Any], table: pa.Table) -> None:
    """One derived file; of one version and key the latest file's row counts.

    Raises:
        SwingbyError: its name, key or columns do not go with what is there.
    """
    kind, key = header["kind"], list(header["key"])
    check_name(kind, "kind of derived records")
    table = storable(table)
    _check_derived(connection, kind, key, table)
    constants = {"version": header["version"], "record": record, "created": instant(header["created"])}
    for index, (column, value) in enumerate(constants.items()):
        type_ = pa.timestamp("us") if column == "created" else pa.string()
        table = table.add_column(index, column, pa.repeat(pa.scalar(value, type_), table.num_rows))
    place = Place("ix", "derived", kind)
    for change in alterations(connection, place, table.schema):
        connection.execute(change)
    fresh = _all_new(connection, place, ["version", *key], table)
    insert(connection, str(place), table)
    if not fresh:
        _drop_older(connection, place, key, record)


def _check_derived(connection: Connection, kind: str, key: list[str], table: pa.Table) -> None:
    check_spelling(table.column_names)
    known = fetch(connection, "select key from ix.kinds where kind = ?", kind)
    if fetch(connection, "select 1 from ix.columns where experiment = ?", kind):
        raise SwingbyError(f"its kind {kind!r} is the name of an experiment")
    if known and known[0][0] != key:
        raise SwingbyError(f"its key is ({', '.join(key)}), and ({', '.join(known[0][0])}) in the store")
    empty = [name for name in key if name not in table.column_names]
    if empty or not key:
        raise SwingbyError(f"its key ({', '.join(key)}) tells no rows apart: {', '.join(empty) or 'it'} holds nothing")
    lower = [name.lower() for name in table.column_names]
    clash = sorted({name for name in lower if name in DERIVED_COLUMNS or lower.count(name) > 1})
    if clash:
        raise SwingbyError(f"its columns {', '.join(clash)} clash with the store's own, or with each other")
    if not known:
        insert_one(connection, "ix.kinds", {"kind": kind, "key": key})


def _all_new(connection: Connection, place: Place, key: list[str], table: pa.Table) -> bool:
    """Whether each key of a table comes once, and is not there yet: then nothing has to be dropped."""
    names = ", ".join(map(quoted, key))
    connection.register("incoming", table)
    (found,) = fetch(
        connection,
        f"""select exists (from {place} semi join incoming using ({names}))
              or (select count(*) from incoming) > (select count(*) from (select distinct {names} from incoming))""",
    )[0]
    connection.unregister("incoming")
    return not found


def _drop_older(connection: Connection, place: Place, key: list[str], record: str) -> None:
    names = ", ".join(map(quoted, key))
    connection.execute(
        f"""delete from {place} where rowid in (
              select rowid from (
                select rowid, row_number() over (
                  partition by version, {names} order by created desc, record desc) as age
                from {place} semi join (select version, {names} from {place} where record = ?) using (version, {names}))
              where age > 1)""",
        [record],
    )
