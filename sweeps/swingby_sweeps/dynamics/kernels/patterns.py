"""The patterns of active units of a ReLU net over a set of points, and the moments of the points of each pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
import torch
from torch import Tensor

from ..shapes import NetShape

_BLOCK = 64
"""Points whose activations are held at a time."""
_WORD = 64
"""Units of a word of a code."""
_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


def patterns(shape: NetShape, parameters: Sequence[Tensor], x: Tensor) -> tuple[list[Tensor], Tensor]:
    """The patterns of active units over points x (N, k) of one ReLU net, and each pattern's share of E[x x^T].

    Parameters and points are float64. Returns masks, one (Q, width) a hidden layer, and moments (Q, k, k).
    """
    if not shape.hidden:
        return [], (x.T @ x / len(x))[None]
    units, points = sum(shape.hidden), x.numpy()
    sizes, theta = np.array([shape.k, *shape.hidden]), torch.cat([part.reshape(-1) for part in parameters]).numpy()
    codes = np.zeros((len(x), -(-units // _WORD)), np.uint64)
    encode(theta, points, sizes, shape.bias, np.empty((2, max(sizes), _BLOCK)), codes)
    first, moments = np.empty(len(x), np.int64), np.empty((len(x), shape.k, shape.k))
    count = group(codes, points, first, moments)
    unit = np.arange(units)
    kinds = codes[first[:count]][:, unit // _WORD] >> (unit % _WORD).astype(np.uint64) & np.uint64(1)
    masks = torch.as_tensor(kinds.astype(np.float64))
    return list(masks.split(list(shape.hidden), dim=1)), torch.as_tensor(moments[:count].copy())


@_jit
def encode(theta, x, sizes, bias, work, codes):
    """Set, in codes (N, words; zeros before), the bit of every hidden unit that is active at a point of x (N, k).

    Units are counted from the first layer on. theta (P,): a net's parameters as `points.PackedRelu` lays them;
    sizes: k and the hidden widths; work (2, largest of them, points at a time).
    """
    block = work.shape[2]
    for start in range(0, len(x), block):
        m, below, above, at, unit = min(block, len(x) - start), work[0], work[1], 0, 0
        for r in range(sizes[0]):
            for n in range(m):
                below[r, n] = x[start + n, r]
        for layer in range(1, len(sizes)):
            inner, out = sizes[layer - 1], sizes[layer]
            along, across = (out, 1) if layer == 1 else (1, inner)
            for o in range(out):
                row = above[o]
                for n in range(m):
                    row[n] = theta[at + inner * out + o] if bias and layer > 1 else 0.0
                for i in range(inner):
                    w, images = theta[at + i * along + o * across], below[i]
                    for n in range(m):
                        row[n] += images[n] * w
                word, bit = unit // 64, np.uint64(1) << np.uint64(unit % 64)
                for n in range(m):
                    codes[start + n, word] |= bit if row[n] > 0 else np.uint64(0)
                    row[n] = max(row[n], 0.0)
                unit += 1
            at += inner * out + (out if bias and layer > 1 else 0)
            below, above = above, below


@_jit
def group(codes, x, first, moments):
    """The number Q of different rows in codes (N, words; uint64), numbered in the order in which they first occur.

    The first Q entries of first (N,) become the points at which each first occurs; those of moments (N, k, k) become
    the sums of x x^T / N over the points x (N, k) of each.
    """
    count, table, start, total = 0, np.full(64, -1, np.int64), 0, float(len(x))
    while start < len(codes):
        # Points of a cluster follow one another, so that most have the pattern of the one before.
        stop = start + 1
        while stop < len(codes) and _same(codes, start, stop):
            stop += 1
        slot = _slot(codes, start, first, table)
        if table[slot] < 0:
            table[slot], first[count], moments[count] = count, start, 0.0
            count += 1
        q = table[slot]
        if 2 * count > len(table):
            table = np.full(4 * len(table), -1, np.int64)
            for known in range(count):
                table[_slot(codes, first[known], first, table)] = known
        for i in range(x.shape[1]):
            for j in range(i + 1):
                moment = moments[q, i, j]
                for n in range(start, stop):
                    moment += x[n, i] * x[n, j] / total
                moments[q, i, j] = moments[q, j, i] = moment
        start = stop
    return count


@_jit
def _slot(codes, n, first, table):
    """Where in a table of patterns that of point n is, or is to be put."""
    slot = _hash(codes, n) & (len(table) - 1)
    while table[slot] >= 0 and not _same(codes, first[table[slot]], n):
        slot = (slot + 1) & (len(table) - 1)
    return slot


@_jit
def _hash(codes, n):
    """A multiplicative hash; its upper bits are the well mixed ones."""
    h = np.uint64(14695981039346656037)
    for word in codes[n]:
        h = (h ^ word) * np.uint64(11400714819323198485)
        h ^= h >> np.uint64(32)
    return np.int64(h >> np.uint64(1))


@_jit
def _same(codes, a, b):
    different = np.uint64(0)
    for word in range(codes.shape[1]):
        different |= codes[a, word] ^ codes[b, word]
    return different == np.uint64(0)
