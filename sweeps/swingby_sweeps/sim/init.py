"""Initial weights, and the informative frame: coordinates in which a net meets the data without any rotation.

Data lies in the span of E = R[:, :s]. Gradient descent commutes with rotations of input and output, and the part of
the first layer that is orthogonal to E never meets a point and never moves. So a net trains on W_1 E and R^T W_L
instead: inputs have s coordinates, targets are these s and then zeros, and nothing is lost; `full_layers` undoes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from swingby.model.cell import Cell

from .params import SimParams
from .task import random_rotation

Array = np.ndarray
Layers = list[tuple[Array, Array | None]]
"""(weight (out, in), bias (out,) or None) of every layer, from the input on, as in torch.nn.Linear."""


def draw_layers(cell: Cell[SimParams]) -> Layers:
    """Initial weights in the original coordinates, float64; layer l (from 1) from stream `init/l`, the weight first."""
    p = cell.params
    if p.init == "explicit":
        return _explicit(p)
    return [_draw_layer(p, cell.stream(f"init/{layer + 1}"), shape) for layer, shape in enumerate(p.layer_shapes)]


def _draw_layer(p: SimParams, stream: np.random.Generator, shape: tuple[int, int]) -> tuple[Array, Array | None]:
    """Weight and bias of one layer; biases are torch.nn.Linear's with `default`, and 0 with `normal` and `uniform`."""
    out, fan_in = shape
    bound = 1.0 / math.sqrt(fan_in)
    if p.init == "default":
        weight = stream.uniform(-bound, bound, shape)
        return weight, stream.uniform(-bound, bound, out) if p.bias else None
    if p.init == "normal":
        weight = p.init_gain * bound * stream.standard_normal(shape)
    else:
        weight = stream.uniform(0.0, p.init_high, shape)
    return weight, np.zeros(out) if p.bias else None


def _explicit(p: SimParams) -> Layers:
    rows = iter(p.init_weights or ())
    layers: Layers = []
    for out, fan_in in p.layer_shapes:
        block = np.array([next(rows) for _ in range(out)])
        layers.append((block[:, :fan_in], block[:, fan_in] if p.bias else None))
    return layers


@dataclass(frozen=True)
class Start:
    """One cell's initial weights in both coordinates.

    Attributes:
        layers: in the original coordinates.
        rotation: R, shape (d, d).
        parameters: in the informative frame, what a net trains: first the images of the s unit vectors (and of the
            origin, with bias) under the first layer, shape (k, out); then weight (and bias) of each further layer.
            The symmetric model has one, R^T U, shape (d, d'); the recurrence on W has R^T U U^T R, shape (d, d).
    """

    params: SimParams
    layers: Layers
    rotation: Array
    parameters: list[Array]

    @classmethod
    def of(cls, cell: Cell[SimParams]) -> Start:
        """Draw and rotate the weights of a cell."""
        p = cell.params
        layers, R = draw_layers(cell), random_rotation(cell)
        return cls(p, layers, R, to_frame(p, layers, R))


def to_frame(p: SimParams, layers: Layers, R: Array) -> list[Array]:
    """The trained parameters (`Start.parameters`) for layers and a rotation in the original coordinates.

    Leading cell axes that all arrays share are axes of the result, too.
    """
    if p.starts_from_U:
        U = R.mT @ layers[0][0]
        return [U] if p.model == "symmetric" else [U @ U.mT]
    (first, first_bias), E = layers[0], R[..., : p.s]
    images = (first @ E).mT
    if first_bias is not None:
        images = np.concatenate([images, first_bias[..., None, :]], axis=-2)
    if len(layers) == 1:
        return [images @ R]
    last, last_bias = layers[-1]
    rotated = [*layers[1:-1], (R.mT @ last, None if last_bias is None else (R.mT @ last_bias[..., None])[..., 0])]
    return [images, *(part for layer in rotated for part in layer if part is not None)]


def full_layers(start: Start, parameters: list[Array]) -> Layers:
    """The layers in the original coordinates that belong to trained `parameters` of the informative frame.

    For the recurrence on W it is W itself: no U belongs to it once it has left the cone.
    """
    p, R = start.params, start.rotation
    if p.model == "symmetric":
        return [(R @ parameters[0], None)]
    if p.model == "w_recurrence":
        return [(R @ parameters[0] @ R.T, None)]
    first, rest = parameters[0], parameters[1:]
    moved = first - start.parameters[0]
    if len(start.layers) == 1:
        moved = moved @ R.T
    weight, bias = start.layers[0]
    E = R[:, : p.s]
    layers: Layers = [(weight + moved[: p.s].T @ E.T, None if bias is None else bias + moved[p.s])]
    parts = iter(rest)
    for _ in start.layers[1:]:
        layers.append((next(parts), next(parts) if p.bias else None))
    if len(layers) > 1:
        last, last_bias = layers[-1]
        layers[-1] = (R @ last, None if last_bias is None else R @ last_bias)
    return layers
