"""Which of the assumptions of App. D.1 hold for given signal strengths and W(0), and the bounds proved from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Constants:
    """The free constants of App. D.1: K >= 20, C > 1, P >= 2, kappa > 1.1."""

    K: float
    C: float
    P: float
    kappa: float


@dataclass(frozen=True)
class Scales:
    """The scales of D.7 and D.8 at their tightest: alpha <= a_k <= gamma alpha, omega <= |w_ij(0)| <= beta omega.

    gamma and beta are infinite where alpha or omega is 0: an uninformative direction (d > s), or an entry that is 0.
    """

    alpha: float
    gamma: float
    omega: float
    beta: float

    @classmethod
    def of(cls, W0: Array, a: Array) -> Scales:
        """The scales of W(0), (d, d), and of the a_k, at most d; missing a_k are 0."""
        a = np.concatenate([a, np.zeros(len(W0) - len(a))])
        size = np.abs(W0)
        return cls(float(a.min()), _over(a), float(size.min()), _over(size))


def _over(values: Array) -> float:
    return float(values.max() / values.min()) if values.min() > 0 else np.inf


@dataclass(frozen=True)
class Assumptions:
    """Which assumptions hold. Those on pairs i > j come in both orders: the main text sorts the a_p descending.

    D.5 as printed, "for any i > j, a_i - 3 a_j >= alpha/C", can only hold where a is ascending: with the main text's
    order a_i <= a_j and the left side is negative. D.10 is nearer to holding in ascending order too.
    """

    bounded: bool
    """D.1: gamma and beta exist."""
    small_step: bool
    """D.2: K >= 20 and eta <= 1/(9 K gamma alpha); a flow has eta = 0."""
    small_phase: bool
    """D.3: P omega beta <= 0.4."""
    small_start: bool
    """D.4 with D.9: omega small, kappa > 1.1, kappa <= 1 + K/(2C), P >= 2."""
    log_ascending: bool
    """D.5, first part (D.10), a ascending."""
    log_descending: bool
    """D.5, first part (D.10), a descending."""
    gap_ascending: bool
    """D.5, second part, a ascending: each a_p exceeds three times every smaller one by alpha/C; C > 1."""
    gap_descending: bool
    """D.5, second part, a descending: false for two concepts or more."""

    @property
    def all_ascending(self) -> bool:
        """Every assumption, in the only order in which they can hold."""
        return all(getattr(self, field.name) for field in fields(self) if not field.name.endswith("descending"))


def assumptions(W0: Array, a: Array, constants: Constants, eta: float = 0.0) -> Assumptions:
    """Which of D.1-D.5 hold for W(0), (d, d), and a; eta is the step of D.2 (lr under quarter_sum), 0 for a flow."""
    x, c, s = Scales.of(W0, a), constants, len(W0)
    up = np.sort(np.concatenate([a, np.zeros(s - len(a))]))
    bounded = bool(np.isfinite([x.gamma, x.beta]).all())
    # gamma alpha is the largest a_k, also where alpha is 0 and gamma is infinite.
    step = c.K >= 20 and eta * 9 * c.K * float(up[-1]) <= 1
    return Assumptions(
        bounded=bounded,
        small_step=step,
        small_phase=bounded and bool(c.P * x.omega * x.beta <= 0.4),
        small_start=bounded and _small_start(x, c, s),
        log_ascending=bounded and _logarithms(up, x, c),
        log_descending=bounded and _logarithms(up[::-1], x, c),
        gap_ascending=bounded and _gaps(up, x, c),
        gap_descending=bounded and _gaps(up[::-1], x, c),
    )


def _small_start(x: Scales, c: Constants, d: int) -> bool:
    """D.9 and the line below it."""
    room = min(c.kappa - 1, 1 - c.kappa**-0.5) / (c.P * c.K * x.gamma * d * x.beta**2)
    scale = x.omega <= min(room, 1 / np.sqrt(2 * x.beta))
    return bool(scale and c.kappa > 1.1 and c.kappa <= 1 + 0.5 * c.K / c.C and c.P >= 2)


@cache
def _pairs(count: int) -> tuple[Array, Array]:
    """Indices i and j of the pairs i > j of `count` numbers."""
    return np.tril_indices(count, -1)


def _logarithms(a: Array, x: Scales, c: Constants) -> bool:
    """D.10 for every pair i > j of `a` as ordered.

    (a_i + a_j) / (2 a_i) <= log P / (10 kappa^2 log(1/(P beta omega)) + log(P beta)).
    """
    i, j = _pairs(len(a))
    below = 10 * c.kappa**2 * np.log(1 / (c.P * x.beta * x.omega)) + np.log(c.P * x.beta)
    # Beyond the initial phase's own edge (D.3) the bound says nothing.
    return bool(below > 0 and np.all((a[i] + a[j]) / (2 * a[i]) <= np.log(c.P) / below))


def _gaps(a: Array, x: Scales, c: Constants) -> bool:
    i, j = _pairs(len(a))
    return bool(c.C > 1 and np.all(a[i] - 3 * a[j] >= x.alpha / c.C))


def upper_growth(W0: Array, a: Array, eta: float, steps: Array, kappa: float) -> Array:
    """D.11: the most |w_ij| can be after `steps` (T,), |w_ij(0)| exp(eta t (a_i + a_j) kappa); (T, s, s)."""
    return _exponential(W0, a, eta * kappa, steps)


def lower_growth(W0: Array, a: Array, eta: float, steps: Array, kappa: float) -> Array:
    """D.23: the least |w_ij| can be up to `first_phase_steps`, |w_ij(0)| exp(eta t (a_i + a_j) / kappa); (T, s, s)."""
    return _exponential(W0, a, eta / kappa, steps)


def first_phase_steps(a: Array, eta: float, P: float, kappa: float) -> float:
    """T_1 = log P / (2 eta gamma alpha kappa) of Lemma D.2: all entries are in the initial phase until then."""
    return float(np.log(P) / (2 * eta * a.max() * kappa))


def lower_major(start: float, a: float, eta: float, steps: Array, kappa: float, level: float) -> Array:
    """D.36: the least w_ii can be t steps after it left the initial phase at `start`, while below `level` (lambda).

    start exp(2 eta t a (1 - lambda) / kappa), (T,); level lies below 1 - 1/K.
    """
    return start * np.exp(2 * eta * steps * a * (1 - level) / kappa)


def upper_major(K: float) -> float:
    """Lemma D.5: the most a major entry can be, 1 + 2/K."""
    return 1 + 2 / K


def _exponential(W0: Array, a: Array, rate: float, steps: Array) -> Array:
    s = len(a)
    return np.abs(W0[:s, :s]) * np.exp(np.multiply.outer(rate * steps, a[:, None] + a[None, :]))
