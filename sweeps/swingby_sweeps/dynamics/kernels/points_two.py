"""Mini-batch SGD of ReLU nets with one hidden layer, two inputs and two outputs, sixteen cells side by side.

To the last bit what `points_lanes` computes, without its loops over layers and outputs: four points with their outputs
stay in registers while the hidden units go by, so that of a net of few units little but arithmetic is left. Shapes are
those of `points_lanes`: parameters W_1 (k, width), W_2 (2, width), and the two offsets of the outputs with biases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LANES, aligned
from .lanes import unpack
from .points_lanes import CHUNK, STATES, arrange, gradients, outputs, packed, room, shuffle
from .vector import add, add_product, less, load, memory, move, passed, positive, store, zero

__all__ = ["STATES", "arrange", "gradients", "losses", "outputs", "room", "shuffle", "train"]

Array = np.ndarray


def train(theta: Array, x: Array, rates: Array, sizes: Array, s: int, bias: bool, _: Any, *batches: int) -> None:
    """Take the mini-batches first, ..., last - 1 of a size, (size, first, last), of cells at rates (C,): minus eta."""
    numbers, scales = packed(theta[None])[0], np.zeros((len(x), LANES), theta.dtype)
    scales.reshape(-1)[: len(rates)] = rates
    # Four points at each hidden unit, a gradient, and a rate.
    work = aligned((4 * int(sizes[1]) + theta.shape[1] + 1, LANES), theta.dtype)
    _train(numbers, x, scales, work, int(sizes[1]), bias, *batches)
    unpack(numbers, 0, theta)


def losses(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, total: Array) -> None:
    """total (K, C), float64: the sum over all points of 1/2 |f(x) - x|^2 at K states theta (K, C, P) of the cells."""
    sums = np.zeros((len(theta), len(x), LANES))
    _losses(packed(theta), x, aligned((1, LANES), theta.dtype), int(sizes[1]), bias, sums)
    total[:] = sums.reshape(len(theta), -1)[:, : total.shape[1]]


@njit(cache=True, nogil=True)
def _places(i: int, end: int, k: int) -> Any:
    """Where four points begin; of fewer than four the last one stands in for those that are missing."""
    return i * k, min(i + 1, end - 1) * k, min(i + 2, end - 1) * k, min(i + 3, end - 1) * k


@njit(cache=True, nogil=True, error_model="numpy")
def _unit(P: Any, o: int, width: int, bias: bool, p0: Any, p1: Any, q0: Any, q1: Any) -> Any:
    """Hidden unit o at the two points p and q."""
    start, one, two = (load(P, 2 * width + o) if bias else zero(P)), load(P, o), load(P, width + o)
    p = add_product(add_product(start, p0, one), p1, two)
    q = add_product(add_product(start, q0, one), q1, two)
    return positive(p), positive(q)


@njit(cache=True, nogil=True, error_model="numpy")
def _losses(numbers: Array, points: Array, work: Array, width: int, bias: bool, total: Array) -> None:
    X, M, N, k = memory(points), memory(work), points.shape[1], points.shape[2]
    states, groups, count = numbers.shape[:3]
    for group in range(groups):
        for start in range(group * N, (group + 1) * N, CHUNK):
            stop = min(start + CHUNK, (group + 1) * N)
            # All states meet these points while they are in the cache.
            for state in range(states):
                P = move(memory(numbers), (state * groups + group) * count)
                store(M, 0, _squares(P, X, start, stop, k, width, bias))
                for lane in range(LANES):
                    total[state, group, lane] += 0.5 * work[0, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(P: Any, X: Any, start: int, stop: int, k: int, width: int, bias: bool) -> Any:
    """The sum of |f(x) - x|^2 over points start .. stop - 1."""
    last, square = k * width, zero(X)
    for i in range(start, stop, 4):
        x, y, z, t = _places(i, stop, k)
        x0, x1, y0, y1 = load(X, x), load(X, x + 1), load(X, y), load(X, y + 1)
        z0, z1, t0, t1 = load(X, z), load(X, z + 1), load(X, t), load(X, t + 1)
        a0 = load(P, last + 2 * width) if bias else zero(P)
        a1 = load(P, last + 2 * width + 1) if bias else zero(P)
        b0, b1, c0, c1, d0, d1 = a0, a1, a0, a1, a0, a1
        for o in range(width):
            one, two = load(P, last + o), load(P, last + width + o)
            p, q = _unit(P, o, width, bias, x0, x1, y0, y1)
            a0, a1 = add_product(a0, p, one), add_product(a1, p, two)
            b0, b1 = add_product(b0, q, one), add_product(b1, q, two)
            p, q = _unit(P, o, width, bias, z0, z1, t0, t1)
            c0, c1 = add_product(c0, p, one), add_product(c1, p, two)
            d0, d1 = add_product(d0, q, one), add_product(d1, q, two)
        a0, a1, b0, b1 = less(a0, x0), less(a1, x1), less(b0, y0), less(b1, y1)
        c0, c1, d0, d1 = less(c0, z0), less(c1, z1), less(d0, t0), less(d1, t1)
        if stop - i < 4:
            # Points that stand in for missing ones do not count.
            d0 = d1 = zero(X)
            if stop - i < 3:
                c0 = c1 = zero(X)
            if stop - i < 2:
                b0 = b1 = zero(X)
        square = add_product(add_product(square, a0, a0), b0, b0)
        square = add_product(add_product(square, c0, c0), d0, d0)
        square = add_product(add_product(square, a1, a1), b1, b1)
        square = add_product(add_product(square, c1, c1), d1, d1)
    return square


@njit(cache=True, nogil=True, error_model="numpy")
def _train(
    numbers: Array, points: Array, rates: Array, work: Array, width: int, bias: bool, size: int, first: int, last: int
) -> None:
    X, M, N, k, count = memory(points), memory(work), points.shape[1], points.shape[2], numbers.shape[1]
    G = 4 * width
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * count)
        for batch in range(first, last):
            start, stop = group * N + batch * size, group * N + min(N, (batch + 1) * size)
            for i in range(count):
                store(M, G + i, zero(M))
            for i in range(start, stop, 4):
                x, y, z, t = _places(i, stop, k)
                _add_slope(P, X, x, y, z, t, stop - i, k, width, bias, M, G)
            for lane in range(LANES):
                work[G + count, lane] = rates[group, lane] / (stop - start)
            rate = load(M, G + count)
            for i in range(count):
                store(P, i, add_product(load(P, i), rate, load(M, G + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _add_slope(
    P: Any, X: Any, x: int, y: int, z: int, t: int, count: int, k: int, width: int, bias: bool, M: Any, G: int
) -> None:
    """Add the gradient of 1/2 |f(x) - x|^2 of four points, of which `count` are there, to place G of M."""
    last = k * width
    x0, x1, y0, y1 = load(X, x), load(X, x + 1), load(X, y), load(X, y + 1)
    z0, z1, t0, t1 = load(X, z), load(X, z + 1), load(X, t), load(X, t + 1)
    a0 = load(P, last + 2 * width) if bias else zero(P)
    a1 = load(P, last + 2 * width + 1) if bias else zero(P)
    b0, b1, c0, c1, d0, d1 = a0, a1, a0, a1, a0, a1
    for o in range(width):
        one, two = load(P, last + o), load(P, last + width + o)
        p, q = _unit(P, o, width, bias, x0, x1, y0, y1)
        a0, a1 = add_product(a0, p, one), add_product(a1, p, two)
        b0, b1 = add_product(b0, q, one), add_product(b1, q, two)
        store(M, 4 * o, p)
        store(M, 4 * o + 1, q)
        p, q = _unit(P, o, width, bias, z0, z1, t0, t1)
        c0, c1 = add_product(c0, p, one), add_product(c1, p, two)
        d0, d1 = add_product(d0, q, one), add_product(d1, q, two)
        store(M, 4 * o + 2, p)
        store(M, 4 * o + 3, q)
    a0, a1, b0, b1 = less(a0, x0), less(a1, x1), less(b0, y0), less(b1, y1)
    c0, c1, d0, d1 = less(c0, z0), less(c1, z1), less(d0, t0), less(d1, t1)
    if count < 4:
        # Points that stand in for missing ones have no errors.
        d0 = d1 = zero(X)
        if count < 3:
            c0 = c1 = zero(X)
        if count < 2:
            b0 = b1 = zero(X)
    if bias:
        g = G + last + 2 * width
        store(M, g, add(add(load(M, g), add(a0, b0)), add(c0, d0)))
        store(M, g + 1, add(add(load(M, g + 1), add(a1, b1)), add(c1, d1)))
    for o in range(width):
        h, i, j, m = load(M, 4 * o), load(M, 4 * o + 1), load(M, 4 * o + 2), load(M, 4 * o + 3)
        one, two, g, e = load(P, last + o), load(P, last + width + o), G + last + o, G + last + width + o
        p = add_product(add_product(load(M, g), a0, h), b0, i)
        store(M, g, add_product(add_product(p, c0, j), d0, m))
        p = add_product(add_product(load(M, e), a1, h), b1, i)
        store(M, e, add_product(add_product(p, c1, j), d1, m))
        h = passed(add_product(add_product(zero(M), a0, one), a1, two), h)
        i = passed(add_product(add_product(zero(M), b0, one), b1, two), i)
        j = passed(add_product(add_product(zero(M), c0, one), c1, two), j)
        m = passed(add_product(add_product(zero(M), d0, one), d1, two), m)
        g, e = G + o, G + width + o
        p = add_product(add_product(load(M, g), h, x0), i, y0)
        store(M, g, add_product(add_product(p, j, z0), m, t0))
        p = add_product(add_product(load(M, e), h, x1), i, y1)
        store(M, e, add_product(add_product(p, j, z1), m, t1))
        if bias:
            g = G + 2 * width + o
            store(M, g, add(add(load(M, g), add(h, i)), add(j, m)))
