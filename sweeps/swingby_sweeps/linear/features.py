"""Features of training points: matrices E (n, p) of orthonormal functions, their intensities, and targets."""

from __future__ import annotations

import math

import numpy as np

from . import theory
from .params import LinearParams

Array = np.ndarray


def intensities(p: LinearParams) -> Array:
    """rho_k of every mode, (p,)."""
    if p.features == "kernel":
        from .kernel import eigenfunctions

        return eigenfunctions(p.kernel, *_shape(p), p.pool).rho
    if p.spectrum == "two_level":
        return theory.two_levels(p.p, p.d, p.tail)
    return theory.power_intensities(p.p, p.alpha) if p.spectrum == "power" else np.array(p.rho, dtype=float)


def target(p: LinearParams) -> Array:
    """c_k of every mode, (p,)."""
    if p.target == "labels":
        from .kernel import eigenfunctions, parity

        return eigenfunctions(p.kernel, *_shape(p), p.pool).e.T @ parity(p.pool) / p.pool
    if p.target == "power":
        return p.amplitude * np.arange(1.0, p.modes + 1) ** -p.beta
    c = np.zeros(p.modes)
    if p.target == "mode":
        c[p.mode - 1] = p.amplitude
    else:
        c[: len(p.coefficients or ())] = p.coefficients
    return c


def matrix(p: LinearParams, random: np.random.Generator) -> Array:
    """E of n drawn points, (n, p): row i has e_1(x_i), ..., e_p(x_i)."""
    n, m = p.n, p.modes
    match p.features:
        case "gaussian":
            return random.standard_normal((n, m))
        case "rademacher":
            return random.integers(0, 2, (n, m), dtype=np.int8) * 2.0 - 1.0
        case "fourier":
            return fourier(random.random(n), m)
        case "sine":
            return math.sqrt(2) * np.sin(2 * np.pi * np.outer(random.random(n), np.arange(1.0, m + 1)))
        case "hermite":
            return hermite(random.standard_normal(n), m)
        case "kernel":
            from .kernel import eigenfunctions

            return eigenfunctions(p.kernel, *_shape(p), p.pool).e[random.permutation(m)[:n]]


def fourier(x: Array, p: int) -> Array:
    """sqrt(2) cos and sin of 2 pi h x, h = 1, 1, 2, 2, ..., (n, p): odd columns, counted from 1, are cosines."""
    angle = 2 * np.pi * np.outer(x, np.arange(1.0, (p + 1) // 2 + 1))
    e = np.empty((len(x), 2 * angle.shape[1]))
    np.cos(angle, out=e[:, 0::2])
    np.sin(angle, out=e[:, 1::2])
    return math.sqrt(2) * e[:, :p]


def hermite(x: Array, p: int) -> Array:
    """H_k(x)/sqrt(k!) for k = 1, ..., p ([T] 1.4, 1.6), (n, p), by the recurrence of the normed polynomials."""
    e = np.empty((p + 1, len(x)))
    e[0], e[1] = 1.0, x
    for k in range(1, p):
        e[k + 1] = (x * e[k] - math.sqrt(k) * e[k - 1]) / math.sqrt(k + 1)
    return np.ascontiguousarray(e[1:].T)


def _shape(p: LinearParams) -> tuple[float, int, float]:
    """What the kernel reads, and 0 for what it does not, so that equal kernels are found again."""
    return (0.0, p.degree, p.offset) if p.kernel == "polynomial" else (p.bandwidth, 0, 0.0)
