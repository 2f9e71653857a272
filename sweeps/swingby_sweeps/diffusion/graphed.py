"""A function of tensors that is called again and again: on a GPU it is recorded once, and then replayed.

A small network's step is hundreds of kernels, and a GPU is done with each of them sooner than Python launches the
next. A replay launches them all at once, with the same arguments: so a recorded function reads and writes tensors that
stay in place, and never asks the GPU for a number.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

WARM = 3
"""Calls before a function is recorded: libraries choose kernels and take memory in the first ones."""

logger = logging.getLogger(__name__)


class Recorder(Protocol):
    """How a function without arguments is recorded."""

    def warm(self, function: Callable[[], Any]) -> Any:
        """Call the function in the way in which it will be recorded."""

    def record(self, function: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
        """What replays the function, and its result, which every replay writes anew; it has not run yet."""
        ...


class CudaGraphs:
    """Recorder of CUDA graphs, which share their memory: they run one after the other."""

    def __init__(self) -> None:
        # One stream for all: memory that is free on one stream is not given to another.
        self._pool, self._stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()

    def warm(self, function: Callable[[], Any]) -> Any:
        """Call the function on a stream of its own, as a capture does."""
        now = torch.cuda.current_stream()
        self._stream.wait_stream(now)
        with torch.cuda.stream(self._stream):
            result = function()
        now.wait_stream(self._stream)
        return result

    def record(self, function: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
        """The graph's replay, and the result.

        Raises:
            RuntimeError: the device makes no graph of this function.
        """
        graph = torch.cuda.CUDAGraph()
        # Other threads draw the next rows meanwhile, which must not end this capture.
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
            result = function()
        return graph.replay, result


class _Recorded(NamedTuple):
    inputs: tuple[Tensor, ...]
    replay: Callable[[], None]
    result: Any


class Graphed:
    """Calls a function; with a recorder, replays what it recorded of it, for each shape and memory layout
    of its arguments.

    Args:
        function: of tensors. What it changes are tensors in place; its result is a tensor or None.
        recorder: None: the function is called each time.
        undo: called where a recording failed, to undo what the function did outside of tensors.
    """

    def __init__(
        self, function: Callable[..., Any], recorder: Recorder | None, undo: Callable[[], None] = lambda: None
    ) -> None:
        self.function, self.recorder, self._undo = function, recorder, undo
        self._calls: Counter[Any] = Counter()
        self._recorded: dict[Any, _Recorded] = {}

    def __call__(self, *inputs: Tensor) -> Any:
        """The function's result; of a replay, valid until the next call.

        Where a function cannot be recorded, the log says why, and it is called from then on.
        """
        shapes = tuple((tensor.shape, tensor.stride()) for tensor in inputs)
        if self.recorder is not None and shapes not in self._recorded:
            self._calls[shapes] += 1
            if self._calls[shapes] <= WARM:
                return self.recorder.warm(lambda: self.function(*inputs))
            self._record(self.recorder, shapes, inputs)
        if self.recorder is None:
            return self.function(*inputs)
        recorded = self._recorded[shapes]
        for kept, new in zip(recorded.inputs, inputs, strict=True):
            kept.copy_(new, non_blocking=True)
        recorded.replay()
        return recorded.result

    def _record(self, recorder: Recorder, shapes: Any, inputs: tuple[Tensor, ...]) -> None:
        kept = tuple(tensor.clone() for tensor in inputs)
        try:
            self._recorded[shapes] = _Recorded(kept, *recorder.record(lambda: self.function(*kept)))
        except RuntimeError as error:
            logger.warning("no graph of %s here, so its kernels are launched one by one: %s", self.function, error)
            self.recorder = None
            self._recorded.clear()
            self._undo()
