"""Compiled descent and flow of W (C, p) and H (p, q), one cell after the other.

The columns of H are directions of the space of points, not points: H is rotated on the right so that column c < C is
sqrt(m_c) times the mean of class c, and the other r columns hold what differs within classes. Y becomes
[diag(sqrt(m_c)), 0]; loss, gradient and decays stay what they are, whatever the number of points.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swingby_sweeps.dynamics.dormand_prince import GROW, SAFETY, SHRINK

Array = np.ndarray
_FAST = {"reassoc", "contract", "arcp", "nsz"}
MOST_STEPS = 2_000_000
"""Steps of the flow in a run, after which it ends."""


@njit(cache=True, nogil=True, fastmath=_FAST)
def _slope(y: Array, C: int, p: int, s: Array, N: float, decays: Array, E: Array, out: Array) -> float:
    """Fill `out` with minus the gradient at y = (W, H), and E (C, q) with W H - Y; gives |W H - Y|^2."""
    q = E.shape[1]
    W, H = y[: C * p].reshape(C, p), y[C * p :].reshape(p, q)
    dW, dH = out[: C * p].reshape(C, p), out[C * p :].reshape(p, q)
    squares = 0.0
    for k in range(p):
        for j in range(q):
            dH[k, j] = -decays[1] * H[k, j]
    for c in range(C):
        for j in range(q):
            E[c, j] = 0.0
        E[c, c] = -s[c]
        for k in range(p):
            for j in range(q):
                E[c, j] += W[c, k] * H[k, j]
        for k in range(p):
            total, weight = 0.0, W[c, k] / N
            for j in range(q):
                total += E[c, j] * H[k, j]
                dH[k, j] -= weight * E[c, j]
            dW[c, k] = -total / N - decays[0] * W[c, k]
        for j in range(q):
            squares += E[c, j] * E[c, j]
    return squares


@njit(cache=True, nogil=True)
def descend(
    starts: Array, C: int, p: int, s: Array, N: Array, decays: Array, rates: Array, limits: Array, steps: Array,
    states: Array, lengths: Array,
) -> None:  # fmt: skip
    """Descent of R rows (R, C p + p q) with `rates` (R, 2), lr and momentum; `states` is (R, T, C p + p q).

    A row is left where |W H - Y| is above its limit or not finite; `lengths` (R,) is the number of its records.
    """
    size = starts.shape[1]
    q = (size - C * p) // p
    out, speed, E = np.empty(size), np.empty(size), np.empty((C, q))
    for r in range(len(starts)):
        y = starts[r].copy()
        lr, momentum = rates[r]
        speed[:] = 0.0
        place = 0
        for step in range(steps[-1] + 1):
            squares = _slope(y, C, p, s[r], N[r], decays[r], E, out)
            if not squares <= limits[r] ** 2:
                break
            if step == steps[place]:
                states[r, place] = y
                place += 1
            for i in range(size):
                speed[i] = momentum * speed[i] + out[i]
                y[i] += lr * speed[i]
        lengths[r] = place


@njit(cache=True, nogil=True)
def flow(
    starts: Array, C: int, p: int, s: Array, N: Array, decays: Array, times: Array, rtol: float, tableau: Array,
    states: Array, lengths: Array,
) -> None:  # fmt: skip
    """The flow of R rows by Dormand and Prince 5(4), at the `times` (R, T); as `descend` otherwise.

    A step is accepted if the largest error / (atol + rtol |y|) is at most 1, with atol rtol / 100 of the size of the
    start. A row that needs steps below the resolution of time ends there.
    """
    size = starts.shape[1]
    q = (size - C * p) // p
    new, slopes, E = np.empty(size), np.empty((7, size)), np.empty((C, q))
    for r in range(len(starts)):
        y = starts[r].copy()
        states[r, 0] = y
        atol = 1e-2 * rtol * np.sqrt(np.mean(y * y))
        _slope(y, C, p, s[r], N[r], decays[r], E, slopes[0])
        time, step, place = 0.0, 1e-2 * N[r] / s[r].max(), 1
        for _ in range(MOST_STEPS):
            left = times[r, place] - time
            last = step >= left
            h = left if last else step
            for stage in range(1, 7):
                new[:] = y
                for k in range(stage):
                    weight = h * tableau[stage - 1, k]
                    for i in range(size):
                        new[i] += weight * slopes[k, i]
                _slope(new, C, p, s[r], N[r], decays[r], E, slopes[stage])
            worst = 0.0
            for i in range(size):
                error = 0.0
                for k in range(7):
                    error += tableau[6, k] * slopes[k, i]
                off = abs(h * error) / (atol + rtol * max(abs(y[i]), abs(new[i])))
                # Written so that NaN counts as the worst, and the step is refused.
                if not off <= worst:
                    worst = off
            # The error of a step is of order h^5. A ratio below 1e-10 would be cut by GROW anyway, and 0 has no power.
            proposal = h * min(max(SAFETY * max(worst, 1e-10) ** -0.2, SHRINK), GROW) if np.isfinite(worst) else h / 5
            if worst <= 1:
                y[:], slopes[0] = new, slopes[6]
                time = times[r, place] if last else time + h
                # A step that was cut short to land on a time is no reason to shorten the next one.
                step = max(proposal, step) if last else proposal
                if last:
                    states[r, place] = y
                    place += 1
                    if place == times.shape[1]:
                        break
            else:
                step = proposal
                # A step that is lost in the rounding of the time never arrives; 1e-300 stands for time 0.
                if step <= 1e-15 * max(time, 1e-300):
                    break
        lengths[r] = place
