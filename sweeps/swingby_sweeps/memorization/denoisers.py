"""The nets of a batch, side by side, and what they say of noisy points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.kernels import LANES, aligned, lanes
from swingby_sweeps.dynamics.kernels.streams import STREAM, begin, keys

from . import kernels, task
from .params import MixtureParams

Array = np.ndarray
Cells = Sequence[Cell[MixtureParams]]
_BLOCK = 64
"""Rows that go through the nets at once."""


class Denoisers:
    """The nets of C cells of one shape, side by side, with their training data.

    Attributes:
        points, labels: of each cell, (n, d), and the places of the conditions (n,).
    """

    def __init__(self, cells: Cells) -> None:
        p = self.p = cells[0].params
        self.cells = cells
        self.sizes = kernels.Sizes(p.d + kernels.FEATURES + p.conditions, p.width, p.blocks, p.d)
        groups = -(-len(cells) // LANES)
        self.scales = np.array([cell.params.scale for cell in cells])
        self._draw_data()
        self._numbers = aligned((groups, self.sizes.numbers, LANES), np.dtype(p.dtype))
        self._draw_weights()
        self._moments = np.zeros((2, *self._numbers.shape), p.dtype)
        self._means = self._numbers.copy()
        self._settings = np.ones((groups, kernels.SETTINGS, LANES), p.dtype)
        for c, cell in enumerate(cells):
            q, into = cell.params, self._settings[c // LANES, :, c % LANES]
            into[:4] = q.lr, q.lr * q.weight_decay, 1 - q.average, q.momentum
        self._averaged = any(cell.params.average for cell in cells)
        noise = [(cell.params.scale, cell.params.noise_mean, cell.params.noise_spread) for cell in cells]
        self._levels = np.array(noise)
        self._noises, self._passes = (self._streams(name) for name in ("noise", "passes"))
        self._work = kernels.room(self.sizes, max(p.batch_size, _BLOCK), self._numbers.dtype)
        rows = p.batch_size
        self._inputs = aligned((rows, self.sizes.inputs, LANES), self._numbers.dtype)
        self._targets = aligned((rows, p.d, LANES), self._numbers.dtype)
        self._gradient = aligned((self.sizes.numbers, LANES), self._numbers.dtype)
        self.step = 0

    def _streams(self, name: str) -> Array:
        streams = np.zeros((len(self.cells), STREAM), np.uint64)
        for key, stream in zip(keys(self.cells, name), streams, strict=True):
            begin(key, stream)
        return streams

    def _draw_data(self) -> None:
        self.points, self.labels = list[Array](), list[Array]()
        for cell in self.cells:
            p, random = cell.params, cell.stream("data")
            points, component = task.balanced(random, p.points, p.d, p.mean, p.rare)
            self.points.append(points)
            if p.condition == "random":
                self.labels.append(cell.stream("labels").integers(p.labels, size=p.points))
            else:
                self.labels.append(component if p.condition == "component" else component[:0])
        self._starts = np.cumsum([0, *map(len, self.points)])
        self._orders = np.zeros(self._starts[-1], np.int64)
        # A pass begins where the last one has ended.
        self._places = np.diff(self._starts)

    def _draw_weights(self) -> None:
        for c, cell in enumerate(self.cells):
            random, into, at = cell.stream("init"), self._numbers[c // LANES, :, c % LANES], 0
            for place, (fan_in, fan_out) in enumerate(shapes := cell.params.layer_shapes):
                # He et al. where a ReLU follows; the ends of blocks and the output begin small, so that a block begins
                # near the identity.
                rectified = 0 < place < len(shapes) - 1 and place % 2 == 1
                size = np.sqrt((2 if rectified else 1) / fan_in) * (1 if place == 0 or rectified else 0.1)
                into[at : at + fan_in * fan_out] = (
                    cell.params.weight_scale * size * random.normal(size=fan_in * fan_out)
                )
                at += (fan_in + 1) * fan_out

    def advance(self, stop: int) -> None:
        """Train up to step `stop`."""
        labels = np.concatenate(self.labels) if self.p.conditions else np.zeros(0, np.int64)
        kernels.train(
            self._numbers, self._moments, self._means, self._settings, self._levels, self._noises, self._passes,
            np.concatenate(self.points), labels, self._orders, self._starts, self._places, self.sizes,
            self.p.optimizer == "adam", self._work, self._gradient, self._inputs, self._targets,
            np.zeros(self.p.batch_size, np.int64), np.zeros(8, self._numbers.dtype), self.step, stop,
        )  # fmt: skip
        self.step = stop

    def numbers_of(self, c: int) -> Array:
        """The numbers of a cell's net, in double precision."""
        return self._numbers[c // LANES, :, c % LANES].astype(np.float64)

    def finite(self) -> Array:
        """Whether the numbers of each cell's net are, (C,)."""
        return np.isfinite(self._numbers).all(axis=1).reshape(-1)[: len(self.cells)]

    def denoised(self, x: Array, ratios: Array, labels: Array) -> Array:
        """What the nets, or their running means, say of x (C, R, d) at noise levels ratios (R,) over sigma_data.

        Args:
            labels: (C, R); (C, 0) without conditions.
        """
        C, R, d = x.shape
        padded = -(-R // _BLOCK) * _BLOCK if R > _BLOCK else R
        root = np.sqrt(1 + ratios**2)
        inputs = aligned((len(self._numbers), padded, self.sizes.inputs, LANES), self._numbers.dtype)
        kernels.fill_inputs(x, np.log(ratios), labels, 1 / (self.scales[:, None] * root), inputs)
        raw = aligned((len(self._numbers), padded, d, LANES), self._numbers.dtype)
        nets = self._means if self._averaged else self._numbers
        kernels.outputs(nets, inputs, self.sizes, self._work, min(_BLOCK, padded), raw)
        out = np.empty((C, padded * d))
        lanes.unpack(raw.reshape(len(raw), -1, LANES), 0, out)
        outward = self.scales[:, None] * (ratios / root)
        return x / (1 + ratios**2)[:, None] + outward[..., None] * out.reshape(C, padded, d)[:, :R]
