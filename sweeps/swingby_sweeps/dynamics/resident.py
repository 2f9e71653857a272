"""Gradient descent that stays on a GPU: a counter there picks the mini-batch, and many steps are one launch.

A step of a tiny net is some ten kernels of microseconds each; to launch them one by one from Python takes longer than
they run. So a run of steps is captured once as a CUDA graph and replayed. Nothing in it depends on the number of the
step: the number of the mini-batch is read on the device. Between two recorded steps the host waits for nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from .descent import MomentStream
from .nets import Net, StepData
from .shapes import Batching, Order

Array = np.ndarray
SIZES = (64, 16, 4, 1)
"""Steps in a graph, from long to short: a stretch between two recorded steps is made of a few of each."""


class DeviceStream(Protocol):
    """An epoch's mini-batches on a device, scaled by minus the time of a step.

    Attributes:
        batches: mini-batches in an epoch.
        reshuffled: whether a new epoch brings new mini-batches.
    """

    batches: int
    reshuffled: bool

    def load(self) -> None:
        """Replace the data by that of the next epoch, in the same memory."""
        ...

    def pick(self, batch: Tensor) -> StepData:
        """The data of mini-batch number `batch`, a tensor (1,) on the device."""
        ...

    def freeze(self, cells: Tensor) -> None:
        """Scale the data of the cells of a mask (C,) by 0 from now on."""
        ...


class ResidentDescent:
    """Plain gradient descent with the steps of `descent.Descent`; with `capture`, by CUDA graphs.

    Attributes:
        failed: all False, (C,): no step can fail.
    """

    def __init__(self, net: Net, stream: DeviceStream, capture: bool) -> None:
        self.net, self._stream, self._capture = net, stream, capture
        self.failed = torch.zeros(net.cells, dtype=torch.bool)
        self._batch = torch.zeros(1, dtype=torch.int64, device=net.device)
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self._loaded = False

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        batches = self._stream.batches
        while start < stop:
            if not self._loaded or (self._stream.reshuffled and start % batches == 0):
                self._stream.load()
                self._loaded = True
            end = min(stop, start - start % batches + batches) if self._stream.reshuffled else stop
            self._take(end - start)
            start = end

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.net.zero(cells)
        self._stream.freeze(cells)

    def _take(self, count: int) -> None:
        """Take so many steps of the loaded epoch."""
        for size in SIZES:
            repeats, count = divmod(count, size)
            for _ in range(repeats):
                if self._capture and size not in self._graphs:
                    self._graphs |= self._captured(size)
                if size in self._graphs:
                    self._graphs[size].replay()
                else:
                    self._steps(size)

    def _steps(self, size: int) -> None:
        for _ in range(size):
            self.net.push(self._stream.pick(self._batch), self.net.parameters)
            self._batch.add_(1).remainder_(self._stream.batches)

    def _captured(self, size: int) -> dict[int, torch.cuda.CUDAGraph]:
        """The graph of so many steps; none where the device makes no graphs. The nets stay as they are."""
        kept = [tensor.clone() for tensor in (*self.net.parameters, self._batch)]
        try:
            graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
            # One step first, on a stream of its own: libraries must allocate their memory before a capture.
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._steps(1)
            torch.cuda.current_stream().wait_stream(stream)
            with torch.cuda.graph(graph):
                self._steps(size)
        except RuntimeError as error:
            self._capture = False
            warnings.warn(f"no CUDA graphs here, so each step is launched by itself: {error}", stacklevel=2)
            return {}
        finally:
            for tensor, before in zip((*self.net.parameters, self._batch), kept, strict=True):
                tensor.copy_(before)
        return {size: graph}


class ResidentMoments:
    """A `DeviceStream` of the moments of all mini-batches of an epoch, (batches, C, k, k)."""

    def __init__(self, moments: MomentStream, dtype: torch.dtype, device: torch.device) -> None:
        self._moments, self.batches, self.reshuffled = moments, moments.batches, moments.reshuffled
        cells, k, _ = moments.whole.shape
        self._now = torch.zeros(moments.batches, cells, k, k, dtype=dtype, device=device)

    def load(self) -> None:
        self._now.copy_(torch.as_tensor(self._moments.epoch()))

    def pick(self, batch: Tensor) -> Tensor:
        return self._now.index_select(0, batch)[0]

    def freeze(self, cells: Tensor) -> None:
        self._moments.freeze(cells)
        self._now[:, cells] = 0


class ResidentPoints:
    """A `DeviceStream` of shuffled points (C, N, k); an epoch's last mini-batch is filled up with points of weight 0.

    Rates (C,) are the time of a step.
    """

    def __init__(self, points: Tensor, orders: Sequence[Order], rates: Array, batching: Batching) -> None:
        self._points, self._orders = points, orders
        (C, N, k), size = points.shape, batching.size
        self.batches, self.reshuffled = batching.batches(N), batching.reshuffle
        self._now = points.new_zeros(C, self.batches, size, k)
        self._rates = torch.as_tensor(-rates[:, None, None]).to(points.device, points.dtype)
        sizes = np.minimum(size, N - size * np.arange(self.batches))
        weights = (np.arange(size) < sizes[:, None]) / sizes[:, None]
        self._weights = torch.as_tensor(weights).to(points.device, points.dtype)

    def load(self) -> None:
        """Shuffle the points for the next epoch: one upload of all orders, and one gather on the device."""
        orders = torch.as_tensor(np.stack([order.next_epoch() for order in self._orders])).to(self._points.device)
        C, N, k = self._points.shape
        shuffled = self._points.gather(1, orders[:, :, None].expand(C, N, k))
        self._now.view(C, -1, k)[:, :N] = shuffled

    def pick(self, batch: Tensor) -> tuple[Tensor, Tensor]:
        x = self._now.index_select(1, batch)[:, 0]
        return x, self._rates * self._weights.index_select(0, batch)[:, :, None]

    def freeze(self, cells: Tensor) -> None:
        self._rates[cells] = 0
