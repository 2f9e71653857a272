"""Formulas of [T] chapter 1 beside independent computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby_sweeps.linear import theory
from swingby_sweeps.linear.params import LinearParams

INTENSITIES = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=40).map(np.array)


@settings(max_examples=60, deadline=None)
@given(rho=INTENSITIES, n=st.integers(1, 40), delta=st.one_of(st.just(0.0), st.floats(1e-6, 1e6)))
def test_kappa_solves_its_equation(rho: np.ndarray, n: int, delta: float) -> None:
    """The learned modes and the ridge make up the number of points; without a ridge p <= n modes are learned whole."""
    kappa = theory.kappa(rho, n, delta)
    L = theory.learnability(rho, kappa)
    if delta == 0 and len(rho) <= n:
        assert kappa == 0
        assert (L == 1).all()
    else:
        assert L.sum() + delta / kappa == pytest.approx(n, rel=1e-9)
        assert 0 < L.min() <= L.max() < 1


@settings(max_examples=30, deadline=None)
@given(rho=INTENSITIES, n=st.integers(1, 20), factor=st.floats(1e-3, 1e3))
def test_learnability_is_free_of_scale_and_order(rho: np.ndarray, n: int, factor: float) -> None:
    """L is unchanged by rho -> a rho, and moves with its mode."""
    L = theory.learnability(rho, theory.kappa(rho, n))
    assert theory.learnability(factor * rho, theory.kappa(factor * rho, n)) == pytest.approx(L, rel=1e-8)
    assert theory.learnability(rho[::-1], theory.kappa(rho[::-1], n)) == pytest.approx(L[::-1], rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 300), d=st.integers(1, 50), more=st.integers(1, 900), tail=st.floats(1e-3, 1e3))
def test_two_levels_have_a_quadratic(n: int, d: int, more: int, tail: float) -> None:
    """The root of the quadratic is kappa of the bracketed equation, where there are more modes than points."""
    p = max(n, d) + more
    assert theory.two_level_kappa(n, p, d, tail) == pytest.approx(
        theory.kappa(theory.two_levels(p, d, tail), n), rel=1e-7
    )


@settings(max_examples=30, deadline=None)
@given(n=st.integers(20, 300), d=st.integers(1, 15), more=st.integers(1, 900), L=st.floats(0.2, 0.98))
def test_a_tail_decides_how_much_of_a_strong_mode_is_learned(n: int, d: int, more: int, L: float) -> None:
    """At `two_level_tail` the strong modes have the learnability that was asked for."""
    p = n + more
    tail = theory.two_level_tail(n, p, d, L)
    assert 1 / (1 + theory.two_level_kappa(n, p, d, tail)) == pytest.approx(L, rel=1e-6)


def test_modes_without_intensity_are_not_learned() -> None:
    """They count for nothing: not in kappa, and with L = 0, with and without a ridge."""
    rho = np.array([1.0, 0.5, 0.0, 0.0])
    assert theory.kappa(rho, 3) == 0
    assert theory.learnability(rho, 0.0).tolist() == [1, 1, 0, 0]
    assert theory.kappa(rho, 1, 0.3) == pytest.approx(theory.kappa(rho[:2], 1, 0.3))


@pytest.mark.parametrize(("p", "left"), [(50, 2.0), (100, math.inf), (200, 2.0)])
def test_noise_is_amplified_without_end_at_as_many_modes_as_points(p: int, left: float) -> None:
    """E_0 of equal modes is n/(n - p) below, p/(p - n) above, and has no bound at p = n = 100."""
    L = theory.learnability(np.ones(p), theory.kappa(np.ones(p), 100))
    assert theory.overfitting(100, L) == pytest.approx(left)


def test_training_error_of_few_modes() -> None:
    """Least squares on p < n modes leave sigma^2 (n - p)/n, by the formula for every ridge."""
    assert theory.train_error(100 / (100 - 30), 0.0, 1.0, 0.25, (100 - 30) / 100) == pytest.approx(0.25 * 0.7)


@settings(max_examples=40, deadline=None)
@given(v=INTENSITIES, w=INTENSITIES, factor=st.floats(1e-3, 1e3))
def test_effective_dimension(v: np.ndarray, w: np.ndarray, factor: float) -> None:
    """Between 1 and the number of entries, free of scale, and a product over independent factors."""
    found = theory.effective_dimension(v)
    assert 1 - 1e-9 <= found <= len(v) + 1e-9
    assert theory.effective_dimension(factor * v) == pytest.approx(found, rel=1e-9)
    both = theory.effective_dimension(np.outer(v, w).ravel())
    assert both == pytest.approx(found * theory.effective_dimension(w), rel=1e-9)


def test_effective_dimension_of_equal_entries() -> None:
    """It is d for d equal entries among zeros, and does not exist where all are 0."""
    assert theory.effective_dimension(np.array([[2.0] * 5 + [0] * 3, [0] * 8])) == pytest.approx(
        [5, np.nan], nan_ok=True
    )


def test_the_best_ridge_is_best() -> None:
    """No ridge of a fine grid has a smaller expected error."""
    rho, c = theory.power_intensities(300, 1.5), theory.power_intensities(300, 1.0)

    def error(delta: float) -> float:
        L = theory.learnability(rho, theory.kappa(rho, 40, delta))
        return theory.excess(theory.overfitting(40, L), theory.missed(L, c), float(c @ c), 0.5)

    best = theory.best_ridge(rho, c, 40, 0.5, (1e-4, 1e3))
    assert error(best) <= min(map(error, np.geomspace(1e-4, 1e3, 300))) + 1e-12


def test_sigma_is_what_it_is_said_to_be() -> None:
    """The noise of a standard deviation has its square as its variance; theory and parameters agree."""
    for sigma_is, variance in (("sd", 0.25), ("variance", 0.5)):
        assert theory.variance(0.5, sigma_is) == variance
        assert LinearParams.model_validate({"sigma": 0.5, "sigma_is": sigma_is}).variance == variance
