"""Descents and the bumps between them: drops of the loss beyond the noise, and where the loss rises again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals import kernels, noise
from swingby_analysis.signals.extrema import Extrema, Floats, Ints, zigzag

FLOOR = 0.01
"""The least threshold: 1 % of the unit of the losses."""
FINE = 0.001
"""A second threshold for curves without noise: it shows how much a verdict depends on the 1 %."""


class Rises(NamedTuple):
    """Rises of the loss between two descents, N of them, sorted by curve.

    Attributes:
        curve: row of the curve, int (N,).
        start, peak, end: record where the loss turns up, where it turns down, and the first one after the peak
            that is back at the level of the start (or the lowest after the peak if none is), int (N,).
        height: rise of the loss over its unit, (N,).
        nearer: change of `distance` from start to peak, (N,); NaN if unknown.
        unlearned: largest rise of the training loss anywhere between start and peak minus its own largest threshold
            there, (N,); NaN if unknown.
    """

    curve: Ints
    start: Ints
    peak: Ints
    end: Ints
    height: Floats
    nearer: Floats
    unlearned: Floats

    def only(self, keep: NDArray[np.bool_] | Ints) -> Rises:
        """The rises selected by a mask or by places."""
        return Rises._make(column[keep] for column in self)


class Descent(NamedTuple):
    """How C curves descend.

    Attributes:
        drops: number of drops beyond the threshold, (C,).
        rises: the rises between two of them.
        threshold: largest threshold where the run lives, over the unit of the losses, (C,).
        sd: median of the noise's local standard deviation where the run lives, over that unit, (C,).
    """

    drops: Ints
    rises: Rises
    threshold: Floats
    sd: Floats


def descend(loss: Floats, train: Floats, distance: Floats, steps: Floats, noisy: NDArray[np.bool_]) -> Descent:
    """Count the descents of every row, and measure the rises between them.

    A noisy curve is read through a running median, with a threshold that follows from its noise (`noise.measure`);
    another one as recorded.

    Args:
        loss, train: loss and training loss over their unit, (C, T), finite (train may be NaN).
        distance: a distance that is to fall where a rise is a detour, (C, T), or NaN.
        steps: (T,), strictly increasing.
        noisy: (C,), False where the run has no sampling noise.
    """
    drops, sd, threshold = np.zeros(len(loss), np.int64), np.zeros(len(loss)), np.full(len(loss), FLOOR)
    parts: list[Rises] = []
    quiet, loud = np.flatnonzero(~noisy), np.flatnonzero(noisy)
    if len(quiet):
        scale = np.zeros((len(quiet), loss.shape[1]))
        legs = _legs(loss[quiet], scale)
        drops[quiet] = legs.drops
        part = _rises(legs, loss[quiet], train[quiet], distance[quiet], scale)
        parts.append(part._replace(curve=quiet[part.curve]))
    if len(loud):
        read = noise.measure(loss[loud], steps, FLOOR)
        legs = _legs(read.curve, read.threshold)
        drops[loud], sd[loud], threshold[loud] = legs.drops, read.usual_sd, np.maximum(FLOOR, read.largest)
        # The noise of the training loss matters, and is measured, only where there is a rise.
        rows, row = np.unique(legs.curve, return_inverse=True)
        of_train = noise.measure(train[loud[rows]], steps, FLOOR)
        blocks = np.ascontiguousarray(distance[loud[rows]][:, read.at])
        part = _rises(
            legs._replace(curve=row), read.curve[rows], of_train.curve, noise.smoothed(blocks), of_train.threshold
        )
        start, peak, end = (read.at[place] for place in (part.start, part.peak, part.end))
        parts.append(part._replace(curve=loud[rows[part.curve]], start=start, peak=peak, end=end))
    rises = Rises._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Descent(drops, rises.only(np.argsort(rises.curve, kind="stable")), threshold, sd)


def fine_descents(loss: Floats) -> Ints:
    """Number of drops by more than FINE in every row of `loss` (C, T), (C,); meant for curves without noise."""
    return _drops(zigzag(loss, np.zeros_like(loss), np.full(len(loss), FINE)), len(loss))


def _drops(turns: Extrema, curves: int) -> Ints:
    """Drops of each curve: peaks that a trough follows."""
    follows = _follows(turns)
    return np.bincount(turns.curve[(turns.sign > 0) & follows], minlength=curves)


def _follows(turns: Extrema) -> NDArray[np.bool_]:
    """Turns that another turn of the same curve follows."""
    curve = turns.curve
    return np.append(curve[1:] == curve[:-1], False) if len(curve) else np.zeros(0, dtype=bool)


class _Legs(NamedTuple):
    """Number of drops of C curves, (C,), and of N rises between two drops the curve, the start and the peak, (N,)."""

    drops: Ints
    curve: Ints
    start: Ints
    peak: Ints


def _legs(loss: Floats, scale: Floats) -> _Legs:
    turns = zigzag(loss, scale, np.full(len(loss), FLOOR))
    follows = _follows(turns)
    # A rise between two descents: a trough that is not the first turn, whose peak is not the last.
    inner = np.flatnonzero((turns.sign < 0) & np.roll(follows, 1) & follows & np.roll(follows, -1))
    return _Legs(_drops(turns, len(loss)), turns.curve[inner], turns.at[inner], turns.at[inner + 1])


def _rises(legs: _Legs, loss: Floats, train: Floats, distance: Floats, train_scale: Floats) -> Rises:
    """The rises of curves as they are read; train_scale (C, T): the threshold of the training loss."""
    row, start, peak = legs.curve, legs.start, legs.peak
    allowed = np.full(len(row), FLOOR)
    for place, (index, first, last) in enumerate(zip(row, start, peak, strict=True)):
        allowed[place] = max(FLOOR, train_scale[index, first : last + 1].max())
    unknown = np.isnan(train[row, start]) if len(row) else np.zeros(0, dtype=bool)
    return Rises(
        curve=row,
        start=start,
        peak=peak,
        end=kernels.first_back(loss, row, start, peak),
        height=loss[row, peak] - loss[row, start],
        nearer=distance[row, peak] - distance[row, start],
        unlearned=np.where(unknown, np.nan, kernels.largest_rise(train, row, start, peak) - allowed),
    )


def tallest(rises: Rises) -> Rises:
    """The highest rise of every curve that has one."""
    order = np.lexsort((rises.height, rises.curve))
    last = np.append(rises.curve[order][1:] != rises.curve[order][:-1], True) if len(order) else np.zeros(0, dtype=bool)
    return rises.only(order[last])
