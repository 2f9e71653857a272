"""The formulas of the multilinear model beside equations integrated, sums taken one by one, and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby_sweeps.scaling import theory

ALPHAS = st.floats(0.05, 3)


@given(s=st.floats(0.5, 10), share=st.floats(1e-4, 0.9), lr=st.floats(0.1, 3), q=st.floats(0.01, 1))
@settings(max_examples=20, deadline=None)
def test_strength_is_the_flow_of_both_layers(s: float, share: float, lr: float, q: float) -> None:
    """a' = -eta q b (a b - S) and b' = -eta q a (a b - S) from a = b ([T] B.6, B.7); w' = -eta q (w - S) (C.4)."""
    end = 2 * math.log(1 / share) / (2 * lr * s * q)
    times = np.linspace(0, end, 7)

    def flow(_: float, y: np.ndarray) -> list[float]:
        a, b, w = y
        return [-lr * q * b * (a * b - s), -lr * q * a * (a * b - s), -lr * q * (w - s)]

    root = math.sqrt(share * s)
    found = solve_ivp(flow, (0, end), [root, root, 0.0], t_eval=times, rtol=1e-11, atol=1e-13, method="DOP853").y
    for model, strength in (("multilinear", found[0] * found[1]), ("linear", found[2])):
        c = theory.lag(model, s, share * s)
        u = theory.pace(model, s, lr) * q * times
        assert s * theory.strength(u, c) == pytest.approx(strength, abs=1e-8 * s)
        assert theory.left(u, c) == pytest.approx((1 - strength / s) ** 2, abs=1e-7)
        assert theory.unseen(c) == pytest.approx(float(theory.left(np.array(0.0), c)))


@given(alpha=ALPHAS, skills=st.integers(1, 3000), k=st.integers(0, 4000))
@settings(max_examples=30, deadline=None)
def test_frequencies_sum_to_one(alpha: float, skills: int, k: int) -> None:
    """A by Hurwitz's zeta is one over the sum, and the mass beyond a skill is the sum beyond it."""
    p = np.arange(1.0, skills + 1) ** -(alpha + 1)
    assert theory.normalisation(alpha, skills) == pytest.approx(1 / p.sum(), rel=1e-12)
    assert theory.mass_beyond(alpha, skills, k) == pytest.approx((p[k:] / p.sum()).sum(), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("alpha", [0.1, 0.6, 2.0])
@pytest.mark.parametrize("c", [0.0, 1.0, 499.0, 1e6])
def test_the_integral_over_own_times(alpha: float, c: float) -> None:
    """Beside trapezia on a fine grid in ln u."""
    log_u = np.linspace(-60 * (alpha + 1) / alpha, math.log(60 + math.log1p(c)), 400_001)
    u = np.exp(log_u)
    direct = np.trapezoid(u ** (alpha / (alpha + 1)) * theory.left(u, c), log_u)
    assert theory.own_time_integral(alpha, c) == pytest.approx(direct, rel=1e-6)
    log_u = np.linspace(math.log(2), log_u[-1], 100_001)
    part = np.trapezoid(np.exp(log_u * alpha / (alpha + 1)) * theory.left(np.exp(log_u), c), log_u)
    assert theory.own_time_integral(alpha, c, 2.0) == pytest.approx(part, rel=1e-6)


def test_prefactors_at_the_values_of_figure_4_3() -> None:
    """b of L = b S^2/2 C^(-alpha/(alpha + 2)), computed once by another program; S = 5, R(0) = 0.01."""
    b = [theory.compute_prefactor(alpha, None, 5.0, 499.0, 10.0) / 12.5 for alpha in (0.3, 0.6, 0.9)]
    assert b == pytest.approx([0.952, 0.788, 0.646], abs=1e-3)


@given(alpha=ALPHAS, ratio=st.floats(3, 1e9))
@settings(max_examples=30, deadline=None)
def test_overlaps_rise_along_the_skills(alpha: float, ratio: float) -> None:
    """It is the level of the later skill where both make S; pairs are counted up to the first that overlaps."""
    c = ratio - 1
    levels = [theory.overlap(alpha, c, k) for k in (1, 2, 5, 50)]
    assert theory.overlap(alpha, theory.lag_of_overlap(alpha, 0.05, 2), 2) == pytest.approx(0.05)
    assert levels == sorted(levels)
    assert levels[-1] < 0.5
    u = math.log(c) * 2 / (1 + 2 ** -(alpha + 1))  # u_1 where the two strengths of skills 1 and 2 make S
    one, two = (float(theory.strength(np.array(at), c)) for at in (u, u * 2 ** -(alpha + 1)))
    assert one + two == pytest.approx(1)
    assert two == pytest.approx(theory.overlap(alpha, c, 1))
    count = theory.stages(alpha, c, 0.05)
    assert theory.overlap(alpha, c, count + 1) > 0.05
    assert count == 0 or theory.overlap(alpha, c, count) <= 0.05


def test_how_many_skills_come_one_by_one() -> None:
    """At alpha 0.6, five pairs need S/R(0) of about 1.8e7, and S/R(0) = 500 gives one."""
    assert theory.stages(0.6, 499.0, 0.05) == 1
    assert [theory.stages(0.6, c, 0.05) for c in (1.6e7, 1.9e7)] == [3, 4]


@given(alpha=ALPHAS, k=st.integers(10, 10_000))
@settings(max_examples=30, deadline=None)
def test_what_a_skill_changes(alpha: float, k: int) -> None:
    """k dL/L lies below 0 and near -alpha, to the order of 1/k ([T] 4.13)."""
    assert k * theory.change_per_skill(alpha, k) == pytest.approx(-alpha, abs=2 * alpha * (alpha + 1) / k)


def test_reached_turns_the_power_law_round() -> None:
    """Of the loss S^2 A k^-alpha / (2 alpha) the number of skills is k."""
    loss = theory.width_prefactor(0.6, 10_000, 5.0) * 70**-0.6
    assert theory.reached(0.6, 10_000, 5.0, loss) == pytest.approx(70)
