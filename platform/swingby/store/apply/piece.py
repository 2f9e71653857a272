"""Pieces: shards taken apart to be applied, each with its entry, its rows for the index and its curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records.headers import ShardHeader
from swingby.errors import SwingbyError
from swingby.model.experiment import AFTER, SEGMENT_COLUMNS
from swingby.store.packing import packed, shared_steps
from swingby.store.tables import instant, storable


@dataclass(frozen=True, slots=True)
class Piece:
    """A shard, ready to be applied: its entry in `shards`, its rows for the index, its curves for the segment.

    Attributes:
        entry: column -> value.
        curves: packed; `step` is null where all rows share one list of steps.
        steps: that list, as an array of one; None: each row has a list of its own.
        roles: for each column of results, "scalar" or "curve".
        ragged: curves whose length is not the number of recorded steps.
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
    fixed_columns = {*SEGMENT_COLUMNS, AFTER, "attempt", *header.curves}
    scalars = storable(table.select([column for column in table.column_names if column not in fixed_columns]))
    if AFTER not in table.column_names:  # of a version without that column
        table = table.append_column(AFTER, pa.nulls(count, pa.int64()))
    fixed = {**SEGMENT_COLUMNS, AFTER: pa.int64(), "attempt": pa.int64()}
    rows = table.select(list(fixed)).cast(pa.schema(fixed))
    constants = {
        "sweep_id": pa.scalar(header.sweep_id),
        "shard": pa.scalar(name),
        "recorded": pa.scalar(list(header.recorded), pa.list_(pa.string())),
    }
    for column, value in constants.items():
        rows = rows.append_column(column, pa.repeat(value, count))
    rows = rows.append_column("place", pa.array(np.arange(count)))
    import pyarrow.compute as pc

    rows = rows.set_column(rows.column_names.index("from_step"), "from_step", pc.fill_null(rows["from_step"], 0))
    for column in scalars.column_names:
        rows = rows.append_column(column, scalars[column])
    roles = {**dict.fromkeys(scalars.column_names, "scalar"), **dict.fromkeys(curves.column_names, "curve")}
    plain = (
        "plan_id",
        "sweep_id",
        "experiment",
        "batch",
        "attempt",
        "shape",
        "cells",
        "seconds",
        "host",
        "device",
        "pid",
    )
    entry = {
        "shard": name,
        **{key: getattr(header, key) for key in plain},
        "recorded": list(header.recorded),
        "rows": count,
        "bytes": size,
        "started": instant(header.started),
        "finished": instant(header.finished),
        "versions": json.dumps(dict(header.versions)),
    }
    ragged, steps = _ragged(curves), shared_steps(curves)
    if steps is not None:
        place = curves.column_names.index("step")
        curves = curves.set_column(place, "step", pa.nulls(count, curves.schema.field("step").type))
    return Piece(name, header.experiment, entry, rows, packed(curves), steps, roles, ragged)


def _ragged(curves: pa.Table) -> tuple[str, ...]:
    """The curves whose length is not the number of recorded steps in some row."""
    if "step" not in curves.column_names:
        return ()
    import pyarrow.compute as pc

    lengths = {name: pc.call_function("list_value_length", [curves[name]]) for name in curves.column_names}
    differ = {name: pc.call_function("not_equal", [length, lengths["step"]]) for name, length in lengths.items()}
    return tuple(name for name, flags in differ.items() if pc.call_function("any", [flags]).as_py())
