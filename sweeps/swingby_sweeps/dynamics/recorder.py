"""Recorder of the curves of a batch at chosen steps; it detects divergence, and gives the curves as list columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from .columns import Columns, prefixes
from .nets import Net

Array = np.ndarray
Observe = Callable[[Net, Array], Mapping[str, Array]]
"""From nets, and the mask (C,) of the cells that are still recorded, to the values of the curves by name: each (C,) or
(C, m), float64."""


class Recorder:
    """Curves of C cells at the recorded steps.

    A cell diverges where one of its losses is not finite or above its limit, or one of the `finite` curves is not
    finite. The record at which it diverges is kept if it is finite; no later one is.

    Args:
        steps: the recorded steps, (T,).
        observe: gives the values to record.
        losses: names of the scalar curves to which the limit applies.
        limit: the loss beyond which a cell has diverged, (C,).
        finite: names of further curves that have to be finite.

    Attributes:
        length: number of recorded steps of each cell, (C,): all, or those before it diverged.
        diverged: which cells diverged, (C,).
        diverged_place: the number of the recorded step at which that was noticed, (C,).
    """

    def __init__(
        self, steps: Array, observe: Observe, losses: Sequence[str], limit: Array, finite: Sequence[str] = ()
    ) -> None:
        self.steps, self._observe, self._losses, self._limit = steps, observe, tuple(losses), limit
        self._finite = tuple(finite)
        # The first axis is the step, as the numbers come: they are transposed once, at the end.
        self._curves: dict[str, Array] = {}
        cells = len(limit)
        self.length = np.zeros(cells, dtype=np.int64)
        self.diverged, self._closed = np.zeros((2, cells), dtype=bool)
        self.diverged_place = np.zeros(cells, dtype=np.int64)

    def take(self, place: int, net: Net) -> Tensor:
        """Record `net` as recorded step number `place`; gives the cells that diverge there, a mask (C,) on the CPU."""
        going = ~self._closed
        values = self._observe(net, going)
        losses = np.stack([values[name] for name in self._losses])
        finite = np.isfinite(losses).all(0)
        for name in self._finite:
            finite &= np.isfinite(values[name]).all(1)
        with np.errstate(invalid="ignore"):
            fine = finite & (losses <= self._limit).all(0)
        keep = going & finite
        for name, value in values.items():
            if name not in self._curves:
                self._curves[name] = np.full((len(self.steps), *value.shape), np.nan)
            np.copyto(self._curves[name][place], value, where=keep if value.ndim == 1 else keep[:, None])
        self.length[keep] = place + 1
        self.diverged |= going & ~fine
        self.diverged_place[going & ~fine] = place
        self._closed |= ~fine
        return torch.from_numpy(going & ~fine)

    def close(self, cells: Array) -> None:
        """Record the cells of a mask (C,) no more."""
        self._closed |= cells

    def columns(self) -> Columns:
        """One list column a curve."""
        curves = {name: np.ascontiguousarray(values.swapaxes(0, 1)) for name, values in self._curves.items()}
        return {name: prefixes(self.length, values) for name, values in curves.items()}


def on_host(values: Mapping[str, Tensor]) -> dict[str, Array]:
    """Tensors (C,) or (C, m) as float64 arrays; from a GPU in one transfer, since the host waits for each."""
    if next(iter(values.values())).device.type == "cpu":
        return {name: value.double().numpy() for name, value in values.items()}
    rows = [value.double().reshape(len(value), -1) for value in values.values()]
    parts = torch.cat(rows, dim=1).cpu().split([row.shape[1] for row in rows], dim=1)
    return {name: part.reshape(values[name].shape).numpy() for name, part in zip(values, parts, strict=True)}
