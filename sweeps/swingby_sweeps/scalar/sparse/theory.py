"""Laws of a diagonal net with weight decay from a(0) = alpha, b(0) = 0; our extension of [T] (3.3) and chapter 6.

With p_i = -int_0^t dL/dtheta_i the flow is a_i + b_i = alpha exp(p_i - decay t), a_i - b_i = alpha exp(-p_i - decay t).
So a_i^2 - b_i^2 = c(t) = alpha^2 exp(-2 decay t) in every coordinate, theta_i = (c/2) sinh(2 p_i), and p is a
combination X^T nu of the training points. A net that fits its points is thus the one interpolator of this form, which
hangs on c alone: it passes |theta - w|^2 = .05 when c is C*, a number of the task's own, whatever alpha and decay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize

Array = np.ndarray
TRAINED, TESTED = 0.01, 0.05
"""Shares of mean y^2 and of |w|^2 at or below which a run has fitted its points, and generalizes."""


def imbalance(alpha: float | Array, decay: float | Array, t: float | Array) -> Array:
    """c(t) = a_i^2 - b_i^2 = alpha^2 exp(-2 decay t)."""
    return np.asarray(alpha) ** 2 * np.exp(-2 * np.asarray(decay) * t)


def test_time(alpha: float | Array, decay: float | Array, critical: float | Array) -> Array:
    """t_test = ln(alpha^2 / C*) / (2 decay); 0 or less where the start is small enough to generalize at once."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.asarray(alpha) ** 2 / critical) / (2 * np.asarray(decay))


def points_needed(sparsity: float) -> float:
    """n/d above which the least l1-norm recovers a target with k/d = `sparsity`, as d grows.

    The statistical dimension of the l1 descent cone (Amelunxen, Lotz, McCoy and Tropp 2014, (4.5)), which is the weak
    threshold of Donoho and Tanner: inf over tau of (k/d)(1 + tau^2) + (1 - k/d) E (|g| - tau)_+^2.
    """
    if sparsity >= 1:
        return 1.0

    def spread(tau: float) -> float:
        beyond = math.erfc(tau / math.sqrt(2))
        rest = (1 + tau * tau) * beyond - tau * math.sqrt(2 / math.pi) * math.exp(-tau * tau / 2)
        return sparsity * (1 + tau * tau) + (1 - sparsity) * rest

    best: Any = optimize.minimize_scalar(spread, bounds=(0, 10), method="bounded")
    return float(best.fun)
