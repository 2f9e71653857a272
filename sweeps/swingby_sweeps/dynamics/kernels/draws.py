"""Initial weights and rotations of a batch of cells, drawn at once.

The same numbers, to the last bit, as a cell alone draws by NumPy's generators (`init.draw_layers`,
`task.random_rotation`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from swingby.model.cell import Cell
from swingby_sweeps.sim import task
from swingby_sweeps.sim.init import draw_layers
from swingby_sweeps.sim.kernels.streams import STREAM, begin, keys, normals, uniforms
from swingby_sweeps.sim.params import SimParams

Array = np.ndarray


def _params(cells: Sequence[Cell]) -> list[SimParams]:
    found = [cell.params for cell in cells]
    assert all(isinstance(p, SimParams) for p in found)
    return found  # type: ignore[return-value]


def layers(cells: Sequence[Cell]) -> list[tuple[Array, Array | None]]:
    """Initial weights in the original coordinates: a layer's (C, out, in), and (C, out) or None, as `draw_layers`."""
    params = _params(cells)
    p, C = params[0], len(cells)
    drawn = []
    for number, (out, fan_in) in enumerate(p.layer_shapes, start=1):
        bound = 1.0 / math.sqrt(fan_in)
        kinds = np.array([_KINDS.index(q.init) for q in params])
        scales = np.array([_scale(q, bound) for q in params])
        lows = np.array([-bound if q.init == "default" else 0.0 for q in params])
        weight, bias = np.zeros((C, out, fan_in)), np.zeros((C, out if p.bias else 0))
        _weights(keys(cells, f"init/{number}"), kinds, scales, lows, weight.reshape(C, -1), bias)
        drawn.append((weight, bias if p.bias else None))
    for place, q in enumerate(params):
        if q.init == "explicit":
            for (weight, bias), (own, own_bias) in zip(drawn, draw_layers(cells[place]), strict=True):
                weight[place] = own
                if bias is not None and own_bias is not None:
                    bias[place] = own_bias
    return drawn


_KINDS = ("default", "normal", "uniform", "explicit")


def _scale(p: SimParams, bound: float) -> float:
    return {"default": 2 * bound, "normal": p.init_gain * bound, "uniform": p.init_high, "explicit": 0.0}[p.init]


@njit(cache=True, nogil=True)
def _weights(keys: Array, kinds: Array, scales: Array, lows: Array, weight: Array, bias: Array) -> None:
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


def rotations(cells: Sequence[Cell]) -> Array:
    """R as `task.random_rotation`, shape (C, d, d); identity for the cells without rotation."""
    params = _params(cells)
    d, R = params[0].d, np.empty((len(cells), params[0].d, params[0].d))
    turned = np.array([p.rotate for p in params])
    R[~turned] = np.eye(d)
    own = [cell for cell, p in zip(cells, params, strict=True) if p.rotate]
    if own:
        drawn = np.empty((len(own), d * d))
        _normal_rows(keys(own, "rotation"), drawn)
        R[turned] = task.orthogonal(drawn.reshape(-1, d, d))
    return R


@njit(cache=True, nogil=True)
def _normal_rows(keys: Array, out: Array) -> None:
    stream = np.empty(STREAM, np.uint64)
    for c in range(len(keys)):
        begin(keys[c], stream)
        normals(stream, out[c])
