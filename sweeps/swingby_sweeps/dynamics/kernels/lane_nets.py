"""Linear and symmetric nets on the CPU, sixteen cells to a vector, and their descent by compiled steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..descent import MomentStream
from ..nets import MomentNet, StepData
from ..shapes import NetShape
from . import LANES, aligned, lanes

Array = np.ndarray


class LaneNet(MomentNet):
    """C nets of one shape, linear in x, packed sixteen cells side by side in `numbers` (G, numbers, LANES)."""

    def __init__(
        self, shape: NetShape, parameters: Sequence[Array], dtype: np.dtype, target: Tensor | None = None
    ) -> None:
        """`parameters` and `target`: those of `nets.Net`."""
        self.shape, self.s, self.d, self.k, self.bias = shape, shape.s, shape.d, shape.k, shape.bias
        self._cells, self._shapes = len(parameters[0]), [part.shape[1:] for part in parameters]
        self._ends = np.cumsum([part[0].size for part in parameters])
        self.numbers = aligned((-(-self._cells // LANES), int(self._ends[-1]), LANES), dtype)
        for part, end in zip(parameters, self._ends, strict=True):
            lanes.pack(part.reshape(self._cells, -1).astype(dtype), self.numbers, int(end) - part[0].size)
        self.symmetric = shape.symmetric
        self._width = shape.hidden[0] if self.symmetric else 0
        self._sizes = np.array([shape.s, shape.d, self._width] if self.symmetric else [self.k, *shape.widths])
        self._work = lanes.scratch(self._sizes, np.dtype(dtype))
        self.target, self._targets = target, np.zeros((0, 1, LANES), dtype)
        self._target = torch.zeros(self.k, self.d, dtype=getattr(torch, np.dtype(dtype).name))
        self._target.diagonal()[: self.s] = 1
        if target is not None:
            self._target = target.to(self._target.dtype)
            self._targets = aligned((len(self.numbers), self.k * self.d, LANES), dtype)
            lanes.pack(self._target.flatten(1).numpy(), self._targets, 0)
        self._affine: Tensor | None = None

    @property
    def parameters(self) -> list[Tensor]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Copies of the parameters, each with a leading cell axis."""
        parts = []
        for shape, end in zip(self._shapes, self._ends, strict=True):
            part = np.empty((self._cells, int(np.prod(shape))), self.numbers.dtype)
            lanes.unpack(self.numbers, int(end) - part.shape[1], part)
            parts.append(torch.from_numpy(part.reshape(self._cells, *shape)))
        return parts

    @property
    def cells(self) -> int:
        return self._cells

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    def minus_target(self) -> Tensor:
        return -self._target.expand(self._cells, -1, -1)

    def affine(self) -> Tensor:
        if self._affine is None:
            out = np.empty((self._cells, self.k, self.d), self.numbers.dtype)
            if self.symmetric:
                lanes.symmetric_affine(self.numbers, self._work, self.s, self.d, self._width, out)
            else:
                lanes.linear_affine(self.numbers, self._work, self._sizes, self.bias, out)
            self._affine = torch.from_numpy(out)
        return self._affine

    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        raise NotImplementedError("packed nets take their steps in `advance`")

    def advance(self, moments: Array, start: int, stop: int) -> None:
        """Take the steps start .. stop - 1 on moments (G, batches, k k, LANES), the first of them of step 0."""
        self._affine = None
        if self.symmetric:
            sizes = self.s, self.d, self._width
            lanes.symmetric_steps(self.numbers, moments, self._targets, self._work, *sizes, start, stop)
        else:
            sizes = self._sizes, self.s, self.bias
            lanes.linear_steps(self.numbers, moments, self._targets, self._work, *sizes, start, stop)

    def zero(self, cells: Tensor) -> None:
        self._affine = None
        for place in np.flatnonzero(cells.numpy()):
            self.numbers[place // LANES, :, place % LANES] = 0


class LaneDescent:
    """Plain gradient descent of packed nets.

    Attributes:
        failed: all False, (C,): no step can fail.
    """

    def __init__(self, net: LaneNet, moments: MomentStream, dtype: np.dtype) -> None:
        self._net, self._moments, self._dtype = net, moments, np.dtype(dtype)
        self.failed = torch.zeros(net.cells, dtype=torch.bool)
        self._epoch = -1
        self._now: Array = np.empty(0, dtype)

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        batches = self._moments.batches
        while start < stop:
            epoch = start // batches
            self._load(epoch)
            end = min(stop, (epoch + 1) * batches) if self._moments.reshuffled else stop
            self._net.advance(self._now, start, end)
            start = end

    def _load(self, epoch: int) -> None:
        if self._epoch < 0 or (epoch != self._epoch and self._moments.reshuffled):
            self._now = self._moments.epoch_in_lanes(self._dtype)
        self._epoch = epoch

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self._net.zero(cells)
        self._moments.freeze(cells)
        # Before the first epoch is loaded there is nothing to zero here: the stream gives zeros for frozen cells.
        for place in np.flatnonzero(cells.numpy()) if self._epoch >= 0 else ():
            self._now[place // LANES, :, :, place % LANES] = 0
