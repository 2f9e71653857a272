"""The Parquet of cells: a row for each run, point by point, with its axes and outcomes first, to be queried by URL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.archive.origins import portable_text
from swingby.data.files import clear_os_errors
from swingby.model import registry
from swingby.store import Store
from swingby.store.comments import Meaning, described
from swingby.store.lookup import KnownSweep, written_outcomes
from swingby.store.sql import quoted
from swingby.store.views import OF_SHARD, OUTCOMES_OF
from swingby.sweepfile.parameters import split

CELLS, CURVES = "cells.parquet", "curves.parquet"
ROW_GROUP = 8192
"""Cells of a row group: a query of three columns reads a few kilobytes of each."""
HIDDEN = ("shard", "attempt", "recorded", "kept_in")
"""Columns of a store that say nothing outside of it."""


@dataclass(frozen=True)
class Column:
    """A column of the cells: its role, what it means, and the SQL that reads it."""

    name: str
    role: str
    about: Meaning
    sql: str


@dataclass(frozen=True)
class Columns:
    """The columns of the cells, axes first; and those of the curves beside them, with what they mean."""

    cells: Sequence[Column]
    curves: Mapping[str, Meaning]
    joins: str

    def names(self, role: str) -> list[str]:
        """Those of one role."""
        return [column.name for column in self.cells if column.role == role]


def cell_columns(store: Store, row: KnownSweep) -> Columns:
    """The columns of a sweep's cells: point, axes, seed, status, outcomes, scalars, parameters, id and message."""
    of, there = registry.experiment(row.experiment), store.columns(row.experiment)
    tables = described(store)
    means, of_expressions = (
        dict(tables[name].columns) if name in tables else {}
        for name in (row.experiment, f"{OUTCOMES_OF}{row.experiment}")
    )
    curves = set(of.curves).union(*of.recordings.values())
    columns = [Column("point", "place", Meaning("number of the point in the sweep, from 0 on"), "m.point")]

    def add(name: str, role: str, about: Meaning | None = None, sql: str = "") -> None:
        if name not in {column.name for column in columns}:
            columns.append(Column(name, role, about or means.get(name, Meaning("")), sql or f"e.{quoted(name)}"))

    for name in _axes(store, row.sweep_id):
        base, entry = split(name)
        if base in there and entry is not None:
            about = means.get(base, Meaning(""))
            add(name, "axis", Meaning(f"entry {entry + 1} of {base}: {about.meaning}", about.unit),
                f"e.{quoted(base)}[{entry + 1}]")  # fmt: skip
        elif base in there:
            add(name, "axis")
    add("seed", "place")
    add("status", "outcome")
    joins = dict[str, None]()
    for item in registry.detectors_for(row.experiment, there):
        table = f"outcomes_{item.name}"
        if table not in store.names():
            continue
        joins[quoted(table)] = None
        for name in item.outcomes:
            about = tables[table].columns.get(name) if table in tables else None
            column = name if name not in there else f"{item.name}.{name}"
            add(column, "outcome", about or Meaning(""), f"{quoted(table)}.{quoted(name)}")
    for name, one in written_outcomes(store, row.sweep_id).items():
        joins[quoted(one.table)] = None
        about = of_expressions.get(name) or Meaning(f"the expression {one.expression}")
        add(name, "outcome", about, f"{quoted(one.table)}.value")
    for name in of.scalars:
        if name in there:
            add(name, "scalar")
    for name in there:
        if name not in curves and name not in HIDDEN and name not in ("cell_id", "message"):
            add(name, "parameter" if name in of.Params.model_fields else "place")
    add("cell_id", "place")
    add("message", "place")
    text = " ".join(
        f"left join {table} on {table}.cell_id = e.cell_id and {table}.{OF_SHARD} = e.shard" for table in joins
    )
    return Columns(columns, {name: means.get(name, Meaning("")) for name in there if name in curves}, text)


def _axes(store: Store, sweep_id: str) -> list[str]:
    (row,) = store.sql("select resolved from sweeps where sweep_id = ?", [sweep_id]).rows()
    return [name for axis in json.loads(row.resolved)["axes"] for name in axis["names"]]


def write_cells(store: Store, row: KnownSweep, columns: Columns, path: Path) -> None:
    """Writes a row for each cell, in the order of points and seeds.

    Raises:
        SwingbyError: the disk refuses.
    """
    chosen = ", ".join(f"{column.sql} as {quoted(column.name)}" for column in columns.cells)
    query = f"""select {chosen} from members m join {quoted(row.experiment)} e on e.cell_id = m.cell_id {columns.joins}
                where m.sweep_id = ? order by m.point, e.seed"""
    with store.reading_as(row.sweep_id):
        table = store.sql(query, [row.sweep_id]).arrow()
    for name in table.column_names:
        if pa.types.is_string(table[name].type) and name in ("message", *columns.names("scalar")):
            texts = pa.array([text and portable_text(text) for text in table[name].to_pylist()], pa.string())
            table = table.set_column(table.column_names.index(name), name, texts)
    write_table(table, columns, path)


def write_table(table: pa.Table, columns: Columns, path: Path) -> None:
    """Writes rows that lie in the order of points and seeds, so that a query over HTTP reads few bytes of them.

    Raises:
        SwingbyError: the disk refuses.
    """
    with clear_os_errors(f"write {path.name}"):
        pq.write_table(table, path, **_options(table, columns))


def _options(table: pa.Table, columns: Columns) -> dict[str, Any]:
    """How to write them: what repeats goes by dictionary, measured floats byte by byte; statistics of every page."""
    measured = {*columns.names("scalar"), *columns.names("outcome")}
    split_bytes = [name for name in table.column_names if name in measured and pa.types.is_floating(table[name].type)]
    others = [_leaf(field) for field in table.schema if field.name not in split_bytes and field.name != "cell_id"]
    order = [(name, "ascending") for name in ("point", "seed")]
    return {
        "compression": "zstd",
        "compression_level": 9,
        "use_dictionary": others,
        "column_encoding": dict.fromkeys(split_bytes, "BYTE_STREAM_SPLIT"),
        "row_group_size": ROW_GROUP,
        "data_page_size": 2**16,
        "write_page_index": True,
        "write_page_checksum": True,
        "sorting_columns": pq.SortingColumn.from_ordering(table.schema, order),
    }


def _leaf(field: pa.Field) -> str:
    """A column as Parquet names it: an entry of a list is `.list.element` of it."""
    name, type_ = field.name, field.type
    while pa.types.is_list(type_):
        name, type_ = f"{name}.list.element", type_.value_type
    return name
