"""Mini-batch SGD of small ReLU nets, sixteen cells side by side: each number of a net and of a point is a vector.

Shapes: theta (C, P), a cell's parameters one after the other, as `points.PackedRelu` lays them; x (G, N, k, LANES);
sizes (L + 1): k, the hidden widths, d. Points go four at a time, so that a weight is loaded once for four of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LANES
from .lanes import pack, unpack
from .vector import add, add_product, less, load, memory, move, passed, positive, store, zero

Array = np.ndarray
_AT_ONCE = 4
_CHUNK = 512
"""Points whose losses are summed in the cells' own precision."""


@njit(cache=True, nogil=True)
def arrange(points: Array) -> Array:
    """Points (C, N, k) side by side: (G, N, k, LANES)."""
    C, N, k = points.shape
    out = np.zeros((-(-C // LANES), N, k, LANES), points.dtype)
    for group in range(len(out)):
        first = group * LANES
        for i in range(N):
            for lane in range(min(LANES, C - first)):
                for r in range(k):
                    out[group, i, r, lane] = points[first + lane, i, r]
    return out


@njit(cache=True, nogil=True)
def shuffle(points: Array, orders: Array, out: Array) -> None:
    """The points of C cells in new orders (C, N)."""
    for c in range(len(orders)):
        group, lane = c // LANES, c % LANES
        for i in range(orders.shape[1]):
            for r in range(points.shape[2]):
                out[group, i, r, lane] = points[group, orders[c, i], r, lane]


def train(theta: Array, x: Array, rates: Array, sizes: Array, s: int, bias: bool, _: Any, *batches: int) -> None:
    """Take the mini-batches first, ..., last - 1 of a size, (size, first, last), of cells at rates (C,): minus eta."""
    numbers, scales = _side_by_side(theta), np.zeros((len(x), LANES), theta.dtype)
    scales.reshape(-1)[: len(rates)] = rates
    work = _scratch(sizes, theta, 2)
    _train(numbers, x, scales, work, sizes, s, bias, *batches)
    unpack(numbers, 0, theta)


def losses(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, total: Array) -> None:
    """total (C,), float64: the sum over all points of 1/2 |f(x) - x|^2."""
    sums = np.zeros((len(x), LANES))
    _losses(_side_by_side(theta), x, _scratch(sizes, theta, 1), sizes, s, bias, sums)
    total[:] = sums.reshape(-1)[: len(total)]


def gradients(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, into: Array) -> None:
    """into (C, P) += the gradient of L on all points."""
    _gradients(_side_by_side(theta), x, _scratch(sizes, theta, 2), sizes, s, bias, into)


def outputs(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, out: Array) -> None:
    """out (C, N, d) = f at all points."""
    _outputs(_side_by_side(theta), x, _scratch(sizes, theta, 1), sizes, s, bias, out)


def room(sizes: Array, batch: int, dtype: np.dtype) -> tuple[Array, ...]:
    """Nothing: these loops need no memory from one call to the next."""
    return ()


def _side_by_side(theta: Array) -> Array:
    numbers = np.zeros((-(-len(theta) // LANES), theta.shape[1], LANES), theta.dtype)
    pack(theta, numbers, 0)
    return numbers


def _scratch(sizes: Array, theta: Array, errors: int) -> Array:
    """Activations of four points after each layer, the errors of two layers, and a gradient."""
    images, widest = int(sizes[1:].sum()), int(sizes.max())
    return np.zeros((_AT_ONCE * (images + errors * widest) + theta.shape[1] + 1, LANES), theta.dtype)


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(P: Any, X: Any, x: int, y: int, z: int, t: int, sizes: Array, s: int, bias: bool, M: Any) -> None:
    """Activations of the four points at places x, y, z, t of X: of unit u, counted over all layers, at 4 u of M."""
    layers, out, at, below, above = len(sizes) - 1, sizes[1], sizes[0] * sizes[1], 0, sizes[1]
    for o in range(out):
        a = load(P, s * out + o) if bias else zero(P)
        b, c, d = a, a, a
        for r in range(s):
            w = load(P, r * out + o)
            a, b = add_product(a, load(X, x + r), w), add_product(b, load(X, y + r), w)
            c, d = add_product(c, load(X, z + r), w), add_product(d, load(X, t + r), w)
        _put(M, 4 * o, a, b, c, d, layers > 1)
    for layer in range(1, layers):
        inner, out = sizes[layer], sizes[layer + 1]
        for o in range(out):
            a = load(P, at + out * inner + o) if bias else zero(P)
            b, c, d = a, a, a
            for i in range(inner):
                w, h = load(P, at + o * inner + i), 4 * (below + i)
                a, b = add_product(a, load(M, h), w), add_product(b, load(M, h + 1), w)
                c, d = add_product(c, load(M, h + 2), w), add_product(d, load(M, h + 3), w)
            _put(M, 4 * (above + o), a, b, c, d, layer < layers - 1)
        at += out * inner + (out if bias else 0)
        below, above = above, above + out


@njit(cache=True, nogil=True, error_model="numpy")
def _put(M: Any, at: int, a: Any, b: Any, c: Any, d: Any, hidden: bool) -> None:
    if hidden:
        a, b, c, d = positive(a), positive(b), positive(c), positive(d)
    store(M, at, a)
    store(M, at + 1, b)
    store(M, at + 2, c)
    store(M, at + 3, d)


@njit(cache=True, nogil=True, error_model="numpy")
def _less_target(M: Any, f: int, X: Any, x: int, y: int, z: int, t: int, s: int) -> None:
    """f(x) at place f becomes f(x) - x in the first s outputs."""
    for r in range(s):
        at = f + 4 * r
        store(M, at, less(load(M, at), load(X, x + r)))
        store(M, at + 1, less(load(M, at + 1), load(X, y + r)))
        store(M, at + 2, less(load(M, at + 2), load(X, z + r)))
        store(M, at + 3, less(load(M, at + 3), load(X, t + r)))


@njit(cache=True, nogil=True, error_model="numpy")
def _losses(numbers: Array, points: Array, work: Array, sizes: Array, s: int, bias: bool, total: Array) -> None:
    X, M, N, k, d = memory(points), memory(work), points.shape[1], sizes[0], sizes[-1]
    f = 4 * (sizes[1:].sum() - d)
    for group in range(numbers.shape[0]):
        P, end = move(memory(numbers), group * numbers.shape[1]), (group + 1) * N
        for start in range(group * N, end, _CHUNK):
            stop, square = min(start + _CHUNK, end), zero(M)
            for i in range(start, stop, 4):
                x, y, z, t = _places(i, stop, k)
                _forward(P, X, x, y, z, t, sizes, s, bias, M)
                _less_target(M, f, X, x, y, z, t, s)
                for o in range(d):
                    for n in range(min(4, stop - i)):
                        error = load(M, f + 4 * o + n)
                        square = add_product(square, error, error)
            store(M, f, square)
            for lane in range(LANES):
                total[group, lane] += 0.5 * work[f, lane]


@njit(cache=True, nogil=True)
def _places(i: int, end: int, k: int) -> Any:
    """Where four points begin; of fewer than four the last one stands in for those that are missing."""
    return i * k, min(i + 1, end - 1) * k, min(i + 2, end - 1) * k, min(i + 3, end - 1) * k


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(P: Any, X: Any, start: int, stop: int, sizes: Array, s: int, bias: bool, M: Any, count: int) -> int:
    """The gradient of the sum of 1/2 |f(x) - x|^2 over points start .. stop - 1: where it begins in M."""
    k, d, widest, images = sizes[0], sizes[-1], sizes.max(), 4 * sizes[1:].sum()
    f, G = images - 4 * d, images + 8 * widest
    for i in range(count):
        store(M, G + i, zero(M))
    for i in range(start, stop, 4):
        x, y, z, t = _places(i, stop, k)
        _forward(P, X, x, y, z, t, sizes, s, bias, M)
        _less_target(M, f, X, x, y, z, t, s)
        for n in range(stop - i, 4):
            for o in range(d):
                store(M, f + 4 * o + n, zero(M))
        _backward(P, X, x, y, z, t, sizes, s, bias, M, images, 4 * widest, G)
    return G


@njit(cache=True, nogil=True, error_model="numpy")
def _train(
    numbers: Array,
    points: Array,
    rates: Array,
    work: Array,
    sizes: Array,
    s: int,
    bias: bool,
    size: int,
    first: int,
    last: int,
) -> None:
    X, M, N, count = memory(points), memory(work), points.shape[1], numbers.shape[1]
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * count)
        for batch in range(first, last):
            start, stop = group * N + batch * size, group * N + min(N, (batch + 1) * size)
            G = _slope(P, X, start, stop, sizes, s, bias, M, count)
            for lane in range(LANES):
                work[G + count, lane] = rates[group, lane] / (stop - start)
            rate = load(M, G + count)
            for i in range(count):
                store(P, i, add_product(load(P, i), rate, load(M, G + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _gradients(numbers: Array, points: Array, work: Array, sizes: Array, s: int, bias: bool, into: Array) -> None:
    X, M, N, count = memory(points), memory(work), points.shape[1], numbers.shape[1]
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * count)
        G = _slope(P, X, group * N, (group + 1) * N, sizes, s, bias, M, count)
        for c in range(group * LANES, min((group + 1) * LANES, len(into))):
            for i in range(count):
                into[c, i] += work[G + i, c % LANES] / N


@njit(cache=True, nogil=True, error_model="numpy")
def _outputs(numbers: Array, points: Array, work: Array, sizes: Array, s: int, bias: bool, out: Array) -> None:
    X, M, N, k, d = memory(points), memory(work), points.shape[1], sizes[0], sizes[-1]
    f = 4 * (sizes[1:].sum() - d)
    for group in range(numbers.shape[0]):
        P, first = move(memory(numbers), group * numbers.shape[1]), group * N
        for i in range(0, N, 4):
            x, y, z, t = _places(first + i, first + N, k)
            _forward(P, X, x, y, z, t, sizes, s, bias, M)
            for c in range(group * LANES, min((group + 1) * LANES, len(out))):
                for n in range(min(4, N - i)):
                    for o in range(d):
                        out[c, i + n, o] = work[f + 4 * o + n, c % LANES]


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(
    P: Any,
    X: Any,
    x: int,
    y: int,
    z: int,
    t: int,
    sizes: Array,
    s: int,
    bias: bool,
    M: Any,
    spare: int,
    room: int,
    G: int,
) -> None:
    """Add the gradient of 1/2 |f(x) - x|^2 of four points to place G of M; f(x) - x are the last activations.

    The errors below a layer go to `spare` and to `spare` + room, in turn.
    """
    layers, above, at = len(sizes) - 1, sizes[1:].sum() - sizes[-1], 0
    for layer in range(len(sizes) - 1):
        at += sizes[layer] * sizes[layer + 1] + (sizes[layer + 1] if bias and layer else 0)
    D = 4 * above
    for layer in range(layers - 1, 0, -1):
        inner, out = sizes[layer], sizes[layer + 1]
        at -= out * inner + (out if bias else 0)
        above -= inner
        for i in range(4 * inner):
            store(M, spare + i, zero(M))
        for o in range(out):
            a, b, c, d = load(M, D + 4 * o), load(M, D + 4 * o + 1), load(M, D + 4 * o + 2), load(M, D + 4 * o + 3)
            if bias:
                g = G + at + out * inner + o
                store(M, g, add(add(load(M, g), add(a, b)), add(c, d)))
            for i in range(inner):
                w, h, e, g = load(P, at + o * inner + i), 4 * (above + i), spare + 4 * i, G + at + o * inner + i
                slope = add_product(load(M, g), a, load(M, h))
                slope = add_product(slope, b, load(M, h + 1))
                slope = add_product(slope, c, load(M, h + 2))
                store(M, g, add_product(slope, d, load(M, h + 3)))
                store(M, e, add_product(load(M, e), a, w))
                store(M, e + 1, add_product(load(M, e + 1), b, w))
                store(M, e + 2, add_product(load(M, e + 2), c, w))
                store(M, e + 3, add_product(load(M, e + 3), d, w))
        for i in range(4 * inner):
            store(M, spare + i, passed(load(M, spare + i), load(M, 4 * above + i)))
        D, spare, room = spare, spare + room, -room
    out = sizes[1]
    for o in range(out):
        a, b, c, d = load(M, D + 4 * o), load(M, D + 4 * o + 1), load(M, D + 4 * o + 2), load(M, D + 4 * o + 3)
        if bias:
            g = G + s * out + o
            store(M, g, add(add(load(M, g), add(a, b)), add(c, d)))
        for r in range(s):
            g = G + r * out + o
            slope = add_product(load(M, g), a, load(X, x + r))
            slope = add_product(slope, b, load(X, y + r))
            slope = add_product(slope, c, load(X, z + r))
            store(M, g, add_product(slope, d, load(X, t + r)))
