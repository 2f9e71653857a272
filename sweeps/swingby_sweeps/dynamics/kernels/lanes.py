"""Steps of linear and symmetric nets, sixteen cells side by side: each number of a net is a vector over cells.

A tiny net leaves no room for vector instructions inside one cell, so they run across cells, and the whole loop over
steps runs in the cache. Shapes: G groups of LANES cells; k = s + bias inputs; `moments` (G, batches, k k, LANES) are
those of a `MomentStream`, the sign and the time of a step included; the numbers of a net are P (G, numbers, LANES).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LANES, aligned
from .vector import add, add_product, less, less_one, load, memory, move, store, zero

Array = np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(M: Any, h: int, P: Any, w: int, out: int, k: int, inner: int, columns: int) -> None:
    """H @ W^T, (k, columns), to place out of M; H (k, inner) lies at place h of M, W (columns, inner) at w of P."""
    for r in range(0, k - 1, 2):
        _two_rows(M, h + r * inner, P, w, out + r * columns, inner, columns)
    if k % 2:
        left, at = h + (k - 1) * inner, out + (k - 1) * columns
        for c in range(columns):
            x = zero(P)
            for i in range(inner):
                x = add_product(x, load(M, left + i), load(P, w + c * inner + i))
            store(M, at + c, x)


@njit(cache=True, nogil=True, error_model="numpy")
def _two_rows(M: Any, h: int, P: Any, w: int, out: int, inner: int, columns: int) -> None:
    """Two rows of `_forward`, two columns at a time: each vector that is loaded is used twice."""
    for c in range(0, columns - 1, 2):
        a, b = w + c * inner, w + (c + 1) * inner
        x, y, u, v = zero(P), zero(P), zero(P), zero(P)
        for i in range(inner):
            left, right, one, two = load(M, h + i), load(M, h + inner + i), load(P, a + i), load(P, b + i)
            x, y = add_product(x, left, one), add_product(y, right, one)
            u, v = add_product(u, left, two), add_product(v, right, two)
        store(M, out + c, x)
        store(M, out + c + 1, u)
        store(M, out + columns + c, y)
        store(M, out + columns + c + 1, v)
    if columns % 2:
        c, a = columns - 1, w + (columns - 1) * inner
        x, y = zero(P), zero(P)
        for i in range(inner):
            one = load(P, a + i)
            x, y = add_product(x, load(M, h + i), one), add_product(y, load(M, h + inner + i), one)
        store(M, out + c, x)
        store(M, out + columns + c, y)


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(M: Any, d: int, P: Any, w: int, h: int, below: int, k: int, out: int, inner: int) -> None:
    """D @ W, (k, inner), to place below of M, and then W += D^T @ H: D (k, out) at d and H at h of M, W at w of P."""
    for i in range(k * inner):
        store(M, below + i, zero(P))
    if k == 2:
        _two_inputs(M, d, P, w, h, below, out, inner)
        return
    for o in range(out):
        at = w + o * inner
        for r in range(k):
            p, row = load(M, d + r * out + o), below + r * inner
            for i in range(inner):
                store(M, row + i, add_product(load(M, row + i), p, load(P, at + i)))
        for r in range(k):
            p, row = load(M, d + r * out + o), h + r * inner
            for i in range(inner):
                store(P, at + i, add_product(load(P, at + i), p, load(M, row + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _two_inputs(M: Any, d: int, P: Any, w: int, h: int, below: int, out: int, inner: int) -> None:
    """`_backward` for k = 2, by far the most frequent: all work on a weight at once, two rows of W at a time."""
    for o in range(0, out - 1, 2):
        a, b = w + o * inner, w + (o + 1) * inner
        p, q, r, t = load(M, d + o), load(M, d + out + o), load(M, d + o + 1), load(M, d + out + o + 1)
        for i in range(inner):
            one, two, left, right = load(P, a + i), load(P, b + i), load(M, h + i), load(M, h + inner + i)
            x, y = load(M, below + i), load(M, below + inner + i)
            store(M, below + i, add_product(add_product(x, p, one), r, two))
            store(M, below + inner + i, add_product(add_product(y, q, one), t, two))
            store(P, a + i, add_product(add_product(one, p, left), q, right))
            store(P, b + i, add_product(add_product(two, r, left), t, right))
    if out % 2:
        o, a = out - 1, w + (out - 1) * inner
        p, q = load(M, d + o), load(M, d + out + o)
        for i in range(inner):
            one = load(P, a + i)
            store(M, below + i, add_product(load(M, below + i), p, one))
            store(M, below + inner + i, add_product(load(M, below + inner + i), q, one))
            store(P, a + i, add_product(add_product(one, p, load(M, h + i)), q, load(M, h + inner + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _error(M: Any, f: int, moments: Any, A: int, at: int, k: int, s: int, d: int, T: Any, t: int) -> None:
    """F -= T, and A @ F to place at of M: F (k, d) lies at f, A (k, k) at A of moments.

    T (k, d) lies at t of its memory; where t < 0 it is the identity of s inputs.
    """
    if t < 0:
        for p in range(s):
            place = f + p * d + p
            store(M, place, less_one(load(M, place)))
    else:
        for i in range(k * d):
            store(M, f + i, less(load(M, f + i), load(T, t + i)))
    for r in range(k):
        for o in range(d):
            x = zero(M)
            for q in range(k):
                x = add_product(x, load(moments, A + r * k + q), load(M, f + q * d + o))
            store(M, at + r * d + o, x)


@njit(cache=True, nogil=True, error_model="numpy")
def _add(P: Any, at: int, M: Any, other: int, count: int) -> None:
    for i in range(count):
        store(P, at + i, add(load(P, at + i), load(M, other + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def _linear_step(P: Any, moments: Any, place: int, work: Any, sizes: Array, s: int, bias: bool, T: Any, t: int) -> None:
    """One step of one group, in place; work has room for a net's images after each layer and for two more."""
    k, layers, d, room = sizes[0], len(sizes) - 1, sizes[-1], sizes[0] * sizes.max()
    head = at = k * sizes[1]
    D, below = layers * room, (layers + 1) * room
    for i in range(head):
        store(work, i, load(P, i))
    for layer in range(1, layers):
        inner, out = sizes[layer], sizes[layer + 1]
        _forward(work, (layer - 1) * room, P, at, layer * room, k, inner, out)
        at += out * inner
        if bias:
            _add(work, layer * room + (k - 1) * out, P, at, out)
            at += out
    _error(work, (layers - 1) * room, moments, place, D, k, s, d, T, t)
    for layer in range(layers - 1, 0, -1):
        inner, out = sizes[layer], sizes[layer + 1]
        if bias:
            at -= out
            _add(P, at, work, D + (k - 1) * out, out)
        at -= out * inner
        _backward(work, D, P, at, (layer - 1) * room, below, k, out, inner)
        D, below = below, D
    _add(P, 0, work, D, head)


@njit(cache=True, nogil=True, error_model="numpy")
def linear_steps(
    numbers: Array, moments: Array, targets: Array, work: Array, sizes: Array, s: int, bias: bool, start: int, stop: int
) -> None:
    """The steps start .. stop - 1 of G groups of linear nets, in place.

    A net's numbers are the images of the k unit vectors (k, sizes[1]), then weight (out, in) (and bias) of each further
    layer; sizes: k and then the width of every layer, the d outputs last; work: `scratch(sizes)`. The targets are
    (G, k d, LANES), or an empty array for the identity.
    """
    A, T, scratch, k = memory(moments), memory(targets), memory(work), sizes[0]
    for group in range(numbers.shape[0]):
        P = move(memory(numbers), group * numbers.shape[1])
        t = group * targets.shape[1] if len(targets) else -1
        for step in range(start, stop):
            place = (group * moments.shape[1] + step % moments.shape[1]) * k * k
            _linear_step(P, A, place, scratch, sizes, s, bias, T, t)


@njit(cache=True, nogil=True, error_model="numpy")
def symmetric_steps(
    numbers: Array, moments: Array, targets: Array, work: Array, s: int, d: int, width: int, start: int, stop: int
) -> None:
    """The steps start .. stop - 1 of G groups of symmetric nets U U^T, in place: a net's numbers are U (d, width).

    The targets are (G, s d, LANES), or an empty array for the identity.
    """
    A, T, scratch, top = memory(moments), memory(targets), memory(work), s * width
    F, D, through = top, top + s * d, top + 2 * s * d
    for group in range(numbers.shape[0]):
        U = move(memory(numbers), group * numbers.shape[1])
        t = group * targets.shape[1] if len(targets) else -1
        for step in range(start, stop):
            place = (group * moments.shape[1] + step % moments.shape[1]) * s * s
            for i in range(top):
                store(scratch, i, load(U, i))
            _forward(scratch, 0, U, 0, F, s, width, d)
            _error(scratch, F, A, place, D, s, s, d, T, t)
            # through = D @ U, and U += D^T @ top: U lies as a weight of d outputs does.
            _backward(scratch, D, U, 0, 0, through, s, d, width)
            _add(U, 0, scratch, through, top)


@njit(cache=True, nogil=True, error_model="numpy")
def linear_affine(numbers: Array, work: Array, sizes: Array, bias: bool, out: Array) -> None:
    """The images of the k unit vectors under the whole net: out (C, k, d)."""
    M, k, layers, d, room = memory(work), sizes[0], len(sizes) - 1, sizes[-1], sizes[0] * sizes.max()
    head = k * sizes[1]
    for group in range(numbers.shape[0]):
        P, at = move(memory(numbers), group * numbers.shape[1]), head
        for i in range(head):
            store(M, i, load(P, i))
        for layer in range(1, layers):
            _forward(M, (layer - 1) * room, P, at, layer * room, k, sizes[layer], sizes[layer + 1])
            at += sizes[layer] * sizes[layer + 1]
            if bias:
                _add(M, layer * room + (k - 1) * sizes[layer + 1], P, at, sizes[layer + 1])
                at += sizes[layer + 1]
        _spread(work[(layers - 1) * room :], group, k, d, out)


@njit(cache=True, nogil=True, error_model="numpy")
def symmetric_affine(numbers: Array, work: Array, s: int, d: int, width: int, out: Array) -> None:
    """The rows of U U^T that belong to the informative directions: out (C, s, d)."""
    M, top = memory(work), s * width
    for group in range(numbers.shape[0]):
        U = move(memory(numbers), group * numbers.shape[1])
        for i in range(top):
            store(M, i, load(U, i))
        _forward(M, 0, U, 0, top, s, width, d)
        _spread(work[top:], group, s, d, out)


@njit(cache=True, nogil=True)
def _spread(lanes: Array, group: int, k: int, d: int, out: Array) -> None:
    """A group's vectors, cell by cell: lanes (k d, LANES) into rows of out (C, k, d)."""
    first = group * LANES
    for c in range(min(LANES, len(out) - first)):
        for r in range(k):
            for o in range(d):
                out[first + c, r, o] = lanes[r * d + o, c]


@njit(cache=True, nogil=True)
def pack(part: Array, numbers: Array, at: int) -> None:
    """Put numbers of C cells (C, m) side by side: `numbers` (G, .., LANES), from number `at` on."""
    for c in range(len(part)):
        for i in range(part.shape[1]):
            numbers[c // LANES, at + i, c % LANES] = part[c, i]


@njit(cache=True, nogil=True)
def unpack(numbers: Array, at: int, part: Array) -> None:
    """The reverse of `pack`."""
    for c in range(len(part)):
        for i in range(part.shape[1]):
            part[c, i] = numbers[c // LANES, at + i, c % LANES]


def scratch(sizes: Array, dtype: np.dtype) -> Array:
    """Scratch of a step: images after each layer, two errors; sizes as in `linear_steps`, or (s, d, width)."""
    return aligned(((len(sizes) + 1) * int(sizes[0]) * int(sizes.max()), LANES), dtype)
