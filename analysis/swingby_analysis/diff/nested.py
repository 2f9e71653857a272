"""A column of nested lists over many cells as one flat array, with the places at which cells and entries begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Places = NDArray[np.int64]
NULL = 0x7FF8_0000_6E75_6C6C
"""The bits that stand for null among numbers: a NaN that no computation makes."""
EXACT = 2**53
"""Integers up to here are exact as float64; greater ones are kept as objects."""


@dataclass(frozen=True)
class Nested:
    """One column of C cells.

    An entry is what a cell recorded at one step: a number, several numbers (four classes, a matrix), or a picture. In a
    column without lists, a cell has one entry with one value.

    Attributes:
        there: (C,), whether the cell has the column.
        outer: (C + 1,), where the entries of each cell begin in `inner`.
        inner: (entries + 1,), where the values of each entry begin in `flat`.
        flat: float64 (null: see NULL), or objects where the values are texts, bytes or integers beyond EXACT.
    """

    there: NDArray[np.bool_]
    outer: Places
    inner: Places
    flat: NDArray[np.float64] | NDArray[np.object_]

    @classmethod
    def of(cls, column: pa.ChunkedArray | pa.Array) -> Nested:
        """Flattens an Arrow column."""
        values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
        there = values.is_valid().to_numpy(zero_copy_only=False)
        if _is_list(values.type):
            outer, values = _ends(values), values.flatten()
        else:
            outer = np.arange(len(values) + 1)
        inner = np.arange(len(values) + 1)
        while _is_list(values.type):
            inner, values = _ends(values)[inner], values.flatten()
        kind = values.type
        if pa.types.is_null(kind):
            return cls(there, outer, inner, np.full(len(values), NULL, np.int64).view(np.float64))
        exact = pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if pa.types.is_integer(kind):
            ends = pc.call_function("min_max", [values])
            exact = not any(end.is_valid and abs(end.as_py()) > EXACT for end in (ends["min"], ends["max"]))
        if not exact:
            objects = np.empty(len(values), dtype=object)
            objects[:] = values.to_pylist()
            return cls(there, outer, inner, objects)
        numbers = values.cast(pa.int8()) if pa.types.is_boolean(kind) else values
        flat = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False, writable=values.null_count > 0)
        if values.null_count:
            flat.view(np.int64)[values.is_null().to_numpy(zero_copy_only=False)] = NULL
        return cls(there, outer, inner, flat)

    @property
    def lengths(self) -> Places:
        """(C,), entries of each cell."""
        return np.diff(self.outer)

    @property
    def sizes(self) -> Places:
        """(C,), values of each cell."""
        return np.diff(self.inner[self.outer])

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.flat.dtype != object

    def cell(self, place: int) -> NDArray[np.float64] | NDArray[np.object_]:
        """Every value of one cell."""
        return self.flat[self.inner[self.outer[place]] : self.inner[self.outer[place + 1]]]


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _ends(values: pa.Array) -> Places:
    """Where each list begins among all entries, and where the last one ends; what is null is empty."""
    lengths = pc.fill_null(pc.call_function("list_value_length", [values]), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def spread(starts: Places, counts: Places) -> Places:
    """Runs of consecutive integers, end to end: start, start + 1, ... for each start, as many as its count."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)
