"""Builds Arrow columns from values that were computed for one group of rows after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]
Partial = tuple[NDArray[Any], Mask]
"""Values, (C,) or, where each is a list, (C, K), and which of the C rows have one."""


class OutcomeColumns:
    """Named columns of `count` rows; a row without a value is null.

    Lists may be longer in one group than in another. NaN stays NaN in a column of numbers, and is null within a list.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._parts: dict[str, list[tuple[Ints, NDArray[Any]]]] = {}

    def put(self, rows: Ints, columns: Mapping[str, Partial]) -> None:
        """Adds values for these rows, (C,), that have none yet in these columns."""
        for name, (values, known) in columns.items():
            part = (rows, values) if known.all() else (rows[known], values[known])
            self._parts.setdefault(name, []).append(part)

    def column(self, name: str, type_: pa.DataType) -> pa.Array:
        """One column as Arrow, with a value or null for each row."""
        parts = [part for part in self._parts.get(name, ()) if len(part[0])]
        if not parts:
            return pa.nulls(self._count, type_)
        missing = np.ones(self._count, dtype=bool)
        if not pa.types.is_list(type_):
            values = np.zeros(self._count, dtype=parts[0][1].dtype)
            for rows, part in parts:
                values[rows], missing[rows] = part, False
            return pa.array(values, type_, mask=missing, from_pandas=False)
        width = np.zeros(self._count, dtype=np.int64)
        for rows, part in parts:
            width[rows], missing[rows] = part.shape[1], False
        ends = np.cumsum(width)
        values = np.zeros(ends[-1], dtype=parts[0][1].dtype)
        for rows, part in parts:
            values[(ends - width)[rows, None] + np.arange(part.shape[1])] = part
        offsets = pa.array(np.append(0, ends), pa.int32())
        inner = pa.array(values, type_.value_type, from_pandas=True)
        return pa.ListArray.from_arrays(offsets, inner, type=type_, mask=pa.array(missing))
