"""Descents and the bumps between them: drops of the loss beyond the noise, and where the loss rises again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis import noise
from analysis.extrema import Floats, Ints, zigzag

FLOOR = 0.01
"""The least threshold: 1 % of L_ref."""


class Rises(NamedTuple):
    """Rises of the loss between two descents, N of them, sorted by curve.

    Attributes:
        curve: row of the curve, int (N,).
        start, peak, end: record where the loss turns up, where it turns down, and the first one after the peak
            that is back at the level of the start (or the lowest after the peak if none is), int (N,).
        height: rise of the loss over L_ref, (N,).
        tau: the threshold it passed, over L_ref, (N,).
        nearer: change of the distance to the nearest training centre from start to peak, (N,); NaN if unknown.
        unlearned: rise of the training loss from start to peak minus its own threshold, (N,); NaN if unknown.
    """

    curve: Ints
    start: Ints
    peak: Ints
    end: Ints
    height: Floats
    tau: Floats
    nearer: Floats
    unlearned: Floats

    def only(self, keep: NDArray[np.bool_] | Ints) -> Rises:
        """The rises selected by a mask or by places."""
        return Rises._make(column[keep] for column in self)


class Descent(NamedTuple):
    """How C curves descend: drops beyond the threshold, (C,), the rises between them, the median threshold, (C,)."""

    drops: Ints
    rises: Rises
    tau: Floats


def descend(loss: Floats, train: Floats, distance: Floats, steps: Floats, noisy: NDArray[np.bool_]) -> Descent:
    """Count the descents of every row, and measure the rises between them.

    A noisy curve is read twice: as recorded, and as the running mean over five of about 200 blocks, in which a wide
    bump stands out of white noise by more. Each reading has its own calibrated threshold; the one that tells more
    descents stands, the first if they agree.

    Args:
        loss, train: OOD and training loss over L_ref, (C, T), finite (train may be NaN).
        distance: distance of the output to the nearest training centre, (C, T), or NaN.
        steps: (T,), strictly increasing.
        noisy: (C,), False where the run has no sampling noise.
    """
    scale, train_scale = np.zeros_like(loss), np.zeros_like(loss)
    if noisy.any():
        scale[noisy] = noise.thresholds(loss[noisy], steps)
        train_scale[noisy] = noise.thresholds(train[noisy], steps)
    plain = _read(loss, train, distance, scale, train_scale)
    return _stronger(plain, _read_means(loss, train, distance, steps, noisy)) if noisy.any() else plain


def _read(loss: Floats, train: Floats, distance: Floats, scale: Floats, train_scale: Floats) -> Descent:
    turns = zigzag(loss, scale, np.full(len(loss), FLOOR))
    curve, at = turns.curve, turns.at
    follows = np.append(curve[1:] == curve[:-1], False) if len(curve) else np.zeros(0, dtype=bool)
    drops = np.bincount(curve[(turns.sign > 0) & follows], minlength=len(loss))
    # A rise between two descents: a trough that is not the first turn, whose peak is not the last.
    inner = np.flatnonzero((turns.sign < 0) & np.roll(follows, 1) & follows & np.roll(follows, -1))
    row, start, peak = curve[inner], at[inner], at[inner + 1]
    unlearned = train[row, peak] - train[row, start]
    allowed = np.maximum(FLOOR, np.maximum(train_scale[row, start], train_scale[row, peak]))
    rises = Rises(
        curve=row,
        start=start,
        peak=peak,
        end=_return(loss, row, start, peak),
        height=loss[row, peak] - loss[row, start],
        tau=np.maximum(FLOOR, np.maximum(scale[row, start], scale[row, peak])),
        nearer=distance[row, peak] - distance[row, start],
        unlearned=unlearned - allowed,
    )
    return Descent(drops, rises, np.maximum(FLOOR, np.median(scale, axis=1)))


def _return(loss: Floats, row: Ints, start: Ints, peak: Ints) -> Ints:
    """First record after the peak at or below the level of the start; the lowest one after it if there is none."""
    later = np.arange(loss.shape[1])[None, :] > peak[:, None]
    curves = loss[row]
    back = later & (curves <= curves[np.arange(len(row)), start][:, None])
    lowest = np.where(later, curves, np.inf).argmin(axis=1)
    return np.where(back.any(axis=1), back.argmax(axis=1), lowest)


def _read_means(loss: Floats, train: Floats, distance: Floats, steps: Floats, noisy: NDArray[np.bool_]) -> Descent:
    starts = noise.block_starts(len(steps))
    rows = np.flatnonzero(noisy)
    coarse, coarse_steps = noise.resampled(loss[rows], steps)
    coarse_train, _ = noise.resampled(train[rows], steps)
    coarse_distance, _ = noise.resampled(distance[rows], steps)
    means = _read(
        noise.running_mean(coarse),
        noise.running_mean(coarse_train),
        noise.running_mean(coarse_distance),
        noise.mean_thresholds(coarse, coarse_steps),
        noise.mean_thresholds(coarse_train, coarse_steps),
    )
    middle = (starts + np.append(starts[1:], len(steps)) - 1) // 2
    drops, tau, rises = np.zeros(len(loss), dtype=np.int64), np.full(len(loss), FLOOR), means.rises
    drops[rows], tau[rows] = means.drops, means.tau
    start, peak, end = (middle[at] for at in (rises.start, rises.peak, rises.end))
    return Descent(drops, rises._replace(curve=rows[rises.curve], start=start, peak=peak, end=end), tau)


def _stronger(first: Descent, second: Descent) -> Descent:
    """Row by row the reading with more descents; the first where they agree."""
    take = second.drops > first.drops
    kept = first.rises.only(~take[first.rises.curve])
    taken = second.rises.only(take[second.rises.curve])
    joined = Rises._make(np.concatenate(pair) for pair in zip(kept, taken, strict=True))
    return Descent(
        np.where(take, second.drops, first.drops),
        joined.only(np.argsort(joined.curve, kind="stable")),
        np.where(take, second.tau, first.tau),
    )


def tallest(rises: Rises) -> Rises:
    """The highest rise of every curve that has one."""
    order = np.lexsort((rises.height, rises.curve))
    last = np.append(rises.curve[order][1:] != rises.curve[order][:-1], True) if len(order) else np.zeros(0, dtype=bool)
    return rises.only(order[last])


def nearest_centre(output: Floats, mu: Floats, origin: NDArray[np.bool_]) -> Floats:
    """Distance of the output to the nearest training centre mu_p e_p (or the origin where there is a cluster), (C, T).

    Args:
        output: (C, T, s).
        mu: (C, s).
        origin: (C,), whether a cluster sits at the origin.
    """
    square = (output**2).sum(axis=2)
    nearest = np.where(origin[:, None], square, np.inf)
    for p in range(mu.shape[1]):
        centre = mu[:, p, None]
        nearest = np.minimum(nearest, square - 2 * centre * output[:, :, p] + centre**2)
    return np.sqrt(np.maximum(nearest, 0))
