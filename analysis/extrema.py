"""Zig-zag extrema: the turning points of curves whose legs are all larger than a threshold, for many curves at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    curves, times = values.shape
    rows = np.arange(curves)
    # Rows hold the candidates: 0 the lowest, 1 the highest since the last turn. way: +1 rising, -1 falling, 0 unknown.
    place = np.zeros((2, curves), dtype=np.int64)
    best = np.stack([values[:, 0], values[:, 0]]) if times else np.zeros((2, curves))
    noise = np.maximum(np.stack([scale[:, 0], scale[:, 0]]), floor) if times else np.zeros((2, curves))
    way = np.zeros(curves, dtype=np.int64)
    found: list[tuple[Ints, Ints, int]] = []
    columns, scales = np.ascontiguousarray(values.T), np.ascontiguousarray(scale.T)
    for t in range(1, times):
        now, local = columns[t], scales[t]
        rise = (now - best[0] > np.maximum(noise[0], local)) & (way <= 0)
        fall = (best[1] - now > np.maximum(noise[1], local)) & (way >= 0)
        if rise.any():
            found.append((rows[rise], place[0, rise], -1))
        if fall.any():
            found.append((rows[fall], place[1, fall], +1))
        lower, higher = (now < best[0]) | fall, (now > best[1]) | rise
        way = np.where(rise, 1, np.where(fall, -1, way))
        for side, moved in enumerate((lower, higher)):
            place[side, moved] = t
            best[side, moved] = now[moved]
            noise[side, moved] = np.maximum(local, floor)[moved]
    found.append((rows[way > 0], place[1, way > 0], +1))
    found.append((rows[way < 0], place[0, way < 0], -1))
    curve, at = (np.concatenate([item[i] for item in found]).astype(np.int64) for i in (0, 1))
    sign = np.concatenate([np.full(len(item[0]), item[2]) for item in found]).astype(np.int64)
    order = np.lexsort((at, curve))
    return Extrema(curve[order], at[order], sign[order])
