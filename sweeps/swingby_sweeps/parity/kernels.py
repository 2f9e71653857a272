"""Compiled steps of a two-layer ReLU net on bits, without matrix products.

The input is a skill and a code of bits, so W1 x is a sum of the rows of W1 whose bit is set. The bits are cut into
groups of `group` bits, and the sums of every subset of a group's rows are kept in a table (the method of four
Russians): a point adds one row of each group. The gradient takes the way back, through a table of the same form.

Parameters are one vector: the rows of W1 for the skills, those for the bits, b1, w2, each `width` long, and b2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from swingby_sweeps.dynamics.kernels.streams import permute, uniforms

Array = np.ndarray
_SUMS: Any = {"reassoc", "nsz", "arcp", "contract"}
"""Sums may be taken in any order; numbers that are not finite keep their meaning."""


class Setting(NamedTuple):
    """What a step needs to know beside arrays.

    Attributes:
        bits, group: bits of the input, and of a group.
        S, c: target and factor of the loss.
        l2, adam: of the optimizer.
        limit: the mean square error of a batch beyond which no step is taken.
    """

    bits: int
    group: int
    S: float
    c: float
    l2: float
    adam: bool
    limit: float


Tables = tuple[Array, Array]
"""`base` (skills, width) and `table` (groups x 2^group, width)."""


def group_of(bits: int, batch: int) -> int:
    """The bits of a group with which a step of that many points adds the fewest rows."""
    return min(range(1, min(bits, 7) + 1), key=lambda s: -(-bits // s) * (batch + 2 ** (s + 1)))


def room(skills: int, width: int, bits: int, group: int) -> Tables:
    """The tables of a step, zeros."""
    return np.zeros((skills, width)), np.zeros((-(-bits // group) << group, width))


@njit(cache=True, nogil=True)
def sign(code: Any, mask: Any) -> Any:
    """1 where the code has an even number of the mask's bits, else -1."""
    x = code & mask
    x ^= x >> 32
    x ^= x >> 16
    x ^= x >> 8
    x ^= x >> 4
    # 0x6996 has the parity of each number of four bits, from bit 0 on.
    return 1 - 2 * ((0x6996 >> (x & 15)) & 1)


@njit(cache=True, nogil=True)
def tabulate(theta: Array, setting: Setting, tables: Tables) -> None:
    """Fill `base` with b1 + the row of each skill, and `table` with the sums of each group's subsets of rows."""
    (base, table), bits, group = tables, setting.bits, setting.group
    skills, width = base.shape
    rows = theta[:-1].reshape((-1, width))
    for k in range(skills):
        for j in range(width):
            base[k, j] = rows[k, j] + rows[skills + bits, j]
    for first in range(0, bits, group):
        start = (first // group) << group
        for j in range(width):
            table[start, j] = 0.0
        for bit in range(min(group, bits - first)):
            for subset in range(1 << bit):
                into, of, row = start + (1 << bit) + subset, start + subset, skills + first + bit
                for j in range(width):
                    table[into, j] = table[of, j] + rows[row, j]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def hidden(k: Any, code: Any, setting: Setting, tables: Tables, h: Array) -> None:
    """Write W1 x + b1 of one point to `h` (width,)."""
    (base, table), group = tables, setting.group
    for j in range(len(h)):
        h[j] = base[k, j]
    last = (1 << group) - 1
    for place in range(len(table) >> group):
        row = (place << group) + ((code >> (place * group)) & last)
        for j in range(len(h)):
            h[j] += table[row, j]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def gradient(
    theta: Array, points: Array, masks: Array, setting: Setting, tables: Tables, d_tables: Tables, d_theta: Array
) -> float:
    """The gradient of c/2 mean (f - y)^2 over the points (2, n), to `d_theta`; gives mean (f - y)^2."""
    (d_base, d_table), bits, group = d_tables, setting.bits, setting.group
    (skills, width), n = d_base.shape, points.shape[1]
    w2, b2 = theta[-1 - width : -1], theta[-1]
    d_rows = d_theta[:-1].reshape((-1, width))
    h, on, d_w2, d_b2, total = np.empty(width), np.empty(width), d_theta[-1 - width : -1], 0.0, 0.0
    tabulate(theta, setting, tables)
    d_base[:], d_table[:], d_theta[:] = 0.0, 0.0, 0.0
    last = (1 << group) - 1
    for i in range(n):
        k, code = points[0, i], points[1, i]
        hidden(k, code, setting, tables, h)
        f = b2
        for j in range(width):
            f += w2[j] * max(h[j], 0.0)
        error = f - setting.S * sign(code, masks[k])
        total += error * error
        error *= setting.c / n
        d_b2 += error
        for j in range(width):
            on[j] = error if h[j] > 0 else 0.0
            d_w2[j] += on[j] * h[j]
            d_base[k, j] += on[j]
        for place in range(len(d_table) >> group):
            row = (place << group) + ((code >> (place * group)) & last)
            for j in range(width):
                d_table[row, j] += on[j]
    for first in range(0, bits, group):
        start = (first // group) << group
        for bit in range(min(group, bits - first) - 1, -1, -1):
            for subset in range(1 << bit):
                of, into, row = start + (1 << bit) + subset, start + subset, skills + first + bit
                for j in range(width):
                    d_rows[row, j] += d_table[of, j]
                    d_table[into, j] += d_table[of, j]
    for row in range(skills + bits):
        for j in range(width):
            d_rows[row, j] = w2[j] * (d_base[row, j] if row < skills else d_rows[row, j])
            if row < skills:
                d_rows[skills + bits, j] += d_rows[row, j]
    d_theta[-1] = d_b2
    return total / n


@njit(cache=True, nogil=True)
def update(theta: Array, d_theta: Array, moments: Array, step: int, rate: float, setting: Setting) -> None:
    """One step of gradient descent or of Adam, whose running means are `moments` (2, parameters), in place."""
    # The constants of Adam, and its correction of means that begin at 0.
    first, second = 1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)
    for i in range(len(theta)):
        slope = d_theta[i] + setting.l2 * theta[i]
        if setting.adam:
            moments[0, i] = 0.9 * moments[0, i] + 0.1 * slope
            moments[1, i] = 0.999 * moments[1, i] + 0.001 * slope * slope
            slope = moments[0, i] / first / (np.sqrt(moments[1, i] / second) + 1e-8)
        theta[i] -= rate * slope


@njit(cache=True, nogil=True)
def fresh(stream: Array, draws: Array, cumulated: Array, bits: int, batch: Array) -> None:
    """Draw a batch of points (2, n); `draws` (2, n) is scratch."""
    uniforms(stream, draws.reshape(-1))
    for i in range(batch.shape[1]):
        k = 0
        while draws[0, i] >= cumulated[k]:
            k += 1
        batch[0, i], batch[1, i] = k, np.int64(draws[1, i] * 2.0**bits)


@njit(cache=True, nogil=True)
def next_batch(stream: Array, step: int, order: Array, partners: Array, points: Array, batch: Array) -> None:
    """Take the batch of this step from the training set `points` (2, D), shuffled anew at the start of every epoch."""
    n, D = batch.shape[1], len(order)
    place = step % (D // n)
    if place == 0 and n < D:
        permute(stream, order, partners)
    for i in range(n):
        batch[:, i] = points[:, order[place * n + i]]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def strengths(theta: Array, points: Array, masks: Array, setting: Setting, tables: Tables) -> Array:
    """For each skill the sums over its points of g f / S, of ((f - y) / S)^2, and of 1, shape (skills, 3)."""
    skills, width = tables[0].shape
    w2, h, sums = theta[-1 - width : -1], np.empty(width), np.zeros((skills, 3))
    tabulate(theta, setting, tables)
    for i in range(points.shape[1]):
        k, code = points[0, i], points[1, i]
        hidden(k, code, setting, tables, h)
        f = theta[-1]
        for j in range(width):
            f += w2[j] * max(h[j], 0.0)
        parity = sign(code, masks[k])
        sums[k, 0] += parity * f / setting.S
        sums[k, 1] += (f / setting.S - parity) ** 2
        sums[k, 2] += 1.0
    return sums


@njit(cache=True, nogil=True)
def advance(
    theta: Array, moments: Array, stream: Array, order: Array, points: Array, batch: Array, cumulated: Array,
    masks: Array, rates: Array, first: int, setting: Setting, tables: Tables,
) -> int:  # fmt: skip
    """Take len(rates) steps from step `first` on; gives the steps taken, fewer where an error exceeds the limit.

    Without training points, `points` (2, 0), every step draws fresh ones.
    """
    d_tables, d_theta = (np.empty_like(tables[0]), np.empty_like(tables[1])), np.empty_like(theta)
    draws, partners = np.empty(batch.shape), np.empty_like(order)
    for taken in range(len(rates)):
        if len(order):
            next_batch(stream, first + taken, order, partners, points, batch)
        else:
            fresh(stream, draws, cumulated, setting.bits, batch)
        error = gradient(theta, batch, masks, setting, tables, d_tables, d_theta)
        if not error <= setting.limit:
            return taken
        update(theta, d_theta, moments, first + taken, rates[taken], setting)
    return len(rates)
