"""Compiled loops over rows: gradient descent and gradient flow of small systems, one row after the other.

A row is a mode of the diagonal net, y = (w_1, .., w_L), or a parity net, y = (ln alpha, ln beta, ln gamma, c). The
logarithms, since a root that decays fast is stiff, and its logarithm is not. `system` says which: 0 diagonal, 1 the
gradient of (C.9), 2 (C.15-18) as printed.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from swingby_sweeps.dynamics.dormand_prince import GROW, SAFETY, SHRINK

from . import theory

Array = np.ndarray
_kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy")
_part: Any = numba.njit(nogil=True, error_model="numpy")
_growth, _printed = _part(theory.parity_growth), _part(theory.printed_parity_growth)
SYSTEMS = {"diagonal": 0, "parity3": 1, "parity3_printed": 2}
HELD = 1e7
"""Where a parity net that runs away is held, in units of S: well beyond where it counts as diverged."""
MOST_STEPS = 1_000_000


@_part
def _field(system: int, y: Array, E: float, S: float, slope: Array) -> None:
    """y' of one row, into `slope`."""
    if system == 0:
        # Products of the weights before a layer, and then of those behind it.
        before = 1.0
        for layer in range(len(y)):
            slope[layer] = before
            before *= y[layer]
        pull, behind = E * (S - before), 1.0
        for layer in range(len(y) - 1, -1, -1):
            slope[layer] *= pull * behind
            behind *= y[layer]
        return
    a, b, g, c = np.exp(2 * y[0]), np.exp(2 * y[1]), np.exp(2 * y[2]), y[3]
    if max(a, b, g, abs(c)) > HELD * S:
        slope[:] = 0.0
        return
    slope[0], slope[1], slope[2], slope[3] = _growth(a, b, g, c, S) if system == 1 else _printed(a, b, g, c, S)


@_kernel
def descend(system: int, rows: Array, E: Array, S: Array, lr: Array, steps: Array, history: Array) -> None:
    """Gradient descent of R rows (R, m) in steps lr (R,); `history` (T, R, m) gets them at the recorded steps.

    Of parity nets the roots descend, not their logarithms: alpha <- alpha (1 + lr (ln alpha)').
    """
    y, slope = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for r in range(len(rows)):
        y[:] = rows[r]
        history[0, r] = y
        for place in range(1, len(steps)):
            for _ in range(steps[place - 1], steps[place]):
                _field(system, y, E[r], S[r], slope)
                if system:
                    for i in range(3):
                        slope[i] = np.log(abs(1 + lr[r] * slope[i])) / lr[r]
                for i in range(len(y)):
                    y[i] += lr[r] * slope[i]
            history[place, r] = y


@_kernel
def flow(
    system: int, rows: Array, E: Array, S: Array, times: Array, rtol: Array, tableau: Array, history: Array
) -> None:
    """The flow of R rows (R, m) by Dormand and Prince 5(4), at the times (T, R); `history` is (T, R, m).

    A step is accepted if the root mean square of error / (atol + rtol max(|y|, |y_new|)) is at most 1, with atol 1e-3
    rtol of the size of the start. A row that needs steps below the resolution of time stays where it is.
    """
    m = rows.shape[1]
    y, new, slopes = np.empty(m), np.empty(m), np.empty((7, m))
    for r in range(len(rows)):
        y[:] = rows[r]
        history[0, r] = y
        atol = 1e-3 * rtol[r] * np.sqrt(np.mean(y * y))
        _field(system, y, E[r], S[r], slopes[0])
        time, step, stuck = 0.0, 1e-3 * times[-1, r], False
        for place in range(1, len(times)):
            for _ in range(MOST_STEPS):
                left = times[place, r] - time
                if left <= 0 or stuck:
                    break
                last = step >= left
                h = left if last else step
                for stage in range(1, 7):
                    for i in range(m):
                        total = 0.0
                        for k in range(stage):
                            total += tableau[stage - 1, k] * slopes[k, i]
                        new[i] = y[i] + h * total
                    _field(system, new, E[r], S[r], slopes[stage])
                off = 0.0
                for i in range(m):
                    error = 0.0
                    for k in range(7):
                        error += tableau[6, k] * slopes[k, i]
                    off += (h * error / (atol + rtol[r] * max(abs(y[i]), abs(new[i])))) ** 2
                ratio = np.sqrt(off / m)
                ratio = ratio if np.isfinite(ratio) else np.inf
                # The error of a step is of order h^5. GROW would cut a ratio below 1e-10 anyway, and 0 has no power.
                proposal = h * min(max(SAFETY * max(ratio, 1e-10) ** -0.2, SHRINK), GROW)
                if ratio <= 1:
                    y[:], slopes[0] = new, slopes[6]
                    time = times[place, r] if last else time + h
                    # A step that was cut short to land on a time is no reason to shorten the next one.
                    step = max(proposal, step) if last else proposal
                else:
                    step = proposal
                    # A step that is lost in the rounding of the time never arrives; 1e-300 stands for time 0.
                    stuck = step <= 1e-15 * max(time, 1e-300)
            history[place, r] = y
