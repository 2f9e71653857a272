"""Mini-batch SGD of narrow ReLU nets: loops over the points of a mini-batch, which lie side by side, unit by unit.

Shapes: theta (C, P), a cell's parameters one after the other, as `points.PackedRelu` lays them; x (C, k, N); sizes
(L + 1): k, the hidden widths, d. H and D (L + 1, widest, M) hold a unit's values at up to M points in a row.
"""

from __future__ import annotations

import numba
import numpy as np

CHUNK = 512
"""Points at a time in an evaluation: the activations stay in the first cache."""

# Neither nnan nor ninf: an overflow must be seen.
_jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


def room(sizes, batch, dtype):
    """Where the loops keep a cell's activations and their gradients, for mini-batches of a size."""
    shape = (len(sizes), int(sizes.max()), max(batch, CHUNK))
    return np.empty(shape, dtype), np.empty(shape, dtype)


@_jit
def train(theta, x, rates, sizes, s, bias, room, size, first, last):
    """Take the mini-batches first, ..., last - 1, of `size` points each, of cells whose rate (minus eta) is not 0."""
    H, D = room
    for c in range(len(theta)):
        if rates[c] == 0:
            continue
        w = theta[c]
        for batch in range(first, last):
            start = batch * size
            m = min(size, x.shape[2] - start)
            _forward(w, x, c, start, m, sizes, bias, H)
            _error(H, D, sizes, s, m)
            _backward(w, w, rates[c] / theta.dtype.type(m), sizes, bias, H, D, m)


@_jit
def losses(theta, x, sizes, s, bias, room, total):
    """total (C,), float64: the sum over all points of 1/2 |f(x) - x|^2."""
    depth = len(sizes) - 1
    H, _ = room
    for c in range(len(theta)):
        total[c] = 0.0
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, H)
            part = theta.dtype.type(0)
            for o in range(sizes[depth]):
                if o < s:
                    for j in range(m):
                        e = H[depth, o, j] - H[0, o, j]
                        part += e * e
                else:
                    for j in range(m):
                        e = H[depth, o, j]
                        part += e * e
            total[c] += 0.5 * part


@_jit
def gradients(theta, x, sizes, s, bias, room, into):
    """into (C, P) += the gradient of L on all points."""
    H, D = room
    scale = 1 / theta.dtype.type(x.shape[2])
    for c in range(len(theta)):
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, H)
            _error(H, D, sizes, s, m)
            _backward(theta[c], into[c], scale, sizes, bias, H, D, m)


@_jit
def outputs(theta, x, sizes, bias, room, out):
    """out (C, N, d) = f at all points."""
    depth = len(sizes) - 1
    H, _ = room
    for c in range(len(theta)):
        for start in range(0, x.shape[2], CHUNK):
            m = min(CHUNK, x.shape[2] - start)
            _forward(theta[c], x, c, start, m, sizes, bias, H)
            for j in range(m):
                for o in range(sizes[depth]):
                    out[c, start + j, o] = H[depth, o, j]


@_jit
def _places():
    """0 and 1 as plain numbers: for literal ones loops would be compiled again."""
    return np.int64(0), np.int64(1)


@_jit
def _forward(w, x, c, start, m, sizes, bias, H):
    """H[0] = the points, H[l] = the rectified units of layer l, H[L] = f."""
    for i in range(sizes[0]):
        for j in range(m):
            H[0, i, j] = x[c, i, start + j]
    first, one = _places()
    _combine(w, first, one, sizes[1], sizes[1], sizes[0], H, first, H, one, m)
    at = sizes[0] * sizes[1]
    for layer in range(1, len(sizes) - 1):
        n, n_out = sizes[layer], sizes[layer + 1]
        _rectify(H, layer, n, m)
        _combine(w, at, n, one, n_out, n, H, layer, H, layer + 1, m)
        at += n * n_out
        if bias:
            for o in range(n_out):
                b = w[at + o]
                for j in range(m):
                    H[layer + 1, o, j] += b
            at += n_out


@_jit
def _error(H, D, sizes, s, m):
    """D[L] = f(x) - x, of which x has s coordinates."""
    depth = len(sizes) - 1
    for o in range(sizes[depth]):
        if o < s:
            for j in range(m):
                D[depth, o, j] = H[depth, o, j] - H[0, o, j]
        else:
            for j in range(m):
                D[depth, o, j] = H[depth, o, j]


@_jit
def _backward(w, into, scale, sizes, bias, H, D, m):
    """into, which may be w, += scale times the gradient of the sum; D goes down before a layer's weights change."""
    depth, at = len(sizes) - 1, len(w)
    first, one = _places()
    for layer in range(depth - 1, 0, -1):
        n, n_out = sizes[layer], sizes[layer + 1]
        at -= n_out * (n + bias)
        _combine(w, at, one, n, n, n_out, D, layer + 1, D, layer, m)
        _descend(into, at, n, one, n_out, n, D, layer + 1, H, layer, m, scale)
        if bias:
            for o in range(n_out):
                total = w.dtype.type(0)
                for j in range(m):
                    total += D[layer + 1, o, j]
                into[at + n * n_out + o] += scale * total
        _mask(D, H, layer, n, m)
    _descend(into, first, one, sizes[1], sizes[1], sizes[0], D, one, H, first, m, scale)


@_jit
def _rectify(H, layer, n, m):
    zero = H.dtype.type(0)
    for i in range(n):
        for j in range(m):
            v = H[layer, i, j]
            # Written so that a nan stays one.
            H[layer, i, j] = zero if v < zero else v


@_jit
def _mask(D, H, layer, n, m):
    zero = H.dtype.type(0)
    for i in range(n):
        for j in range(m):
            D[layer, i, j] = D[layer, i, j] if H[layer, i, j] > zero else zero


@_jit
def _combine(w, at, so, si, n_out, n_in, A, a, B, b, m):
    """B[b, o] = sum_i w[at + o so + i si] A[a, i], four inputs at a time."""
    lead = (n_in - 1) % 4 + 1
    for o in range(n_out):
        p = at + o * so
        if lead == 1:
            w0 = w[p]
            for j in range(m):
                B[b, o, j] = w0 * A[a, 0, j]
        elif lead == 2:
            w0, w1 = w[p], w[p + si]
            for j in range(m):
                B[b, o, j] = w0 * A[a, 0, j] + w1 * A[a, 1, j]
        elif lead == 3:
            w0, w1, w2 = w[p], w[p + si], w[p + 2 * si]
            for j in range(m):
                B[b, o, j] = w0 * A[a, 0, j] + w1 * A[a, 1, j] + w2 * A[a, 2, j]
        else:
            w0, w1, w2, w3 = w[p], w[p + si], w[p + 2 * si], w[p + 3 * si]
            for j in range(m):
                B[b, o, j] = w0 * A[a, 0, j] + w1 * A[a, 1, j] + w2 * A[a, 2, j] + w3 * A[a, 3, j]
        for i in range(lead, n_in, 4):
            q = p + i * si
            w0, w1, w2, w3 = w[q], w[q + si], w[q + 2 * si], w[q + 3 * si]
            for j in range(m):
                B[b, o, j] += w0 * A[a, i, j] + w1 * A[a, i + 1, j] + w2 * A[a, i + 2, j] + w3 * A[a, i + 3, j]


@_jit
def _descend(w, at, so, si, n_out, n_in, D, d, H, h, m, scale):
    """w[at + o so + i si] += scale D[d, o] . H[h, i], four or two inputs at a time, and at most one alone."""
    zero = w.dtype.type(0)
    for o in range(n_out):
        p = at + o * so
        i = 0
        while i + 4 <= n_in:
            g0, g1, g2, g3 = zero, zero, zero, zero
            for j in range(m):
                v = D[d, o, j]
                g0 += v * H[h, i, j]
                g1 += v * H[h, i + 1, j]
                g2 += v * H[h, i + 2, j]
                g3 += v * H[h, i + 3, j]
            w[p + i * si] += scale * g0
            w[p + (i + 1) * si] += scale * g1
            w[p + (i + 2) * si] += scale * g2
            w[p + (i + 3) * si] += scale * g3
            i += 4
        if i + 2 <= n_in:
            g0, g1 = zero, zero
            for j in range(m):
                v = D[d, o, j]
                g0 += v * H[h, i, j]
                g1 += v * H[h, i + 1, j]
            w[p + i * si] += scale * g0
            w[p + (i + 1) * si] += scale * g1
            i += 2
        if i < n_in:
            g0 = zero
            for j in range(m):
                g0 += D[d, o, j] * H[h, i, j]
            w[p + i * si] += scale * g0
