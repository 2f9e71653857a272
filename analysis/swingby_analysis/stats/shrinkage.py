"""Estimates of many shares, or of many numbers, that hold for the extreme one of them too: shrunken by empirical Bayes.

The largest of many estimates is one whose noise happened to be large, so it is too large, and its interval misses. What
all points together say of how the true values are spread corrects this: the estimate at a point is the mean, and the
interval are the quantiles, of what the true value can be, given the point's own seeds and the spread over all points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import betainc, betaln, ndtri

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
TILES_OF_BETA = 30.0
"""For how many points the fitted beta distribution counts beside the points themselves. With few points the true
shares are taken to be spread like that; with many the points show their spread, such as most at zero and a ridge."""
CELLS = 100
"""Cells of the axis from 0 to 1 on which the spread of the true shares is described."""
BURNED, DRAWS = 50, 200
"""Draws of the spread that are thrown away, and those that are averaged."""
WIDEST = 8.0
"""Log of the largest concentration of the fitted beta: points that are all alike bear any."""


class Shrunken(NamedTuple):
    """Shrunken estimates, elementwise, each with its 95 % interval; NaN where nothing is known of any point."""

    estimate: Floats
    low: Floats
    high: Floats


def shrunken_shares(k: ArrayLike, n: ArrayLike, seed: int = 0) -> Shrunken:
    """Shrunken estimates of the shares of which `k` of `n` seeds were seen at each point.

    The true shares have a distribution that is not known: a Dirichlet process around a beta distribution, which is
    fitted to all points by maximum likelihood (beta-binomial), with the uncertainty of that fit. It is sampled, always
    by the same draws, and averaged over. A point without seeds is estimated by the distribution alone. Where a point
    stands in the grid plays no part.

    Args:
        k, n: seeds that show it, and seeds of which it is known, (points,).
        seed: of the draws.

    Raises:
        ValueError: not 0 <= k <= n.
    """
    k, n = (np.asarray(values, dtype=np.int64).ravel() for values in np.broadcast_arrays(k, n))
    if np.any((k < 0) | (k > n)):
        raise ValueError("shrunken_shares takes 0 <= k <= n")
    if not np.any(n > 0):
        nothing = np.full(len(k), np.nan)
        return Shrunken(nothing, nothing.copy(), nothing.copy())
    # Points with equal counts have equal estimates.
    (seen, of), which, times = np.unique(np.stack([k, n]), axis=1, return_inverse=True, return_counts=True)
    posterior = _posterior(seen, of, np.where(of > 0, times, 0), seed)
    edges, middles = _axis()
    sums = np.concatenate([np.zeros((len(seen), 1)), np.cumsum(posterior, axis=1)], axis=1)
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.array([np.interp(ends, row, edges) for row in sums]).T
    estimate = posterior @ middles
    which = which.ravel()
    return Shrunken(estimate[which], low[which], high[which])


def _axis() -> tuple[Floats, Floats]:
    """Edges and middles of the cells of the axis of shares: finer toward 0 and 1, where errors are smaller."""
    edges = np.sin(np.linspace(0, 1, CELLS + 1) * np.pi / 2) ** 2
    return edges, (edges[1:] + edges[:-1]) / 2


def _posterior(k: NDArray[np.int64], n: NDArray[np.int64], times: NDArray[np.int64], seed: int) -> Floats:
    """The probability of each cell of the axis for each pair of counts, which `times` points have, (pairs, CELLS)."""
    draws = np.random.Generator(np.random.Philox(key=[seed, int(times.sum())]))
    edges, middles = _axis()
    likelihood = k[:, None] * np.log(middles) + (n - k)[:, None] * np.log1p(-middles)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    fit, spread = _beta_fit(k, n, times)
    weights, total = np.full(CELLS, 1 / CELLS), np.zeros_like(likelihood)
    for draw in range(BURNED + DRAWS):
        posterior = likelihood * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        if draw >= BURNED:
            total += posterior
        points = draws.multinomial(times, posterior).sum(axis=0)
        around = np.diff(betainc(*_beta(fit + spread @ draws.normal(size=2)), edges))
        weights = np.maximum(draws.standard_gamma(np.maximum(TILES_OF_BETA * around + points, 1e-12)), 1e-300)
        weights /= weights.sum()
    return total / DRAWS


def _beta(where: Floats) -> tuple[float, float]:
    """Both parameters of a beta distribution, from the log odds of its mean and the log of its concentration."""
    odds, concentration = np.clip(where[0], -30, 30), np.exp(np.clip(where[1], -WIDEST, WIDEST))
    return float(concentration / (1 + np.exp(-odds))), float(concentration / (1 + np.exp(odds)))


def _beta_fit(k: NDArray[np.int64], n: NDArray[np.int64], times: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The beta-binomial of maximum likelihood: where it is, as `_beta` takes it, and a root of its covariance (2, 2).

    A weak prior keeps it finite where the shares do not differ, or no seed or every seed shows the outcome.
    """

    def badness(where: Floats) -> float:
        a, b = _beta(where)
        weak = where[0] ** 2 / 18 + (where[1] - 2.0) ** 2 / 8
        return float(weak - (times * (betaln(k + a, n - k + b) - betaln(a, b))).sum())

    seen, of = int((times * k).sum()), int((times * n).sum())
    start = np.array([np.log((seen + 1) / (of - seen + 1)), 2.0])
    best = minimize(badness, start, method="BFGS")
    covariance = np.asarray(best.hess_inv, dtype=float)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(best.x, dtype=float), vectors * np.sqrt(np.maximum(values, 0))


def shrunken_numbers(values: ArrayLike, errors: ArrayLike, bounds: tuple[float, float] | None = None) -> Shrunken:
    """Shrunken estimates of numbers that are known with a standard error each.

    The true numbers are taken to be normally distributed over the points (the normal-normal model, averaged over the
    restricted likelihood of their variance); the intervals contain the error of their common mean. A number with an
    infinite error (a single seed) says nothing of its own point: the others estimate it. What is not finite is left
    out, and stays NaN.

    Args:
        values, errors: (points,); an error of 0 leaves its number as it is.
        bounds: the least and the largest value that is possible: intervals end there, which costs them no coverage.
    """
    values, errors = (np.asarray(each, dtype=float).ravel() for each in np.broadcast_arrays(values, errors))
    known = np.isfinite(values) & (errors >= 0)
    estimate, low, high = (np.full(len(values), np.nan) for _ in range(3))
    telling = known & np.isfinite(errors)
    if not telling.any():
        return Shrunken(estimate, low, high)
    spreads, likely = _variances(values[telling], errors[telling] ** 2)
    weight = 1 / np.maximum(errors[telling] ** 2 + spreads[:, None], 1e-300)
    total = weight.sum(axis=1, keepdims=True)
    mean = (weight * values[telling]).sum(axis=1, keepdims=True) / total
    # How much of the way to the common mean each number is pulled, (spreads, points); all the way without own error.
    own = np.where(np.isfinite(errors[known]), errors[known], 0.0) ** 2
    pull = np.where(np.isfinite(errors[known]), own / np.maximum(own + spreads[:, None], 1e-300), 1.0)
    each = pull * mean + (1 - pull) * values[known]
    variance = np.where(np.isfinite(errors[known]), own * (1 - pull), spreads[:, None]) + pull**2 / total
    estimate[known] = likely @ each
    # The variance at a spread of the true numbers, and that of the estimates over all spreads that are likely.
    reach = ndtri((1 + CONFIDENCE) / 2) * np.sqrt(likely @ (variance + (each - estimate[known]) ** 2))
    low[known], high[known] = estimate[known] - reach, estimate[known] + reach
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    return Shrunken(estimate, low, high)


def _variances(values: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Variances that the true numbers may have, and how likely each is by restricted likelihood, each (spreads,)."""
    scale = float(np.var(values))
    if scale == 0:
        return np.zeros(1), np.ones(1)
    tried = scale * np.exp(np.linspace(-9, 2, 89))
    whole = own + tried[:, None]
    total = (1 / whole).sum(axis=1)
    mean = (values / whole).sum(axis=1) / total
    badness = (((values - mean[:, None]) ** 2 / whole + np.log(whole)).sum(axis=1) + np.log(total)) / 2
    likely = np.exp(badness.min() - badness) * tried  # even in the variance itself, over points even in its log
    return tried, likely / likely.sum()
