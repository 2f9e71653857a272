"""Mini-batch SGD of small ReLU nets, sixteen cells side by side: each number of a net and of a point is a vector.

Shapes: theta (C, P), a cell's parameters one after the other, as `points.PackedRelu` lays them; x (G, N, k, LANES);
sizes (L + 1): k, the hidden widths, d. Points go in blocks whose activations stay in the first-level cache: those of a
layer are (points, width). Inside a block a layer is a matrix product of vectors, of which eight sums at a time are
held in registers, and so is its gradient. Every sum is taken in the order of the points, or of the units, so that no
number depends on the size of a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LANES, aligned
from .lanes import pack, unpack
from .products import DOWN, ERROR, HIDDEN, PLAIN, add_outer, add_rows, products
from .vector import add_product, load, memory, move, store, zero

Array = np.ndarray
_AT_ONCE = 4
"""Rows of points that `products` takes at once: blocks are filled up to multiples of it."""
CHUNK = 512
"""Points whose losses are summed in the cells' own precision."""
STATES: int = 8
"""States of the nets whose losses are computed in one pass over the points, which small nets wait for."""
_BLOCK, _BYTES = 32, 32_768
"""Points of a block, and bytes of all that is held of them: fewer points where they would be more."""


def arrange(points: Array) -> Array:
    """Points (C, N, k) side by side: (G, N, k, LANES)."""
    C, N, k = points.shape
    out = aligned((-(-C // LANES), N, k, LANES), points.dtype)
    _arrange(points, out)
    return out


@njit(cache=True, nogil=True)
def _arrange(points: Array, out: Array) -> None:
    C, N, k = points.shape
    for group in range(len(out)):
        first = group * LANES
        for i in range(N):
            for lane in range(min(LANES, C - first)):
                for r in range(k):
                    out[group, i, r, lane] = points[first + lane, i, r]


@njit(cache=True, nogil=True)
def shuffle(points: Array, orders: Array, out: Array) -> None:
    """The points of C cells in new orders (C, N)."""
    for group in range(len(points)):
        first = group * LANES
        for i in range(orders.shape[1]):
            for lane in range(min(LANES, len(orders) - first)):
                place = orders[first + lane, i]
                for r in range(points.shape[2]):
                    out[group, i, r, lane] = points[group, place, r, lane]


def train(theta: Array, x: Array, rates: Array, sizes: Array, s: int, bias: bool, _: Any, *batches: int) -> None:
    """Take the mini-batches first, ..., last - 1 of a size, (size, first, last), of cells at rates (C,): minus eta."""
    numbers, scales = packed(theta[None])[0], np.zeros((len(x), LANES), theta.dtype)
    scales.reshape(-1)[: len(rates)] = rates
    _train(numbers, x, scales, *_scratch(sizes, theta, 2), sizes, s, bias, *batches)
    unpack(numbers, 0, theta)


def losses(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, total: Array) -> None:
    """total (K, C), float64: the sum over all points of 1/2 |f(x) - x|^2 at K states theta (K, C, P) of the cells."""
    sums = np.zeros((len(theta), len(x), LANES))
    _losses(packed(theta), x, *_scratch(sizes, theta, 0), sizes, s, bias, sums)
    total[:] = sums.reshape(len(theta), -1)[:, : total.shape[1]]


def gradients(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, into: Array) -> None:
    """into (C, P) += the gradient of L on all points."""
    _gradients(packed(theta[None])[0], x, *_scratch(sizes, theta, 2), sizes, s, bias, into)


def outputs(theta: Array, x: Array, sizes: Array, s: int, bias: bool, _: Any, out: Array) -> None:
    """out (C, N, d) = f at all points."""
    _outputs(packed(theta[None])[0], x, *_scratch(sizes, theta, 0), sizes, s, bias, out)


def room(sizes: Array, batch: int, dtype: np.dtype) -> tuple[Array, ...]:
    """Nothing: these loops need no memory from one call to the next."""
    return ()


def packed(theta: Array) -> Array:
    """K states of the parameters, (K, C, P), side by side: (K, G, P, LANES)."""
    numbers = aligned((len(theta), -(-theta.shape[1] // LANES), theta.shape[2], LANES), theta.dtype)
    for state, into in zip(theta, numbers, strict=True):
        pack(state, into, 0)
    return numbers


def _scratch(sizes: Array, theta: Array, errors: int) -> tuple[Array, int]:
    """Room for a block, and its points: the points, all layers, the errors of two layers; then a gradient, a rate."""
    each = int(sizes.sum() + errors * sizes.max())
    fitting = _BYTES // (each * LANES * theta.itemsize) // _AT_ONCE * _AT_ONCE
    block = min(max(fitting, _AT_ONCE), _BLOCK)
    return aligned((block * each + theta.shape[-1] + 1, LANES), theta.dtype), block


@njit(cache=True, nogil=True, error_model="numpy")
def _points(X: Any, x: int, count: int, k: int, M: Any) -> Any:
    """Memory and place of a block of points: where they lie or, unless they are some fours of points, at the front
    of M, where the last one stands in for those that are missing."""
    if count % _AT_ONCE == 0:
        return X, x
    for n in range(count + -count % _AT_ONCE):
        for r in range(k):
            store(M, n * k + r, load(X, x + min(n, count - 1) * k + r))
    return M, 0


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(
    P: Any, X: Any, x: int, sizes: Array, s: int, bias: bool, M: Any, block: int, count: int, last: int
) -> int:
    """All layers at `count` points, some fours of them, at place x of X: where in M the last one begins.

    What becomes of f, the last layer, `last` says. A layer's units follow those of the layer before, of which
    `block` points have room; the points are the first layer.
    """
    layers, k, out, to = len(sizes) - 1, sizes[0], sizes[1], block * sizes[0]
    kind = HIDDEN if layers > 1 else last
    products(X, x, k, P, 0, 1, out, s * out if bias else -1, s, out, M, to, count, kind, X, x, k, s)
    at = k * out
    for layer in range(1, layers):
        inner, out = sizes[layer], sizes[layer + 1]
        offsets, kind = (at + out * inner if bias else -1), (HIDDEN if layer < layers - 1 else last)
        below, to = to, to + block * inner
        products(M, below, inner, P, at, inner, 1, offsets, inner, out, M, to, count, kind, X, x, k, s)
        at += out * (inner + bias)
    return to


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(
    P: Any, X: Any, x: int, sizes: Array, s: int, bias: bool, M: Any, block: int, count: int, D: int, G: int
) -> None:  # fmt: skip
    """Add the gradient of 1/2 |f(x) - x|^2 at `count` points to place G of M; f(x) - x lies at D, the last layer.

    The errors below a layer go behind the last layer, to two places in turn.
    """
    layers, at, above, room = len(sizes) - 1, sizes[0] * sizes[1], D, block * sizes.max()
    spare = D + block * sizes[layers]
    for layer in range(1, layers):
        at += sizes[layer + 1] * (sizes[layer] + bias)
    for layer in range(layers - 1, 0, -1):
        inner, out = sizes[layer], sizes[layer + 1]
        at -= out * (inner + bias)
        above -= block * inner
        if bias:
            add_rows(M, D, out, G + at + out * inner, count)
        # `add_outer` takes four numbers of its first matrix with two of its second: the wider one comes first.
        if out > inner:
            add_outer(M, D, out, M, above, inner, inner, M, G + at, inner, 1, count)
        else:
            add_outer(M, above, inner, M, D, out, out, M, G + at, 1, inner, count)
        products(M, D, out, P, at, 1, inner, -1, out, inner, M, spare, count, DOWN, M, above, inner, 0)
        D, spare, room = spare, spare + room, -room
    if bias:
        add_rows(M, D, sizes[1], G + s * sizes[1], count)
    add_outer(M, D, sizes[1], X, x, sizes[0], s, M, G, 1, sizes[1], count)


@njit(cache=True, nogil=True, error_model="numpy")
def _losses(
    numbers: Array, points: Array, work: Array, block: int, sizes: Array, s: int, bias: bool, total: Array
) -> None:
    X, M, N = memory(points), memory(work), points.shape[1]
    states, groups, count = numbers.shape[:3]
    for group in range(groups):
        for start in range(group * N, (group + 1) * N, CHUNK):
            stop = min(start + CHUNK, (group + 1) * N)
            # All states meet these points while they are in the cache.
            for state in range(states):
                P = move(memory(numbers), (state * groups + group) * count)
                store(M, 0, _squares(P, X, start, stop, sizes, s, bias, M, block))
                for lane in range(LANES):
                    total[state, group, lane] += 0.5 * work[0, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(P: Any, X: Any, start: int, stop: int, sizes: Array, s: int, bias: bool, M: Any, block: int) -> Any:
    """The sum of |f(x) - x|^2 over points start .. stop - 1."""
    k, d, square = sizes[0], sizes[-1], zero(M)
    for i in range(start, stop, block):
        count = min(block, stop - i)
        A, a = _points(X, i * k, count, k, M)
        f = _forward(P, A, a, sizes, s, bias, M, block, count + -count % _AT_ONCE, ERROR)
        whole = count - count % _AT_ONCE
        for n in range(f, f + whole * d, 4 * d):
            for o in range(n, n + d):
                x, y, z, t = load(M, o), load(M, o + d), load(M, o + 2 * d), load(M, o + 3 * d)
                square = add_product(add_product(square, x, x), y, y)
                square = add_product(add_product(square, z, z), t, t)
        for o in range(f, f + d):
            for n in range(whole, count):
                error = load(M, o + n * d)
                square = add_product(square, error, error)
    return square


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(
    P: Any, X: Any, start: int, stop: int, sizes: Array, s: int, bias: bool, M: Any, block: int, G: int, numbers: int
) -> None:
    """The gradient of the sum of 1/2 |f(x) - x|^2 over points start .. stop - 1, to place G of M."""
    k, d = sizes[0], sizes[-1]
    for i in range(numbers):
        store(M, G + i, zero(M))
    for i in range(start, stop, block):
        count = min(block, stop - i)
        whole = count + -count % _AT_ONCE
        A, a = _points(X, i * k, count, k, M)
        f = _forward(P, A, a, sizes, s, bias, M, block, whole, ERROR)
        for n in range(f + count * d, f + whole * d):
            store(M, n, zero(M))
        _backward(P, A, a, sizes, s, bias, M, block, whole, f, G)


@njit(cache=True, nogil=True, error_model="numpy")
def _train(
    numbers: Array, points: Array, rates: Array, work: Array, block: int, sizes: Array, s: int, bias: bool,
    size: int, first: int, last: int,
) -> None:  # fmt: skip
    X, M, N, count = memory(points), memory(work), points.shape[1], numbers.shape[1]
    G = len(work) - count - 1
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * count)
        for batch in range(first, last):
            start, stop = group * N + batch * size, group * N + min(N, (batch + 1) * size)
            _slope(P, X, start, stop, sizes, s, bias, M, block, G, count)
            for lane in range(LANES):
                work[G + count, lane] = rates[group, lane] / (stop - start)
            rate = load(M, G + count)
            for i in range(count):
                store(P, i, add_product(load(P, i), rate, load(M, G + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _gradients(
    numbers: Array, points: Array, work: Array, block: int, sizes: Array, s: int, bias: bool, into: Array
) -> None:
    X, M, N, count = memory(points), memory(work), points.shape[1], numbers.shape[1]
    G = len(work) - count - 1
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * count)
        _slope(P, X, group * N, (group + 1) * N, sizes, s, bias, M, block, G, count)
        for c in range(group * LANES, min((group + 1) * LANES, len(into))):
            for i in range(count):
                into[c, i] += work[G + i, c % LANES] / N


@njit(cache=True, nogil=True, error_model="numpy")
def _outputs(
    numbers: Array, points: Array, work: Array, block: int, sizes: Array, s: int, bias: bool, out: Array
) -> None:
    X, M, N, k, d = memory(points), memory(work), points.shape[1], sizes[0], sizes[-1]
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * numbers.shape[1])
        for i in range(0, N, block):
            count = min(block, N - i)
            A, a = _points(X, (group * N + i) * k, count, k, M)
            f = _forward(P, A, a, sizes, s, bias, M, block, count + -count % _AT_ONCE, PLAIN)
            for c in range(group * LANES, min((group + 1) * LANES, len(out))):
                for n in range(count):
                    for o in range(d):
                        out[c, i + n, o] = work[f + n * d + o, c % LANES]
