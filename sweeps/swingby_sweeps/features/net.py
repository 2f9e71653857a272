"""Nets of one shape, stacked along an axis of cells, with their gradient written out, on buffers that are made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell

from .kernels import NORM_EPS, normalise, normalise_back, slope, sums
from .layers import Layer
from .params import FeaturesParams

Array = np.ndarray
ACTIVATIONS = ("relu", "tanh", "linear")


def start(cell: Cell[FeaturesParams], shape: Sequence[Layer]) -> list[Array]:
    """The initial matrix (fan out, fan in) and bias (fan out) of each layer in turn: uniform on +-gain/sqrt(fan in)."""
    p, draws = cell.params, cell.stream("init")
    parts = list[Array]()
    for layer in shape:
        most = p.gain / np.sqrt(layer.fan_in)
        parts.append(most * draws.uniform(-1, 1, size=(layer.fan_out, layer.fan_in)))
        parts.append(most * draws.uniform(-1, 1, size=layer.fan_out))
    return parts


@dataclass
class _Memory:
    """Values at the layers for so many points, and slopes of the loss there.

    Attributes:
        rows: inputs of each matrix, (B, rows, fan in).
        h: outputs of each layer, (B, rows, fan out).
        d: slopes at these.
        unit, spread: of batch norm.
    """

    rows: list[Tensor]
    h: list[Tensor]
    d: list[Tensor]
    unit: list[Tensor]
    spread: list[Tensor]


class Net:
    """B nets: each layer is rows W^T + b, then batch norm and activation, unless it is the last.

    Attributes:
        weights, gradient: of all nets, flat: for each parameter one part, the cells' own in turn.
        sizes: numbers of a cell in each part.
        matrices: W (B, fan out, fan in) of each layer; views of `weights`, as are biases and factors.
    """

    def __init__(self, p: FeaturesParams, shape: Sequence[Layer], starts: Sequence[Sequence[Array]]) -> None:
        """`starts`: for each cell what `start` gives of these layers."""
        self.shape, self._B = list(shape), len(starts)
        self._activation = ACTIVATIONS.index(p.activation)
        self._normed = p.normed
        self.dtype = getattr(torch, p.dtype)
        parts = list[Array]()
        kinds = list[str]()
        for i, layer in enumerate(self.shape):
            for kind, place in (("matrix", 2 * i), ("bias", 2 * i + 1)):
                if kind == "matrix" or p.bias:
                    kinds.append(kind)
                    parts.append(np.stack([weights[place] for weights in starts]))
            if self._normed and not layer.last:
                kinds += ["gamma", "beta"]
                parts += [np.ones((self._B, layer.fan_out)), np.zeros((self._B, layer.fan_out))]
        self.sizes = np.array([part[0].size for part in parts])
        self.weights = torch.cat([torch.from_numpy(part).reshape(-1) for part in parts]).to(self.dtype)
        self.gradient = torch.zeros_like(self.weights)
        views, slopes = (
            self._views(flat, kinds, [part.shape for part in parts]) for flat in (self.weights, self.gradient)
        )
        self.matrices, self._d_matrices = views["matrix"], slopes["matrix"]
        nothing = [self.weights.new_zeros(self._B, layer.fan_out) for layer in self.shape]
        self._biases, self._d_biases = (views["bias"], slopes["bias"]) if p.bias else (nothing, None)
        self._factors, self._shifts = views["gamma"], views["beta"]
        self._d_factors, self._d_shifts = slopes["gamma"], slopes["beta"]
        hidden = [layer for layer in self.shape if not layer.last] if self._normed else []
        self._mean = [self.weights.new_zeros(self._B, layer.fan_out) for layer in hidden]
        self._variance = [self.weights.new_ones(self._B, layer.fan_out) for layer in hidden]
        self._buffers = dict[int, _Memory]()

    def _views(self, flat: Tensor, kinds: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, list[Tensor]]:
        views: dict[str, list[Tensor]] = {kind: [] for kind in ("matrix", "bias", "gamma", "beta")}
        parts = flat.split([self._B * int(size) for size in self.sizes])
        for kind, part, shape in zip(kinds, parts, shapes, strict=True):
            views[kind].append(part.view(shape))
        return views

    def outputs(self, x: Tensor, calibrate: bool = False) -> tuple[Tensor, Tensor]:
        """Features (B, n, p) and outputs (B, n, C) at points (B, n, inputs), with the running moments of batch norm.

        Args:
            calibrate: whether these moments become those of these points first; from 0 and 1 the error of each layer
                would multiply with that of the next until they are forgotten.
        """
        h, points = x, x.shape[1]
        for i, layer in enumerate(self.shape):
            rows = _under_taps(h, layer, points)
            z = torch.baddbmm(self._biases[i][:, None], rows, self.matrices[i].transpose(1, 2))
            if layer.last:
                return rows, z
            if self._normed:
                if calibrate:
                    self._variance[i], self._mean[i] = torch.var_mean(z, 1)
                scale = self._factors[i] / torch.sqrt(self._variance[i] + NORM_EPS)
                z = (z - self._mean[i][:, None]) * scale[:, None] + self._shifts[i][:, None]
            h = _activate(z, self._activation)
        raise AssertionError("a net ends with its last layer")

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (B, m, C) at a mini-batch (B, m, inputs), kept for `backward`; moves the moments of batch norm."""
        kept, h, points = self._memory(x), x, x.shape[1]
        for i, layer in enumerate(self.shape):
            rows = kept.rows[i] = _under_taps(h, layer, points)
            h = torch.baddbmm(self._biases[i][:, None], rows, self.matrices[i].transpose(1, 2), out=kept.h[i])
            if layer.last:
                break
            if self._normed:
                moments = (self._mean[i].numpy(), self._variance[i].numpy())
                places = (h.numpy(), self._factors[i].numpy(), self._shifts[i].numpy())
                normalise(*places, kept.unit[i].numpy(), kept.spread[i].numpy(), h.numpy(), *moments)
            h = _activate(h, self._activation)
        return h

    def backward(self, x: Tensor, d: Tensor) -> None:
        """Put the gradient into `gradient`, from the loss's slopes d (B, m, C) at the outputs that `forward` gave."""
        kept, points = self._memory(x), x.shape[1]
        for i in reversed(range(len(self.shape))):
            layer = self.shape[i]
            if not layer.last:
                slope(d.view(-1).numpy(), kept.h[i].view(-1).numpy(), self._activation)
                if self._normed:
                    parts = (kept.unit[i], kept.spread[i], self._factors[i], self._d_factors[i], self._d_shifts[i])
                    normalise_back(d.numpy(), *(part.numpy() for part in parts))
            torch.bmm(d.transpose(1, 2), kept.rows[i], out=self._d_matrices[i])
            if self._d_biases is not None:
                sums(d.numpy(), self._d_biases[i].numpy())
            if i:
                below = self.shape[i - 1]
                d_rows = torch.bmm(d, self.matrices[i], out=kept.d[i])
                d = _from_taps(d_rows, layer, below, points)

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (B,) to zero weights."""
        for part in self.weights.split([self._B * int(size) for size in self.sizes]):
            part.view(self._B, -1)[cells] = 0
        for mean, variance in zip(self._mean, self._variance, strict=True):
            mean[cells], variance[cells] = 0, 1

    def _memory(self, x: Tensor) -> _Memory:
        """Buffers for a mini-batch."""
        points = x.shape[1]
        if points not in self._buffers:
            new = self.weights.new_empty
            sizes = [(self._B, points * layer.places, layer.fan_out) for layer in self.shape]
            ins = [(self._B, points * layer.places, layer.fan_in) for layer in self.shape]
            hidden = sizes[:-1] if self._normed else []
            self._buffers[points] = _Memory(
                [x] * len(sizes),
                [new(size) for size in sizes],
                [new(size) for size in ins],
                [new(size) for size in hidden],
                [new((self._B, size[2])) for size in hidden],
            )
        return self._buffers[points]


def _activate(z: Tensor, activation: int) -> Tensor:
    """The activation in place."""
    return (torch.relu_, torch.tanh_, lambda z: z)[activation](z)


def _under_taps(h: Tensor, layer: Layer, points: int) -> Tensor:
    """Inputs of a layer's matrix from the values below: of a convolution, a row a place with the values under its taps,
    tap by tap; of a dense layer, a row a point."""
    B = len(h)
    if not layer.taps:
        return h.view(B, points, layer.fan_in)
    channels = layer.fan_in // layer.taps
    h, edge = h.view(B, points, -1, channels), layer.taps // 2
    length = h.shape[2]
    rows = h.new_zeros(B, points, layer.places, layer.taps, channels)
    for tap in range(layer.taps):
        first, last = _span(tap - edge, length, layer.places)
        rows[:, :, first:last, tap] = h[:, :, 2 * first + tap - edge : 2 * (last - 1) + tap - edge + 1 : 2]
    return rows.view(B, points * layer.places, layer.fan_in)


def _from_taps(d: Tensor, layer: Layer, below: Layer, points: int) -> Tensor:
    """Slopes at the outputs of the layer below, (B, rows, fan out), from those at the inputs of a layer's matrix."""
    B = len(d)
    if not layer.taps:
        return d.view(B, points * below.places, below.fan_out)
    d, edge = d.view(B, points, layer.places, layer.taps, below.fan_out), layer.taps // 2
    out = d.new_zeros(B, points, below.places, below.fan_out)
    for tap in range(layer.taps):
        first, last = _span(tap - edge, below.places, layer.places)
        out[:, :, 2 * first + tap - edge : 2 * (last - 1) + tap - edge + 1 : 2] += d[:, :, first:last, tap]
    return out.view(B, points * below.places, below.fan_out)


def _span(shift: int, length: int, places: int) -> tuple[int, int]:
    """The places, from the first to behind the last, whose tap at 2 place + shift lies on a line of some length."""
    first = max(0, -(shift // 2))
    return first, min(places, (length - 1 - shift) // 2 + 1)
