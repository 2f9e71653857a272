"""Descent of many wide nets at once, sixteen to a vector, is that of one after the other."""

from __future__ import annotations

import math

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby_sweeps.scalar.wide.descent import RENEWED, ROUNDING, descend

Array = np.ndarray


@numba.njit
def alone(
    A: float, B: float, S: float, rate: float, limit: float, steps: Array, states: Array
) -> tuple[float, float, int]:
    """One net alone: the largest distance from the linear model, the largest |theta - S|, and the number of records."""
    far, peak, place, start, whole = 0.0, 0.0, 0, (A - B) / 2, A + B
    decay, linear = math.exp(-rate * whole), 1.0
    for step in range(steps[-1] + 1):
        off = (A - B) / 2 - S
        if not abs(off + S) <= limit:
            return far, peak, place
        if step % RENEWED == 0:
            linear = math.exp(-rate * step * whole)
        far, peak = max(far, abs(off - (start - S) * linear)), max(peak, abs(off))
        if step == steps[place]:
            states[place, 0], states[place, 1] = A, B
            place += 1
        if abs(off) <= ROUNDING * (A + B):
            break
        pull, linear = rate * off, linear * decay
        A, B = A * (1 - pull) ** 2, B * (1 + pull) ** 2
    states[place:, 0], states[place:, 1] = A, B
    return far, peak, len(steps)


@settings(max_examples=40, deadline=None)
@given(
    cells=st.integers(1, 50),
    seed=st.integers(0, 2**32 - 1),
    later=st.sets(st.integers(1, 300), max_size=30),
)
def test_each_net_descends_as_alone(cells: int, seed: int, later: set[int]) -> None:
    """Whatever its neighbours do, and whichever steps are recorded, a net has the states, distances and number of
    records of the plain loop, bit for bit: also one that settles, diverges, never moves or starts at the target."""
    rng = np.random.default_rng(seed)
    steps = np.array([0, *sorted(later)])
    sums, S = rng.exponential(1, (cells, 2)), rng.normal(0, 1, cells) * 10 ** rng.uniform(-2, 2, cells)
    kind = rng.integers(0, 8, cells)
    sums[kind == 0, 0] = 0
    sums[kind == 1], S[kind == 1] = 0, 0
    S[kind == 2] = (sums[kind == 2, 0] - sums[kind == 2, 1]) / 2
    rates = 10 ** rng.uniform(-3, 1, cells) / np.maximum(np.hypot(S, np.sqrt(sums.prod(1))), 1e-3)
    limits = 1e6 * np.maximum(np.abs(S), 1)
    states, seen = np.full((cells, len(steps), 2), np.nan), np.zeros((cells, 3))
    descend(sums, S, rates, limits, steps, states, seen)
    for c in range(cells):
        expected = np.full((len(steps), 2), np.nan)
        found = alone(sums[c, 0], sums[c, 1], S[c], rates[c], limits[c], steps, expected)
        assert seen[c].tolist() == list(found)
        np.testing.assert_array_equal(states[c], expected)
