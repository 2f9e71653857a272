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
    """An epoch's mini-batches on a device, scaled by minus the time of a step: a step is `push(pick(b), parameters)`.

    Attributes:
        batches: mini-batches in an epoch.
        reshuffled: whether a new epoch brings new mini-batches.
    """

    batches: int
    reshuffled: bool

    def load(self) -> None:
        """Replace the data by that of the next epoch, in the same memory."""
        ...

    def pick(self, batch: int | Tensor) -> StepData:
        """The data of mini-batch number `batch`; where it is a tensor (1,), without the host's knowing which."""
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
        self._loaded = False

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1; asked in order."""
        batches = self.stream.batches
        while start < stop:
            if not self._loaded or (self.stream.reshuffled and start % batches == 0):
                self.stream.load()
                self._loaded = True
            end = min(stop, start - start % batches + batches) if self.stream.reshuffled else stop
            self._take(start, end - start)
            start = end

    def _take(self, start: int, count: int) -> None:
        """Take so many steps of the loaded epoch, from step number `start` on."""
        push, pick, parameters, batches = self.net.push, self.stream.pick, self.net.parameters, self.stream.batches
        for step in range(start, start + count):
            push(pick(step % batches), parameters)

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.net.zero(cells)
        self.stream.freeze(cells)


class MomentBatches:
    """A `BatchStream` of the moments of a `MomentStream`, (batches, C, k, k)."""

    def __init__(self, moments: MomentStream, dtype: torch.dtype, device: torch.device) -> None:
        self._moments, self.batches, self.reshuffled = moments, moments.batches, moments.reshuffled
        self._now = torch.zeros(moments.batches, *moments.whole.shape, dtype=dtype, device=device)

    def load(self) -> None:
        self._now.copy_(torch.as_tensor(self._moments.epoch()))

    def pick(self, batch: int | Tensor) -> Tensor:
        return self._now[batch] if isinstance(batch, int) else self._now.index_select(0, batch)[0]

    def freeze(self, cells: Tensor) -> None:
        self._moments.freeze(cells)
        self._now[:, cells] = 0


class PointBatches:
    """A `BatchStream` of shuffled points (C, N, k); rates (C,): the time of a step.

    A mini-batch is a view; where its number is a tensor it is a copy, filled up to the size of all with points of
    weight 0 if it is the last one of an epoch.
    """

    def __init__(self, points: Tensor, orders: Sequence[Order], rates: Array, batching: Batching) -> None:
        self._points, self._orders, self._size = points, orders, batching.size
        C, N, k = points.shape
        self.batches, self.reshuffled = batching.batches(N), batching.reshuffle
        self._now = points.new_zeros(C, self.batches, self._size, k)
        self._rates = torch.as_tensor(-rates[:, None, None]).to(points.device, points.dtype)
        sizes = np.minimum(self._size, N - self._size * np.arange(self.batches))
        weights = (np.arange(self._size) < sizes[:, None]) / sizes[:, None]
        self._sizes, self._weights = sizes.tolist(), torch.as_tensor(weights).to(points.device, points.dtype)

    def load(self) -> None:
        """Shuffle the points for the next epoch: one upload of all orders, and one gather on the device."""
        orders = torch.as_tensor(np.stack([order.next_epoch() for order in self._orders])).to(self._points.device)
        C, N, k = self._points.shape
        self._now.view(C, -1, k)[:, :N] = self._points.gather(1, orders[:, :, None].expand(C, N, k))

    def pick(self, batch: int | Tensor) -> tuple[Tensor, Tensor]:
        if isinstance(batch, int):
            size = self._sizes[batch]
            return self._now[:, batch, :size], self._rates / size
        x = self._now.index_select(1, batch)[:, 0]
        return x, self._rates * self._weights.index_select(0, batch)[:, :, None]

    def freeze(self, cells: Tensor) -> None:
        self._rates[cells] = 0
