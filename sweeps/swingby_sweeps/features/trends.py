"""Trends over the runs of a sweep: rank correlation, and one power law or two, each with its bootstrap over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
RESAMPLES = 400
"""Bootstrap samples of the seeds."""
KNOTS = 40
"""Places at which a break is tried, between the second point and the last but one."""
LEAST_GAIN = 2.0
"""How much smaller the BIC of two lines has to be before a break is told: "positive evidence" (Kass and Raftery)."""


class Estimate(NamedTuple):
    """A number with the 95 % percentile interval over resampled seeds; NaN where nothing can be told."""

    value: float
    low: float
    high: float


class Break(NamedTuple):
    """A continuous pair of lines in log-log, beside a single one.

    Attributes:
        at: abscissa of the break.
        before, after: slopes, exponents of the power laws.
        alone: slope of the single line.
        gain: BIC of one line less that of two; above `LEAST_GAIN` the break is told.
        level: logarithm of the ordinate at the break.
    """

    at: float
    before: float
    after: float
    alone: float
    gain: float
    level: float


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation; NaN for fewer than three pairs, or where either is constant."""
    one, two = (rankdata(np.asarray(values, dtype=float)) for values in (x, y))
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return math.nan
    return float(np.corrcoef(one, two)[0, 1])


def broken_line(x: ArrayLike, y: ArrayLike) -> Break | None:
    """The pair of lines in ln y over ln x that meet where the squared residuals are least; None below 5 points.

    The place of the break counts as a parameter: BIC = N ln(RSS/N) + k ln N with k = 4 for two lines and 2 for one.
    """
    u, v = np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float))
    places = np.unique(u)
    if len(places) < 5:
        return None
    one, slope = _residual(np.column_stack([np.ones_like(u), u]), v)
    fits = []
    for knot in np.linspace(places[1], places[-2], KNOTS):
        rest, coefficients = _residual(np.column_stack([np.ones_like(u), u, np.maximum(u - knot, 0)]), v)
        fits.append((rest, knot, coefficients))
    two, knot, (start, first, bend) = min(fits, key=lambda fit: fit[0])
    count = len(u)
    # Residuals of a fit without any are rounding, not evidence.
    floor = 1e-12 * max(float(v @ v), 1.0)
    gain = count * (math.log(max(one, floor)) - math.log(max(two, floor))) - 2 * math.log(count)
    level = float(start + first * knot)
    return Break(float(np.exp(knot)), float(first), float(first + bend), float(slope[1]), gain, level)


def over_seeds(values: Floats, estimate: Callable[[Floats], float], seed: int = 0) -> Estimate:
    """An estimate from all seeds, and its 95 % percentile interval over seeds drawn with replacement.

    Args:
        values: an entry a seed along the first axis.
        estimate: from such an array to a number; NaN where it has none. An interval is told where at least half of
            the resamples have one.
        seed: of the resamples.
    """
    generator, count = np.random.default_rng(seed), len(values)
    estimates = np.array([estimate(values[generator.integers(count, size=count)]) for _ in range(RESAMPLES)])
    estimates = estimates[np.isfinite(estimates)]
    value = estimate(values)
    if count < 2 or 2 * len(estimates) < RESAMPLES:
        return Estimate(value, math.nan, math.nan)
    low, high = np.quantile(estimates, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def crossing(x: ArrayLike, y: ArrayLike, level: float) -> float:
    """Where y over ln x falls through a level for good, on a straight line between points; NaN where it does not."""
    u, v = np.log(np.asarray(x, dtype=float)), np.asarray(y, dtype=float)
    above = np.flatnonzero(v >= level)
    if len(above) == 0 or above[-1] == len(v) - 1:
        return math.nan
    last = above[-1]
    share = (v[last] - level) / (v[last] - v[last + 1])
    return float(np.exp(u[last] + share * (u[last + 1] - u[last])))


def _residual(design: Floats, values: Floats) -> tuple[float, Floats]:
    coefficients = np.asarray(np.linalg.lstsq(design, values, rcond=None)[0], dtype=np.float64)
    return float(((values - design @ coefficients) ** 2).sum()), coefficients
