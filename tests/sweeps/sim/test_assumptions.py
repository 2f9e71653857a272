"""Laws of App. D's assumptions: what they imply for each other, and what they ask of the initial scale."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.linalg import expm

from swingby_sweeps.sim.assumptions import (
    Constants,
    Scales,
    assumptions,
    first_phase_steps,
    lower_growth,
    lower_major,
    upper_growth,
)
from swingby_sweeps.sim.theory import d_8_bound, logistic

constants = st.builds(
    Constants, K=st.floats(1, 1e3), C=st.floats(1.01, 1e2), P=st.floats(1.5, 1e9), kappa=st.floats(1.01, 3)
)
strengths = st.lists(st.floats(0.1, 100), min_size=2, max_size=4).map(np.array)


@settings(max_examples=200, deadline=None)
@given(strengths, constants, st.floats(1e-4, 0.5), st.floats(1, 10))
def test_D_10_cannot_be_met_at_a_usual_scale(a: np.ndarray, c: Constants, omega: float, beta: float) -> None:
    """Where D.3 and kappa > 1.1 hold, D.10 fails for every omega >= 1e-4, in either order of a."""
    W0 = np.full((len(a), len(a)), omega)
    W0[0, 0] *= beta
    found = assumptions(W0, a, c)
    if found.small_phase and c.kappa > 1.1:
        assert not found.log_ascending
        assert not found.log_descending


@settings(max_examples=200, deadline=None)
@given(strengths, constants, st.floats(1e-60, 0.5))
def test_D_5_as_printed_never_holds_in_the_order_of_the_main_text(a: np.ndarray, c: Constants, omega: float) -> None:
    """With a descending, a_i - 3 a_j is negative for i > j, whatever C; D.10 holds there only if ascending."""
    found = assumptions(np.full((len(a), len(a)), omega), a, c)
    assert not found.gap_descending
    assert found.log_ascending or not found.log_descending


def test_all_assumptions_can_hold_together() -> None:
    """They can, at omega = 1e-75 and signal strengths a hundred times apart; not with an uninformative direction."""
    a, c = np.array([100.0, 1.0]), Constants(K=20, C=2, P=1.2e70, kappa=1.11)
    W0 = np.full((2, 2), 1e-75)
    assert assumptions(W0, a, c).all_ascending
    assert not assumptions(np.full((3, 3), 1e-75), a, c).bounded
    eta = 1 / (9 * 20 * 100)
    assert assumptions(W0, a, c, eta * 0.999).small_step
    assert not assumptions(W0, a, c, eta * 1.001).small_step
    assert not assumptions(W0, a, Constants(K=19.9, C=2, P=c.P, kappa=1.11)).small_step


def test_scales_are_the_tightest() -> None:
    """alpha, gamma alpha, omega and beta omega are attained; a zero entry, or d > s, leaves none."""
    W0 = np.array([[0.02, -0.01], [-0.01, 0.04]])
    assert Scales.of(W0, np.array([0.5, 2.0])) == Scales(0.5, 4.0, 0.01, 4.0)
    assert np.isinf(Scales.of(np.diag([0.1, 0.1]), np.array([1.0, 1.0])).beta)
    assert np.isinf(Scales.of(np.full((2, 2), 0.1), np.array([1.0])).gamma)


def start(omega: float, beta: float) -> np.ndarray:
    """W(0) with entries between omega and beta omega, both attained."""
    return np.array([[omega, beta * omega], [beta * omega, omega]])


@pytest.mark.parametrize("side", [-1, 1])
def test_each_assumption_turns_at_its_printed_bound(side: int) -> None:
    """A millionth within its bound each of D.3, D.4 (D.9, kappa, P) and D.5 (D.10, gap) holds, a millionth beyond not.

    In two dimensions with a = (1, g); the bounds are computed here as App. D prints them.
    """
    off, holds = 1 + side * 1e-6, side < 0
    g, beta = 20.0, 1.5
    a, c = np.array([1.0, g]), Constants(K=30, C=2, P=1e6, kappa=1.2)
    assert assumptions(start(0.4 / (c.P * beta) * off, beta), a, c).small_phase is holds
    room = min(c.kappa - 1, 1 - 1 / np.sqrt(c.kappa)) / (c.P * c.K * g * 2 * beta**2)
    assert assumptions(start(room * off, beta), a, c).small_start is holds
    small = start(1e-30, beta)
    assert assumptions(small, a, Constants(K=30, C=2, P=1e6, kappa=1.1 / off)).small_start is holds
    assert assumptions(small, a, Constants(K=30, C=30 / (2 * 0.2) * off, P=1e6, kappa=1.2)).small_start is holds
    assert assumptions(small, a, Constants(K=30, C=2, P=2 / off, kappa=1.2)).small_start is holds
    # log(1/(P beta omega)) at which (a_i + a_j) / (2 a_i), i the stronger, is log P over the denominator of D.10.
    depth = (np.log(c.P) * 2 * g / (1 + g) - np.log(c.P * beta)) / (10 * c.kappa**2)
    assert assumptions(start(np.exp(-depth * off) / (c.P * beta), beta), a, c).log_ascending is holds
    assert assumptions(small, np.array([1.0, (3 + 1 / c.C) / off]), c).gap_ascending is holds
    assert assumptions(small, np.array([1.0, 1e9]), Constants(K=30, C=1 / off, P=1e6, kappa=1.2)).gap_ascending is holds


@settings(max_examples=50, deadline=None)
@given(strengths, st.floats(1.0, 2.0), st.integers(0, 1000))
def test_early_bounds_are_the_linear_flow_at_kappa_times_the_speed(a: np.ndarray, kappa: float, seed: int) -> None:
    """D.11 and D.23 are |exp(At) W(0) exp(At)|, all that eq 4.3 leaves of a small W, with t kappa and t / kappa for t.

    At T_1 the strongest major entry has, by D.11, grown by P.
    """
    W0, eta, steps = (
        np.random.default_rng(seed).standard_normal((len(a), len(a))),
        0.01 / a.max(),
        np.array([0, 7, 300]),
    )
    for bound, stretch in ((upper_growth, kappa), (lower_growth, 1 / kappa)):
        flowed = [expm(np.diag(a) * eta * t * stretch) for t in steps]
        expected = [np.abs(grow @ W0 @ grow) for grow in flowed]
        np.testing.assert_allclose(bound(W0, a, eta, steps, kappa), expected, rtol=1e-9)
    end = np.array([first_phase_steps(a, eta, 50.0, kappa)])
    strongest = int(a.argmax())
    grown = upper_growth(W0, a, eta, end, kappa)[0, strongest, strongest]
    assert grown == pytest.approx(50 * abs(W0[strongest, strongest]))


@pytest.mark.parametrize("level", [0.3, 0.85])
def test_the_later_bound_is_the_logistic_curve_at_its_level(level: float) -> None:
    """At kappa = 1 D.36 starts from lambda as fast as a major entry there moves by eq 4.3, and kappa slows it down."""
    a, eta, steps = 1.7, 0.01, np.array([0.0, 1e-3])
    ahead = np.diff(np.log(lower_major(level, a, eta, steps, 1.0, level)))
    curve = np.diff(np.log(logistic(np.array(level), np.array(a), eta * steps)))
    assert ahead == pytest.approx(curve, rel=1e-4)
    slower = np.diff(np.log(lower_major(level, a, eta, steps, 1.6, level)))
    assert 1.6 * slower == pytest.approx(ahead)


def test_lemma_d_8_adds_the_two_phases() -> None:
    """Its t* is what D.23 takes to the edge of the initial phase, and D.36 at lambda = 0.85 from there to 0.8."""
    w0, a, eta, kappa, edge = 1e-4, 1.3, 0.005, 1.2, 2e-3
    until = d_8_bound(w0, a, eta, kappa, edge)
    times = np.linspace(0, until, 100_001)
    initial = lower_growth(np.array([[w0]]), np.array([a]), eta, times, kappa)[:, 0, 0]
    left = until - np.interp(edge, initial, times)
    assert lower_major(edge, a, eta, np.array([left]), kappa, 0.85) == pytest.approx(0.8, rel=1e-3)


def logistic_steps(w0: float, a: float, eta: float, steps: int) -> np.ndarray:
    """w += eta 2 a w (1 - w): a major entry of D.3 without minor entries beside it, (steps + 1,)."""
    w = [w0]
    for _ in range(steps):
        w.append(w[-1] + eta * 2 * a * w[-1] * (1 - w[-1]))
    return np.array(w)


@pytest.mark.parametrize("kappa", [1.2, 1.5])
def test_a_lonely_major_entry_keeps_to_the_bounds(kappa: float) -> None:
    """One concept, no noise: D.11 above, D.23 below until T_1, D.36 up to lambda, and 0.8 by Lemma D.8's t*."""
    w0, a, eta, P = 1e-4, 1.0, 0.005, 5.0
    w, W0, strength = logistic_steps(w0, a, eta, 4000), np.array([[1e-4]]), np.array([a])
    steps = np.arange(len(w))
    assert np.all(w <= upper_growth(W0, strength, eta, steps, kappa)[:, 0, 0])
    first = steps[steps <= first_phase_steps(strength, eta, P, kappa)]
    assert np.all(w[first] >= lower_growth(W0, strength, eta, first, kappa)[:, 0, 0])
    assert w[first[-1]] <= P * w0
    level = 0.85
    start = int(np.argmax(w >= P * w0))
    below = np.arange(int(np.argmax(w >= level)) - start)
    assert np.all(w[start + below] >= lower_major(w[start], a, eta, below, kappa, level))
    assert int(np.argmax(w >= 0.8)) <= d_8_bound(w0, a, eta, kappa, P * w0)
