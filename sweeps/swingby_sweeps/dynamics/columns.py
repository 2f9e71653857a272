"""Rows, list columns and tables of finished cells; needs no torch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell

Array = np.ndarray
Columns = dict[str, pa.Array]


def rows_of(values: Array) -> pa.Array:
    """A flat double array, or for (N, m) a list<double> array of N lists."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), pa.float64())
    return flat if values.ndim == 1 else lists(np.arange(len(values) + 1) * values.shape[1], flat)


def lists(offsets: Array, values: pa.Array) -> pa.Array:
    """A list array: list i holds values[offsets[i]:offsets[i + 1]]."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def prefixes(lengths: Array, values: Array) -> pa.Array:
    """A list column: list c holds the first lengths[c] of the values of cell c, from (C, T) or (C, T, m)."""
    offsets, T = np.concatenate([[0], np.cumsum(lengths)]), values.shape[1]
    if offsets[-1] == len(lengths) * T:  # no copy
        return lists(offsets, rows_of(values.reshape(-1, *values.shape[2:])))
    return lists(offsets, rows_of(values[np.arange(T) < lengths[:, None]]))


def finished(
    cells: Sequence[Cell], steps: Array, lengths: Array, status: Array, messages: Sequence[str | None]
) -> Columns:
    """The columns that every final row begins with, and `step`: the first `lengths` (C,) of the recorded steps."""
    rows = len(cells)
    at = np.concatenate([steps[:length] for length in lengths])
    return {
        "cell_id": pa.array([cell.cell_id for cell in cells]),
        "from_step": pa.array(np.zeros(rows, dtype=np.int64)),
        "to_step": pa.array(steps[np.maximum(lengths - 1, 0)]),
        "final": pa.array(np.ones(rows, dtype=bool)),
        "status": pa.array(status.tolist(), pa.string()),
        "message": pa.array(messages, pa.string()),
        "step": lists(np.concatenate([[0], np.cumsum(lengths)]), pa.array(at, pa.int64())),
    }


def final_row(cell: Cell, steps: Sequence[int] | Array, gone: str | None = None) -> dict[str, Any]:
    """What the final row of one cell begins with, and `step`: `finished` for cells that end one by one.

    Args:
        steps: the recorded steps, to the last one that is kept.
        gone: why the cell diverged; None if it did not.
    """
    return {
        "cell_id": cell.cell_id,
        "from_step": 0,
        "to_step": int(steps[-1]),
        "final": True,
        "status": "ok" if gone is None else "diverged",
        "message": gone,
        "step": [int(step) for step in steps],
    }


def table(columns: Columns, schema: pa.Schema, began: float | None = None) -> pa.Table:
    """The columns in the order and the types of a schema; a missing one becomes nulls.

    `seconds` is each cell's share of the time since `began`, a reading of `time.perf_counter`, where that is given.
    """
    rows = len(columns["cell_id"])
    if began is not None:
        columns["seconds"] = pa.array(np.full(rows, (time.perf_counter() - began) / rows))
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
