"""The patterns of active units of a ReLU net over a set of points, and the moments of the points of each pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
import torch
from torch import Tensor

from ..shapes import NetShape

_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


def patterns(shape: NetShape, parameters: Sequence[Tensor], x: Tensor) -> tuple[list[Tensor], Tensor]:
    """The patterns of active units over points x (N, k) of one ReLU net, and each pattern's share of E[x x^T].

    Returns masks, one (Q, width) a hidden layer, and moments (Q, k, k).
    """
    stride, h, seen = 1 + shape.bias, x @ parameters[0], []
    for layer in range(len(shape.hidden)):
        seen.append(h > 0)
        h = h.clamp_min(0) @ parameters[1 + layer * stride].T
        if shape.bias:
            h = h + parameters[2 + layer * stride]
    if not seen:
        return [], (x.T @ x / len(x))[None]
    code = torch.cat(seen, dim=1)
    packed = np.packbits(code.numpy(), axis=1)
    words = np.zeros((len(x), -(-packed.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    first, moments = np.empty(len(x), np.int64), np.zeros((len(x), x.shape[1], x.shape[1]))
    count = group(words, x.numpy(), first, moments)
    kinds = code[torch.as_tensor(first[:count])].to(x.dtype)
    return list(kinds.split([mask.shape[1] for mask in seen], dim=1)), torch.as_tensor(moments[:count].copy())


@_jit
def group(codes, x, first, moments):
    """The number Q of different rows in codes (N, words; uint64), numbered in the order in which they first occur.

    The first Q entries of first (N,) become the points at which each first occurs; those of moments (N, k, k), zeros
    before, become the sums of x x^T / N over the points x (N, k) of each.
    """
    count, size = 0, 4
    while size < 2 * len(codes):
        size *= 2
    table = np.full(size, -1, np.int64)
    for n in range(len(codes)):
        slot = _hash(codes, n) & (size - 1)
        while table[slot] >= 0 and not _same(codes, first[table[slot]], n):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], first[count] = count, n
            count += 1
        q = table[slot]
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                moments[q, i, j] += x[n, i] * x[n, j] / len(x)
    return count


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
