"""Theorem 1 of [T] 6.3, and what follows from it, in its symbols; formulas broadcast over arrays.

A = Sigma_0 + S_0 and B = Sigma_0 - S_0 are the sums of (a_j + b_j)^2/(2Z) and (a_j - b_j)^2/(2Z) at the start, S is the
target, and x = 2 q c E t/Z the time with q = sqrt(S^2 + A B). Along the flow A(t) = A gamma and B(t) = B/gamma.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Numbers = Array | float

LAZY, RICH = 1.1, 2.0
"""A kernel that changes by less than a factor of 1.1 is lazy, by more than 2 rich."""


def root(A: Numbers, B: Numbers, S: Numbers) -> Array:
    """q = sqrt(Sigma_0^2 - S_0^2 + S^2), the size Sigma at the end of the flow."""
    return np.hypot(S, np.sqrt(A) * np.sqrt(B))


def _sum_and_difference(A: Numbers, B: Numbers, S: Numbers, q: Numbers) -> tuple[Array, Array]:
    """q + S and q - S; the smaller one is A B over the other, since the difference would cancel."""
    large = q + np.abs(S)
    small = A * B / np.where(large > 0, large, 1)
    return np.where(S >= 0, large, small), np.where(S >= 0, small, large)


def modes(A: Numbers, B: Numbers, S: Numbers, x: Numbers) -> tuple[Array, Array]:
    """A gamma and B / gamma of (6.12) after the time x = 2 q c E t/Z, without a difference of like numbers.

    gamma = (q+S + (q-S) e + B (1-e)) / (q-S + (q+S) e + A (1-e)) with e = exp(-x), so that no term is negative.
    """
    q = root(A, B, S)
    plus, minus = _sum_and_difference(A, B, S, q)
    e, rest = np.exp(-x), -np.expm1(-x)
    above, below = plus + minus * e + B * rest, minus + plus * e + A * rest
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(A > 0, A * above / below, 0.0), np.where(B > 0, B * below / above, 0.0)


def theta(A: Numbers, B: Numbers, S: Numbers, x: Numbers) -> Array:
    """theta(t) = (A gamma - B/gamma)/2 after the time x = 2 q c E t/Z."""
    aligned, opposed = modes(A, B, S, x)
    return (aligned - opposed) / 2


def theta_printed(A: Numbers, B: Numbers, S: Numbers, x: Numbers) -> Array:
    """theta(t) by (6.12) as printed, whose exponent is 4 q t/Z: right for the loss without its 1/2 (c = 2)."""
    return theta(A, B, S, 2 * x)


def theta_linear(A: Numbers, B: Numbers, S: Numbers, t: Numbers) -> Array:
    """theta of the kernel frozen at its start, after the time t' = c E K_0 t = 2 Sigma_0 c E t/Z."""
    return S + ((A - B) / 2 - S) * np.exp(-t)


def gamma_end(A: Numbers, B: Numbers, S: Numbers) -> Array:
    """gamma_+ = (S + q)/(Sigma_0 + S_0) of (6.14), for A > 0."""
    q = root(A, B, S)
    return _sum_and_difference(A, B, S, q)[0] / A


def kernel_ratio(rho: Numbers, s0: Numbers) -> Array:
    """K_inf / K_0 = sqrt(1 - s0^2 + rho^2) with rho = S/Sigma_0 and s0 = S_0/Sigma_0; 0 on the saddle."""
    ratio = np.sqrt((1 - s0) * (1 + s0) + rho**2)
    return np.where(is_saddle(rho, s0), 0.0, ratio)


def is_saddle(rho: Numbers, s0: Numbers) -> Array:
    """Whether the flow ends at the origin: no weight is aligned with the target at all, A = 0 < S or B = 0 > S."""
    return np.asarray(((s0 <= -1) & (rho > 0)) | ((s0 >= 1) & (rho < 0)))


def flattest(rho: Numbers) -> Array:
    """The least K/K_0 of any solution, |rho|: weights with theta = S have Sigma >= |S|."""
    return np.abs(rho)
