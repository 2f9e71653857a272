"""Compiled kernels for the CPU; this table says which of them trains a net.

| nets                               | module                        | why that one                                    |
|------------------------------------|-------------------------------|-------------------------------------------------|
| linear, symmetric; steps           | `lanes`: 16 cells a vector    | steps on k x k moments: one net fills no vector |
| linear, symmetric; flow            | `flow`: 16 cells a vector     | as for steps; every lane has a step of its own  |
| relu, up to 520 weights beyond W_1 | `points_lanes`: 16 a vector   | a weight is loaded once for four points         |
| of these s = d = 2, L = 2          | `points_two`: 16 a vector     | points and outputs stay in registers            |
| relu, larger                       | `points_wide`                 | matrix products, by BLAS                        |

Linear and symmetric nets learn any linear target (`nets.Net`). The ReLU kernels do regression on the input itself: the
first s outputs of a net are compared with its s inputs.

`python -m tests.benchmarks` measures each row against the torch engine, and prints it.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ..shapes import NetShape

LANES = 16
"""Numbers in a vector: cells that are trained side by side."""
_LINE = 64
"""Bytes of a cache line."""
_SMALL = 520
"""Weights of the layers after the first, up to which sixteen cells side by side beat products by BLAS (measured)."""


def side_by_side(shape: NetShape) -> bool:
    """Whether sixteen nets of this shape are faster than one after the other: all but large ReLU nets.

    Only layers after the first count, which has few inputs in any net.
    """
    return shape.kind != "relu" or sum(n * m for n, m in pairwise(shape.widths)) <= _SMALL


def two_by_two(shape: NetShape) -> bool:
    """Whether a net has two inputs, two outputs and one hidden layer of ReLU units."""
    return shape.kind == "relu" and (shape.s, shape.d, len(shape.hidden)) == (2, 2, 1)


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros that start at a cache line, so that no vector lies in more lines than it needs.

    Steps of linear nets take 7 to 33 % less time than with arrays that start in the middle of a line (measured).
    """
    count = math.prod(shape)
    raw = np.zeros(count + _LINE // np.dtype(dtype).itemsize, dtype)
    skip = -raw.ctypes.data % _LINE // raw.itemsize
    return raw[skip : skip + count].reshape(shape)
