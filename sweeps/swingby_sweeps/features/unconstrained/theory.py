"""Closed forms of unconstrained features, in the symbols of [T] 3.5.2 and App. D, with decays l_W and l_H.

Y (C, N) is one-hot with m_c points of class c, N in all; its singular values are s_c = sqrt(m_c). Along a mode the loss
is (w h - s)^2/(2N) + l_W w^2/2 + l_H h^2/2. At a given product sigma = w h the decays cost least where
l_W w^2 = l_H h^2, which leaves (sigma - s)^2/(2N) + sqrt(l_W l_H) sigma: a soft threshold of singular values.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
LARGEST_EXPONENT = 300.0
"""Growth exponents beyond which a start of any size has arrived."""


def threshold(N: Array | float, decay_w: Array | float, decay_h: Array | float) -> Array:
    """N sqrt(l_W l_H): a mode with s at or below it is dead."""
    return np.multiply(N, np.sqrt(np.multiply(decay_w, decay_h)))


def end_strengths(sizes: Array, decay_w: float, decay_h: float, width: int) -> Array:
    """Singular values of W H at the global minimum, (C,), largest first: sqrt(m_c) - N sqrt(l_W l_H), else 0.

    With fewer features than classes the largest `width` are left.
    """
    strengths = np.maximum(np.sqrt(sizes) - threshold(sizes.sum(), decay_w, decay_h), 0)
    strengths[width:] = 0
    return strengths


def end_state(sizes: Array, decay_w: float, decay_h: float, width: int) -> tuple[Array, Array]:
    """W (C, C) and the class means (C, C), a row a class, at the minimum with both decays above 0.

    Mode c has w^2 = sigma sqrt(l_H/l_W) and h^2 = sigma sqrt(l_W/l_H), which its m_c points share.
    """
    sigma = end_strengths(sizes, decay_w, decay_h, width)
    ratio = np.sqrt(decay_h / decay_w)
    return np.diag(np.sqrt(sigma * ratio)), np.diag(np.sqrt(sigma / ratio / sizes))


def printed_nc3(C: int) -> float:
    """|w_c/|w_c| - m_c/|m_c|| of (D.8) at the minimum, m_c without the mean over classes, w_c with it; W has no bias.

    Rows of W are orthogonal, and a row without its mean keeps 1 - 1/C of its square.
    """
    return float(np.sqrt(2 - 2 * np.sqrt((C - 1) / C)))


def logistic(sigma_0: Array | float, s: float, N: float, decay: float, t: Array) -> Array:
    """sigma(t) of an aligned mode with w = h and l_W = l_H: (3.15) with rho = s and the rate s/N - l in place of rho.

    sigma' = 2 sigma ((s - sigma)/N - l), so that sigma = sigma_0 e^(2at) / (1 + 2 sigma_0 (e^(2at) - 1)/(2aN)).
    """
    a = s / N - decay
    area = np.where(a == 0, t, -np.expm1(-2 * a * t) / (2 * a if a else 1))
    return sigma_0 / (np.exp(-2 * a * t) + 2 * sigma_0 * area / N)


def small_start(K: Array, H: Array, s: Array, N: float, decay: float, t: Array) -> tuple[Array, Array]:
    """P(t) = K K^T (T, C, C) and K(t) H(t) (T, C, r) of the flow on W = M^T = K, for l_W = l_H and small H.

    M (p, C) holds sqrt(m_c) times the class means and H (p, r) what differs within classes. On W = M^T, to which small
    starts are drawn, K' = A K - K K^T K/N with A = diag(s/N - l), a matrix Riccati equation:

        P = [e^(-At) P_0^-1 e^(-At) + (2/N) diag((1 - e^(-2at))/(2a))]^-1,  K H = e^(-lt) P e^(-At) P_0^-1 K_0 H_0.

    The strengths are the eigenvalues of P, and class means K/sqrt(m) have the Gram matrix P_cd/sqrt(m_c m_d).

    Args:
        K: K_0 = (W + M^T)/2 at the start, (C, p), p >= C, of full rank: what grows of the start.
        H: H_0, (p, r).
        s: sqrt(m_c), (C,).
        t: flow times, (T,).
    """
    a = s / N - decay
    inverse = np.linalg.inv(K @ K.T)
    at = np.clip(np.outer(t, a), -LARGEST_EXPONENT, LARGEST_EXPONENT)
    shrunk = np.exp(-at)
    area = np.where(a == 0, t[:, None], -np.expm1(-2 * at) / np.where(a == 0, 1, 2 * a))
    bracket = shrunk[:, :, None] * inverse * shrunk[:, None, :]
    bracket[:, np.arange(len(s)), np.arange(len(s))] += 2 * area / N
    P = np.linalg.inv(bracket)
    return P, np.exp(-decay * t)[:, None, None] * (P * shrunk[:, None, :]) @ (inverse @ K @ H)
