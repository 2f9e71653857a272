"""Sums over all skills, of which there may be infinitely many, as sums over few levels of frequency."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from . import theory

Array = np.ndarray
HEAD = 2000
"""Skills that are summed one by one; beyond, the sum is an integral over ln k, off by a few 1e-9 of the whole."""
STRETCH = 3.0
"""The length of the integral's pieces in ln k."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
"""Of Gauss and Legendre, in each piece."""
STILL = 1e-9
"""The own time up to which a skill counts as one that does not move."""
LEARNED = 80.0
"""The own time after ln c beyond which nothing is left of a skill's loss."""
TOGETHER = 8
"""Points of a curve that are summed at once."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The skills of a model by their frequency in its training set.

    The loss over S^2/2 is sum_i weight_i h(u_i) + idle h(0) + missing, with own times u_i proportional to rate_i.

    Attributes:
        rate: frequency q in the training set, falling, (m,).
        weight: frequency p, summed over the skills of a level, (m,).
        idle: the sum of p of skills that the model has and that do not move.
        missing: that of skills whose basis functions the model does not have.
    """

    rate: Array
    weight: Array
    idle: float
    missing: float


def expected(alpha: float, skills: int | None, width: int | None, longest: float) -> Levels:
    """The levels of an unlimited training set, q_k = p_k.

    Args:
        alpha, skills: of the frequencies; skills None: infinitely many.
        width: the number of basis functions; None: one for each skill.
        longest: the largest factor by which rates are multiplied to own times.
    """
    A = theory.normalisation(alpha, skills)
    last = _least(skills, width)
    # Where the own time is STILL; without this end, infinitely many skills would have no last node.
    still = (A * max(longest, 1.0) / STILL) ** (1 / (alpha + 1))
    end = min(last, max(still, HEAD + 1.0))
    power, weight = _power_sum(alpha, end)
    missing = theory.mass_beyond(alpha, skills, last) if last < math.inf else 0.0
    idle = theory.mass_beyond(alpha, skills, end) - missing if end < last else 0.0
    return Levels(A * power, A * weight, idle, missing)


def _least(skills: int | None, width: int | None) -> float:
    return min(math.inf if skills is None else skills, math.inf if width is None else width)


def moving(levels: Levels, scales: Array, c: float) -> Array:
    """sum_i weight_i h(scale rate_i) for each scale, (n,), with h of `theory.left`; scales do not fall.

    A few scales at a time, so that all numbers stay in the cache, and without levels that are learned to e^-80: ten
    times as fast as one array of all.
    """
    totals = np.empty(len(scales))
    for start in range(0, len(scales), TOGETHER):
        few = scales[start : start + TOGETHER]
        first = np.searchsorted(-levels.rate, -(LEARNED + math.log1p(c)) / few[0])
        h = theory.left(np.multiply.outer(few, levels.rate[first:]), c)
        totals[start : start + TOGETHER] = h @ levels.weight[first:]
    return totals


@lru_cache(maxsize=64)
def _power_sum(alpha: float, end: float) -> tuple[Array, Array]:
    """Levels k^-(alpha + 1) and weights of a sum over k <= end; `end` is whole up to HEAD."""
    k = np.arange(1.0, min(end, HEAD) + 1)
    head = k ** -(alpha + 1)
    if end <= HEAD:
        return head, head
    low, high = math.log(HEAD + 0.5), math.log(end + 0.5)
    pieces = max(math.ceil((high - low) / STRETCH), 1)
    half = (high - low) / pieces / 2
    log_k = (low + half * (2 * np.arange(pieces)[:, None] + 1 + NODES)).ravel()
    tail = np.exp(-(alpha + 1) * log_k)
    area = np.tile(half * WEIGHTS, pieces) * np.exp(-alpha * log_k)
    return np.concatenate([head, tail]), np.concatenate([head, area])
