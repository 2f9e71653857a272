"""Intervals of two shares and of their difference, for cells that are independent and for seeds that share draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri
from scipy.stats import binom
from scipy.stats import t as student

from swingby.select.intervals import wilson

Floats = NDArray[np.float64]
CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends of an interval, elementwise."""

    low: Floats
    high: Floats


def majority(n: int) -> int | None:
    """The least k of n whose interval (Wilson's) lies above one half; None where that of n of n does not."""
    low, _ = wilson(np.arange(n + 1), n, CONFIDENCE)
    return int((low > 0.5).argmax()) if low[-1] > 0.5 else None


def seen_as_majority(n: int, power: float = 0.8) -> float | None:
    """The least share that n seeds show to lie above one half with this probability; None where no n seeds can."""
    needed = majority(n)
    # At least `needed` of n successes is a beta distribution's tail.
    return None if needed is None else float(betaincinv(needed, n - needed + 1, power))


def newcombe(a: ArrayLike, of_a: Interval, b: ArrayLike, of_b: Interval, alike: ArrayLike = 0.0) -> Interval:
    """Newcombe's interval of b - a from the intervals of both shares: the distances to their ends, squared and added.

    Method 10 of Newcombe (1998a, Statistics in Medicine 17, 873) with `alike` 0, for independent samples; with `alike`
    the correlation of both (see `phi`), method 10 of Newcombe (1998b, ibid. 2635), for paired ones.
    """
    a, b, alike = (np.asarray(value, dtype=float) for value in (a, b, alike))
    down = (b - of_b.low) ** 2 + (of_a.high - a) ** 2 - 2 * alike * (b - of_b.low) * (of_a.high - a)
    up = (of_b.high - b) ** 2 + (a - of_a.low) ** 2 - 2 * alike * (of_b.high - b) * (a - of_a.low)
    return Interval(b - a - np.sqrt(np.maximum(down, 0)), b - a + np.sqrt(np.maximum(up, 0)))


def phi(both: ArrayLike, up: ArrayLike, down: ArrayLike, neither: ArrayLike) -> Floats:
    """The correlation of paired yes/no outcomes as Newcombe (1998b) corrects it, elementwise; 0 where one is constant.

    Args:
        both, neither: pairs in which A and B agree.
        up, down: pairs with the outcome in B only, in A only.
    """
    both, up, down, neither = (np.asarray(count, dtype=float) for count in (both, up, down, neither))
    spread = np.sqrt((both + down) * (up + neither) * (both + up) * (down + neither))
    excess = both * neither - up * down
    half = (both + up + down + neither) / 2
    excess = np.where(excess > 0, np.maximum(excess - half, 0), excess)
    return np.where(spread > 0, excess / np.where(spread > 0, spread, 1), 0.0)


def by_units(k: ArrayLike, m: ArrayLike) -> tuple[float, Interval]:
    """The share of all cells, and its interval where the cells of a unit (a seed at many points) may err together.

    Wilson's interval at the effective number of cells (Korn and Graubard 1998): as many independent cells as would make
    the share vary as much as it does from unit to unit, with Student's quantile for that estimate. Where it does not
    vary, as at 0 and 1, it is the number of units.

    Args:
        k, m: how many cells of each unit have the outcome, and how many it has.
    """
    k, m = np.asarray(k, dtype=float), np.asarray(m, dtype=float)
    cells, units = m.sum(), len(m)
    share = k.sum() / cells
    count = float(units)
    if units > 1:
        variance = units / (units - 1) * ((k - share * m) ** 2).sum() / cells**2
        if variance > 0 and 0 < share < 1:
            quantiles = ndtri((1 + CONFIDENCE) / 2) / student.ppf((1 + CONFIDENCE) / 2, units - 1)
            count = min(float(cells), max(1.0, share * (1 - share) / variance * quantiles**2))
    return share, Interval(*wilson(share * count, count, CONFIDENCE))


def of_nets(net: ArrayLike, m: ArrayLike) -> Interval:
    """The interval of the difference of paired shares from what each unit gains: Student's, from unit to unit.

    Args:
        net, m: of each of at least two units, how many more cells have the outcome in B than in A, and how many it has.
    """
    net, m = np.asarray(net, dtype=float), np.asarray(m, dtype=float)
    units, difference = len(m), net.sum() / m.sum()
    variance = units / (units - 1) * ((net - difference * m) ** 2).sum() / m.sum() ** 2
    half = student.ppf((1 + CONFIDENCE) / 2, units - 1) * np.sqrt(variance)
    return Interval(np.maximum(difference - half, -1.0), np.minimum(difference + half, 1.0))


def correlation(k_a: ArrayLike, m_a: ArrayLike, k_b: ArrayLike, m_b: ArrayLike) -> float:
    """The correlation of the shares of A and B over units; 0 where one of them does not vary."""
    rests = []
    for k, m in ((k_a, m_a), (k_b, m_b)):
        k, m = np.asarray(k, dtype=float), np.asarray(m, dtype=float)
        rests.append(k - k.sum() / m.sum() * m)
    spread = np.sqrt((rests[0] ** 2).sum() * (rests[1] ** 2).sum())
    return float(np.clip((rests[0] * rests[1]).sum() / spread, -1, 1)) if spread > 1e-12 else 0.0


def median_of(differences: ArrayLike) -> tuple[float, float, float]:
    """The median, and its interval by inverting the sign test: two of the values, or infinite where there are few.

    Returns:
        median, low, high.
    """
    ordered = np.sort(np.asarray(differences, dtype=float))
    count = len(ordered)
    if not count:
        return np.nan, np.nan, np.nan
    # The rank below which at most half of what is left out of the confidence falls.
    rank = int(binom.ppf((1 - CONFIDENCE) / 2, count, 0.5))
    low, high = (ordered[rank - 1], ordered[count - rank]) if rank > 0 else (-np.inf, np.inf)
    first, second = float(ordered[(count - 1) // 2]), float(ordered[count // 2])
    return first if first == second else (first + second) / 2, float(low), float(high)
