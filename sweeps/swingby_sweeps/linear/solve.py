"""Closed forms of training on one sample, all from one eigendecomposition of its kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd

Array = np.ndarray
LARGEST = 1e150
"""Beyond this a diverging filter is cut, so that its square is finite."""
SQUARED = 1e-7
"""Smallest over largest eigenvalue from which the eigenvalues of a product have nine digits."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The kernel of a sample, K/n = E diag(rho) E^T / n = V diag(l) V^T, in the directions with l_j > 0.

    Attributes:
        n: number of points.
        rho: intensities, (p,).
        rates: eigenvalues l_j above rounding, rising, (m,), m = min(n, p) as a rule.
        V: their eigenvectors, (n, m).
        W: V^T E, (m, p).
    """

    n: int
    rho: Array
    rates: Array
    V: Array
    W: Array

    @classmethod
    def of(cls, E: Array, rho: Array) -> Sample:
        """Decompose the kernel of points with features E (n, p) and intensities (p,)."""
        n = len(E)
        A = E * np.sqrt(rho / n)
        most = min(n, int(np.count_nonzero(rho)))
        rates, V = eigh(A @ A.T, check_finite=False)
        kept = np.arange(n) >= n - most
        if rates[n - most] < SQUARED * rates[-1]:
            # The square A A^T has lost the smallest eigenvalues to rounding; singular values of A have them.
            R: Any = qr(A.T, mode="r", overwrite_a=True, check_finite=False)
            V, s, _ = svd(R[0][:n].T, full_matrices=False, check_finite=False)
            rates, V = s[::-1] ** 2, V[:, ::-1]
            kept = s[::-1] > max(A.shape) * np.finfo(float).eps * s[0]
        V = np.ascontiguousarray(V[:, kept])
        return cls(n, rho, rates[kept], V, V.T @ E)

    def learnability(self, ridge: float) -> Array:
        """L_k(D) = rho_k e_k^T (K + delta)^-1 e_k of every mode, (p,); it needs no target."""
        return self.rho * ((1 / (self.n * self.rates + ridge)) @ self.W**2)

    def coefficients(self, filters: Array, *labels: Array) -> list[Array]:
        """The coefficients of the fits to each of some labels (n,) by `filters` (t, m) of the eigenvalues, (t, p)."""
        fits = np.concatenate([filters * (self.V.T @ each / self.n) for each in labels]) @ self.W
        fits *= self.rho
        return np.split(fits, len(labels))

    def mean_noise(self, final: Array) -> float:
        """E |c^|^2 over labels of unit noise, for the filter (m,) of one time."""
        return float((final / self.n) ** 2 @ (self.W**2 @ self.rho**2))

    def left(self, filters: Array, labels: Array) -> Array:
        """The share of the labels' squares that is left on the points, (t,)."""
        fitted = self.V.T @ labels
        beyond = labels - self.V @ fitted
        squares = (1 - filters * self.rates) ** 2 @ fitted**2 + beyond @ beyond
        return squares / (labels @ labels)


def flow(rates: Array, decay: float, times: Array) -> Array:
    """Filters of gradient flow at eta t = times, [1 - e^(-(l + d) eta t)]/(l + d) with d = delta/n, (t, m)."""
    total = rates + decay
    return -np.expm1(-np.outer(times, total)) / total


def descent(rates: Array, decay: float, eta: float, steps: Array) -> Array:
    """Filters of gradient descent after numbers of steps, [1 - (1 - eta (l + d))^s]/(l + d), (t, m)."""
    total = rates + decay
    rate = eta * total
    with np.errstate(divide="ignore", invalid="ignore"):
        # 1 - eta (l + d) would round a small rate away, and with it all that a slow mode learns.
        log = np.where(rate < 1, np.log1p(-np.minimum(rate, 1)), np.log(np.abs(rate - 1)))
        power = np.minimum(np.outer(steps, log), np.log(LARGEST))
    power[steps == 0] = 0.0
    odd = (rate > 1) & (steps[:, None] % 2 == 1)
    return np.where(odd, 1 + np.exp(power), -np.expm1(power)) / total


def limit(rates: Array, decay: float) -> Array:
    """The filter of unlimited time, (m,): the fit of least norm, or of ridge regression."""
    return 1 / (rates + decay)
