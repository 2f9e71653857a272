"""Fewer digits and fewer points: what makes records small."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def rounded(array: pa.Array, digits: int) -> pa.Array:
    """Floats with so many significant digits at least, also those inside lists; anything else as it is.

    The mantissa keeps as few bits as that takes, and its other bits are 0, which compresses well. Infinite and missing
    numbers stay what they are.
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
    """At most so many of the places 0 .. count - 1, evenly spaced, the first and the last among them."""
    if most <= 0:
        return np.arange(0)
    return np.unique(np.round(np.linspace(0, count - 1, min(most, count))).astype(np.int64))


def thinned(curve: pa.Array, places: np.ndarray) -> pa.Array:
    """The entries of one curve at these places."""
    return curve.take(pa.array(places, pa.int64()))
