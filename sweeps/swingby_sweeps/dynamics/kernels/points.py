"""ReLU nets on the CPU: mini-batch SGD, losses, outputs and gradients by compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ..nets import Net, ReluNet
from ..shapes import Batching, NetShape
from . import aligned, points_lanes, points_two, points_wide, side_by_side, two_by_two
from .streams import STREAM, begin, next_orders

Array = np.ndarray


class Kernel(Protocol):
    """A family of compiled loops: what its module has.

    Attributes:
        STATES: states of the nets whose losses are best computed in one call.
    """

    STATES: int

    arrange: Callable[[Array], Array]
    shuffle: Callable[..., None]
    room: Callable[..., tuple[Array, ...]]
    train: Callable[..., None]
    losses: Callable[..., None]
    outputs: Callable[..., None]
    gradients: Callable[..., None]


def kernel_of(shape: NetShape) -> Kernel:
    """The faster kernel for nets of this shape."""
    if not side_by_side(shape):
        return points_wide
    return points_two if two_by_two(shape) else points_lanes


class PackedRelu(ReluNet):
    """ReLU nets that learn the identity by compiled loops; their parameters lie in one CPU array, cell after cell.

    Attributes:
        packed: the parameters, shape (C, P); `parameters` are views of it.
    """

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor], batch_size: int = 1) -> None:
        """`batch_size`: the largest mini-batch that it will be trained on."""
        self.packed = torch.cat([part.flatten(1) for part in parameters], dim=1)
        shapes = [part.shape[1:] for part in parameters]
        parts = self.packed.split([part_shape.numel() for part_shape in shapes], dim=1)
        super().__init__(shape, [part.unflatten(1, part_shape) for part, part_shape in zip(parts, shapes, strict=True)])
        self.sizes, self._batch = np.array([self.k, *shape.widths]), batch_size
        self._turned: list[tuple[Tensor, Array]] = []
        self.use(kernel_of(shape))

    def use(self, kernel: Kernel) -> None:
        """Use this family of loops from now on."""
        self._turned = []
        self.kernel, self.together = kernel, kernel.STATES
        self._room = kernel.room(self.sizes, self._batch, self.packed.numpy().dtype)

    def train(self, x: Array, rates: Array, first: int, last: int) -> None:
        """Take the mini-batches first, ..., last - 1 of arranged points, at rates (C,): minus the time of a step."""
        rest = self.sizes, self.s, self.bias, self._room, self._batch, first, last
        self.kernel.train(self.packed.numpy(), x, rates, *rest)

    def loss(self, whole: Tensor) -> Tensor:
        return self.losses([self], whole)[0]

    def losses(self, states: Sequence[PackedRelu], whole: Tensor) -> Tensor:
        """L of these nets at several states, in one pass over the points: (K, C), float64."""
        theta = np.stack([state.packed.numpy() for state in states])
        total = np.empty(theta.shape[:2])
        self.kernel.losses(theta, self.arranged(whole), self.sizes, self.s, self.bias, self._room, total)
        return torch.as_tensor(total / whole.shape[1])

    def snapshot(self, group: list[Net]) -> Net:
        return Snapshot(self, group)

    def gradient(self, x: Tensor) -> Tensor:
        """The gradient of L on points x (C, N, k), laid out as `packed`: shape (C, P)."""
        slope = torch.zeros_like(self.packed)
        columns, rest = self.kernel.arrange(x.numpy()), (self.sizes, self.s, self.bias, self._room)
        self.kernel.gradients(self.packed.numpy(), columns, *rest, slope.numpy())
        return slope

    def outputs(self, x: Tensor) -> Tensor:
        out = x.new_empty(self.cells, x.shape[1], self.d)
        rest = self.arranged(x), self.sizes, self.s, self.bias, self._room
        self.kernel.outputs(self.packed.numpy(), *rest, out.numpy())
        return out

    def arranged(self, whole: Tensor) -> Array:
        """Points (C, N, k) in the layout of the kernel; the last two, which must not change, are kept."""
        for points, turned in self._turned:
            if points is whole:
                return turned
        turned = self.kernel.arrange(whole.numpy())
        self._turned = [*self._turned[-1:], (whole, turned)]
        return turned


class Snapshot(PackedRelu):
    """Packed ReLU nets as they are now; the losses of all snapshots of a group are computed when the first is asked."""

    def __init__(self, net: PackedRelu, group: list[Net]) -> None:
        super().__init__(net.shape, net.parameters)
        self.use(net.kernel)
        self._net, self._group = net, group
        self._loss: Tensor | None = None

    def arranged(self, whole: Tensor) -> Array:
        return self._net.arranged(whole)

    def loss(self, whole: Tensor) -> Tensor:
        if self._loss is None:
            group = [state for state in self._group if isinstance(state, Snapshot)]
            for state, loss in zip(group, self._net.losses(group, whole), strict=True):
                state._loss = loss
        assert self._loss is not None
        return self._loss


class PointsDescent:
    """Mini-batch SGD of packed ReLU nets on points (C, N, k).

    Attributes:
        failed: all False, (C,): no step can fail.
    """

    def __init__(self, net: PackedRelu, points: Tensor, order_keys: Array, rates: Array, batching: Batching) -> None:
        """`order_keys`: of the random streams of the points' order, (C, 2); `rates`: the time of a step, (C,)."""
        self.net, self._points, self._batching = net, points, batching
        self._batches = batching.batches(points.shape[1])
        self._shuffled: Array = np.empty(0)
        self._streams = np.empty((len(order_keys), STREAM), np.uint64)
        for stream, key in zip(self._streams, order_keys, strict=True):
            begin(key, stream)
        self._rates = (-rates).astype(points.numpy().dtype)
        self.failed = torch.zeros(len(rates), dtype=torch.bool)
        self._epoch = -1

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1; asked in order."""
        while start < stop:
            epoch, first = divmod(start, self._batches)
            last = min(self._batches, first + stop - start)
            if epoch != self._epoch and (self._epoch < 0 or self._batching.reshuffle):
                points = self.net.arranged(self._points)
                if self._epoch < 0:
                    self._shuffled = aligned(points.shape, points.dtype)
                orders = np.empty((len(self._streams), self._points.shape[1]), np.int32)
                next_orders(self._streams, orders)
                self.net.kernel.shuffle(points, orders, self._shuffled)
            self._epoch = epoch
            self.net.train(self._shuffled, self._rates, first, last)
            start += last - first

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.net.zero(cells)
        self._rates[cells.numpy()] = 0
