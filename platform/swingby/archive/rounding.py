"""Rounding and thinning: fewer digits of every number, and fewer records of fewer curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.model.experiment import Experiment
from swingby.store import Store
from swingby.store.sql import quoted


def rounded(array: pa.Array, digits: int) -> pa.Array:
    """Floats rounded to at least `digits` significant digits, also inside lists; other values are unchanged.

    The mantissa keeps as few bits as that takes, and its other bits are 0, which compresses well. Infinite and missing
    numbers do not change.
    """
    if pa.types.is_list(array.type):
        lengths = pc.fill_null(pc.call_function("list_value_length", [array]), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        inner = rounded(array.flatten(), digits)
        return pa.ListArray.from_arrays(offsets, inner, mask=array.is_null())
    if not pa.types.is_floating(array.type):
        return array
    missing = array.is_null().to_numpy(zero_copy_only=False)
    values = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    mantissa, exponent = np.frexp(values)
    # A mantissa lies in [1/2, 1): half a step of it is at most half a unit of the last digit.
    steps = 2.0 ** math.ceil(digits * math.log2(10) + 1)
    with np.errstate(invalid="ignore", over="ignore"):
        kept = np.ldexp(np.round(mantissa * steps) / steps, exponent)
    kept = np.where(np.isinf(kept), values, kept)  # the very largest would round beyond all numbers
    return pa.array(kept, pa.float64(), mask=missing)


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of the places 0 .. count - 1, evenly spaced, with the first and the last."""
    if most <= 0:
        return np.arange(0)
    return np.unique(np.round(np.linspace(0, count - 1, min(most, count))).astype(np.int64))


def thin_curves(store: Store, of: Experiment, cell_ids: Sequence[str], points: int) -> list[dict[str, pa.Array | None]]:
    """The curves of each cell, with at most `points` records; None for a curve that was not recorded."""
    names = ", ".join(map(quoted, of.curves))
    query = f"select cell_id, {names} from {quoted(of.name)} where list_contains($1, cell_id)"
    table = store.sql(query, [list(cell_ids)]).arrow()
    place = {cell_id: index for index, cell_id in enumerate(table["cell_id"].to_pylist())}
    thinned = []
    for cell_id in cell_ids:
        row = {name: table[name][place[cell_id]].values for name in of.curves}
        steps = 0 if row["step"] is None else len(row["step"])
        kept = pa.array(spread(steps, points) if steps else np.arange(0), pa.int64())
        thinned.append({name: None if curve is None else curve.take(kept) for name, curve in row.items()})
    return thinned


def with_thin(
    table: pa.Table, thin: Sequence[Mapping[str, pa.Array | None]], places: np.ndarray, digits: int
) -> pa.Table:
    """A table with the thin curves of the cells at these places as columns; null for all other cells."""
    for name in thin[0] if thin else ():
        values: list[Any] = [None] * table.num_rows
        for place, curves in zip(places.tolist(), thin, strict=True):
            curve = curves[name]
            values[place] = None if curve is None else curve.to_pylist()
        table = table.append_column(name, rounded(pa.array(values), digits))
    return table
