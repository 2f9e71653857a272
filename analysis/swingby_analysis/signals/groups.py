"""What is found of the rows of a table, group by group, put together as Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]
Told = tuple[NDArray[Any], Mask]
"""Values, (C,) or, where each is a list, (C, K), and which of the C rows have one."""


class Found:
    """Values of named columns for some of `count` rows; rows that nothing is put into are null.

    Lists may be longer in one group than in another. NaN stays NaN in a column of numbers, and is null within a list.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._parts: dict[str, list[tuple[Ints, NDArray[Any]]]] = {}

    def put(self, rows: Ints, told: Mapping[str, Told]) -> None:
        """Adds values for these rows, (C,), of which none has any yet."""
        for name, (values, known) in told.items():
            part = (rows, values) if known.all() else (rows[known], values[known])
            self._parts.setdefault(name, []).append(part)

    def column(self, name: str, type_: pa.DataType) -> pa.Array:
        """One column, a value a row."""
        parts = [part for part in self._parts.get(name, ()) if len(part[0])]
        if not parts:
            return pa.nulls(self._count, type_)
        return self._lists(parts, type_) if pa.types.is_list(type_) else self._plain(parts, type_)

    def _plain(self, parts: list[tuple[Ints, NDArray[Any]]], type_: pa.DataType) -> pa.Array:
        values, missing = np.zeros(self._count, dtype=parts[0][1].dtype), np.ones(self._count, dtype=bool)
        for rows, part in parts:
            values[rows], missing[rows] = part, False
        return pa.array(values, type_, mask=missing, from_pandas=False)

    def _lists(self, parts: list[tuple[Ints, NDArray[Any]]], type_: pa.ListType) -> pa.Array:
        width, missing = np.zeros(self._count, dtype=np.int64), np.ones(self._count, dtype=bool)
        for rows, part in parts:
            width[rows], missing[rows] = part.shape[1], False
        ends = np.cumsum(width)
        values = np.zeros(ends[-1], dtype=parts[0][1].dtype)
        for rows, part in parts:
            values[(ends - width)[rows, None] + np.arange(part.shape[1])] = part
        offsets = pa.array(np.append(0, ends), pa.int32())
        inner = pa.array(values, type_.value_type, from_pandas=True)
        return pa.ListArray.from_arrays(offsets, inner, type=type_, mask=pa.array(missing))
