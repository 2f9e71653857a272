"""List columns and tables of finished cells from arrays; needs no torch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

Array = np.ndarray
Columns = dict[str, pa.Array]


def rows_of(values: Array) -> pa.Array:
    """A flat double array, or for (N, m) a list<double> array of N lists."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), pa.float64())
    return flat if values.ndim == 1 else lists(np.arange(len(values) + 1) * values.shape[1], flat)


def lists(offsets: Array, values: pa.Array) -> pa.Array:
    """A list array: list i holds values[offsets[i]:offsets[i + 1]]."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """The columns in the order and the types of a schema; a missing one becomes nulls."""
    rows = len(columns["cell_id"])
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
