"""Shards and retractions into the open segment and the index; they decide which row is the result of a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from swingby.data.records.retractions import Retraction
from swingby.store.apply.piece import Piece
from swingby.store.sql import query, script
from swingby.store.tables import (
    Connection,
    Place,
    alterations,
    check_columns,
    check_name,
    ensure_experiment,
    fetch,
    indexed,
    insert,
    insert_one,
    instant,
    note_columns,
)
from swingby.store.views import CURVE_COLUMNS


def make_tables(connection: Connection, shard: Piece) -> None:
    """Makes the tables and columns that a shard needs, in the index and in the open segment.

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


def apply_curves(connection: Connection, segment: int, pieces: Sequence[Piece]) -> dict[str, pa.Array]:
    """Puts curves into the open segment and numbers all rows; a shard that is there already keeps its numbers."""
    known = dict(fetch(connection, "select shard, first from seg.shards"))
    (top,) = fetch(connection, 'select coalesce(max(first + "rows"), 0) from seg.shards')[0]
    numbers: dict[str, pa.Array] = {}
    tables: dict[str, pa.Table] = {}
    lists = {
        shard.name: shard.steps.cast(pa.list_(pa.int64()))
        for shard in pieces
        if shard.name not in known and shard.steps is not None
    }
    steps: dict[str, int] = {}
    if lists:  # a list of steps is stored once, and numbered
        table = pa.table({"place": pa.array(range(len(lists))), "step": pa.concat_arrays(lists.values())})
        connection.register("incoming", table)
        connection.execute(script("steps"))
        rows = fetch(connection, "select number from incoming join seg.steps using (step) order by place")
        connection.unregister("incoming")
        steps = {name: number for name, (number,) in zip(lists, rows, strict=True)}
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
    """Curves with the number of their list of steps as a column; null: each row has a list of its own."""
    return curves.add_column(1, "steps", pa.repeat(pa.scalar(number, pa.int64()), curves.num_rows))


def apply_rows(connection: Connection, pieces: Sequence[Piece], numbers: Mapping[str, pa.Array]) -> None:
    """Puts rows and the names of their shards into the index, then chooses again the results of their cells."""
    tables = {shard.name: shard.rows.append_column("curve", numbers[shard.name]) for shard in pieces}
    for shard in pieces:
        insert_one(connection, "ix.shards", shard.entry)
        for curve in shard.ragged:
            connection.execute(RAGGED, [shard.experiment, curve])
    for experiment, table in alike(pieces, tables):
        insert(connection, str(Place("ix", "rows", experiment)), table)
        resolve(connection, experiment, table.select(["cell_id"]))


def apply_retraction(connection: Connection, record: str, retraction: Retraction) -> None:
    """Applies one retraction; the results of its cells are chosen again, without the rows that it takes back."""
    import pyarrow.compute as pc

    cells = pc.call_function("count_distinct", [retraction.table["cell_id"]]).as_py()
    plain = {name: getattr(retraction, name) for name in ("reason", "sweep_id", "sweep", "who", "host", "command")}
    row = {"record": record, **plain, "cells": cells, "created": instant(retraction.created)}
    insert_one(connection, "ix.retractions", row)
    table = retraction.table.append_column("record", pa.repeat(pa.scalar(record), retraction.table.num_rows))
    insert(connection, "ix.retracted", table)
    for experiment in indexed(connection):
        resolve(connection, experiment, table.select(["cell_id"]))


def resolve(connection: Connection, experiment: str, fresh: pa.Table) -> None:
    """Chooses the results of the cells in `fresh` again: which row is the result, and which pieces make its curves.

    The rules are those of `sql/resolve.sql`. A cell with a single row, final and from step 0 on, needs no choice.
    """
    connection.register("fresh", fresh)
    touched = [cell for (cell,) in fetch(connection, query("affected", experiment))]
    connection.unregister("fresh")
    if not touched:
        return
    connection.register("affected", pa.table({"cell_id": pa.array(touched, pa.string())}))
    connection.execute(query("resolve", experiment))
    connection.unregister("affected")
