"""Initial weights and normal matrices of a batch of cells, drawn at once from the cells' random streams.

Each number is, to the last bit, the one that NumPy's generator draws from the cell's own stream.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numba import njit

from .streams import STREAM, begin, normals, uniforms

Array = np.ndarray


class Weights(IntEnum):
    """How the weights and biases of a layer are drawn."""

    UNIFORM = 0
    """low + scale x uniform of [0, 1), the biases after the weights."""
    NORMAL = 1
    """scale x standard normal; the biases are left as they are."""
    UNIFORM_NO_BIAS = 2
    """low + scale x uniform of [0, 1); the biases are left as they are."""
    KEPT = 3
    """Nothing is drawn: weights and biases are left as they are."""


@njit(cache=True, nogil=True)
def draw_weights(keys: Array, kinds: Array, scales: Array, lows: Array, weight: Array, bias: Array) -> None:
    """Draw one layer of C cells in place: weight (C, m), bias (C, n).

    keys (C, 2) are those of the cells' streams; kinds (each a `Weights`), scales and lows (C,) say how.
    """
    stream = np.empty(STREAM, np.uint64)
    for c in range(len(keys)):
        begin(keys[c], stream)
        if kinds[c] == 1:
            normals(stream, weight[c])
            for i in range(weight.shape[1]):
                weight[c, i] *= scales[c]
        elif kinds[c] != 3:
            uniforms(stream, weight[c])
            for i in range(weight.shape[1]):
                weight[c, i] = lows[c] + scales[c] * weight[c, i]
            if kinds[c] == 0 and bias.shape[1]:
                uniforms(stream, bias[c])
                for i in range(bias.shape[1]):
                    bias[c, i] = lows[c] + scales[c] * bias[c, i]


@njit(cache=True, nogil=True)
def normal_rows(keys: Array, out: Array) -> None:
    """Fill row c of `out` (C, n) with standard normal numbers of the stream with key c of `keys` (C, 2)."""
    stream = np.empty(STREAM, np.uint64)
    for c in range(len(keys)):
        begin(keys[c], stream)
        normals(stream, out[c])
