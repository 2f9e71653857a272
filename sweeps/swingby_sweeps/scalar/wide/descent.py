"""Gradient descent of many wide scalar nets at once, sixteen to a vector.

A step of one net waits for seven operations in a row. Sixteen nets that take it side by side fill that wait, and each
has the numbers that it has alone, bit for bit: no operation mixes two nets, and none is fused with another.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from swingby_sweeps.dynamics.kernels import LANES
from swingby_sweeps.dynamics.kernels.vector import (
    add,
    beyond,
    fill,
    larger,
    less,
    load,
    memory,
    move,
    size,
    store,
    times,
    up_to,
    where,
    zero,
)

Array = np.ndarray
_kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy")
RENEWED = 64
"""Steps after which the linear model's exponential, carried from step to step, is computed anew: its error stays below
1e-14."""
ROUNDING = 1e-15
"""Descent whose theta is this near to S, in units of A + B, has nothing left to round."""
_A, _B, _S, _RATE, _LIMIT, _GAP, _DECAY, _LINEAR, _FAR, _PEAK, _LIVE, _CELL = range(12)
_ROWS = 12


def descend(sums: Array, S: Array, rates: Array, limits: Array, steps: Array, states: Array, seen: Array) -> None:
    """Gradient descent of C nets: with g = c E (theta - S), a step multiplies a_j + b_j by 1 - lr g/Z and a_j - b_j by
    1 + lr g/Z.

    `sums` (C, 2) has A(0) and B(0), `rates` (C,) has c E lr/Z. Fills `states` (C, T, 2) with A and B at the recorded
    `steps` (T,), which begin with 0 and increase, up to the first step at which |theta| is beyond `limits` (C,); and
    `seen` (C, 3) with the largest distance from the linear model, the largest |theta - S|, and the number of records.
    """
    _descend(sums, S, rates, limits, steps, states, seen, np.zeros((_ROWS, -(-len(S) // LANES) * LANES)))


@_kernel
def _descend(
    sums: Array, S: Array, rates: Array, limits: Array, steps: Array, states: Array, seen: Array, work: Array
) -> None:
    """Descend in `work` (rows, C): nets that are over leave their column to the last one."""
    left, step, place = len(S), 0, 0
    for c in range(left):
        A, B = sums[c, 0], sums[c, 1]
        work[_A, c], work[_B, c], work[_S, c], work[_RATE, c], work[_LIMIT, c] = A, B, S[c], rates[c], limits[c]
        work[_GAP, c], work[_DECAY, c] = (A - B) / 2 - S[c], math.exp(-rates[c] * (A + B))
        work[_LIVE, c], work[_CELL, c] = 1, c
    while place < len(steps):
        left = _leave(work, left, place, states, seen)
        if left == 0:
            return
        if step == steps[place]:
            for c in range(left):
                cell = int(work[_CELL, c])
                states[cell, place, 0], states[cell, place, 1] = work[_A, c], work[_B, c]
            place += 1
        if step % RENEWED == 0:
            for c in range(left):
                cell = int(work[_CELL, c])
                work[_LINEAR, c] = math.exp(-rates[cell] * step * (sums[cell, 0] + sums[cell, 1]))
        # the last record is followed by one more step, which looks at the state that was recorded
        several = min(RENEWED - step % RENEWED, steps[place] - step if place < len(steps) else 1)
        _advance(memory(work), work.shape[1] // LANES, -(-left // LANES), several)
        step += several
    for c in range(left):
        cell = int(work[_CELL, c])
        seen[cell, 0], seen[cell, 1], seen[cell, 2] = work[_FAR, c], work[_PEAK, c], len(steps)


@_kernel
def _leave(work: Array, left: int, place: int, states: Array, seen: Array) -> int:
    """Write what was seen of the nets that are over, of which `place` records are there; gives how many go on."""
    c = 0
    while c < left:
        A, B = work[_A, c], work[_B, c]
        within = abs((A - B) / 2 - work[_S, c] + work[_S, c]) <= work[_LIMIT, c]
        if within and work[_LIVE, c] > 0:
            c += 1
            continue
        cell = int(work[_CELL, c])
        seen[cell, 0], seen[cell, 1], seen[cell, 2] = work[_FAR, c], work[_PEAK, c], place
        if within:  # theta is S to rounding, and stays there
            for later in range(place, states.shape[1]):
                states[cell, later, 0], states[cell, later, 1] = A, B
            seen[cell, 2] = states.shape[1]
        left -= 1
        for row in range(_ROWS):
            work[row, c] = work[row, left]
    return left


@_kernel
def _advance(work: Any, blocks: int, used: int, steps: int) -> None:
    """Take some steps in the first `used` of the blocks of sixteen columns, of which each row has `blocks`."""
    for block in range(used):
        at = move(work, block)
        S, rate, limit = load(at, _S * blocks), load(at, _RATE * blocks), load(at, _LIMIT * blocks)
        gap, decay, linear = load(at, _GAP * blocks), load(at, _DECAY * blocks), load(at, _LINEAR * blocks)
        A, B, live = load(at, _A * blocks), load(at, _B * blocks), load(at, _LIVE * blocks)
        far, peak = load(at, _FAR * blocks), load(at, _PEAK * blocks)
        nothing, one, half, rounding = zero(at), fill(at, 1.0), fill(at, 0.5), fill(at, ROUNDING)
        for _ in range(steps):
            off = less(times(less(A, B), half), S)
            live = up_to(live, size(add(off, S)), limit)
            far = larger(times(size(less(off, times(gap, linear))), live), far)
            peak = larger(times(size(off), live), peak)
            live = beyond(live, size(off), times(rounding, add(A, B)))
            pull, linear = where(live, times(rate, off), nothing), times(linear, decay)  # 0 keeps A and B as they are
            fall, rise = less(one, pull), add(one, pull)
            A, B = times(A, times(fall, fall)), times(B, times(rise, rise))
        store(at, _A * blocks, A)
        store(at, _B * blocks, B)
        store(at, _LIVE * blocks, live)
        store(at, _LINEAR * blocks, linear)
        store(at, _FAR * blocks, far)
        store(at, _PEAK * blocks, peak)
