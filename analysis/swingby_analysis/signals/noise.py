"""The noise of recorded curves: its local size, how slow it is, and the thresholds that follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals import kernels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WINDOW = 31
"""Residuals whose running median gives the local standard deviation."""
MAD = 1.4826
"""Standard deviation over median absolute value, for normal noise."""
SPREAD = 5
"""Neighbours in the running median that a noisy curve is read through: single records, however far off, fall out."""
LONGEST = 300
"""A noisy curve with more records than this is read in about BLOCKS blocks, single records at first, then growing."""
BLOCKS = 200
"""Blocks, about, that a longer curve is read in."""
FEWEST = 32
"""Records below which a curve is read as recorded, since a running median would leave too little of it."""
POOLED = 3
"""Records that a monotone fit has to pool before their residuals count: fewer follow the noise."""
ALIVE = 0.1
"""A record counts towards the slowness of noise where its local sd exceeds this share of the curve's largest."""

# Calibrated on synthetic null curves and never on sweeps that are judged: `python -m
# swingby_analysis.signals.calibration` prints the evidence. A threshold is SLOPE x slowness local standard deviations,
# within LIMITS. It is UNTOLD where fewer than TELLING residuals tell how slow the noise is: such curves move nearly all
# of their life, and noise seldom turns them. It is the upper limit for curves of fewer than FEWEST records.
SLOPE = 12.0
LIMITS = (5.0, 20.0)
TELLING = 10
UNTOLD = 10.0


def local_sd(values: Floats, steps: Floats) -> Floats:
    """Local standard deviation of white noise around smooth curves, at every record.

    The residual of a record from the line through its two neighbours, over sqrt(1 + w^2 + (1-w)^2) with w and 1-w the
    weights of the two; then 1.4826 times the running median of its absolute value over 31 records. The value next to
    an end of the curve holds up to the end. Zero if there are fewer than three records.

    Args:
        values: (C, T).
        steps: (T,), strictly increasing.
    """
    curves, times = values.shape
    if times < 3:
        return np.zeros((curves, times))
    before, here, after = steps[:-2], steps[1:-1], steps[2:]
    weight = (after - here) / (after - before)
    away = kernels.residual(values, weight, np.sqrt(1 + weight**2 + (1 - weight) ** 2))
    if away.shape[1] <= WINDOW:  # one median for the whole row
        return np.broadcast_to(MAD * np.median(away, axis=1, keepdims=True), values.shape).copy()
    return kernels.running_median(away, np.argsort(away, axis=1), WINDOW, 1, MAD)


class Noise(NamedTuple):
    """C noisy curves as they are read, at B places, with their noise.

    Attributes:
        curve: the curves read in blocks and through a running median, (C, B).
        at: the record in the middle of each block, int (B,).
        sd: local standard deviation of the blocks before the median, (C, B).
        slowness: root mean square of what a monotone curve with one rise leaves of `curve`, in units of sd, (C,):
            about 0.3 for white noise, 1 for AR(1) with 0.8, and 1.5 with 0.95.
        telling: how many records that is measured on, int (C,).
        alive: where it may be measured, (C, B).
    """

    curve: Floats
    at: Ints
    sd: Floats
    slowness: Floats
    telling: Ints
    alive: NDArray[np.bool_]

    @property
    def factor(self) -> Floats:
        """The threshold in local standard deviations, (C,)."""
        if self.curve.shape[1] < FEWEST:
            return np.full(len(self.curve), LIMITS[1])
        return np.where(self.telling < TELLING, UNTOLD, np.clip(SLOPE * self.slowness, *LIMITS))

    @property
    def threshold(self) -> Floats:
        """The least move of `curve` that is not taken for noise, (C, B)."""
        return self.factor[:, None] * self.sd

    @property
    def largest(self) -> Floats:
        """The largest threshold where the run lives, (C,); 0 where it lives nowhere."""
        return np.where(self.alive, self.threshold, 0).max(axis=1, initial=0)

    @property
    def usual_sd(self) -> Floats:
        """The median of sd where the run lives, (C,); 0 where it lives nowhere."""
        with np.errstate(all="ignore"):
            inside = np.where(self.alive, self.sd, np.nan)
        measured = self.alive.any(axis=1)
        result = np.zeros(len(self.sd))
        result[measured] = np.nanmedian(inside[measured], axis=1)
        return result


def measure(values: Floats, steps: Floats, least: float = -np.inf) -> Noise:
    """How every row of `values` is read, and its noise, measured where the run lives.

    A run lives where its local sd is above a tenth of its largest, and its value above `least`: records of a converged
    tail, of which log spacing has many, say nothing of the noise in which a bump would stand.

    Args:
        values: (C, T), curves that fall; of curves that rise, their negatives.
        steps: (T,), strictly increasing.
        least: the value above which a run lives, such as 1 % of the unit of a loss.
    """
    starts = block_starts(len(steps))
    blocks, block_steps = values, steps
    if len(starts) < len(steps):
        counts = np.diff(np.append(starts, len(steps)))
        blocks, block_steps = np.add.reduceat(values, starts, axis=1) / counts, np.add.reduceat(steps, starts) / counts
    sd = local_sd(blocks, block_steps)
    alive = (sd > ALIVE * sd.max(axis=1, keepdims=True, initial=0)) & (blocks > least)
    at = (starts + np.append(starts[1:], len(steps)) - 1) // 2
    if len(starts) < FEWEST:
        nothing = np.zeros(len(values))
        return Noise(blocks, at, sd, nothing, nothing.astype(np.int64), alive)
    curve = smoothed(blocks)
    slowness, telling = kernels.monotone_residual(curve, sd, alive, POOLED)
    return Noise(curve, at, sd, slowness, telling, alive)


def smoothed(values: Floats) -> Floats:
    """Running median over SPREAD neighbours of every row of (C, T); over fewer, as many on either side, at the ends."""
    return kernels.median_of(values, SPREAD)


def block_starts(times: int) -> Ints:
    """Where the blocks begin in which `times` records are read: every record, or about BLOCKS blocks.

    Blocks are single records at first and then grow in proportion to their place, as recorded steps do that are
    log-spaced: what a run does early is over in a few steps.
    """
    if times <= LONGEST:
        return np.arange(times, dtype=np.int64)
    short, dense = 1, BLOCKS - 1
    while dense - short > 1:
        middle = (short + dense) // 2
        if middle * np.expm1(np.log(times / middle) / (BLOCKS - middle)) >= 1:
            dense = middle
        else:
            short = middle
    tail = np.geomspace(dense, times, BLOCKS - dense + 1)[:-1].round().astype(np.int64)
    return np.unique(np.concatenate([np.arange(dense), tail]))
