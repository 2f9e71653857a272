"""The experiment `multilinear`: curves of the loss of the multilinear and the linear model, in closed form."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment, Recording
from swingby.model.params import Params
from swingby.model.reported import Reported

from . import presets
from .params import STREAM_VERSION, ScalingParams
from .report import REPORT

_LIST = pa.list_(pa.float64())
_TIMED = "bottleneck == 'time' or bottleneck == 'compute' or bottleneck == 'all'"


class Multilinear(Experiment[ScalingParams]):
    """The loss over time, data, width or compute of a model with a basis function for each skill ([T] 4.17)."""

    name: ClassVar[str] = "multilinear"
    stream_version: ClassVar[int] = STREAM_VERSION
    Params: ClassVar[type[Params]] = ScalingParams
    presets: ClassVar[Mapping[str, Any]] = {"thesis": presets.thesis}
    default_preset: ClassVar[str | None] = "thesis"
    pinned = True
    read_where: ClassVar[Mapping[str, str]] = {
        "r0": "model == 'multilinear' and bottleneck != 'width'",
        "lr": _TIMED,
        "data": "bottleneck == 'all'",
        "width": "bottleneck == 'compute' or bottleneck == 'all'",
        "drawn": "bottleneck == 'data'",
    }
    report: ClassVar[Reported] = REPORT
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "number of the point along the curve", "points"),
        "x": Column(_LIST, "the resource: T, D, N or C = T N"),
        "loss": Column(_LIST, "L ([T] 4.17)"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "strengths": {
            "strength": Column(pa.list_(_LIST), "R_1, ..., R_10 at each point; null unless the resource is time"),
        },
        "removals": {
            "loss_any_time": Column(_LIST, "L with T unlimited, and D and N as they are; null unless all are limited"),
            "loss_any_data": Column(_LIST, "L with D unlimited, and T and N as they are; null unless all are limited"),
            "loss_any_width": Column(_LIST, "L with N unlimited, and T and D as they are; null unless all are limited"),
        },
        "best_width": {
            "best_width": Column(_LIST, "N at each point, the width of least loss; null unless the resource is compute")
        },
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "final_loss": Column(pa.float64(), "L at the end of the curve"),
        "seconds": Column(pa.float64(), "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: ScalingParams) -> str:
        """The resource and the number of points; cells share a batch and no arrays."""
        return f"{p.bottleneck} {p.points}"

    def steps(self, p: ScalingParams) -> int:
        """The number of the last point of the curve, counted from 0."""
        return p.points - 1

    def work(self, p: ScalingParams) -> float:
        """Nanoseconds of a cell on the machine where they were measured, to a factor of 2."""
        evaluated = {"time": 1, "data": 0 if p.drawn else 1, "width": 0, "compute": 1 if p.width else 20, "all": 3}
        sampled = 5e4 * (p.points if p.bottleneck == "data" else 5) + 10 * p.sampled if p.sampled else 0
        return 3e5 + 8_000.0 * p.points * evaluated[p.bottleneck] + sampled

    def max_batch(self, p: ScalingParams) -> int:
        """As many cells as have 200 MB of recorded numbers."""
        return max(min(200_000_000 // (p.points * 8 * 20), 4096), 1)

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Compute the curves; one table, one final row a cell, in the order of the batch."""
        requested = {name: column for key in batch.recording.also for name, column in self.recordings[key].items()}
        began = time.perf_counter()
        rows = [_row(cell, batch.recording, requested) for cell in batch.cells]
        share = (time.perf_counter() - began) / len(rows)
        yield pa.Table.from_pylist([{**row, "seconds": share} for row in rows], self.schema(batch.recording))


def _row(cell: Cell[ScalingParams], recording: Recording, requested: Mapping[str, Column]) -> dict[str, Any]:
    """The final row of one cell."""
    from swingby_sweeps.dynamics.columns import final_row

    from .losses import curves, strengths

    p = cell.params
    steps = recording.at(p.points - 1)
    found: dict[str, np.ndarray | None] = {**curves(cell)}
    if "strength" in requested:
        recorded = found["x"]
        assert recorded is not None
        found["strength"] = strengths(p, recorded)
    kept = {name: values[steps].tolist() for name, values in found.items() if values is not None}
    return {**final_row(cell, steps), **kept, "final_loss": kept["loss"][-1]}
