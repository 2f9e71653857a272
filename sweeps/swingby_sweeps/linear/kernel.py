"""Eigenfunctions of a kernel on images of digits, which are taken for the whole distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.linalg import eigh

from swingby.errors import SwingbyError
from swingby_sweeps.dynamics.images import load

Array = np.ndarray
NEGLIGIBLE = 1e-13
"""Eigenvalues below this share of the largest are rounding, and count as 0."""


@dataclass(frozen=True)
class Eigenfunctions:
    """All eigenfunctions of a kernel on N points.

    Attributes:
        rho: eigenvalues of K/N, falling, (N,).
        e: e_k(x_i), orthonormal under the mean over the N points, (N, N).
    """

    rho: Array
    e: Array


@cache
def images() -> tuple[Array, Array]:
    """Pixels in [0, 1] and digits of scikit-learn's 1,797 images, in one random order, so that any first ones are a
    sample.

    Raises:
        SwingbyError: scikit-learn is not installed; says how to have it.
    """
    try:
        digits = load("digits")
    except SwingbyError as error:
        raise SwingbyError(f"features: kernel: {error}; allowed without it: every other value of `features`") from error
    order = np.random.default_rng(0).permutation(len(digits.labels))
    return digits.pixels(order), digits.labels[order]


def parity(pool: int) -> Array:
    """+1 for an even digit, -1 for an odd one, (N,)."""
    return 1.0 - 2.0 * (images()[1][:pool] % 2)


@lru_cache(maxsize=16)
def eigenfunctions(kernel: str, bandwidth: float, degree: int, offset: float, pool: int) -> Eigenfunctions:
    """The eigenfunctions of a kernel on the first `pool` images.

    Raises:
        ValueError: the kernel is not positive.
    """
    x = images()[0][:pool]
    products = x @ x.T
    norms = np.diag(products)
    if kernel == "polynomial":
        gram = (products / norms.mean() + offset) ** degree
    else:
        squares = np.maximum(norms[:, None] + norms - 2 * products, 0)
        squares /= bandwidth**2 * squares.sum() / (pool * (pool - 1))
        gram = np.exp(-squares / 2) if kernel == "rbf" else np.exp(-np.sqrt(squares))
    rho, v = eigh(gram / pool, overwrite_a=True, check_finite=False)
    if rho[0] < -NEGLIGIBLE * rho[-1] * pool:
        raise ValueError(f"the kernel {kernel} has an eigenvalue of {rho[0]:.2g}; allowed: positive kernels")
    rho = np.where(rho > NEGLIGIBLE * rho[-1], rho, 0.0)
    return Eigenfunctions(rho[::-1].copy(), np.ascontiguousarray(np.sqrt(pool) * v[:, ::-1]))
