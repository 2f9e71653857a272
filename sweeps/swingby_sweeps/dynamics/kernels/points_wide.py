"""Mini-batch SGD of wide ReLU nets: matrix products by BLAS (numba's np.dot), and what lies between them in loops.

Shapes: theta (C, P), a cell's parameters one after the other, as `points.PackedRelu` lays them; x (C, k, N); sizes
(L + 1): k, the hidden widths, d. H and D (L + 1, ...): activations and their gradients, points by units, a layer a row.
BLAS is fast where its operands start at a cache line, so a cell's weights are copied to such places and back.
"""

from __future__ import annotations

import itertools

import numba
import numpy as np

from . import aligned

CHUNK = 128
"""Points at a time in an evaluation: products are small enough for the direct kernels of BLAS."""
_DIRECT = 1_000_000
"""Multiplications up to which OpenBLAS multiplies without packing its operands first, half as fast again."""

STATES: int = 1
"""States of the nets whose losses are computed at a time: products take longest, and reading points next to nothing."""

# Neither nnan nor ninf: an overflow must be seen.
_jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


def room(sizes, batch, dtype):
    """Memory of the loops for batches of a size: a cell's W, W^T, two more such, activations and their gradients.

    Rows of each array start at cache lines, of 64 bytes; so they may be a little longer than needed.
    """
    weights = max(int(m * n) for m, n in itertools.pairwise(sizes))
    points = max(batch, CHUNK) * int(sizes.max())
    layers, line = len(sizes) - 1, 64 // np.dtype(dtype).itemsize
    shapes = [(layers, weights)] * 4 + [(layers + 1, points)] * 2
    return tuple(aligned((rows, -(-columns // line) * line), dtype) for rows, columns in shapes)


def arrange(points):
    """Points (C, N, k) by coordinate: (C, k, N)."""
    return np.ascontiguousarray(points.swapaxes(1, 2))


def shuffle(points, orders, out):
    """The points of C cells in new orders (C, N)."""
    for cell, order, into in zip(points, orders, out, strict=True):
        np.take(cell, order, axis=1, out=into, mode="clip")


@_jit
def train(theta, x, rates, sizes, s, bias, room, size, first, last):
    """Take the mini-batches first, ..., last - 1, of `size` points each, of cells whose rate (minus eta) is not 0."""
    depth = len(sizes) - 1
    W, T, G, _, H, D = room
    for c in range(len(theta)):
        if rates[c] == 0:
            continue
        _load(theta[c], sizes, bias, W, T)
        for batch in range(first, last):
            start = batch * size
            m = min(size, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, W, T, H)
            _error(H, m, sizes[depth], s)
            _backward(theta[c], rates[c] / theta.dtype.type(m), m, sizes, bias, W, W, T, H, D, G)
        _store(theta[c], sizes, bias, W)


def losses(theta, x, sizes, s, bias, room, total):
    """total (K, C), float64: the sum over all points of 1/2 |f(x) - x|^2 at K states theta (K, C, P) of the cells."""
    for state, into in zip(theta, total, strict=True):
        _losses(state, x, sizes, s, bias, room, into)


@_jit
def _losses(theta, x, sizes, s, bias, room, total):
    depth = len(sizes) - 1
    W, T, _, _, H, _ = room
    for c in range(len(theta)):
        _load(theta[c], sizes, bias, W, T)
        total[c] = 0.0
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, W, T, H)
            _error(H, m, sizes[depth], s)
            total[c] += 0.5 * _squares(H[depth], m * sizes[depth])


@_jit
def gradients(theta, x, sizes, s, bias, room, into):
    """into (C, P) += the gradient of L on all points."""
    W, T, G, S, H, D = room
    depth, scale = len(sizes) - 1, 1 / theta.dtype.type(x.shape[2])
    for c in range(len(theta)):
        _load(theta[c], sizes, bias, W, T)
        _load(into[c], sizes, bias, S, G)
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, W, T, H)
            _error(H, m, sizes[depth], s)
            _backward(into[c], scale, m, sizes, bias, W, S, T, H, D, G)
        _store(into[c], sizes, bias, S)


@_jit
def outputs(theta, x, sizes, s, bias, room, out):
    """out (C, N, d) = f at all points."""
    depth = len(sizes) - 1
    d = sizes[depth]
    W, T, _, _, H, _ = room
    for c in range(len(theta)):
        _load(theta[c], sizes, bias, W, T)
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, W, T, H)
            for j in range(m):
                for o in range(d):
                    out[c, start + j, o] = H[depth, j * d + o]


@_jit
def _matrix(rows, layer, m, n):
    return rows[layer, : m * n].reshape((m, n))


@_jit
def _copy(a, b):
    """In a loop: an assignment of slices would be compiled together with its error messages, for seconds."""
    for i in range(len(a)):
        b[i] = a[i]


@_jit
def _load(w, sizes, bias, W, T):
    """W[l] as they are stored, and of the layers after the first T[l] = W[l]^T."""
    at = sizes[0] * sizes[1]
    _copy(w[:at], W[0])
    for layer in range(1, len(sizes) - 1):
        n, n_out = sizes[layer], sizes[layer + 1]
        _copy(w[at : at + n * n_out], W[layer])
        _transpose(_matrix(W, layer, n_out, n), _matrix(T, layer, n, n_out))
        at += n_out * (n + bias)


@_jit
def _store(w, sizes, bias, W):
    at = sizes[0] * sizes[1]
    _copy(W[0, :at], w)
    for layer in range(1, len(sizes) - 1):
        n, n_out = sizes[layer], sizes[layer + 1]
        _copy(W[layer, : n * n_out], w[at : at + n * n_out])
        at += n_out * (n + bias)


@_jit
def _transpose(W, T):
    for i in range(W.shape[1]):
        for o in range(W.shape[0]):
            T[i, o] = W[o, i]


@_jit
def _multiply(A, B, out):
    """out = A B, by rows of A few enough for a direct product where B is not too large for that."""
    rows = max(16, _DIRECT // B.size)
    if len(A) <= rows or B.size * 16 > _DIRECT:
        np.dot(A, B, out)
    else:
        for start in range(0, len(A), rows):
            np.dot(A[start : start + rows], B, out[start : start + rows])


@_jit
def _forward(w, x, c, start, m, sizes, bias, W, T, H):
    """H[0] = the points, (k, m); H[l] = the rectified units of layer l, (m, width); H[L] = f."""
    depth = len(sizes) - 1
    for i in range(sizes[0]):
        for j in range(m):
            H[0, i * m + j] = x[c, i, start + j]
    if depth == 1:
        _plain(H[0], W[0], H[1], sizes[0], m, sizes[1])
    else:
        _first(H[0], W[0], H[1], sizes[0], m, sizes[1])
    at = sizes[0] * sizes[1]
    for layer in range(1, depth):
        n, n_out = sizes[layer], sizes[layer + 1]
        out = _matrix(H, layer + 1, m, n_out)
        _multiply(_matrix(H, layer, m, n), _matrix(T, layer, n, n_out), out)
        at += n * n_out
        if bias:
            _shift(H[layer + 1], w[at : at + n_out], m, n_out)
            at += n_out
        if layer < depth - 1:
            _rectify(H[layer + 1], m * n_out)


@_jit
def _first(x, w, h, k, m, n):
    """h (m, n) = the rectified first layer, of weights w (k, n), on points x (k, m)."""
    zero = h.dtype.type(0)
    if k == 2:
        for j in range(m):
            a, b = x[j], x[m + j]
            for o in range(n):
                v = a * w[o] + b * w[n + o]
                h[j * n + o] = zero if v < zero else v
    elif k == 3:
        for j in range(m):
            a, b, c = x[j], x[m + j], x[2 * m + j]
            for o in range(n):
                v = a * w[o] + b * w[n + o] + c * w[2 * n + o]
                h[j * n + o] = zero if v < zero else v
    else:
        _plain(x, w, h, k, m, n)
        _rectify(h, m * n)


@_jit
def _plain(x, w, h, k, m, n):
    np.dot(x[: k * m].reshape((k, m)).T, w[: k * n].reshape((k, n)), h[: m * n].reshape((m, n)))


@_jit
def _error(H, m, d, s):
    """H[L] becomes f(x) - x, of which x has s coordinates."""
    last = len(H) - 1
    for p in range(s):
        for j in range(m):
            H[last, j * d + p] -= H[0, p * m + j]


@_jit
def _backward(offsets, scale, m, sizes, bias, W, S, T, H, D, G):
    """S, which may be W, += scale times the gradient of the sum; D goes down before a layer's weights change.

    The gradient by the biases goes to their places in `offsets`, laid out as theta.
    """
    at = len(offsets)
    for layer in range(len(sizes) - 2, 0, -1):
        n, n_out = sizes[layer], sizes[layer + 1]
        at -= n_out * (n + bias)
        above = _matrix(D if layer < len(sizes) - 2 else H, layer + 1, m, n_out)
        V = _matrix(W, layer, n_out, n)
        _multiply(above, V, _matrix(D, layer, m, n))
        np.dot(above.T, _matrix(H, layer, m, n), _matrix(G, layer, n_out, n))
        _step(S[layer], G[layer], scale, n * n_out)
        _transpose(V, _matrix(T, layer, n, n_out))
        if bias:
            _step_offsets(offsets[at + n * n_out : at + n * n_out + n_out], above.reshape(m * n_out), scale, m, n_out)
        _mask(D[layer], H[layer], m * n)
    n = sizes[1]
    np.dot(_matrix(H, 0, sizes[0], m), _matrix(D if len(sizes) > 2 else H, 1, m, n), _matrix(G, 0, sizes[0], n))
    _step(S[0], G[0], scale, sizes[0] * n)


@_jit
def _step(W, G, scale, n):
    for i in range(n):
        W[i] += scale * G[i]


@_jit
def _step_offsets(b, d, scale, m, n):
    for j in range(m):
        for o in range(n):
            b[o] += scale * d[j * n + o]


@_jit
def _shift(h, b, m, n):
    for j in range(m):
        for o in range(n):
            h[j * n + o] += b[o]


@_jit
def _squares(h, n):
    total = h.dtype.type(0)
    for i in range(n):
        total += h[i] * h[i]
    return total


@_jit
def _rectify(h, n):
    zero = h.dtype.type(0)
    for i in range(n):
        # Written so that a nan stays one.
        h[i] = zero if h[i] < zero else h[i]


@_jit
def _mask(d, h, n):
    """The gradient passes down through active units alone."""
    zero = h.dtype.type(0)
    for i in range(n):
        d[i] = d[i] if h[i] > zero else zero
