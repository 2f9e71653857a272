"""Compiled loops over cells of a wide scalar net: starts, the closed form and the flow.

The state of a cell is A(t) = Sigma + theta and B(t) = Sigma - theta, sums over the modes (a_j + b_j)^2/(2Z) and
(a_j - b_j)^2/(2Z). A drive fills `states` (T, 2) at the recorded steps and gives what it saw on the way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from swingby_sweeps.dynamics.dormand_prince import ERROR, STAGES
from swingby_sweeps.dynamics.kernels.streams import STREAM, begin, normals, uniforms

Array = np.ndarray
RENEWED = 64
"""Steps after which an exponential that is carried from step to step is computed anew: its error stays below 1e-14."""
_NORMAL, _SIGNS = 0, 1
*_, _FIFTH, _SIXTH, _STEP = STAGES


@njit(cache=True, nogil=True)
def weights(key: Array, kind: int, mirrored: bool, sizes: Array, a: Array, b: Array) -> None:
    """Fill a(0) and b(0), (p,): those of a first, then those of b, from one stream."""
    stream = np.empty(STREAM, dtype=np.uint64)
    begin(key, stream)
    drawn = len(a) // 2 if mirrored else len(a)
    for layer in range(2):
        out = a if layer == 0 else b
        if kind == _NORMAL:
            normals(stream, out[:drawn])
        else:
            uniforms(stream, out[:drawn])
            for j in range(drawn):
                out[j] = 1.0 if out[j] < 0.5 else -1.0
        for j in range(drawn):
            out[j] *= sizes[layer]
    if mirrored:
        for j in range(drawn - 1, -1, -1):
            a[2 * j], a[2 * j + 1] = a[j], a[j]
            b[2 * j], b[2 * j + 1] = b[j], -b[j]


@njit(cache=True, nogil=True)
def starts(keys: Array, kinds: Array, mirrored: Array, sizes: Array, widths: Array, out: Array) -> None:
    """The sums of (a + b)^2/2 and (a - b)^2/2 of each cell, (C, 2); cells of another kind are left as they are."""
    longest = widths.max()
    a, b = np.empty(longest), np.empty(longest)
    for c in range(len(widths)):
        if kinds[c] > _SIGNS:
            continue
        p = widths[c]
        weights(keys[c], kinds[c], mirrored[c], sizes[c], a[:p], b[:p])
        plus, minus = 0.0, 0.0
        for j in range(p):
            plus += (a[j] + b[j]) ** 2
            minus += (a[j] - b[j]) ** 2
        out[c, 0], out[c, 1] = plus / 2, minus / 2


@njit(cache=True, nogil=True)
def _decay(x: float) -> Any:
    """exp(-x) and 1 - exp(-x), both without a difference of like numbers, from one exponential."""
    if x < 0.5:
        rest = -math.expm1(-x)
        return 1 - rest, rest
    e = math.exp(-x)
    return e, 1 - e


@njit(cache=True, nogil=True)
def closed(A: float, B: float, S: float, rate: float, steps: Array, states: Array) -> Any:
    """Theorem 1 at every step; `rate` is c E lr/Z. Gives the largest distance from the linear model."""
    q = math.hypot(S, math.sqrt(A) * math.sqrt(B))
    large = q + abs(S)
    small = A * B / large if large > 0 else 0.0
    plus, minus = (large, small) if S >= 0 else (small, large)
    far, place, start, length, whole = 0.0, 0, (A - B) / 2, 2 * q * rate, (A + B) * rate
    (one, one_rest), linear_one = _decay(length), math.exp(-whole)
    e, rest, linear = 1.0, 0.0, 1.0
    for step in range(steps[-1] + 1):
        if step % RENEWED == 0:
            (e, rest), linear = _decay(length * step), math.exp(-whole * step)
        above, below = plus + minus * e + B * rest, minus + plus * e + A * rest
        if q == 0:  # S = 0 and A or B = 0: the other one falls as 1/(1/A + t)
            above, below = (1.0, 1 + rate * step * A) if A > 0 else (1 + rate * step * B, 1.0)
        first, second = A * above / below if A > 0 else 0.0, B * below / above if B > 0 else 0.0
        far = max(far, abs((first - second) / 2 - S - (start - S) * linear))
        if step == steps[place]:
            states[place, 0], states[place, 1] = first, second
            place += 1
        rest, e, linear = rest + e * one_rest, e * one, linear * linear_one
    return far


@njit(cache=True, nogil=True)
def _slope(A: float, B: float, S: float) -> Any:
    """(6.2) in the time of which `rate` is a step: A' = 2 (S - theta) A, B' = -2 (S - theta) B."""
    pull = 2 * S - A + B
    return pull * A, -pull * B


@njit(cache=True, nogil=True)
def _dormand_prince(A: float, B: float, S: float, h: float) -> Any:
    """One step of the pair of orders 5 and 4: the state, and the larger of its two relative errors."""
    a1, b1 = _slope(A, B, S)
    a2, b2 = _slope(A + h * a1 / 5, B + h * b1 / 5, S)
    a3, b3 = _slope(A + h * (3 * a1 + 9 * a2) / 40, B + h * (3 * b1 + 9 * b2) / 40, S)
    a4, b4 = _slope(
        A + h * (44 * a1 / 45 - 56 * a2 / 15 + 32 * a3 / 9), B + h * (44 * b1 / 45 - 56 * b2 / 15 + 32 * b3 / 9), S
    )
    c1, c2, c3, c4 = _FIFTH
    a5, b5 = _slope(A + h * (c1 * a1 + c2 * a2 + c3 * a3 + c4 * a4), B + h * (c1 * b1 + c2 * b2 + c3 * b3 + c4 * b4), S)
    c1, c2, c3, c4, c5 = _SIXTH
    a6, b6 = _slope(
        A + h * (c1 * a1 + c2 * a2 + c3 * a3 + c4 * a4 + c5 * a5),
        B + h * (c1 * b1 + c2 * b2 + c3 * b3 + c4 * b4 + c5 * b5),
        S,
    )
    c1, _, c3, c4, c5, c6 = _STEP
    A_next = A + h * (c1 * a1 + c3 * a3 + c4 * a4 + c5 * a5 + c6 * a6)
    B_next = B + h * (c1 * b1 + c3 * b3 + c4 * b4 + c5 * b5 + c6 * b6)
    a7, b7 = _slope(A_next, B_next, S)
    d1, _, d3, d4, d5, d6, d7 = ERROR
    off_a = abs(h * (d1 * a1 + d3 * a3 + d4 * a4 + d5 * a5 + d6 * a6 + d7 * a7))
    off_b = abs(h * (d1 * b1 + d3 * b3 + d4 * b4 + d5 * b5 + d6 * b6 + d7 * b7))
    return A_next, B_next, max(off_a / A_next if A_next > 0 else 0.0, off_b / B_next if B_next > 0 else 0.0)


@njit(cache=True, nogil=True)
def flow(A: float, B: float, S: float, rate: float, rtol: float, steps: Array, states: Array) -> Any:
    """The flow at every step, by adaptive steps that end there. Gives the largest distance from the linear model, or
    -1 where an adaptive step fell below the resolution of time."""
    far, place, start, whole = 0.0, 0, (A - B) / 2, A + B
    length = 0.1 * rate
    for step in range(steps[-1] + 1):
        linear = S + (start - S) * math.exp(-rate * step * whole)
        far = max(far, abs((A - B) / 2 - linear))
        if step == steps[place]:
            states[place, 0], states[place, 1] = A, B
            place += 1
        left = rate
        while step < steps[-1] and left > 0:
            h = min(length, left)
            # A step that is lost in the rounding of the time never arrives.
            if h < 1e-15 * rate and h < left:
                return -1.0
            A_next, B_next, error = _dormand_prince(A, B, S, h)
            fine = error <= rtol and A_next >= 0 and B_next >= 0
            if fine:
                A, B = A_next, B_next
                left = left - h if h < left else 0.0
            if fine and h < length:  # cut short by the end of the step: its error says nothing of the next length
                continue
            # The error of a step is of order h^5; NaN, of a step that overflows, shortens the next as much as allowed.
            factor = 0.9 * (rtol / error) ** 0.2 if error > 0 else 5.0
            length = h * min(5.0, max(0.2, factor if factor == factor else 0.2))
            if not fine and length >= h:
                length = h / 2
    return far


@njit(cache=True, nogil=True)
def train(drive: int, sums: Array, S: Array, rates: Array, steps: Array, states: Array, seen: Array) -> None:
    """Train every cell in closed form (`drive` 0) or by flow (1): states (C, T, 2), and what was seen of each, (C, 3):
    the largest distance from the linear model, |theta - S| at the start, which is its largest, and the records."""
    for c in range(len(S)):
        seen[c, 1], seen[c, 2] = abs((sums[c, 0] - sums[c, 1]) / 2 - S[c]), len(steps)
        if drive == 0:
            seen[c, 0] = closed(sums[c, 0], sums[c, 1], S[c], rates[c], steps, states[c])
        else:
            seen[c, 0] = flow(sums[c, 0], sums[c, 1], S[c], rates[c], 1e-11, steps, states[c])


@njit(cache=True, nogil=True)
def curves(states: Array, S: Array, weights: Array, out: Array) -> None:
    """Fill `out` (4, C, T) from states (C, T, 2): theta, what pulls towards S, what pulls away, and the loss, which is
    `weights` (C,) times (theta - S)^2."""
    for c in range(len(S)):
        toward, away = (0, 1) if S[c] >= 0 else (1, 0)
        for place in range(states.shape[1]):
            theta = (states[c, place, 0] - states[c, place, 1]) / 2
            out[0, c, place], out[3, c, place] = theta, weights[c] * (theta - S[c]) ** 2
            out[1, c, place], out[2, c, place] = states[c, place, toward], states[c, place, away]
