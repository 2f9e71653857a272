"""Curves over seeds: bands of quantiles, and the test whether a bump is there at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]
FEW = 5
"""At this many seeds or fewer the test for a bump has little power."""


class Band(NamedTuple):
    """Quantiles over seeds at common steps, each (T,), and how many curves they are over."""

    step: Floats
    low: Floats
    median: Floats
    high: Floats
    n: int


class Bump(NamedTuple):
    """The test for a bump over seeds.

    Attributes:
        n: number of seeds.
        height: mean rise on the seeds left out, in the unit of the losses.
        low, high: its t-interval.
        significant: whether the interval lies above 0.
        confirmed: whether it also does with every other seed for placing and the rest for measuring (4 seeds or more).
        weak: 5 seeds or fewer, at which the test has little power: that it is not significant says little.
        start, peak: median over rotations of where the rise was looked for, in steps.
    """

    n: int
    height: float
    low: float
    high: float
    significant: bool
    confirmed: bool
    weak: bool
    start: float
    peak: float


def resampled(steps: Sequence[ArrayLike], values: Sequence[ArrayLike], at: ArrayLike, after: float = np.nan) -> Floats:
    """Curves at common steps by linear interpolation, (curves, len(at)).

    A curve ends before its first value that is not finite.

    Args:
        steps, values: one pair of equally long arrays a curve.
        at: the common steps.
        after: what stands beyond a curve's last step; give inf for the loss of runs that diverged.
    """
    places = np.asarray(at, dtype=float)
    result = np.full((len(steps), len(places)), after)
    for row, (step, value) in enumerate(zip(steps, values, strict=True)):
        xs, ys = np.asarray(step, dtype=float), np.asarray(value, dtype=float)
        kept = np.logical_and.accumulate(np.isfinite(ys))
        if kept.any():
            result[row] = np.interp(places, xs[kept], ys[kept], right=after)
    return result


def common_steps(steps: Sequence[ArrayLike], points: int = 200) -> Floats:
    """Every recorded step if all curves share them; else about `points` of the recorded ones, from first to last."""
    union = np.unique(np.concatenate([np.asarray(s, dtype=float) for s in steps]))
    if all(len(np.atleast_1d(s)) == len(union) for s in steps) or len(union) <= points:
        return union
    return union[np.unique(np.linspace(0, len(union) - 1, points).round().astype(int))]


def band(
    steps: Sequence[ArrayLike], values: Sequence[ArrayLike], low: float = 0.1, high: float = 0.9, after: float = np.inf
) -> Band:
    """Median and the quantiles `low` and `high` over curves at their common steps.

    Quantiles are values that occur (the smallest that at least this share of the curves does not exceed), the median
    the mean of the middle two; so curves that have ended count as `after` without spoiling the rest.
    """
    at = common_steps(steps)
    curves = resampled(steps, values, at, after)
    quantiles = np.quantile(curves, [low, high], axis=0, method="inverted_cdf")
    return Band(at, quantiles[0], np.median(curves, axis=0), quantiles[1], len(curves))


def bump_over_seeds(
    step: ArrayLike, loss: ArrayLike, centre: Literal["mean", "median"] = "mean", confidence: float = 0.95
) -> Bump:
    """Whether the loss has a bump: place it on all seeds but one, measure it on that one, rotate, t-interval.

    A bump's own height is never negative, so its mean over seeds proves nothing; a rise measured where others have it
    is on average no higher than 0 if there is none. Still the rotations share their seeds, and so mostly their place:
    without a bump `significant` is true in 5 to 20 % of samples (5 to 30 seeds of noise around falls and plateaus; the
    interval alone would say 2.5 %). `confirmed` places on one half and measures on the other, where the interval keeps
    what it says; it needs about twice the seeds.

    Args:
        step: common steps, (T,).
        loss: (seeds, T), finite.
        centre: which curve of the other seeds the bump is looked for on.

    Raises:
        ValueError: fewer than 2 seeds or 3 steps.
    """
    loss, step = np.asarray(loss, dtype=float), np.asarray(step, dtype=float)
    n = len(loss)
    if n < 2 or loss.shape[1] < 3:
        raise ValueError(f"a bump needs 2 seeds and 3 steps; got {n} and {loss.shape[1]}")
    average = np.mean if centre == "mean" else np.median
    places = [_bump_place(average(np.delete(loss, i, axis=0), axis=0)) for i in range(n)]
    heights = np.array([loss[i, peak] - loss[i, start] for i, (start, peak) in enumerate(places)])
    low, high = t_interval(heights, confidence)
    confirmed = low > 0 and n >= 4 and _split_low(loss, average(loss[::2], axis=0), confidence) > 0
    start, peak = np.median(step[np.array(places)], axis=0)
    return Bump(
        n, float(heights.mean()), low, high, low > 0, bool(confirmed), n <= FEW, float(start), float(peak)
    )  # fmt: skip


def _split_low(loss: Floats, placed_on: Floats, confidence: float) -> float:
    """Lower end of the rise's t-interval on every other seed, placed on the curve of the rest."""
    start, peak = _bump_place(placed_on)
    return t_interval(loss[1::2, peak] - loss[1::2, start], confidence)[0]


def t_interval(values: Floats, confidence: float) -> tuple[float, float]:
    """Student's interval of the mean of (n,) values, n of 2 or more."""
    n, middle = len(values), float(values.mean())
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * values.std(ddof=1) / np.sqrt(n))
    return middle - half, middle + half


def _bump_place(curve: Floats) -> tuple[int, int]:
    """Trough and peak of the fall, rise and fall whose smallest leg is largest; the least fall if there is no rise."""
    before = np.maximum.accumulate(curve) - curve
    after = curve - np.minimum.accumulate(curve[::-1])[::-1]
    rise = curve[None, :] - curve[:, None]
    smallest = np.minimum(np.minimum(rise, before[:, None]), after[None, :])
    smallest[np.tril_indices(len(curve))] = -np.inf
    start, peak = np.unravel_index(np.argmax(smallest), smallest.shape)
    return int(start), int(peak)
