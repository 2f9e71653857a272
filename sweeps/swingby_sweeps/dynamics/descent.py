"""Gradient descent in steps on any device: mini-batch SGD, and full-batch descent on second moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from .kernels import LANES, aligned
from .kernels.lanes import pack
from .kernels.mixture import MixtureDraws
from .nets import Net, StepData
from .shapes import Batching, Order

Array = np.ndarray


class BatchStream(Protocol):
    """The data of each step, scaled by minus the time of a step: a step is `net.push(batch, parameters)`."""

    def batch(self, step: int) -> StepData:
        """The data of step number `step`, counted from 0; called in order."""
        ...

    def freeze(self, cells: Tensor) -> None:
        """Scale the data of the cells of a mask (C,) by 0 from now on."""
        ...


class MomentStream(Protocol):
    """Second moments that moment nets are trained on, epoch by epoch, scaled by minus the time of a step.

    Attributes:
        batches: mini-batches in an epoch, 1 for full-batch descent.
        reshuffled: whether a new epoch brings new mini-batches.
        whole: second moments of the whole training set, unscaled, (C, k, k), float64.
    """

    batches: int
    reshuffled: bool
    whole: Array

    def epoch(self) -> Array:
        """The scaled moments of every mini-batch of the next epoch: (batches, C, k, k), float64."""
        ...

    def epoch_in_lanes(self, dtype: np.dtype) -> Array:
        """The scaled moments of the next epoch, sixteen cells side by side: (G, batches, k k, LANES)."""
        ...

    def freeze(self, cells: Tensor) -> None:
        """Scale the moments of the cells of a mask (C,) by 0 from the next epoch on."""
        ...


class FullBatchMoments:
    """A `MomentStream` of the whole training set's moments (C, k, k), at every step; rates (C,): the time of a step."""

    batches, reshuffled = 1, False

    def __init__(self, rates: Array, moments: Array) -> None:
        self.whole = moments
        self._rates = -rates[:, None, None]

    def epoch(self) -> Array:
        return np.ascontiguousarray((self._rates * self.whole)[None])

    def epoch_in_lanes(self, dtype: np.dtype) -> Array:
        C, k = self.whole.shape[:2]
        out = aligned((-(-C // LANES), 1, k * k, LANES), dtype)
        pack((self._rates * self.whole).reshape(C, -1).astype(dtype), out[:, 0], 0)
        return out

    def freeze(self, cells: Tensor) -> None:
        self._rates[cells.cpu().numpy()] = 0


class MiniBatchMoments:
    """A `MomentStream` of mini-batches of points from Gaussian clusters; rates (C,): the time of a step."""

    def __init__(self, rates: Array, draws: MixtureDraws) -> None:
        self._rates, self._draws = -rates, draws
        self._sums, self._first = draws.sums(), True
        self.batches, self.reshuffled = draws.batches, draws.reshuffle
        self.whole = draws.moments(self._sums.sum(1, keepdims=True))[:, 0]

    def _next(self) -> Array:
        """The sums of the next epoch."""
        if not self._first and self.reshuffled:
            self._sums = self._draws.sums()
        self._first = False
        return self._sums

    def epoch(self) -> Array:
        return np.ascontiguousarray(
            (self._rates[:, None, None, None] * self._draws.moments(self._next())).swapaxes(0, 1)
        )

    def epoch_in_lanes(self, dtype: np.dtype) -> Array:
        return self._draws.moments_in_lanes(self._next(), self._rates, dtype)

    def freeze(self, cells: Tensor) -> None:
        self._rates[cells.cpu().numpy()] = 0


class Descent:
    """Plain gradient descent; one step is one call of `push`.

    Attributes:
        failed: all False, (C,): no step can fail.
    """

    def __init__(self, net: Net, stream: BatchStream) -> None:
        self.net, self.stream = net, stream
        self.failed = torch.zeros(net.cells, dtype=torch.bool)

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        push, batch, parameters = self.net.push, self.stream.batch, self.net.parameters
        for step in range(start, stop):
            push(batch(step), parameters)

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.net.zero(cells)
        self.stream.freeze(cells)


class MomentBatches:
    """A `BatchStream` of the moments of a `MomentStream`, one mini-batch a step, as torch tensors."""

    def __init__(self, moments: MomentStream, dtype: torch.dtype, device: torch.device) -> None:
        self._moments, self._to = moments, {"device": device, "dtype": dtype}
        self._epoch = -1
        self._now = torch.empty(0)

    def batch(self, step: int) -> Tensor:
        epoch, batch = divmod(step, self._moments.batches)
        if self._epoch < 0 or (epoch != self._epoch and self._moments.reshuffled):
            self._now = torch.as_tensor(self._moments.epoch()).to(**self._to)
        self._epoch = epoch
        return self._now[batch]

    def freeze(self, cells: Tensor) -> None:
        self._moments.freeze(cells)
        if len(self._now):
            self._now[:, cells] = 0


class PointBatches:
    """A `BatchStream` of shuffled points (C, N, k), of which a mini-batch is a view; rates (C,): the time of a step."""

    def __init__(self, points: Tensor, orders: Sequence[Order], rates: Array, batching: Batching) -> None:
        self._points, self._orders, self._batching = points, orders, batching
        self._batches = batching.batches(points.shape[1])
        self._shuffled = torch.empty_like(points)
        self._rates = torch.as_tensor(-rates[:, None, None]).to(points.device, points.dtype)
        self._epoch = -1

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        epoch, batch = divmod(step, self._batches)
        if epoch != self._epoch and (self._epoch < 0 or self._batching.reshuffle):
            for place, order in enumerate(self._orders):
                index = torch.as_tensor(order.next_epoch(), device=self._points.device)
                torch.index_select(self._points[place], 0, index, out=self._shuffled[place])
        self._epoch = epoch
        x = self._shuffled[:, batch * self._batching.size : (batch + 1) * self._batching.size]
        return x, self._rates / x.shape[1]

    def freeze(self, cells: Tensor) -> None:
        self._rates[cells] = 0
