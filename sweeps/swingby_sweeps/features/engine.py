"""Training of cells of one shape as one stack of nets, recorded at chosen steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell

from .data import Points
from .kernels import sgd
from .layers import layers
from .losses import slopes
from .net import Net, start
from .observed import Sample
from .params import FeaturesParams

Array = np.ndarray
MOST = 96e6
"""Bytes of the points and values of a stack, about."""


def together(p: FeaturesParams) -> int:
    """How many cells are best trained as one stack: so many that a step is more than calls, and stays in the cache."""
    shape = layers(p)
    weights = sum(layer.fan_in * layer.fan_out for layer in shape)
    values = max(layer.places * (layer.fan_in + layer.fan_out) for layer in shape)
    fits = MOST / (8 * (p.n + p.test_points) * (p.inputs + values))
    return int(np.clip(min(2e5 / (3 * weights + p.batch * values), fits), 1, 32))


class Stack:
    """Cells of one shape, each a slice of every array: nets by `Net`, steps of SGD with momentum and coupled decay.

    Args:
        cells: of one `Features.shape`.
        points: training and test points of each.
    """

    def __init__(self, cells: Sequence[Cell], points: Sequence[tuple[Points, Points]]) -> None:
        self._p = p = cast(FeaturesParams, cells[0].params)
        self._cells, shape = cells, layers(p)
        dtype = getattr(torch, p.dtype)
        starts = [start(cell, shape) for cell in cells]
        self._net = Net(p, shape, starts)
        self._train, self._test = (
            torch.stack([torch.from_numpy(pair[i].x) for pair in points]).to(dtype) for i in range(2)
        )
        if p.normed:
            self._net.outputs(self._train, calibrate=True)
        if p.trained == "last":
            self._train, self._test = (self._net.outputs(x)[0].contiguous() for x in (self._train, self._test))
            self._net = Net(p, shape[-1:], [weights[-2:] for weights in starts])
        centred = torch.tensor([cast(FeaturesParams, cell.params).centre_output for cell in cells])[:, None, None]
        self._offsets = [self._net.outputs(x)[1] * centred for x in (self._train, self._test)]
        self._y = torch.stack([torch.from_numpy(pair[0].y) for pair in points]).to(dtype)
        self._velocity = torch.zeros_like(self._net.weights)
        self._rates = self._now = self._of_cells("lr")
        self._momentum, self._decay = self._of_cells("momentum"), self._of_cells("weight_decay")
        self._batches = self._mini_batches()

    def _of_cells(self, name: str) -> Array:
        return np.array([getattr(cell.params, name) for cell in self._cells]).astype(self._p.dtype)

    def advance(self, begin: int, end: int) -> None:
        """Take the steps begin, ..., end - 1."""
        net, parts = self._net, (self._net.weights, self._net.gradient, self._velocity)
        w, g, v = (part.numpy() for part in parts)
        for step in range(begin, end):
            x, y, offset = next(self._batches)
            d = slopes(self._p, net.forward(x).sub_(offset), y)
            net.backward(x, d)
            sgd(w, g, v, net.sizes, self._rates_at(step), self._momentum, self._decay)

    def _rates_at(self, step: int) -> Array:
        """The learning rates of a step, (B,)."""
        epoch = step // self._p.steps_per_epoch
        if step % self._p.steps_per_epoch == 0:
            factors = [dropped(cast(FeaturesParams, cell.params), epoch) for cell in self._cells]
            self._now = (self._rates * np.array(factors)).astype(self._p.dtype)
        return self._now

    def _mini_batches(self) -> Iterator[list[Tensor]]:
        """Mini-batches without an end, in an order of each cell's own that is new each epoch: inputs, targets, offsets
        of the outputs; in memory that the next one takes over."""
        p, B = self._p, len(self._cells)
        steps, size = p.steps_per_epoch, p.batch
        draws, firsts = [cell.stream("order") for cell in self._cells], np.arange(B)[:, None] * p.n
        flat = [values.reshape(B * p.n, -1) for values in (self._train, self._y, self._offsets[0])]
        taken = [values.new_empty(B * size, values.shape[1]) for values in flat]
        shaped = [values.view(B, size, -1) for values in taken]
        while True:
            orders = np.stack([stream.permutation(p.n)[: steps * size] for stream in draws]) + firsts
            index = torch.from_numpy(orders.reshape(B, steps, size).swapaxes(0, 1).reshape(steps, -1))
            for batch in index:
                for values, out in zip(flat, taken, strict=True):
                    torch.index_select(values, 0, batch, out=out)
                yield shaped

    def samples(self) -> tuple[list[Sample], list[Sample]]:
        """Of each cell, what its net gives on training points and on test points."""
        samples = []
        for x, offset in zip((self._train, self._test), self._offsets, strict=True):
            phi, f = self._net.outputs(x)
            both = zip(phi.double().numpy(), (f - offset).double().numpy(), strict=True)
            samples.append([Sample(features, outputs) for features, outputs in both])
        return samples[0], samples[1]

    def last_weights(self) -> Array:
        """The last layer's weights of each cell, (B, C, p), float64."""
        return self._net.matrices[-1].double().numpy().copy()

    def freeze(self, cells: Array) -> None:
        """Stop the cells of a mask (B,), without an effect on the others."""
        diverged = torch.from_numpy(cells)
        self._net.freeze(diverged)
        for part in self._velocity.split([len(cells) * int(size) for size in self._net.sizes]):
            part.view(len(cells), -1)[diverged] = 0
        self._rates, self._now = (np.where(cells, 0, rates).astype(rates.dtype) for rates in (self._rates, self._now))


def dropped(p: FeaturesParams, epoch: int) -> float:
    """The factor of the learning rate in an epoch."""
    return 1.0 if p.drop_every is None else p.drop_factor ** (epoch // p.drop_every)
