"""The Parquet of cells: a row for each run, point by point, with its axes and outcomes first, to be queried by URL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.archive.origins import portable_text
from swingby.data.files import clear_os_errors
from swingby.model import registry
from swingby.store import Store
from swingby.store.comments import Described, Meaning, described
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
    """The columns of a sweep's cells: point, axes, seed, status, outcomes (that of the diagram first), scalars,
    parameters, id and message."""
    of, there, tables = registry.experiment(row.experiment), store.columns(row.experiment), described(store)
    means = _means(tables, row.experiment)
    (sweep,) = store.sql("select resolved from sweeps where sweep_id = ?", [row.sweep_id]).rows()
    resolved = json.loads(sweep.resolved)

    def plain(name: str, role: str) -> Column:
        return Column(name, role, means.get(name, Meaning("")), f"e.{quoted(name)}")

    curves = set(of.curves).union(*of.recordings.values())
    apart = {*curves, *HIDDEN, *of.scalars, "cell_id", "message"}
    shown = (resolved.get("diagram") or {}).get("outcome") or resolved.get("outcome")
    outcomes = sorted(_outcomes(store, row, tables), key=lambda one: one[0].name != shown)
    every = [
        Column("point", "place", Meaning("number of the point in the sweep, from 0 on"), "m.point"),
        *_axes(resolved, there, means),
        plain("seed", "place"),
        plain("status", "outcome"),
        *(column for column, _ in outcomes),
        *(plain(name, "scalar") for name in of.scalars if name in there),
        *(
            plain(name, "parameter" if name in of.Params.model_fields else "place")
            for name in there
            if name not in apart
        ),
        plain("cell_id", "place"),
        plain("message", "place"),
    ]
    unique: dict[str, Column] = {}
    for column in every:
        unique.setdefault(column.name, column)
    joins = " ".join(
        f"left join {table} on {table}.cell_id = e.cell_id and {table}.{OF_SHARD} = e.shard"
        for table in dict.fromkeys(table for _, table in outcomes)
    )
    kept = {name: means.get(name, Meaning("")) for name in there if name in curves}
    return Columns(list(unique.values()), kept, joins)


def _means(tables: Mapping[str, Described], name: str) -> Mapping[str, Meaning]:
    """What the columns of a table mean, as far as that is declared."""
    return tables[name].columns if name in tables else {}


def _axes(resolved: Mapping[str, Any], there: Mapping[str, str], means: Mapping[str, Meaning]) -> Iterator[Column]:
    """A column for each axis; an entry of a vector, such as the second of rates, has one of its own."""
    for name in (name for axis in resolved["axes"] for name in axis["names"]):
        base, entry = split(name)
        about = means.get(base, Meaning(""))
        if base in there and entry is None:
            yield Column(name, "axis", about, f"e.{quoted(name)}")
        elif base in there and entry is not None:
            text = f"entry {entry + 1} of {base}: {about.meaning}"
            yield Column(name, "axis", Meaning(text, about.unit), f"e.{quoted(base)}[{entry + 1}]")


def _outcomes(store: Store, row: KnownSweep, tables: Mapping[str, Described]) -> Iterator[tuple[Column, str]]:
    """A column for each outcome, with the table that it comes from, quoted; of two of a name the detector is named."""
    names = set(store.columns(row.experiment))
    for item in registry.detectors_for(row.experiment, names):
        table = f"outcomes_{item.name}"
        for outcome in item.outcomes if table in store.names() else ():
            name = f"{item.name}.{outcome}" if outcome in names else outcome
            names.add(name)
            about = _means(tables, table).get(outcome, Meaning(""))
            yield Column(name, "outcome", about, f"{quoted(table)}.{quoted(outcome)}"), quoted(table)
    meanings = _means(tables, f"{OUTCOMES_OF}{row.experiment}")
    for name, one in written_outcomes(store, row.sweep_id).items():
        about = meanings.get(name, Meaning(f"the expression {one.expression}"))
        yield Column(name, "outcome", about, f"{quoted(one.table)}.value"), quoted(one.table)


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
