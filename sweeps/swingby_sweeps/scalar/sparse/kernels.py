"""Compiled loops of a diagonal net with weight decay: its flow in n dual numbers, descent, and the task's own C*.

The flow is nu' = -(X theta - y)/n with theta_i = (c/2) sinh(2 (X^T nu)_i) and c = alpha^2 exp(-2 decay t). Its Jacobian
-X diag(sqrt(c^2 + 4 theta^2)) X^T / n is symmetric and, once points are fitted, very stiff. It is integrated by RODAS3,
an L-stable Rosenbrock pair of orders 3 and 2 (Sandu et al. 1997), with one Cholesky factor a step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray
TOLERANCE = 1e-4
"""Error of nu in one step, relative to its largest entry."""
MOST_STEPS = 5_000_000
"""Steps after which descent gives up."""
_REDUCE = {"reassoc", "contract"}
"""Sums may be taken in the order of a vector's lanes."""
_HALVINGS = 40
"""How often a Newton step is halved in search of a smaller misfit before the search ends."""


@njit(cache=True, nogil=True, fastmath=_REDUCE)
def _dot(x: Array, y: Array) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True)
def outputs(X: Array, nu: Array, c: float, theta: Array, slope: Array) -> None:
    """theta (d,) and d theta / d p (d,), p = X^T nu."""
    theta[:] = 0.0
    for i in range(len(nu)):
        for j in range(len(theta)):
            theta[j] += nu[i] * X[i, j]
    for j in range(len(theta)):
        grown = math.exp(2 * theta[j])
        theta[j], slope[j] = c / 4 * (grown - 1 / grown), c / 2 * (grown + 1 / grown)


@njit(cache=True, nogil=True)
def misfit(X: Array, theta: Array, y: Array, out: Array) -> None:
    """X theta - y, (n,)."""
    for i in range(len(y)):
        out[i] = _dot(X[i], theta) - y[i]


@njit(cache=True, nogil=True)
def factor(X: Array, slope: Array, ridge: float, L: Array) -> bool:
    """The Cholesky factor of ridge + X diag(slope) X^T / n, in the lower half of L (n, n); whether there is one."""
    n, scaled = len(X), np.empty(X.shape[1])
    for i in range(n):
        scaled[:] = X[i] * slope / n
        for j in range(i + 1):
            L[i, j] = _dot(scaled, X[j])
        L[i, i] += ridge
        for j in range(i):
            L[i, j] = (L[i, j] - _dot(L[i, :j], L[j, :j])) / L[j, j]
        left = L[i, i] - _dot(L[i, :i], L[i, :i])
        if not left > 0 or left == np.inf:
            return False
        L[i, i] = math.sqrt(left)
    return True


@njit(cache=True, nogil=True)
def solve(L: Array, x: Array) -> None:
    """Overwrite x (n,) by the solution of L L^T x = x."""
    n = len(x)
    for i in range(n):
        x[i] = (x[i] - _dot(L[i, :i], x[:i])) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@njit(cache=True, nogil=True)
def flow(X: Array, y: Array, alpha: float, decay: float, times: Array, states: Array) -> Any:
    """theta at every stop, states (T, d); gives the number of steps, or -1 where they became too short."""
    n, d = X.shape
    nu, trial, rest, error = np.zeros(n), np.empty(n), np.empty(n), 0.0
    theta, slope, moved, unused = np.zeros(d), np.empty(d), np.empty(d), np.empty(d)
    K, L, drift = np.empty((4, n)), np.empty((n, n)), np.empty(n)
    t, count, length = 0.0, 0, times[1]
    states[0] = 0.0
    for place in range(1, len(times)):
        while t < times[place]:
            h, last = length, False
            if t + h >= times[place]:
                h, last = times[place] - t, True
            # A step that is lost in the rounding of the time never arrives.
            if h <= 1e-14 * t:
                return -1
            c = alpha * alpha * math.exp(-2 * decay * t)
            outputs(X, nu, c, theta, slope)
            # RODAS3 solves with 1/(gamma h) - J at gamma = 1/2.
            fine = factor(X, slope, 2 / h, L)
            if fine:
                later = alpha * alpha * math.exp(-2 * decay * (t + h))
                misfit(X, theta, y, rest)
                for i in range(n):
                    drift[i] = 2 * decay * (rest[i] + y[i]) / n  # the derivative of nu' by t alone
                    K[0, i] = -rest[i] / n + h / 2 * drift[i]
                solve(L, K[0])
                for i in range(n):
                    K[1, i] = -rest[i] / n + 4 / h * K[0, i] + 1.5 * h * drift[i]
                solve(L, K[1])
                for stage in (2, 3):
                    for i in range(n):
                        trial[i] = nu[i] + 2 * K[0, i] + (K[2, i] if stage == 3 else 0.0)
                    outputs(X, trial, later, moved, unused)
                    misfit(X, moved, y, rest)
                    for i in range(n):
                        K[stage, i] = -rest[i] / n + (K[0, i] - K[1, i]) / h
                        if stage == 3:
                            K[stage, i] -= 8 / 3 / h * K[2, i]
                    solve(L, K[stage])
                error, size = 0.0, 0.0
                for i in range(n):
                    trial[i] = nu[i] + 2 * K[0, i] + K[2, i] + K[3, i]
                    error, size = max(error, abs(K[3, i])), max(size, abs(trial[i]))
                error /= TOLERANCE * size
                fine = error <= 1
            count += 1
            if fine:
                nu[:] = trial
                t = times[place] if last else t + h
            # A step that was cut short at a stop says nothing of a longer one.
            if not (fine and last and h < 0.5 * length):
                # The error is that of the pair's second order: it grows as h^3.
                change = 0.9 * error ** (-1 / 3) if error > 0 else 5.0
                length = h * (min(5.0, max(0.2, change)) if change == change else 0.2)
                if not fine:
                    length = min(length, h / 2)
        outputs(X, nu, alpha * alpha * math.exp(-2 * decay * t), states[place], slope)
    return count


@njit(cache=True, nogil=True)
def descend(X: Array, y: Array, alpha: float, decay: float, H: float, share: float, times: Array, states: Array) -> Any:
    """Descent in steps h = min(share/(H max(a^2 + b^2)), .05/decay), the last one before a stop shorter.

    a + b is multiplied by 1 - h (g + decay), a - b by 1 - h (decay - g), g = X^T (X theta - y)/n. Gives the number of
    steps (-1: too many), and the largest distance of a^2 - b^2 from its law, over its law.
    """
    n, d = X.shape
    plus, minus, theta, rest, g = np.full(d, alpha), np.full(d, alpha), np.zeros(d), np.empty(n), np.empty(d)
    t, count, off = 0.0, 0, 0.0
    states[0] = 0.0
    for place in range(1, len(times)):
        while t < times[place]:
            largest = 0.0
            for j in range(d):
                largest = max(largest, plus[j] ** 2 + minus[j] ** 2)
            h = 2 * share / (H * largest)
            if decay > 0:
                h = min(h, 0.05 / decay)
            if t + h >= times[place]:
                h = times[place] - t
                t = times[place]
            else:
                t += h
            misfit(X, theta, y, rest)
            g[:] = 0.0
            for i in range(n):
                for j in range(d):
                    g[j] += rest[i] / n * X[i, j]
            for j in range(d):
                plus[j] *= 1 - h * (g[j] + decay)
                minus[j] *= 1 - h * (decay - g[j])
                theta[j] = (plus[j] ** 2 - minus[j] ** 2) / 4
            count += 1
            if count > MOST_STEPS:
                return -1, off
        states[place] = theta
        law = alpha * alpha * math.exp(-2 * decay * t)
        for j in range(d):
            off = max(off, abs(plus[j] * minus[j] / law - 1))
    return count, off


@njit(cache=True, nogil=True)
def interpolate(X: Array, y: Array, c: float, nu: Array, theta: Array) -> bool:
    """Newton's method for X theta = y, theta = (c/2) sinh(2 X^T nu), from a guess of nu that it overwrites."""
    n, d = X.shape
    slope, rest, step, trial, L = np.empty(d), np.empty(n), np.empty(n), np.empty(n), np.empty((n, n))
    size = math.sqrt(_dot(y, y))
    outputs(X, nu, c, theta, slope)
    misfit(X, theta, y, rest)
    off = math.sqrt(_dot(rest, rest))
    for _ in range(60):
        if off <= 1e-9 * size:
            return True
        # X diag(slope) X^T may be singular to rounding: a ridge of that size gives it a factor.
        if not factor(X, slope, 1e-13 * slope.max(), L):
            return False
        step[:] = rest / n
        solve(L, step)
        share, now = 1.0, off
        for _ in range(_HALVINGS):
            trial[:] = nu - share * step
            outputs(X, trial, c, theta, slope)
            misfit(X, theta, y, rest)
            now = math.sqrt(_dot(rest, rest))
            if now < off:
                break
            share /= 2
        if not now < off:
            # Rounding leaves no smaller misfit to find; up to here the interpolator counts as found.
            return off <= 1e-6 * size
        nu[:], off = trial, now
    return False


@njit(cache=True, nogil=True)
def error_at(X: Array, y: Array, w: Array, c: float, nu: Array) -> Any:
    """|theta - w|^2 of the interpolator of this c, infinite where Newton's method does not find it."""
    theta = np.empty(len(w))
    if not interpolate(X, y, c, nu, theta):
        return np.inf
    theta -= w
    return _dot(theta, theta)


@njit(cache=True, nogil=True)
def critical(X: Array, y: Array, w: Array, level: float) -> Any:
    """C*: the largest c at which the interpolator has |theta - w|^2 <= level, to 1e-4; NaN where none above 1e-7 does.

    Continued from c = 100 downwards by factors of two, then bisected in log c.
    """
    nu, before = np.zeros(len(y)), np.zeros(len(y))
    c = 100.0
    while c > 1e-7:
        off = error_at(X, y, w, c, nu)
        if off == np.inf:
            return np.nan
        if off <= level:
            break
        before[:] = nu
        c /= 2
    else:
        return np.nan
    low, high = c, 2 * c
    while high > 1.0001 * low:
        middle = math.sqrt(low * high)
        nu[:] = before
        if error_at(X, y, w, middle, nu) <= level:
            low = middle
        else:
            high = middle
            before[:] = nu
    return math.sqrt(low * high)
