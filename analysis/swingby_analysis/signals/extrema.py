"""Zig-zag extrema: the turning points of curves whose legs are all larger than a threshold, for many curves at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals import kernels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Extrema(NamedTuple):
    """The turning points of C curves in one flat table, sorted by curve and then by place.

    Attributes:
        curve: the row of the curve, int (N,).
        at: the index along the curve, int (N,).
        sign: +1 at a peak, -1 at a trough, int (N,); signs alternate within a curve.
    """

    curve: Ints
    at: Ints
    sign: Ints


def zigzag(values: Floats, scale: Floats, floor: Floats) -> Extrema:
    """Turning points of every row of `values`, the last one of each row being the extreme reached since.

    A turn is confirmed at the first place that lies more than max(floor, scale at the extreme, scale at that place)
    beyond the extreme. A row that never moves that far has no turning points; otherwise the first is the extreme
    before the first large move and the last is the one that ends the last large move. The earliest of equals counts.

    Args:
        values: (C, T), finite.
        scale: (C, T), the threshold that the noise asks for at each place; zeros where there is no noise.
        floor: (C,), the least threshold of each row.
    """
    curve, at, sign = kernels.turning_points(values, scale, floor)
    return Extrema(curve, at, sign)
