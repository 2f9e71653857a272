"""What arithmetic alone would take, measured on the spot: plain SGD as one large product, and its own products.

Nobody's loop over points can beat the first. The compiled engine may, where a net is linear in x: it steps on moments
and never meets the points. The second is the floor of a ReLU net: the very matrix products of its run, one after the
other, with nothing between them; those with fewer than 16 rows or columns, and all that is no product, count as free.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np
import torch

from swingby_sweeps.sim.params import SimParams

_LARGE, _SMALL = 1024, 16
_RECORDED = 200
_EVALUATED = 128
"""Points at a time in an evaluation."""


def _seconds(call: Callable[[], object], at_least: float = 0.02) -> float:
    """The mean of as many calls as fill some time, the best of three such means."""
    call()
    count, best = 1, float("inf")
    while True:
        began = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - began
        if took >= at_least:
            break
        count *= 2
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - began) / count)
    return best


def product(m: int, n: int, r: int, dtype: str) -> float:
    """Seconds of a product (m, r) by (r, n), by torch's BLAS or NumPy's, whichever is faster here."""
    a, b = np.ones((m, r), dtype), np.ones((r, n), dtype)
    out, x, y, z = np.empty((m, n), dtype), torch.from_numpy(a), torch.from_numpy(b), torch.empty(m, n)
    z = z.to(x.dtype)
    return min(_seconds(lambda: torch.mm(x, y, out=z)), _seconds(lambda: np.dot(a, b, out=out)))


def plain_sgd(p: SimParams) -> float:
    """Seconds of the multiplications of plain SGD over points, at the rate of a large product."""
    rate = _LARGE**3 / product(_LARGE, _LARGE, _LARGE, p.dtype)
    points = p.epochs * p.points if p.drive == "sgd" else p.total_steps * p.points
    forward_and_gradient = sum(2 * out * fan_in for out, fan_in in p.layer_shapes)
    backward = sum(out * fan_in for out, fan_in in p.layer_shapes[1:])
    return points * (forward_and_gradient + backward) / rate


def products(p: SimParams) -> float:
    """Seconds of a ReLU run's own products: three a step and layer, and one a recorded step and layer over all."""
    total, sizes = 0.0, [p.s + p.bias, *(out for out, _ in p.layer_shapes)]
    for fan_in, out in itertools.pairwise(sizes):
        if min(fan_in, out) < _SMALL:
            continue
        B = p.batch_size
        step = product(B, out, fan_in, p.dtype) + product(B, fan_in, out, p.dtype) + product(out, fan_in, B, p.dtype)
        look = product(_EVALUATED, out, fan_in, p.dtype) * -(-p.points // _EVALUATED)
        total += p.total_steps * step + _RECORDED * look
    return total
