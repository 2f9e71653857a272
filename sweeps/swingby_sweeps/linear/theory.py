"""Formulas for regression on fixed features ([T] chapter 1), each once.

Symbols: rho_k intensity of mode k, c_k its coefficient in the target, n training points, delta the ridge, kappa the
constant of (1.35), L_k the learnability. [T] 1.35 has no ridge, and gives no errors: those are the ones of Simon,
Dickens, Karkada and DeWeese, "The eigenlearning framework" (2023), which [T] cites.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar

Array = np.ndarray


def kappa(rho: Array, n: int, delta: float = 0.0) -> float:
    """The constant kappa of (1.35): sum rho_k/(rho_k + kappa) + delta/kappa = n, for intensities (p,).

    Without a ridge it is 0 where no more than n intensities are above 0, since every mode is then learned.
    """
    rho = rho[rho > 0]
    if delta == 0 and len(rho) <= n:
        return 0.0

    def excess(log_kappa: float) -> float:
        at = math.exp(log_kappa)
        return float((rho / (rho + at)).sum()) + delta / at - n

    # At the upper end every term is at most rho/kappa; at the lower one the ridge alone, or n + 1 modes, make up n.
    high = (float(rho.sum()) + delta) / n
    low = delta / n if delta > 0 else 0.0
    if len(rho) > n:
        low = max(low, float(np.partition(rho, len(rho) - n - 1)[len(rho) - n - 1]) / n)
    if not low < high:
        return high
    ends = math.log(low) - 1e-9, math.log(high) + 1e-9
    # By its types brentq may give a pair, as it does with full_output.
    return math.exp(float(brentq(excess, *ends, xtol=1e-14, rtol=1e-14)))  # pyright: ignore[reportArgumentType]


def learnability(rho: Array, kappa: float) -> Array:
    """L_k = rho_k/(rho_k + kappa) of (1.35), (p,); 0 of modes without intensity."""
    return np.divide(rho, rho + kappa, out=np.zeros_like(rho, dtype=float), where=rho > 0)


def overfitting(n: int, L: Array) -> float:
    """E_0 = n/(n - sum L^2), by which noise and missed signal are amplified; inf where as many modes as points are
    learned."""
    left = n - float((L**2).sum())
    return n / left if left > 1e-12 * n else math.inf


def missed(L: Array, c: Array) -> float:
    """Share of the target's power that the mean fit misses, sum (1 - L_k)^2 c_k^2 / sum c_k^2."""
    return float(((1 - L) ** 2 * c**2).sum() / (c**2).sum())


def variance(sigma: float, sigma_is: str) -> float:
    """Variance of the noise, of which sigma is the sd or the variance: (1.38) writes N(0, sigma)."""
    return sigma**2 if sigma_is == "sd" else sigma


def excess(e0: float, missed: float, power: float, variance: float) -> float:
    """E |f^ - f*|^2 = E_0 (sum (1 - L)^2 c^2 + sigma^2) - sigma^2, `power` = |c|^2."""
    return e0 * (missed * power + variance) - variance


def train_error(e0: float, missed: float, power: float, variance: float, unused: float) -> float:
    """Mean squared error on the training points; `unused` = (n - sum L)/n, which is delta/(n kappa)."""
    return unused**2 * e0 * (missed * power + variance)


def effective_dimension(v: Array) -> Array:
    """D_eff of (1.16) of numbers v >= 0 along the last axis: exp of the entropy of v / sum v; NaN where all are 0."""
    total = v.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total * np.exp(-(v * np.log(np.maximum(v, 1e-300))).sum(-1) / total)


def power_intensities(p: int, alpha: float) -> Array:
    """rho_k = k^-alpha, (p,)."""
    return np.arange(1.0, p + 1) ** -alpha


def two_levels(p: int, d: int, tail: float) -> Array:
    """The intensities of (1.36), d ones and p - d equal numbers, (p,); these sum to `tail`, and to n as printed."""
    return np.concatenate([np.ones(d), np.full(p - d, tail / (p - d))])


def two_level_kappa(n: int, p: int, d: int, tail: float) -> float:
    """kappa of `two_levels` without a ridge, p > n: the root of n k^2 + [n (1 + u) - d - T] k = u (p - n)."""
    u = tail / (p - d)
    half = (n * (1 + u) - d - tail) / 2
    product = n * u * (p - n)
    root = math.sqrt(half**2 + product)
    return product / (n * (half + root)) if half > 0 else (root - half) / n


def two_level_tail(n: int, p: int, d: int, L: float) -> float:
    """The tail T of `two_levels` at which the strong modes have learnability L, d L < n < p.

    About n (1 - L)/L where d is small and p large.
    """
    kappa, left = (1 - L) / L, n - d * L
    return (p - d) * left * kappa / (p - d - left)


def isotropic_noise(n: int, p: int) -> float:
    """E |noise fit|^2 / sigma^2 of p > n + 1 Gaussian features of one intensity, n/(p - n - 1); exact."""
    return n / (p - n - 1)


def population(rho: Array, c: Array, t: Array) -> Array:
    """The share of the target that flow on infinitely many points has at eta t = `t` (1.26), (t,):
    sum c^2 (1 - e^(-rho t)) / |c|^2."""
    there = c != 0
    return -np.expm1(-np.outer(t, rho[there])) @ c[there] ** 2 / (c[there] ** 2).sum()


def noise_time(n: int, tail: float) -> float:
    """eta t at which a quarter of the noise's squared residual is left: the tail fits it at the rate T/n."""
    return n * math.log(2) / tail


def signal_time(rho: float) -> float:
    """eta t at which a mode has 90 % of its end value by (1.26), ln 10 / rho."""
    return math.log(10) / rho


def best_ridge(rho: Array, c: Array, n: int, variance: float, ends: tuple[float, float]) -> float:
    """The ridge within `ends` of least expected error `excess`."""
    power = float((c**2).sum())

    def error(log_delta: float) -> float:
        L = learnability(rho, kappa(rho, n, math.exp(log_delta)))
        return excess(overfitting(n, L), missed(L, c), power, variance)

    # The error can have two minima in the ridge; a coarse grid finds the lower one.
    grid = np.linspace(math.log(ends[0]), math.log(ends[1]), 40)
    at = int(np.argmin([error(x) for x in grid]))
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    # By its types the result has no fields: they are found as it runs.
    return math.exp(float(minimize_scalar(error, bounds=bounds, method="bounded").x))  # pyright: ignore[reportAttributeAccessIssue]
