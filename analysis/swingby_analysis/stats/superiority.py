"""How often a value of one sample exceeds one of another: the probability of superiority, with its interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata
from scipy.stats import t as student

from swingby.select.intervals import wilson
from swingby_analysis.stats.intervals import CONFIDENCE


class Superiority(NamedTuple):
    """P(X > Y) + P(X = Y) / 2 of two independent samples, and its interval."""

    share: float
    low: float
    high: float


def superiority(x: ArrayLike, y: ArrayLike) -> Superiority:
    """The probability of superiority of X over Y: 1/2 where neither is larger; 1 where every X exceeds every Y.

    Its interval is Wilson's at the effective number of pairs: as many as would make a share vary as much as Brunner and
    Munzel (2000, Biometrical Journal 42, 17) find it to vary by the ranks of both samples, which need have neither one
    shape nor one spread, with the quantile of their t-distribution. It is at least the size of the smaller sample,
    which bounds the variance whatever the distributions are (Birnbaum and Klose 1957), so that the interval does not
    shrink to a point where the samples do not overlap. Infinite values count as the largest or least.

    Raises:
        ValueError: a sample is empty, or holds a NaN.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    m, n = len(x), len(y)
    if not m or not n or np.isnan(x).any() or np.isnan(y).any():
        raise ValueError("superiority takes two samples without NaN")
    ranks = rankdata(np.concatenate([x, y]))
    # The share of the other sample that each value exceeds, equal ones counted half.
    over, under = (ranks[:m] - rankdata(x)) / n, (ranks[m:] - rankdata(y)) / m
    share, count = float(over.mean()), float(min(m, n))
    if count > 1 and 0 < share < 1:
        parts = np.array([over.var(ddof=1) / m, under.var(ddof=1) / n])
        variance = float(parts.sum())
        count = float(m + n)
        if variance > 0:
            freedom = variance**2 / float((parts**2 / [m - 1, n - 1]).sum())
            quantiles = ndtri((1 + CONFIDENCE) / 2) / student.ppf((1 + CONFIDENCE) / 2, freedom)
            count = float(np.clip(share * (1 - share) / variance * quantiles**2, min(m, n), m + n))
    low, high = wilson(share * count, count, CONFIDENCE)
    return Superiority(share, float(low), float(high))
