"""Slips of the source [T] that its README lists, each beside what holds."""

from __future__ import annotations

import numpy as np

from swingby_sweeps.dynamics.metrics import collapse, effective_dimension, spectrum


def test_orthogonal_scatter_is_no_collapse() -> None:
    """(2.10) and (D.6) ask that Sigma_W vanish between the class means: NC1 is 0 with any scatter beside them."""
    classes, each = 4, 30
    labels = np.repeat(np.arange(classes), each)
    scatter = np.random.default_rng(1).normal(size=(classes, each, 5))
    scatter -= scatter.mean(axis=1, keepdims=True)
    phi = np.hstack([np.eye(classes)[labels], 3 * scatter.reshape(-1, 5)])
    found = collapse(phi, np.eye(classes)[labels], labels)
    assert found.nc1 is not None
    assert found.nc1 < 1e-12
    assert found.cdnv is not None
    assert found.cdnv > 10


def test_the_gram_matrix_of_a_simplex() -> None:
    """Class means of a simplex have the Gram matrix a (C delta - 1), which (2.19) has to read."""
    classes = 7
    means = np.eye(classes) - 1 / classes
    np.testing.assert_allclose(means @ means.T, (classes * np.eye(classes) - 1) / classes, atol=1e-15)


def test_the_floor_of_utilization_is_above_what_is_reported() -> None:
    """(1.34) reads 1/n too much a feature: with 1,024 on 10,000 points ten classes read above 20, not 10.5."""
    floor = np.full(1024, 1e-4)
    floor[:10] += 0.1
    found = effective_dimension(floor)
    assert found is not None
    assert 20 < found < 21


def test_eigenfunctions_of_the_algorithm() -> None:
    """Algorithm 1 with rho = s^2/n and e = sqrt(n) u^T Phi / s, Phi of features by points: of mean square 1."""
    draws = np.random.default_rng(2)
    phi, labels = draws.normal(size=(6, 50)), np.arange(50) % 3
    u, s, _ = np.linalg.svd(phi, full_matrices=False)
    e = np.sqrt(50) * u.T @ phi / s[:, None]
    found = spectrum(phi.T, np.eye(3)[labels] @ draws.normal(size=(3, 3)), labels)
    np.testing.assert_allclose(found.intensities, s**2 / 50)
    np.testing.assert_allclose(np.abs(found.eigenfunctions.T), np.abs(e), atol=1e-12)
    np.testing.assert_allclose((e**2).mean(axis=1), 1)
