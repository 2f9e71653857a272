"""Gradient descent that stays on a GPU: a counter there picks the mini-batch, and many steps are one launch.

A step of a tiny net is some ten kernels of microseconds each; to launch them one by one from Python takes longer than
they run. So a run of steps is captured once as a CUDA graph and replayed. Nothing in it depends on the number of the
step: the number of the mini-batch is read on the device. Between two recorded steps the host waits for nothing.
"""

from __future__ import annotations

import warnings

import torch

from .descent import BatchStream, Descent
from .nets import Net

SIZES = (64, 16, 4, 1)
"""Steps in a graph, from long to short: a stretch between two recorded steps is made of a few of each."""


class ResidentDescent(Descent):
    """The steps of `Descent`; with `capture`, by CUDA graphs."""

    def __init__(self, net: Net, stream: BatchStream, capture: bool) -> None:
        super().__init__(net, stream)
        self._capture = capture
        self._batch = torch.zeros(1, dtype=torch.int64, device=net.device)
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def _take(self, start: int, count: int) -> None:
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
            self.net.push(self.stream.pick(self._batch), self.net.parameters)
            self._batch.add_(1).remainder_(self.stream.batches)

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
