"""Theory of single modes ([T] 3.3, 3.4, C.4): their curves, their times, and how much two of them overlap.

E is the second moment of a mode's input, S its target, L its number of layers, a its weight where all are equal, u the
product of its weights, r = u / S. Lengths of time are those of the flow of L = 1/2 E (f - f*)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, hyp2f1, logit

from swingby_sweeps.dynamics.overlap import WITHIN

Array = Any
"""A number or an array; arguments broadcast."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Gauss-Legendre quadrature with eight points an interval."""
LOGITS = 128
"""Stretches of logit(r) over which the time of a deep mode is tabulated."""
FULL = 36.0
"""logit(r) at which r is 1 to double precision."""
PARITY_TARGETS = 2.0
"""Where the squares of (C.9) end, in units of S."""
PARITY_LIMITS = (1.0, 25 / 18, 11 / 6)
"""Times at which the modes of (C.9) begin to grow, over that of the first, in the limit of small starts.

With s the square of the start and Lambda = ln(1 / s), alpha^2 grows at the rate S (mean loss): its time is Lambda / S.
Until then beta^2 and gamma^2 grow at S / 2. At the saddle alpha^2 = 4 S / 7, c = S / 7 their rates are 9 S / 7 and
3 S / 7; at the next one, alpha^2 = 7 S / 4, beta^2 = 3 S / 2, c = -S / 2, that of gamma^2 is 3 S / 4.
Half of its end, S, is what alpha^2 reaches with beta^2 only: by that measure the limits are 1, 1 and 33 / 25.
"""


def linear(t: Array, E: Array, S: Array, u0: Array) -> Array:
    """u(t) of one layer (3.10), from any start."""
    return S + (u0 - S) * np.exp(-E * t)


def two_layers(t: Array, E: Array, S: Array, a: Array, b: Array) -> Array:
    """u(t) = a b of two layers, from weights a, b > 0 of any ratio; (3.9) where they are equal.

    gamma = (theta + Sigma) / A runs through a logistic curve in e = exp(-2 q E t), with theta = u and Sigma = (a^2 +
    b^2) / 2: the theorem 1 of [T] for one pair of weights and Z = 1. q - S is written as A B / (q + S), since the
    difference cancels at small starts.
    """
    A, B, q, less = _conserved(S, a, b)
    e = np.exp(-2 * q * E * t)
    gamma = (q + S + B + (less - B) * e) / (less + A + (q + S - A) * e)
    return (A * gamma - B / gamma) / 2


def _conserved(S: Array, a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """A = (a + b)^2 / 2, B = (a - b)^2 / 2, q = sqrt(S^2 + A B) and q - S."""
    A, B = (a + b) ** 2 / 2, (a - b) ** 2 / 2
    q = np.sqrt(S**2 + A * B)
    return A, B, q, A * B / (q + S)


def time_to(r: Array, E: Array, S: Array, a0: Array, L: int) -> Array:
    """The time at which a mode of L equal weights a0 reaches the strength r; negative where it starts above r.

    L = 1: (3.10); L = 2: (3.12); L > 2, of ours: E S t = (a0^(2-L) - a^(2-L)) / (L - 2) + F(a) - F(a0), with F(a) =
    a^2 / (2 S) 2F1(1, 2/L; 1 + 2/L; a^L / S).
    """
    r, E, S, a0 = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (r, E, S, a0)))
    if L == 1:
        return np.log((S - a0) / (S * (1 - r))) / E
    if L == 2:
        return np.log((S / a0**2 - 1) / (1 / r - 1)) / (2 * E * S)
    a = (r * S) ** (1 / L)

    def F(a: Array) -> Array:
        return a**2 / (2 * S) * hyp2f1(1, 2 / L, 1 + 2 / L, a**L / S)

    return ((a0 ** (2.0 - L) - a ** (2.0 - L)) / (L - 2) + F(a) - F(a0)) / (E * S)


def two_layers_time_to(r: Array, E: Array, S: Array, a: Array, b: Array) -> Array:
    """The time at which a mode of two layers, of weights a, b > 0 at the start, reaches the strength r."""
    A, B, q, less = _conserved(S, a, b)
    theta = np.asarray(r * S)
    gamma = (theta + np.sqrt(theta**2 + A * B)) / A
    e = (q + S + B - gamma * (less + A)) / (gamma * (q + S - A) - (less - B))
    return -np.log(e) / (2 * q * E)


def deep(t: Array, E: float, S: float, a0: float, L: int) -> Array:
    """u(t) of L > 2 equal weights, t of shape (T,): `time_to`, inverted.

    z = logit(r) obeys E S dt/dz = a^(2-L) / L, which is smooth: Gauss-Legendre sums over stretches of z give t(z), and
    Newton's method gives z(t), both to rounding.
    """
    first = logit(a0**L / S)
    edges = np.linspace(first, max(FULL, first + 1), LOGITS + 1)
    half = (edges[1] - edges[0]) / 2

    def slope(z: Array) -> Array:
        return (S * expit(z)) ** ((2.0 - L) / L) / (L * E * S)

    inner = edges[:-1, None] + half * (1 + NODES)
    times = np.append(0.0, np.cumsum(half * (slope(inner) @ WEIGHTS)))
    at = np.clip(np.searchsorted(times, t, side="right") - 1, 0, LOGITS - 1)
    z = edges[at] + np.minimum((t - times[at]) / (times[at + 1] - times[at]), 1e3) * 2 * half
    for _ in range(6):
        reach = (z - edges[at])[:, None] / 2
        z = z - (times[at] + reach[:, 0] * (slope(edges[at][:, None] + reach * (1 + NODES)) @ WEIGHTS) - t) / slope(z)
        z = np.clip(z, edges[at], np.where(at == LOGITS - 1, np.inf, edges[at + 1]))
    return S * expit(z)


def overlap(E1: Array, E2: Array, c1: Array, c2: Array) -> Array:
    """eps*, the strength of the later of two modes of two layers when r_1 + r_2 = 1, for c = S / u(0) - 1 of each.

    This is what (3.13) of [T] means, which prints the ratio of the differences as a factor; it is an exponent.
    """
    return 1 / (1 + c2 ** (E1 / (E1 + E2)) * c1 ** (-E2 / (E1 + E2)))


def start_of_overlap(x: Array, S: Array, level: float = WITHIN) -> Array:
    """Equal weights at the start of two modes of two layers whose `overlap` is `level`, x = E_2 / E_1 below 1."""
    return _start(S, (1 / level - 1) ** ((1 + x) / (1 - x)))


def _start(S: Array, c: Array) -> Array:
    """Equal weights of two layers with S / u(0) - 1 = c."""
    return np.sqrt(S / (1 + c))


def printed_overlap(E1: Array, E2: Array, c: Array) -> Array:
    """eps of (3.13) as printed, for modes of equal starts; no number between 0 and 1."""
    return 1 / (1 + c * (E2 - E1) / (E1 + E2))


def mode_time(r: Array, E: float, S: float, w: Array) -> Array:
    """The time at which a mode of the weights w (L,) reaches the strength r; NaN where no closed form tells it.

    One layer, two layers from any positive start, and more from equal weights.
    """
    if len(w) == 2 and min(w) > 0:
        return two_layers_time_to(r, E, S, w[0], w[1])
    if len(w) == 1 or np.ptp(w) == 0:
        return time_to(r, E, S, w[0], len(w))
    return np.full_like(np.asarray(r, dtype=float), np.nan)


def mode_overlap(E: Array, S: float, w: Array) -> float:
    """eps* of two modes, the first of which comes first, of second moments E (2,) and weights w (2, L), by bisection.

    NaN where the modes start above r_1 + r_2 = 1, and where no closed form tells their times.
    """
    r0 = np.prod(w, axis=1) / S
    if r0.sum() >= 1 or np.isnan(mode_time(0.5, E[0], S, w[0]) + mode_time(0.5, E[1], S, w[1])):
        return float("nan")
    low, high = logit(max(r0[1], 1e-300)), logit(1 - r0[0])
    for _ in range(60):
        z = (low + high) / 2
        late = mode_time(expit(z), E[1], S, w[1]) > mode_time(expit(-z), E[0], S, w[0])
        low, high = (low, z) if late else (z, high)
    return float(expit((low + high) / 2))


def pairs_expected(alpha: Array, c: Array, level: float = WITHIN) -> Array:
    """Up to which pair i modes are learned in stages where E_i falls as i^-(alpha + 1), and all have the same c.

    E_i - E_(i+1) over their sum is about (alpha + 1) / (2 i + 1), so that pair i is a stage while c to this power is at
    least 1 / level - 1. The whole number below is the number of stages.
    """
    return (alpha + 1) / 2 * np.log(c) / np.log(1 / level - 1) - 0.5


def start_of_pairs(k: Array, alpha: Array, S: Array, level: float = WITHIN) -> Array:
    """Equal weights at the start from which `pairs_expected` is k."""
    return _start(S, (1 / level - 1) ** ((2 * k + 1) / (alpha + 1)))


def parity_growth(x: Array, y: Array, z: Array, c: Array, S: Array) -> tuple[Array, Array, Array, Array]:
    """(ln alpha)', (ln beta)', (ln gamma)' and c' of the net (C.9), on the mean loss over its 8 inputs.

    x, y, z are alpha^2, beta^2, gamma^2. The rates follow from the net; (C.15-18) do not: see `printed_parity_growth`.
    """
    return (
        (S - 2 * x + 2 * y + c) / 2,
        (S + 4 * x - 7 * y - 5 * c) / 4,
        (S - z - c) / 4,
        (2 * x - 5 * y - z - 8 * c) / 8,
    )


def printed_parity_growth(x: Array, y: Array, z: Array, c: Array, S: Array) -> tuple[Array, Array, Array, Array]:
    """What `parity_growth` is by (C.15-18) as [T] prints them, with eta = 1/8 (mean loss); not the net's gradient."""
    return (
        (-S + 2 * x - 2 * y - c) / 8,
        -(S + 2 * x - 5 * y - 5 * c) / 16,
        -(S - z - c) / 16,
        -(2 * x - 5 * y - z - 8 * c) / 8,
    )
