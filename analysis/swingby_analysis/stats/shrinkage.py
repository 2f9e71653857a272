"""Estimates of many shares, or of many numbers, that hold for the extreme one of them too: shrunken by empirical Bayes.

The largest of many estimates is one whose noise happened to be large, so it is too large, and its interval misses. What
all points together say of how the true values are spread corrects this. From it and from a point's own seeds follows
what the true value there can be: its mean (of a share) or its median (of a number) is the estimate, and its quantiles
are the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import betainc, betaln, xlogy

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
ATOMS = 200
"""Values, of those that were seen, which a median may have: evenly spaced quantiles."""
POINTS_OF_BASE, ROUNDS = 30.0, 60
"""For how many points the first guess of the spread of medians counts, and rounds of expectation maximisation."""


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
        # Gamma draws over their sum are a Dirichlet draw; the bounds keep empty cells from dividing 0 by 0.
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
        # The prior: log odds around 0 with sd 3, log concentration around 2 with sd 2.
        weak = where[0] ** 2 / 18 + (where[1] - 2.0) ** 2 / 8
        return float(weak - (times * (betaln(k + a, n - k + b) - betaln(a, b))).sum())

    seen, of = int((times * k).sum()), int((times * n).sum())
    start = np.array([np.log((seen + 1) / (of - seen + 1)), 2.0])
    best = minimize(badness, start, method="BFGS")
    covariance = np.asarray(best.hess_inv, dtype=float)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(best.x, dtype=float), vectors * np.sqrt(np.maximum(values, 0))


def shrunken_medians(samples: Sequence[ArrayLike]) -> Shrunken:
    """Shrunken estimates of the medians of the populations from which the seeds of each point are drawn.

    Nothing is assumed of how the numbers are distributed: they may be infinite (the time of something that never
    happens), and many of them may be equal (a height of 0 where nothing happened). What the seeds of a point say of its
    median is the empirical likelihood of a quantile (Owen, Empirical Likelihood, 2001, section 3.6): a value is the
    less likely, the more seeds beyond one half lie on one side of it. How the true medians are spread over the
    points is not assumed either: weights on values that were seen, by maximum likelihood, with `POINTS_OF_BASE` points
    more that are spread as the single points show it. The estimate is the median of what the true median can be.

    Args:
        samples: the numbers of the seeds of each point, (points,) arrays without NaN; an empty one is estimated by the
            others. Where no point of several seeds has two different numbers, nothing is drawn, and the numbers stay.

    Raises:
        ValueError: a sample has NaN.
    """
    each = [np.sort(np.asarray(values, dtype=float).ravel()) for values in samples]
    pooled = np.concatenate([np.empty(0), *each])
    if np.isnan(pooled).any():
        raise ValueError("shrunken_medians takes numbers and infinities; NaN is none")
    several = [values for values in each if len(values) > 1]
    if not several:
        nothing = np.full(len(each), np.nan)
        return Shrunken(nothing, nothing.copy(), nothing.copy())
    if all(values[0] == values[-1] for values in several):
        exact = np.array([values[0] if len(values) else np.nan for values in each])
        return Shrunken(exact, exact.copy(), exact.copy())
    support = np.unique(np.quantile(pooled, np.linspace(0, 1, ATOMS), method="inverted_cdf"))
    likelihood = _median_likelihood(each, support)
    sampled = np.array([len(values) > 0 for values in each])
    weights = np.full(len(support), 1 / len(support))
    base = _normed(likelihood * weights)[sampled].mean(axis=0)
    for _ in range(ROUNDS):
        points = _normed(likelihood * weights)[sampled].sum(axis=0)
        weights = (POINTS_OF_BASE * base + points) / (POINTS_OF_BASE + sampled.sum())
    reached = np.cumsum(_normed(likelihood * weights), axis=1)

    def quantile(share: float) -> Floats:
        # 1e-9: cumulated weights that are equal but for rounding count as equal.
        return support[np.minimum((reached < share - 1e-9).sum(axis=1), len(support) - 1)]

    return Shrunken(*(quantile(share) for share in (0.5, (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)))


def _median_likelihood(samples: Sequence[Floats], support: Floats) -> Floats:
    """The empirical likelihood ratio of each value as the median of each sorted sample, (samples, values)."""
    ratios = np.zeros((len(samples), len(support)))
    for row, values in zip(ratios, samples, strict=True):
        n = max(len(values), 1)
        below = np.searchsorted(values, support, "left")
        above = len(values) - np.searchsorted(values, support, "right")
        larger = np.maximum(below, above) / n
        row[:] = np.where(larger > 0.5, -n * (np.log(2) + xlogy(larger, larger) + xlogy(1 - larger, 1 - larger)), 0.0)
    return np.exp(ratios)


def _normed(weights: Floats) -> Floats:
    """Rows whose sum is 1."""
    return weights / weights.sum(axis=1, keepdims=True)
