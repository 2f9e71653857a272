"""How curves lie in a segment: lists of one width as arrays, and steps that many cells share once, numbered.

A list of lists costs a database three times what the same numbers cost as a list of arrays, whose entries have no
offsets of their own; and the recorded steps of a grid's cells are the same list over and over. The views undo both.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

WIDEST = 4096
"""The widest entry of a curve that becomes an array."""


def listed(type_: str) -> str:
    """The type that readers see of a stored type: lists in the place of arrays."""
    return re.sub(r"\[\d+\]", "[]", type_)


def packed(curves: pa.Table) -> pa.Table:
    """Curves in which the entries of lists of lists are arrays, if all entries have one width."""
    for index, field in enumerate(curves.schema):
        if pa.types.is_list(field.type) and pa.types.is_list(field.type.value_type):
            column = _arrays(one_chunk(curves.column(index)))
            curves = curves if column is None else curves.set_column(index, field.name, column)
    return curves


def _arrays(lists: pa.ListArray) -> pa.ListArray | None:
    """Lists of arrays, over the same memory; None if an entry is null or the widths differ."""
    inner = lists.values
    ends = inner.offsets.to_numpy()
    width = int(ends[1] - ends[0]) if len(inner) else 0
    if not 0 < width <= WIDEST or inner.null_count or (np.diff(ends) != width).any():
        return None
    arrays = pa.FixedSizeListArray.from_arrays(inner.values.slice(ends[0], len(inner) * width), width)
    mask = lists.is_null() if lists.null_count else None
    offsets = lists.offsets
    if offsets.offset:  # with a mask, the offsets must begin where they lie in memory
        offsets = pa.array(offsets.to_numpy())
    return pa.ListArray.from_arrays(offsets, arrays, mask=mask)


def one_chunk(column: pa.ChunkedArray) -> Any:
    """A column as one array; not copied if it is one."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def shared_steps(curves: pa.Table) -> pa.ListArray | None:
    """The list of steps that all rows have, as an array of one; None if they differ, or there is none."""
    if "step" not in curves.column_names or not curves.num_rows:
        return None
    steps = one_chunk(curves["step"])
    if steps.null_count or not pa.types.is_integer(steps.type.value_type):
        return None
    lengths = np.diff(steps.offsets.to_numpy())
    flat = steps.flatten()
    if not lengths[0] or flat.null_count or (lengths != lengths[0]).any():
        return None
    rows = flat.to_numpy().reshape(len(steps), -1)
    return steps.slice(0, 1) if (rows == rows[0]).all() else None
