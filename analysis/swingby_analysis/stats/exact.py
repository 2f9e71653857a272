"""Exact tests of two samples, each with the least p that it could have had, and the correction for many tests."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb
from scipy.stats import binom, hypergeom, mannwhitneyu, rankdata

Floats = NDArray[np.float64]
LEVEL = 0.05
"""The chance that a family of corrected tests raises any false alarm is at most this."""
EXACT_BELOW = 41
"""Two samples with fewer values than this in all are compared over every way to deal out their ranks."""
_ALIKE = 1 + 1e-9
"""Chances that differ by less than this factor are one chance, rounded twice."""


class Test(NamedTuple):
    """A two-sided p-value, and the least that the test could have given of such data."""

    p: float
    least: float


def mcnemar(up: ArrayLike, down: ArrayLike) -> tuple[Floats, Floats]:
    """McNemar's exact test (the sign test), elementwise: of up + down pairs that differ, `up` differ one way.

    Returns:
        p and least p, two-sided.
    """
    up, down = np.broadcast_arrays(np.asarray(up, dtype=np.int64), np.asarray(down, dtype=np.int64))
    p = np.minimum(1.0, 2 * binom.cdf(np.minimum(up, down), up + down, 0.5))
    return p, np.minimum(1.0, 2 * 0.5 ** (up + down).astype(float))


def flips(net: ArrayLike) -> Test:
    """The exact sign-flip test of units: under the null each entry of `net` is as likely to have the other sign.

    Entries are integers: how many cells of a unit (a seed) differ one way, less those that differ the other way. With
    entries of -1, 0 and 1 it is McNemar's.
    """
    net = np.asarray(net, dtype=np.int64)
    sizes = np.abs(net[net != 0])
    if len(set(sizes.tolist())) <= 1:
        p, least = mcnemar(int((net > 0).sum()), int((net < 0).sum()))
        return Test(float(p), float(least))
    chances = np.zeros(int(sizes.sum()) + 1)  # of every sum of the sizes that have a plus
    chances[0] = 1.0
    for size in sizes.tolist():
        chances[size:] = chances[size:] + chances[:-size]
        chances /= 2
    away = np.abs(2 * np.arange(len(chances)) - sizes.sum())
    p = float(chances[away >= abs(int(net.sum()))].sum())
    return Test(min(1.0, p), min(1.0, 2 * 0.5 ** len(sizes)))


@lru_cache(maxsize=100_000)
def fisher(k_a: int, n_a: int, k_b: int, n_b: int) -> Test:
    """Fisher's exact test of k_a of n_a against k_b of n_b: all tables with these margins that are no likelier."""
    if not n_a or not n_b:
        return Test(1.0, 1.0)
    total = k_a + k_b
    possible = np.arange(max(0, total - n_b), min(total, n_a) + 1)
    chances = hypergeom.pmf(possible, n_a + n_b, total, n_a)
    seen, least = chances[k_a - possible[0]], chances.min()
    p, lowest = (float(chances[chances <= chance * _ALIKE].sum()) for chance in (seen, least))
    return Test(min(1.0, p), min(1.0, lowest))


def rank_sum(a: ArrayLike, b: ArrayLike) -> Test:
    """Wilcoxon's rank-sum test of two independent samples, ties and infinities included.

    Exact, over every way to deal out the ranks, below EXACT_BELOW values; else by the normal approximation, whose
    least p is given as 0.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not len(a) or not len(b):
        return Test(1.0, 1.0)
    doubled = np.rint(2 * rankdata(np.concatenate([a, b]))).astype(np.int64)
    if len(set(doubled.tolist())) == 1:
        return Test(1.0, 1.0)
    if len(doubled) >= EXACT_BELOW:
        # Ranks, since the test itself refuses infinities.
        test = mannwhitneyu(doubled[: len(a)], doubled[len(a) :], method="asymptotic")
        return Test(float(test.pvalue), 0.0)
    ways = np.zeros((len(a) + 1, int(doubled.sum()) + 1))  # to choose so many ranks with that sum
    ways[0, 0] = 1.0
    for rank in doubled.tolist():
        ways[1:, rank:] = ways[1:, rank:] + ways[:-1, : ways.shape[1] - rank]
    sums, count = np.arange(ways.shape[1]), comb(len(doubled), len(a))
    away = np.abs(sums * len(doubled) - len(a) * doubled.sum())
    seen = abs(int(doubled[: len(a)].sum()) * len(doubled) - len(a) * int(doubled.sum()))
    p, lowest = (ways[len(a), away >= reach].sum() / count for reach in (seen, away[ways[len(a)] > 0].max()))
    return Test(min(1.0, float(p)), min(1.0, float(lowest)))


def corrected(p: ArrayLike, least: ArrayLike, level: float = LEVEL) -> Floats:
    """Corrected p-values by Holm's method (1979), over the tests that could be significant at all (Tarone 1990).

    A test that could not have come below the corrected level whatever its outcome (few seeds that differ) is left out,
    and has NaN: it can raise no false alarm, so the others are not corrected for it. The least p of a test depends on
    how many units differ and not on the direction, so the chance of any false alarm stays at most `level`.
    """
    p, least = np.asarray(p, dtype=float), np.asarray(least, dtype=float)
    takes_part = least <= level / _family(least, level)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p[takes_part], kind="stable")
    count = len(order)
    raised = np.maximum.accumulate(np.minimum(1.0, p[takes_part][order] * (count - np.arange(count))))
    within = np.empty(count)
    within[order] = raised
    adjusted[takes_part] = within
    return adjusted


def _family(least: Floats, level: float) -> int:
    """The smallest k for which at most k tests could come below level / k."""
    ordered = np.sort(least)
    for k in range(1, len(ordered) + 1):
        if np.searchsorted(ordered, level / k, side="right") <= k:
            return k
    return max(1, len(ordered))
