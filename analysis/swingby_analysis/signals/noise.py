"""The noise of recorded loss curves: its local size, how autocorrelated it is, and the thresholds that follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals import kernels

Floats = NDArray[np.float64]

WINDOW = 31
"""Residuals whose running median gives the local standard deviation."""
MAD = 1.4826
"""Standard deviation over median absolute value, for normal noise."""
GRID = 200
"""A noisy curve with more records than this is also resampled to about this many."""
SPAN = 4
"""Stride of the fourth difference that measures slow noise: wide enough to see it, short against a bump."""
FEWEST = 32
"""Records below which noise is taken as white."""
SPREAD = 5
"""Neighbours in the running mean of the second reading."""

# Calibrated on synthetic null curves and never on sweeps: `python -m swingby_analysis.signals.calibration` prints the
# evidence.
# Thresholds in units of the local standard deviation, by redness: log-linear between the two, constant outside.
REDNESS = (1.1, 1.7)
FACTORS = (8.0, 24.0)
MEAN_FACTORS = (2.9, 17.0)


def local_sd(values: Floats, steps: Floats, stride: int = 1) -> Floats:
    """Local standard deviation of white noise around smooth curves, at every record.

    The residual of a record from the line through its neighbours `stride` records away, over sqrt(1 + w^2 + (1-w)^2)
    with w and 1-w the weights of the two; then 1.4826 times the running median of its absolute value over 31 strides.
    The value next to an end of the curve holds up to the end. Zero if there are fewer than three strides of records.

    Args:
        values: (C, T).
        steps: (T,), strictly increasing.
        stride: how many records lie between a record and its neighbours on the line.
    """
    curves, times = values.shape
    if times < 2 * stride + 1:
        return np.zeros((curves, times))
    before, here, after = steps[: -2 * stride], steps[stride:-stride], steps[2 * stride :]
    weight = (after - here) / (after - before)
    away = kernels.residual(values, weight, np.sqrt(1 + weight**2 + (1 - weight) ** 2), stride)
    window = (WINDOW - 1) * stride + 1
    if away.shape[1] <= window:  # one median for the whole row
        return np.broadcast_to(MAD * np.median(away, axis=1, keepdims=True), values.shape).copy()
    return kernels.running_median(away, np.argsort(away, axis=1), window, stride, MAD)


def redness(values: Floats, sd: Floats) -> Floats:
    """How much larger the slow noise is than the fast, (C,): 1 for white noise, about 1.85 for AR(1) with 0.9.

    Root mean square of the fourth difference over SPAN records, over the local sd; the largest fifth is left out, for
    that is where the curve itself bends. Fewer than FEWEST records cannot tell; so far apart, they are taken as white.

    Args:
        values: (C, T).
        sd: (C, T), the local standard deviation at stride 1.
    """
    if values.shape[1] < FEWEST:
        return np.ones(len(values))
    ratio = kernels.fourth_ratio(values, sd, SPAN)
    kept = int(0.8 * ratio.shape[1])
    smallest = np.partition(ratio, kept - 1, axis=1)[:, :kept]
    # 0.438 is the mean square of the smallest 80 % of |normal| draws.
    return np.sqrt((smallest**2).mean(axis=1) / 0.438)


def factor(red: Floats, ends: tuple[float, float] = FACTORS) -> Floats:
    """The threshold in local standard deviations for noise of this redness, (C,): ends[0] if white, ends[1] if red."""
    return np.exp(np.interp(red, REDNESS, np.log(ends)))


class Noise(NamedTuple):
    """The noise of C curves, as recorded and resampled.

    Attributes:
        sd: local standard deviation at every record, (C, T).
        coarse, coarse_steps, coarse_sd: the curves on about GRID blocks, (C, B), their steps, (B,), and their local sd.
        red: redness of the resampled curves, (C,).
    """

    sd: Floats
    coarse: Floats
    coarse_steps: Floats
    coarse_sd: Floats
    red: Floats

    @property
    def threshold(self) -> Floats:
        """The least move of the recorded curve that is not taken for noise, at every record, (C, T)."""
        return factor(self.red)[:, None] * self.sd

    @property
    def mean_threshold(self) -> Floats:
        """The least move of the running mean of the resampled curve that is not taken for noise, (C, B)."""
        return factor(self.red, MEAN_FACTORS)[:, None] * self.coarse_sd


def middle(values: Floats) -> Floats:
    """The two middle values of every row of values (C, T), (2, C), one of them twice where T is odd; T >= 1.

    Their mean is the median, and, other than the median's, their order survives rounding after a multiplication.
    """
    times = values.shape[1]
    places = [(times - 1) // 2, times // 2]
    return np.partition(values, places, axis=1)[:, places].T


def measure(values: Floats, steps: Floats) -> Noise:
    """The noise of every row of values (C, T), recorded at steps (T,)."""
    coarse, coarse_steps = resampled(values, steps)
    coarse_sd = local_sd(coarse, coarse_steps)
    stride = block_size(len(steps))
    sd = coarse_sd if stride == 1 else local_sd(values, steps, stride)
    return Noise(sd, coarse, coarse_steps, coarse_sd, redness(coarse, coarse_sd))


def block_size(times: int) -> int:
    """How many records make a block that resamples `times` records to about GRID."""
    return max(1, round(times / GRID))


def block_starts(times: int) -> NDArray[np.int64]:
    """Where the blocks begin; the last one takes what is left over."""
    size = block_size(times)
    return np.arange(max(1, times // size), dtype=np.int64) * size


def resampled(values: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """Block means of values (C, T) and steps (T,) on about GRID blocks; the same arrays where that is all there is."""
    starts = block_starts(len(steps))
    if len(starts) == len(steps):
        return values, steps
    counts = np.diff(np.append(starts, len(steps)))
    return np.add.reduceat(values, starts, axis=1) / counts, np.add.reduceat(steps, starts) / counts


def running_mean(values: Floats) -> Floats:
    """Mean over SPREAD neighbours along the second axis; over those that exist near the ends."""
    return kernels.running_mean(values, SPREAD)
