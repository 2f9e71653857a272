"""Laws of App. D's assumptions: what they imply for each other, and what they ask of the initial scale."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from sweeps.sim.assumptions import (
    Constants,
    Scales,
    assumptions,
    first_phase_steps,
    lower_growth,
    lower_major,
    upper_growth,
)
from sweeps.sim.theory import d_8_bound

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
