"""The formulas of the extended multilinear model beside equations integrated, solved and enumerated independently."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby_sweeps.parity import theory


@settings(max_examples=15, deadline=None)
@given(p=st.floats(0.01, 1), inverse_b2=st.floats(1, 50), S=st.floats(0.5, 10), c=st.sampled_from([1.0, 2.0]))
def test_5_2_is_a_gradient_flow(p: float, inverse_b2: float, S: float, c: float) -> None:
    """(5.2) is the flow of a skill whose feature and target are both B g; that of (5.1) as printed, where the feature
    alone is B g, has B in place of B^2. The inverse of (5.2) gives the times back."""
    B, lr, r0 = inverse_b2**-0.5, 0.02, 1e-3
    own = c, lr, S, r0

    def flow(_: float, ab: np.ndarray, feature: float, target: float) -> np.ndarray:
        return c * p * (target - ab.prod() * feature) * feature * ab[::-1]

    for slower, feature, target in ((inverse_b2, B, B * S), (1 / B, B, S)):
        unit = feature / target * S
        times = np.linspace(0, 2 * theory.time_to(0.5, p, slower, *own), 7)
        start = np.full(2, math.sqrt(r0 / unit))
        solved = solve_ivp(
            flow, (0, lr * times[-1]), start, "DOP853", lr * times, args=(feature, target), rtol=1e-10, atol=1e-13
        )
        np.testing.assert_allclose(
            theory.strength_in_time(times, p, slower, *own), solved.y.prod(0) * unit / S, rtol=1e-5
        )
    half = theory.time_to(0.5, p, inverse_b2, *own)
    assert theory.inverse_b2(half, p, *own) == pytest.approx(inverse_b2)
    early, late = (theory.time_to(level, p, inverse_b2, *own) for level in (0.05, 0.95))
    assert theory.sharpness(S, r0) == pytest.approx(late / early)


def test_the_strength_behind_5_5_is_linear_in_the_mean() -> None:
    """Ridgeless fits on d random points of D_c features: R/S has mean d/D_c, the spread of Beta, and not (5.5)."""
    D_c, d, draw = 40, 12, np.random.default_rng(0)
    found = []
    for _ in range(3000):
        features = draw.normal(size=(d, D_c))
        target = np.full(D_c, D_c**-0.5)
        fit = np.linalg.lstsq(features, features @ target, rcond=None)[0]
        found.append(float(fit @ target))
    mean = float(theory.mean_strength_in_data(d, D_c))
    assert np.mean(found) == pytest.approx(mean, abs=0.005)
    assert np.var(found) == pytest.approx(mean * (1 - mean) / (D_c / 2 + 1), rel=0.1)
    assert abs(float(theory.strength_in_data(d, D_c)) - mean) > 0.1


@pytest.mark.parametrize("law", [theory.strength_in_data, theory.mean_strength_in_data])
def test_both_laws_of_data_end_at_d_c(law: Callable[[object, float], np.ndarray]) -> None:
    """No sample gives no strength, D_c samples all of it, more samples no more."""
    assert law(np.array([0, 100, 1000]), 100).tolist() == [0, 1, 1]


def test_units_go_to_skills_in_turn() -> None:
    """(5.9): whole skills first, then a part of one, then none; together they are N / N_c."""
    assert theory.strength_in_width(10, 4, 5).tolist() == [1, 1, 0.5, 0, 0]
    assert theory.strength_in_width(3, 4, 2).tolist() == [0.75, 0]
    assert theory.strength_in_width(100, 4, 3).tolist() == [1, 1, 1]


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_no_unit_grows_faster_than_the_growth_constant_says(m: int) -> None:
    """The balanced unit without bias reaches 1/g exactly; of 30,000 others, near it and far, none exceeds it."""
    x = np.array(list(product((0.0, 1.0), repeat=m)))
    parity = (-1.0) ** x.sum(1)
    inputs = np.concatenate([x, np.ones((2**m, 1))], axis=1)

    def growth(v: np.ndarray) -> np.ndarray:
        v = v / np.linalg.norm(v, axis=1, keepdims=True)
        return np.abs((parity * np.maximum(v @ inputs.T, 0)).mean(1))

    best = np.append(np.where(np.arange(m) < m // 2, -1.0, 1.0), 0.0)[None]
    assert 1 / growth(best)[0] == pytest.approx(theory.growth_constant(m))
    draw = np.random.default_rng(m)
    near = best + 0.3 * draw.normal(size=(10_000, m + 1))
    assert max(growth(near).max(), growth(draw.normal(size=(20_000, m + 1))).max()) <= growth(best)[0] + 1e-12


def test_frequencies_are_a_power_law() -> None:
    """They add to one and fall with the exponent alpha + 1."""
    p = theory.frequencies(0.6, 50)
    assert p.sum() == pytest.approx(1)
    assert np.diff(np.log(p)) == pytest.approx(-1.6 * np.diff(np.log(np.arange(1, 51))))
