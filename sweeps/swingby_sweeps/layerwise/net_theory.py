"""Theory of linear nets f = x^T W_1 W_2 on white inputs ([T] 3.5, A.2): when a mode emerges, and how the kernel moves.

rho_i are the singular values of the correlation E[x f*^T] = sum_i rho_i u_i v_i^T, falling. The strength of mode i is
r_i = u_i^T W_1 W_2 v_i / rho_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
"""A number or an array; arguments broadcast."""
LOST = 1e-10
"""Share of its length that Gram-Schmidt leaves of a vector which is a combination of those before, by rounding."""


def alignment(W1: Array, W2: Array, U: Array, V: Array) -> tuple[Array, Array]:
    """What drives each mode at the start, (..., modes): R_ii after Gram-Schmidt, and the lengths |m_i| without it.

    m_i = (W_1^T u_i + W_2 v_i) / 2 grows as e^(rho_i t) while all is small. A mode that has been learned takes its
    direction of the hidden layer with it, so that the next has only what is orthogonal to it: R of m = Q R, in the
    order of falling rho. From the (p + 1)-th mode on, and where a start has no such part, nothing is left: 0.

    Args:
        W1, W2: (..., d, p) and (..., p, c).
        U, V: singular vectors as columns, (..., d, modes) and (..., c, modes).
    """
    m = (np.swapaxes(W1, -1, -2) @ U + W2 @ V) / 2
    lengths = np.linalg.norm(m, axis=-2)
    left = np.zeros_like(lengths)
    R = np.abs(np.diagonal(np.linalg.qr(m, mode="r"), axis1=-2, axis2=-1))
    left[..., : R.shape[-1]] = R
    return np.where(left > LOST * lengths, left, 0.0), lengths


def time_to(r: Array, rho: Array, a: Array) -> Array:
    """The time at which a mode reaches the strength r from alpha(0) = a, by (3.15); infinite where a = 0.

    With a = R_ii of `alignment` it is the law of ours, with a = |m_i| that of [T] A.2.3.
    """
    with np.errstate(divide="ignore"):
        return np.log((rho / np.square(a) - 1) / (1 / r - 1)) / (2 * rho)


def kernel_distance(rho: Array, imbalance: Array, n: int) -> Array:
    """1 - cos of the tangent kernels at the start and at the end of a square net, n x n, from a vanishing start.

    Of init lambda: with x_i = s_i^2 / |lambda|, where s_i^2 (s_i^2 + |lambda|) = rho_i^2, the kernels are lambda I and
    lambda (X x I + I x (1 + X)), whose inner product and norms have closed forms in the sums of x and of x^2. It
    depends on rho / lambda and on n alone; equal rho_i, n of them, leave the kernel as it was.

    Args:
        rho: (..., modes).
        imbalance: (...), not 0.
    """
    x = np.sqrt(0.25 + (np.asarray(rho) / np.abs(np.asarray(imbalance))[..., None]) ** 2) - 0.5
    one, two = x.sum(-1), (x**2).sum(-1)
    return 1 - (n + 2 * one) / np.sqrt(n**2 + 4 * n * one + 2 * one**2 + 2 * n * two)


def riccati(correlation: Array, imbalance: Array) -> tuple[Array, Array]:
    """Eigenvalues (C, n) and eigenvectors (C, n, n) of F = [[-lambda/2, C_xy], [C_xy^T, lambda/2]], n = d + c.

    On white inputs and with W_2 W_2^T - W_1^T W_1 = lambda I, Q = [W_1; W_2^T] follows Q' = F Q - Q Q^T Q / 2, so that
    Q Q^T(t) = e^(Ft) Q0 (I + Q0^T M Q0)^-1 Q0^T e^(Ft) with M = int_0^t e^(2Fs) ds.
    """
    C, d, c = correlation.shape
    F = np.zeros((C, d + c, d + c))
    F[:, :d, d:] = correlation
    F[:, d:, :d] = correlation.swapaxes(1, 2)
    half = np.asarray(imbalance)[:, None] / 2
    F[:, range(d), range(d)], F[:, range(d, d + c), range(d, d + c)] = -half, half
    return np.linalg.eigh(F)
