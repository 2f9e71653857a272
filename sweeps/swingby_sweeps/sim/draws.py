"""Random draws of a whole batch of cells: initial weights, rotations, points and moments.

Weights, rotations and points are, to the last bit, those of a cell alone (`init.draw_layers`, `task.random_rotation`,
`task.draw_points`, `task.order`); moments differ from those of a cell's points by rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.descent import FullBatchMoments, MiniBatchMoments, MomentStream
from swingby_sweeps.dynamics.kernels.draws import Weights, draw_weights, normal_rows
from swingby_sweeps.dynamics.kernels.mixture import Mixture, MixtureDraws
from swingby_sweeps.dynamics.kernels.streams import keys
from swingby_sweeps.dynamics.parts import in_parts

from . import task
from .init import draw_layers
from .params import SimParams

Array = np.ndarray
_LAWS: Mapping[str, Callable[[SimParams, float], tuple[Weights, float, float]]] = {
    "default": lambda p, bound: (Weights.UNIFORM, 2 * bound, -bound),
    "normal": lambda p, bound: (Weights.NORMAL, p.init_gain * bound, 0.0),
    "uniform": lambda p, bound: (Weights.UNIFORM_NO_BIAS, p.init_high, 0.0),
    "explicit": lambda p, bound: (Weights.KEPT, 0.0, 0.0),
}
"""How a layer whose torch.nn.Linear would be uniform within +-bound is drawn: kind, scale, and lowest value."""


def layers(cells: Sequence[Cell[SimParams]]) -> list[tuple[Array, Array | None]]:
    """Initial weights in the original coordinates: of each layer (C, out, in), and (C, out) or None."""
    params = [cell.params for cell in cells]
    p, C = params[0], len(cells)
    drawn = []
    for number, (out, fan_in) in enumerate(p.layer_shapes, start=1):
        bound = 1.0 / math.sqrt(fan_in)
        laws = zip(*(_LAWS[q.init](q, bound) for q in params), strict=True)
        kinds, scales, lows = (np.array(values) for values in laws)
        weight, bias = np.zeros((C, out, fan_in)), np.zeros((C, out if p.bias else 0))
        arrays = keys(cells, f"init/{number}"), kinds, scales, lows, weight.reshape(C, -1), bias
        in_parts(lambda c, arrays=arrays: draw_weights(*(array[c] for array in arrays)), C)
        drawn.append((weight, bias if p.bias else None))
    for place, q in enumerate(params):
        if q.init == "explicit":
            for (weight, bias), (cell_weight, own_bias) in zip(drawn, draw_layers(cells[place]), strict=True):
                weight[place] = cell_weight
                if bias is not None and own_bias is not None:
                    bias[place] = own_bias
    return drawn


def rotations(cells: Sequence[Cell[SimParams]]) -> Array:
    """Rotations R, shape (C, d, d); the identity for cells without rotation."""
    params = [cell.params for cell in cells]
    d, R = params[0].d, np.empty((len(cells), params[0].d, params[0].d))
    turned = np.array([p.rotate for p in params])
    R[~turned] = np.eye(d)
    rotated = [cell for cell, p in zip(cells, params, strict=True) if p.rotate]
    if rotated:
        drawn, streams = np.empty((len(rotated), d, d)), keys(rotated, "rotation")

        def compute(c: slice) -> None:
            normal_rows(streams[c], drawn[c].reshape(-1, d * d))
            drawn[c] = task.orthogonal(drawn[c])

        in_parts(compute, len(rotated))
        R[turned] = drawn
    return R


def mixture(cells: Sequence[Cell[SimParams]]) -> Mixture:
    """The clusters of cells of one shape; truncated ones keep away from the test point."""
    params = [cell.params for cell in cells]
    p, signals = params[0], task.Signals.of(params)
    names = task.cluster_names(p)
    centres = np.zeros((len(cells), len(names), p.s))
    centres[:, np.arange(p.s), np.arange(p.s)] = signals.mu
    streams = [keys(cells, name) for name in ("order", *(f"data/{name}" for name in names))]
    return Mixture(
        n=p.n,
        keys=np.stack(streams, axis=1),
        centres=centres,
        deviations=np.sqrt(signals.variances),
        avoided=signals.mu,
        distance=np.array([min(q.mu) / 2 if q.truncate else 0.0 for q in params]),
        bias=p.bias,
    )


def rates(cells: Sequence[Cell[SimParams]]) -> Array:
    """Time of the flow of L in one step, (C,)."""
    return np.array([cell.params.time_per_step for cell in cells])


def moment_stream(cells: Sequence[Cell[SimParams]]) -> MomentStream:
    """The stream of moments that steps of nets linear in x are trained on."""
    p = cells[0].params
    if p.drive == "sgd":
        return MiniBatchMoments(rates(cells), MixtureDraws(mixture(cells), p.batching))
    return FullBatchMoments(rates(cells), whole_moments(cells))


def whole_moments(cells: Sequence[Cell[SimParams]]) -> Array:
    """E[x x^T] over each cell's training set, or of the population where no points are drawn: (C, k, k), float64."""
    params = [cell.params for cell in cells]
    drawn = np.array([p.drive == "sgd" or p.moments == "sample" for p in params])
    k = params[0].s + params[0].bias
    moments = np.empty((len(cells), k, k))
    for place in np.flatnonzero(~drawn):
        moments[place] = task.population_moments(params[place])
    if drawn.any():
        draws = MixtureDraws(mixture([cell for cell, is_drawn in zip(cells, drawn, strict=True) if is_drawn]))
        moments[drawn] = draws.moments(draws.sums())[:, 0]
    for place, p in enumerate(params):
        if drawn[place] and p.moment_power != 1:
            moments[place] = np.linalg.matrix_power(moments[place], p.moment_power)
    return moments
