"""Predictions for the symmetric model and for one layer: pure functions in the symbols of the paper.

Time is that of eq 4.3 for the symmetric model (twice that of the flow of L) and that of the flow of L for one layer.
W(0) is U_0 U_0^T in the informative frame; `a` are the a_p as the model meets them (`task.signal`), in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Velocity(NamedTuple):
    """An entry's velocity by eq 4.3, W' = G - S - N; each (..., m, m)."""

    growth: Array
    suppression: Array
    noise: Array

    @property
    def total(self) -> Array:
        """W', the sum of its three terms."""
        return self.growth - self.suppression - self.noise


def velocity(W: Array, a: Array) -> Velocity:
    """Growth, suppression and noise (eq 4.3, D.4-D.6) of the first m rows and columns of a symmetric W.

    W is given by its first m columns, (..., d, m): all of it for m = d. a, (..., up to d), is 0 beyond its entries, as
    are the a_p of uninformative directions.
    """
    d, m = W.shape[-2:]
    a = np.concatenate([a, np.zeros((*a.shape[:-1], d - a.shape[-1]))], axis=-1)
    rows, columns, block = a[..., :m, None], a[..., None, :m], W[..., :m, :]
    diagonal = np.diagonal(block, axis1=-2, axis2=-1)
    row_term, column_term = diagonal[..., :, None] * (3 * rows + columns), diagonal[..., None, :] * (3 * columns + rows)
    suppression = 0.5 * block * (row_term + (1 - np.eye(m)) * column_term)
    # With its diagonal taken out, the product leaves out the terms k = i and k = j by itself.
    off = W * (1 - np.eye(d, m))
    across = np.swapaxes(off, -1, -2)
    noise = 0.5 * (rows + columns) * (across @ off) + across @ (a[..., :, None] * off)
    return Velocity(block * (rows + columns), suppression, noise)


def logistic(w0: Array, a: Array, time: Array) -> Array:
    """w(t) of w' = 2 a w (1 - w): a major entry on its own (eq 4.3 without its N); the arguments broadcast."""
    decay = np.exp(-2 * a * time)
    return w0 / (w0 + (1 - w0) * decay)


def time_to_reach(w0: Array, a: Array, level: float = 0.9) -> Array:
    """The time at which `logistic` reaches `level`, in (0, 1): 0 from above it, infinite from w0 <= 0 or with a = 0."""
    w0, a = np.broadcast_arrays(np.asarray(w0, dtype=np.float64), np.asarray(a, dtype=np.float64))
    moving = (w0 > 0) & (w0 < level) & (a > 0)
    odds = np.log(level / (1 - level)) - np.log(np.where(moving, w0, 0.5) / np.where(moving, 1 - w0, 0.5))
    grown = odds / (2 * np.where(moving, a, 1.0))
    return np.where(w0 >= level, 0.0, np.where(moving, grown, np.inf))


@dataclass(frozen=True)
class Majors:
    """Predicted times at which the major entries w_pp reach a level, each (s,).

    Attributes:
        alone: from w_pp(0), each entry on its own.
        delay: what the suppression by entries learned before adds (0 for the first; infinite where it is for good).
        order: concepts, counted from 0, by `alone + delay`; never learned ones last.
    """

    alone: Array
    delay: Array
    order: tuple[int, ...]

    @property
    def times(self) -> Array:
        """The times with all interactions: alone + delay, infinite where the delay is."""
        return np.where(np.isinf(self.delay), np.inf, self.alone + np.where(np.isinf(self.delay), 0.0, self.delay))


def majors(W0: Array, a: Array, level: float = 0.9, rank: int | None = None) -> Majors:
    """Times and order of the major entries from W(0), (s, s) or larger, to leading order in its scale omega.

    No more than `rank` of them arrive, the rank of the first s rows of U_0, where that is known better than from W(0).

    While every entry is small U' = A U, so row u_p of U grows at a_p and keeps its direction. An entry that arrives
    takes its row's direction out of all others: w_ij goes to 0, and with it the part of u_p along u_i, while the part
    across goes on at a_p. So the p-th entry to arrive grows from the Schur complement of W(0) after those before it,
    v_p = w_pp(0) - w_p.(0) w_..(0)^-1 w_.p(0), the squared distance of u_p from their span. It follows the logistic
    curve from v_p, and is late by log(w_pp(0) / v_p) / (2 a_p). The next to arrive is always the one of least time.

    This rests on d/dt log det W = 2 sum_p a_p (1 - w_pp), exact by eq 4.3, and drops the noise N_pp, whose share in the
    times goes to 0 with omega if the a_p differ. Lemma D.8 has, under App. D's assumptions, an upper bound only.
    """
    s = len(a)
    left, rest = W0[:s, :s].astype(np.float64).copy(), np.arange(s)
    alone = time_to_reach(np.diag(left), a, level)
    times, order = np.full(s, np.inf), list[int]()
    floor = 16 * len(W0) * np.finfo(np.float64).eps * np.diag(left)
    while len(rest):
        strengths = np.diag(left)[rest] if rank is None or len(order) < rank else np.zeros(len(rest))
        strengths = np.where(strengths > floor[rest], strengths, 0.0)
        reached = time_to_reach(strengths, a[rest], level)
        # Of those that start above the level the largest arrived first: their places in W say nothing.
        earliest = np.lexsort((-strengths, reached))[0]
        first = int(rest[earliest])
        times[first] = reached[earliest]
        order.append(first)
        rest = rest[rest != first]
        if np.isfinite(times[first]):
            left -= np.outer(left[first], left[first]) / left[first, first]
    with np.errstate(invalid="ignore"):
        delay = np.where(np.isinf(alone), 0.0, times - alone)
    return Majors(alone, delay, tuple(order))


def d_8_bound(w0: float, a: float, eta: float, kappa: float, edge: float) -> float:
    """Steps t* by which Lemma D.8 has a major entry above 0.8; edge is P beta omega, the edge of the initial phase.

    t* = kappa log(0.8/edge) / (0.3 eta a) + t_0 with t_0 = kappa log(edge/w0) / (2 eta a): by D.3's own rate 2 a/kappa.
    The source prints t_0 with kappa in the denominator. Holds under all of App. D's assumptions.
    """
    return kappa * (np.log(0.8 / edge) / 0.3 + np.log(edge / w0) / 2) / (eta * a)


def terminal_rates(a: Array, d: Array | float) -> tuple[Array, Array]:
    """Predicted slopes near W = I: 2 a_k of log(|1 - w_kk| / w_kk), (s,); a_i + a_j of log |w_ij|, i < j row by row.

    NaN where d > s. There eq 4.3 feeds w_ij by w_ki w_kj of each direction k without signal, and w_ii by w_ki^2. Since
    w_ki falls at a_i (1 + w_kk) / 2, where w_kk stays below 1, these fall at (a_i + a_j) (1 + w_kk) / 2 and at
    a_i (1 + w_kk), slower than above; W beyond the informative block decides from when on that counts.
    """
    i, j = np.triu_indices(len(a), 1)
    clean = np.where(np.asarray(d) > len(a), np.nan, 1.0)
    return 2 * a * clean, (a[i] + a[j]) * clean


def omega_exponent(a_1: float, a_2: float) -> float:
    """(a_1 - a_2) / (2 a_1), a_1 > a_2: the peak of a suppressed w_12 goes as this power of W(0)'s scale omega.

    w_12 grows as omega exp((a_1 + a_2) t) until w_11 = omega exp(2 a_1 t) is of order one.
    """
    return (a_1 - a_2) / (2 * a_1)


def normal_start(width: int, gain: float) -> tuple[float, float]:
    """Mean of w_pp(0), and standard deviation of w_12(0), of a normal start (E.1): d' tau^2 and tau^2 sqrt(d').

    The entries of U are N(0, tau^2) with tau = gain / sqrt(d').
    """
    return gain**2, gain**2 / width**0.5


def uniform_start(width: int, high: float) -> tuple[float, float]:
    """Means of w_pp(0) and w_12(0), where U's entries are uniform on [0, high): d' high^2 / 3 and d' high^2 / 4."""
    return width * high**2 / 3, width * high**2 / 4


def predicted_rise(mu: Array, a: Array, major: float, minor: float) -> float:
    """The rise of the OOD loss over L_ref by eq 4.3, to leading order in w_12, from a start of two concepts.

    While the stronger major entry w follows w' = 2 a_1 w (1 - w), w_12 grows at a_1 + a_2 - w (3 a_1 + a_2) / 2 and
    goes as w^((a_1 + a_2) / (2 a_1)) (1 - w)^((a_1 - a_2) / (4 a_1)). Meanwhile the loss over L_ref, less what the
    weaker concept leaves, is (mu_1^2 (1 - w)^2 - 2 mu_1 mu_2 w_12 (2 - w)) / ||x^||^2: it rises from the least value of
    that to 0, and by less where the weaker concept grows meanwhile: the larger the start, the sooner.

    Args:
        mu, a: of both concepts, in any order.
        major, minor: w_pp(0) and w_12(0).

    Returns:
        NaN where the signals are equal, or major >= 1.
    """
    (a_2, a_1), (mu_2, mu_1) = np.sort(a), np.sort(mu)
    if a_1 - a_2 < 1e-12 or major >= 1:
        return np.nan
    left = np.geomspace(1e-9, 1 - major, 400)  # 1 - w
    grown = ((1 - left) / major) ** ((a_1 + a_2) / (2 * a_1)) * (left / (1 - major)) ** ((a_1 - a_2) / (4 * a_1))
    loss = (mu_1 * left) ** 2 - 2 * mu_1 * mu_2 * minor * grown * (1 + left)
    return max(0.0, -float(loss.min())) / float(mu_1**2 + mu_2**2)


def steepest_rate(a: Array, layers: int) -> float:
    """lr = 2 / (L a_max): above it descent settles on no solution of L linear layers.

    At every solution the largest curvature is at least L a_p, for each p: the slopes of the output along e_p have
    squared length sum_l |p_l|^2 |q_(l-1)|^2 with p_l . q_l = 1, so at least L (as in Mulayoff and Michaeli 2020 for the
    flattest minimum).
    """
    return 2 / (layers * float(a.max()))


def plateau_gain(a: Array, layers: int, stretch: float, time: float) -> float:
    """The gain of a normal start that takes `time`, of the flow of L, to leave its first plateau; 0 up to two layers.

    A normal start of gain g stretches by g in each layer, but by g sqrt(h / d) in the first, whose fan-in is d and not
    the width h. Layers that grow alike follow k' = a_p k^(L - 1) (Saxe et al. 2014) from k = g (h / d)^(1 / 2L), so the
    slowest concept takes 1 / ((L - 2) a_min k^(L - 2)).

    Args:
        stretch: h / d.
    """
    if layers <= 2:
        return 0.0
    return (1 / ((layers - 2) * float(a.min()) * time)) ** (1 / (layers - 2)) / stretch ** (1 / (2 * layers))


def steep_gain(a: Array, layers: int, stretch: float, lr: float) -> float:
    """The gain of a normal start at which lr times the largest curvature is 2; infinite of a single layer.

    That curvature is a_max g^(2 (L - 1)) (1 + (L - 1) h / d); `stretch` is h / d.
    """
    if layers == 1:
        return np.inf
    return (2 / (lr * float(a.max()) * (1 + (layers - 1) * stretch))) ** (1 / (2 * (layers - 1)))


def spread_needed(clusters: int, time: float) -> float:
    """The sigma of sigma^2 T / C = 1: what a piece of a ReLU net that meets one cluster alone takes to learn along it.

    Of all points a share 1/C are that cluster's, and across the way to its centre their second moment is sigma^2, so
    the rate in the time T of the flow of L is sigma^2 / C, up to a factor of order 1 for the other layers.
    """
    return (clusters / time) ** 0.5


def rate_in_steps(a: Array, step: float) -> Array:
    """-log(1 - h a_k) / h, (s,): the rate at which descent in steps of h approaches 1; NaN from h a_k = 1 on."""
    left = 1 - step * a
    return -np.log(np.where(left > 0, left, np.nan)) / step


def least_training_loss(a: Array, rank: int) -> float:
    """The least L any W of rank r can have: half the sum of the s - r smallest a_p (Eckart and Young on A^(1/2))."""
    return 0.5 * float(np.sort(a)[: max(len(a) - rank, 0)].sum())


def theorem_4_1(a: Array, mu: Array, W0: Array, time: Array) -> tuple[Array, Array]:
    """Growth and noise of f(x^)_k for one layer (eq 4.2), each (T, s); their sum is the output.

    Growth (1 - exp(-a_k t)) mu_k; noise sum_i exp(-a_i t) w_ki(0) mu_i. W0 is (s, s) or larger, time (T,).
    """
    s, decay = len(a), np.exp(-np.multiply.outer(time, a))
    return (1 - decay) * mu, (decay * mu) @ W0[:s, :s].T
