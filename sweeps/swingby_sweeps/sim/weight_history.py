"""The weights of one cell along its run, in the original coordinates, as two more list columns of its row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from swingby_sweeps.dynamics.recorder import lists, rows_of

from .init import Start, full_layers

Array = np.ndarray
_MOST_NUMBERS = 25_000_000


class WeightHistory:
    """Collects the weights at recorded steps, all of them or, beyond 2.5e7 numbers (200 MB), every so many.

    `recorded` is the number of steps that will be recorded. An instance is a `Watch` of a batch of one cell.
    """

    def __init__(self, start: Start, recorded: int) -> None:
        numbers = sum(part.size for layer in full_layers(start, start.parameters) for part in layer if part is not None)
        self._start, self._stride = start, -(-recorded * numbers // _MOST_NUMBERS)
        self._seen, self._steps, self._weights = 0, list[int](), list[Array]()

    def __call__(self, step: int, parameters: list[Array]) -> None:
        """Keep the weights of the one cell, unless this step is skipped."""
        if self._seen % self._stride == 0:
            layers = full_layers(self._start, [part[0] for part in parameters])
            self._steps.append(step)
            self._weights.append(np.concatenate([part.ravel() for pair in layers for part in pair if part is not None]))
        self._seen += 1

    def append_to(self, table: pa.Table) -> pa.Table:
        """The row with `weights_step` (list<int64>) and `weights` (list<list<double>>) added."""
        ends = np.array([0, len(self._steps)])
        weights = rows_of(np.array(self._weights)) if self._weights else pa.array([], pa.list_(pa.float64()))
        table = table.append_column("weights_step", lists(ends, pa.array(self._steps, pa.int64())))
        return table.append_column("weights", lists(ends, weights))
