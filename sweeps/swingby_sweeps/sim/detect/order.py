"""The order in which concepts are learned, retreats on the way, and the order of losses over the hierarchy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals import kernels, noise
from swingby_analysis.signals.extrema import Floats, Ints, zigzag

LEARNED = 0.9
"""r_k = f_k / mu_k from which on a concept counts as learned."""
RETREAT_FLOOR = 0.02
"""Change of progress up to which a rise or a fall is none, whatever the noise."""
SLACK_FACTOR, SLACK = 1.02, 1e-3
Mask = NDArray[np.bool_]


def follows_a(at: Ints, times: int, a: Floats) -> tuple[Mask, Mask]:
    """Whether concepts are learned in the order of falling a_p, and whether that is known, each (C,).

    It is unknown where two a_p are equal, two times lie within one recording interval, two are infinite, or s = 1.

    Args:
        at: records at which r_k reaches `LEARNED` for good, (C, s).
        times: T, the value in `at` that stands for never.
        a: (C, s).
    """
    count = at.shape[1]
    holds, known = np.ones(len(at), dtype=bool), np.full(len(at), count > 1)
    for i in range(count):
        for j in range(i + 1, count):
            never = (at[:, i] >= times) | (at[:, j] >= times)
            both = (at[:, i] >= times) & (at[:, j] >= times)
            tie = both | (~never & (np.abs(at[:, i] - at[:, j]) <= 1))
            equal = ~(np.abs(a[:, i] - a[:, j]) > 1e-9 * np.maximum(np.abs(a[:, i]), np.abs(a[:, j])))
            known &= ~(tie | equal)
            holds &= (a[:, i] > a[:, j]) == (at[:, i] < at[:, j])
    return holds & known, known


def retreats(progress: Floats, steps: Floats, noisy: Mask) -> Mask:
    """Whether some r_k rises by, then falls by, more than its threshold and then exceeds its old peak, (C,).

    The threshold is 0.02, or that of the noise of r_k (`signals.noise`) where it is larger.

    Args:
        progress: (C, T, s), finite.
        steps: (T,).
        noisy: (C,), False where the run has no sampling noise.
    """
    retreated = np.zeros(len(progress), dtype=bool)
    for k in range(progress.shape[2]):
        values = np.ascontiguousarray(progress[:, :, k])
        # A retreat by more than the noise is one by more than the floor, too, which is quick to find.
        rows = np.flatnonzero(_retreat(values, np.zeros_like(values)))
        candidates = rows[noisy[rows] & ~retreated[rows]]
        retreated[rows[~noisy[rows]]] = True
        if len(candidates):
            # Noise is measured on curves that fall.
            read = noise.measure(-values[candidates], steps)
            retreated[candidates] = _retreat(-read.curve, read.threshold)
    return retreated


def _retreat(values: Floats, scale: Floats) -> Mask:
    """Whether a curve of (C, T) rises, falls and exceeds its old peak, each time by more than the threshold, (C,)."""
    turns = zigzag(values, scale, np.full(len(values), RETREAT_FLOOR))
    curve, at = turns.curve, turns.at
    same = np.append(curve[1:] == curve[:-1], False) if len(curve) else np.zeros(0, dtype=bool)
    # A peak after a rise and before a fall, both of which passed the threshold.
    inner = np.flatnonzero((turns.sign > 0) & np.roll(same, 1) & same)
    again = kernels.exceeded(values, curve[inner], at[inner], at[inner + 1])
    retreated = np.zeros(len(values), dtype=bool)
    retreated[curve[inner[again]]] = True
    return retreated


def comparable_pairs(concepts: int) -> list[tuple[int, int]]:
    """Pairs (u, v) of test points with u <= v componentwise and u != v, as indices in binary counting order."""
    nodes = range(2**concepts)
    return [(u, v) for v in nodes for u in nodes if u != v and u & v == u]


def breaks(lower: Floats | float, upper: Floats | float) -> Mask | bool:
    """Whether losses of test points u <= v break B.2, l(u) <= l(v), by more than 2 % and 0.001."""
    return lower > SLACK_FACTOR * upper + SLACK


def violations(hierarchy: Floats, concepts: int) -> tuple[Floats, Floats]:
    """Share of comparable pairs with l(u) > 1.02 l(v) + 1e-3 at each record, with and without the node 0 ([S] B.2).

    Args:
        hierarchy: loss at every test point of B.1, (C, T, 2^s), in the run's own units of loss.

    Returns:
        two arrays (C, T); the second is NaN if s = 1, where no pair is left.
    """
    pairs = comparable_pairs(concepts)
    broken = {False: np.zeros(hierarchy.shape[:2]), True: np.zeros(hierarchy.shape[:2])}
    for u, v in pairs:
        broken[u == 0] += breaks(hierarchy[:, :, u], hierarchy[:, :, v])
    inner = sum(u != 0 for u, _ in pairs)
    without = broken[False] / inner if inner else np.full(hierarchy.shape[:2], np.nan)
    return (broken[False] + broken[True]) / len(pairs), without
