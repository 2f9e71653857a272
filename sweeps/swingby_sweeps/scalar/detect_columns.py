"""Columns of a table of results as arrays, and outcomes as columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from swingby.model.experiment import Column

Array = np.ndarray


def number(table: pa.Table, name: str) -> Array:
    """A column of numbers, (R,) float64; NaN where it is null."""
    return np.asarray(table[name].cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def text(table: pa.Table, name: str) -> Array:
    """A column of texts, (R,) object; None where it is null."""
    return np.array(table[name].to_pylist(), dtype=object)


def outcomes(table: pa.Table, declared: Mapping[str, Column], values: Mapping[str, Array]) -> pa.Table:
    """`cell_id` and the declared outcomes; NaN, infinity and None are null."""
    columns = {}
    for name, column in declared.items():
        column_values = values[name]
        if column_values.dtype.kind == "f":
            column_values = known(column_values, np.isfinite(column_values))
        columns[name] = pa.array(column_values.tolist(), column.type)
    return pa.table({"cell_id": table["cell_id"].cast(pa.string()), **columns})


def known(values: Array, where: Array) -> Array:
    """Values as objects; None where they are not known."""
    masked = values.astype(object)
    masked[~where] = None
    return masked


def first_case(*cases: tuple[Array, str]) -> Array:
    """The name of the first case that is true of each row, (R,) object; None where none is."""
    names = np.full(len(cases[0][0]), None, dtype=object)
    for where, name in reversed(cases):
        names[np.asarray(where, dtype=bool)] = name
    return names
