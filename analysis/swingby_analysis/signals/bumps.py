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
        threshold: the threshold it passed, over that unit, (N,).
        nearer: change of `distance` from start to peak, (N,); NaN if unknown.
        unlearned: rise of the training loss from start to peak minus its own threshold, (N,); NaN if unknown.
    """

    curve: Ints
    start: Ints
    peak: Ints
    end: Ints
    height: Floats
    threshold: Floats
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
        threshold: median of the threshold over the curve, over their unit, (C,).
        sd: median of the noise's local standard deviation, over their unit, (C,).
    """

    drops: Ints
    rises: Rises
    threshold: Floats
    sd: Floats


def descend(loss: Floats, train: Floats, distance: Floats, steps: Floats, noisy: NDArray[np.bool_]) -> Descent:
    """Count the descents of every row, and measure the rises between them.

    A noisy curve is read twice: as recorded, and as the running mean over five of about 200 blocks, in which a wide
    bump stands out of white noise by more. Each reading has its own calibrated threshold; the reading with more
    descents counts, the first one if both have equally many.

    Args:
        loss, train: loss and training loss over their unit, (C, T), finite (train may be NaN).
        distance: a distance that is to fall where a rise is a detour, (C, T), or NaN.
        steps: (T,), strictly increasing.
        noisy: (C,), False where the run has no sampling noise.
    """
    scale, sd, threshold = np.zeros_like(loss), np.zeros(len(loss)), np.full(len(loss), FLOOR)
    rows = np.flatnonzero(noisy)
    if not len(rows):
        legs = _legs(loss, scale)
        return Descent(legs.drops, _as_recorded(legs, loss, train, distance, scale, steps, noisy), threshold, sd)
    of_loss = noise.measure(loss[rows], steps)
    scale[rows], sd[rows] = of_loss.threshold, noise.middle(of_loss.sd).mean(axis=0)
    threshold[rows] = _usual(of_loss.sd, noise.factor(of_loss.red))
    legs, means = _legs(loss, scale), _legs(noise.running_mean(of_loss.coarse), of_loss.mean_threshold)
    better = means.drops > legs.drops[rows]
    taken = rows[better]
    drops = legs.drops.copy()
    drops[taken] = means.drops[better]
    threshold[taken] = _usual(of_loss.coarse_sd[better], noise.factor(of_loss.red[better], noise.MEAN_FACTORS))
    replaced = np.isin(np.arange(len(loss)), taken)
    first = _as_recorded(legs.only(~replaced[legs.curve]), loss, train, distance, scale, steps, noisy)
    second = _of_means(means.only(better[means.curve]), of_loss, train[rows], distance[rows], steps)
    # No curve has rises of both readings.
    both = zip(first, second._replace(curve=rows[second.curve]), strict=True)
    rises = Rises._make(np.concatenate(pair) for pair in both)
    return Descent(drops, rises.only(np.argsort(rises.curve, kind="stable")), threshold, sd)


def _usual(sd: Floats, factor: Floats) -> Floats:
    """The median threshold along every row whose noise has this local sd, (C, T), and this factor, (C,)."""
    return np.maximum(FLOOR, (factor * noise.middle(sd)).mean(axis=0))


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

    def only(self, keep: NDArray[np.bool_]) -> _Legs:
        """The rises selected by a mask."""
        return _Legs(self.drops, self.curve[keep], self.start[keep], self.peak[keep])


def _legs(loss: Floats, scale: Floats) -> _Legs:
    turns = zigzag(loss, scale, np.full(len(loss), FLOOR))
    follows = _follows(turns)
    # A rise between two descents: a trough that is not the first turn, whose peak is not the last.
    inner = np.flatnonzero((turns.sign < 0) & np.roll(follows, 1) & follows & np.roll(follows, -1))
    return _Legs(_drops(turns, len(loss)), turns.curve[inner], turns.at[inner], turns.at[inner + 1])


def _as_recorded(
    legs: _Legs, loss: Floats, train: Floats, distance: Floats, scale: Floats, steps: Floats, noisy: NDArray[np.bool_]
) -> Rises:
    """The rises of the first reading; the noise of the training loss matters, and is measured, only where one is."""
    rows, row = np.unique(legs.curve, return_inverse=True)
    train_scale, loud = np.zeros((len(rows), len(steps))), noisy[rows]
    if loud.any():
        train_scale[loud] = noise.measure(train[rows[loud]], steps).threshold
    found = _rises(legs._replace(curve=row), loss[rows], train[rows], distance[rows], scale[rows], train_scale)
    return found._replace(curve=rows[row])


def _of_means(legs: _Legs, of_loss: noise.Noise, train: Floats, distance: Floats, steps: Floats) -> Rises:
    """The rises of the second reading; the records they name are those in the middle of its blocks."""
    rows, row = np.unique(legs.curve, return_inverse=True)
    of_train, (coarse_distance, _) = noise.measure(train[rows], steps), noise.resampled(distance[rows], steps)
    found = _rises(
        legs._replace(curve=row),
        noise.running_mean(of_loss.coarse[rows]),
        noise.running_mean(of_train.coarse),
        noise.running_mean(coarse_distance),
        of_loss.mean_threshold[rows],
        of_train.mean_threshold,
    )
    starts = noise.block_starts(len(steps))
    middle = (starts + np.append(starts[1:], len(steps)) - 1) // 2
    start, peak, end = (middle[at] for at in (found.start, found.peak, found.end))
    return found._replace(curve=rows[row], start=start, peak=peak, end=end)


def _rises(legs: _Legs, loss: Floats, train: Floats, distance: Floats, scale: Floats, train_scale: Floats) -> Rises:
    row, start, peak = legs.curve, legs.start, legs.peak
    allowed = np.maximum(FLOOR, np.maximum(train_scale[row, start], train_scale[row, peak]))
    return Rises(
        curve=row,
        start=start,
        peak=peak,
        end=kernels.first_back(loss, row, start, peak),
        height=loss[row, peak] - loss[row, start],
        threshold=np.maximum(FLOOR, np.maximum(scale[row, start], scale[row, peak])),
        nearer=distance[row, peak] - distance[row, start],
        unlearned=train[row, peak] - train[row, start] - allowed,
    )


def tallest(rises: Rises) -> Rises:
    """The highest rise of every curve that has one."""
    order = np.lexsort((rises.height, rises.curve))
    last = np.append(rises.curve[order][1:] != rises.curve[order][:-1], True) if len(order) else np.zeros(0, dtype=bool)
    return rises.only(order[last])
