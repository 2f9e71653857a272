"""Descents and the bumps between them: drops of the loss beyond the noise, and where the loss rises again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis import noise
from analysis.extrema import Extrema, Floats, Ints, zigzag

FLOOR = 0.01
"""The least threshold: 1 % of L_ref."""
FINE = 0.001
"""A threshold for curves without noise: how much a verdict hangs on the 1 %."""


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
    """How C curves descend.

    Attributes:
        drops: number of drops beyond the threshold, (C,).
        rises: the rises between two of them.
        tau: median of the threshold over the curve, over L_ref, (C,).
        noise_sd: median of the noise's local standard deviation, over L_ref, (C,).
    """

    drops: Ints
    rises: Rises
    tau: Floats
    noise_sd: Floats


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
    sd = np.zeros(len(loss))
    if not noisy.any():
        return _read(loss, train, distance, scale, train_scale, sd)
    of_loss, of_train = noise.measure(loss[noisy], steps), noise.measure(train[noisy], steps)
    scale[noisy], train_scale[noisy] = of_loss.threshold, of_train.threshold
    sd[noisy] = np.median(of_loss.sd, axis=1)
    plain = _read(loss, train, distance, scale, train_scale, sd)
    return _stronger(plain, _read_means(of_loss, of_train, distance[noisy], steps), np.flatnonzero(noisy))


def fine_descents(loss: Floats) -> Ints:
    """Number of drops by more than FINE of every row of `loss` (C, T), over L_ref, (C,); of use without noise only."""
    return _drops(zigzag(loss, np.zeros_like(loss), np.full(len(loss), FINE)), len(loss))


def _drops(turns: Extrema, curves: int) -> Ints:
    """Drops of each curve: peaks that a trough follows."""
    follows = _follows(turns)
    return np.bincount(turns.curve[(turns.sign > 0) & follows], minlength=curves)


def _follows(turns: Extrema) -> NDArray[np.bool_]:
    """Turns that another turn of the same curve follows."""
    curve = turns.curve
    return np.append(curve[1:] == curve[:-1], False) if len(curve) else np.zeros(0, dtype=bool)


def _read(
    loss: Floats, train: Floats, distance: Floats, scale: Floats, train_scale: Floats, noise_sd: Floats
) -> Descent:
    turns = zigzag(loss, scale, np.full(len(loss), FLOOR))
    curve, at = turns.curve, turns.at
    follows, drops = _follows(turns), _drops(turns, len(loss))
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
    return Descent(drops, rises, np.maximum(FLOOR, np.median(scale, axis=1)), noise_sd)


def _return(loss: Floats, row: Ints, start: Ints, peak: Ints) -> Ints:
    """First record after the peak at or below the level of the start; the lowest one after it if there is none."""
    later = np.arange(loss.shape[1])[None, :] > peak[:, None]
    curves = loss[row]
    back = later & (curves <= curves[np.arange(len(row)), start][:, None])
    lowest = np.where(later, curves, np.inf).argmin(axis=1)
    return np.where(back.any(axis=1), back.argmax(axis=1), lowest)


def _read_means(of_loss: noise.Noise, of_train: noise.Noise, distance: Floats, steps: Floats) -> Descent:
    """The second reading, of the noisy rows alone; the records it names are those in the middle of its blocks."""
    coarse_distance, _ = noise.resampled(distance, steps)
    means = _read(
        noise.running_mean(of_loss.coarse),
        noise.running_mean(of_train.coarse),
        noise.running_mean(coarse_distance),
        of_loss.mean_threshold,
        of_train.mean_threshold,
        np.median(of_loss.sd, axis=1),
    )
    starts = noise.block_starts(len(steps))
    middle = (starts + np.append(starts[1:], len(steps)) - 1) // 2
    start, peak, end = (middle[at] for at in (means.rises.start, means.rises.peak, means.rises.end))
    return means._replace(rises=means.rises._replace(start=start, peak=peak, end=end))


def _stronger(first: Descent, second: Descent, rows: Ints) -> Descent:
    """Row by row the reading with more descents, the first where they agree; `second` is of these rows of the first."""
    better = second.drops > first.drops[rows]
    drops, tau, replaced = first.drops.copy(), first.tau.copy(), np.zeros(len(first.drops), dtype=bool)
    drops[rows[better]], tau[rows[better]], replaced[rows[better]] = second.drops[better], second.tau[better], True
    taken = second.rises.only(better[second.rises.curve])
    taken = taken._replace(curve=rows[taken.curve])
    kept = first.rises.only(~replaced[first.rises.curve])
    joined = Rises._make(np.concatenate(pair) for pair in zip(kept, taken, strict=True))
    return Descent(drops, joined.only(np.argsort(joined.curve, kind="stable")), tau, first.noise_sd)


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
