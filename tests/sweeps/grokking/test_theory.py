"""Measures of features beside their definitions as operators, and in cases whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby_sweeps.grokking import theory


def draws(seed: int, n: int = 30, p: int = 7, c: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)) + 1, random.normal(size=(n, c))


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
@settings(max_examples=20, deadline=None)
def test_measures_do_not_know_scales_or_bases(seed: int, scale: float) -> None:
    """Neither a rotation or a scale of the features, nor another basis of the outputs, changes a measure."""
    phi, f = draws(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(phi.shape[1],) * 2))[0]
    basis = np.triu(np.ones((3, 3)))
    assert theory.kappa(scale * phi @ turn, f @ basis) == pytest.approx(theory.kappa(phi, f), abs=1e-9)
    d_eff = [theory.effective_dimension_without_constant(theory.intensities(of)) for of in (phi, scale * phi @ turn)]
    assert d_eff[0] == pytest.approx(d_eff[1], rel=1e-9)


def test_collapsed_features_are_in_the_minimum_feature_regime() -> None:
    """Features that are a simplex of ten class means: kappa 0, and D_eff = 10 of ten classes ([T] eq 2.7)."""
    f = np.eye(10)[np.arange(200) % 10]
    phi = np.hstack([f, np.zeros((200, 20))])
    assert theory.kappa(phi, f) == pytest.approx(0, abs=1e-12)
    assert theory.effective_dimension_without_constant(theory.intensities(phi)) == pytest.approx(10)


def test_a_number_needs_two_features() -> None:
    """A constant and one feature that is the learned number: D_eff = 2 ([T] Fig 3.6), kappa 0."""
    f = np.linspace(-1, 1, 50)[:, None]
    phi = np.hstack([np.full((50, 1), 2.0), f])
    assert theory.effective_dimension_without_constant(theory.intensities(phi)) == pytest.approx(2)
    assert theory.kappa(phi, f) == pytest.approx(0, abs=1e-12)


def test_equal_intensities_are_counted() -> None:
    """D_eff of k equal numbers is k; of none it is not a number."""
    assert theory.effective_dimension(np.ones(6)) == pytest.approx(6)
    assert math.isnan(theory.effective_dimension(np.zeros(3)))


def test_a_constant_function_has_no_kappa() -> None:
    """Nothing is learned where the outputs are constant."""
    assert math.isnan(theory.kappa(draws(0)[0], np.zeros((30, 3))))
