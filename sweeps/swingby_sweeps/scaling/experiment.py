"""The experiment `multilinear`: curves of the loss of the multilinear and the linear model, in closed form."""

from __future__ import annotations

from typing import ClassVar

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import LIST, ROWS, Trained, columns_of
from swingby_sweeps.dynamics.shells import CellExperiment, preset

from .params import STREAM_VERSION, ScalingParams
from .report import REPORT

_TIMED = "bottleneck == 'time' or bottleneck == 'compute' or bottleneck == 'all'"


class Multilinear(CellExperiment[ScalingParams]):
    """The loss over time, data, width or compute of a model with a basis function for each skill ([T] 4.17)."""

    name = "multilinear"
    stream_version = STREAM_VERSION
    Params = ScalingParams
    presets: ClassVar = {
        "thesis": preset(
            "The target scale of [T] C.3 and a small start; [T] does not say the start behind its Figs 4.2 and 4.3.",
            s=5.0,
            r0=0.01,
        )
    }
    pinned = True
    read_where: ClassVar = {
        "r0": "model == 'multilinear' and bottleneck != 'width'",
        "lr": _TIMED,
        "data": "bottleneck == 'all'",
        "width": "bottleneck == 'compute' or bottleneck == 'all'",
        "drawn": "bottleneck == 'data'",
    }
    report = REPORT
    numbered = "number of the point along the curve", "points"
    curves = columns_of(LIST, x="the resource: T, D, N or C = T N", loss="L ([T] 4.17)")
    recordings: ClassVar = {
        "strengths": columns_of(ROWS, strength="R_1, ..., R_10 at each point; null unless the resource is time"),
        "removals": columns_of(
            LIST,
            loss_any_time="L with T unlimited, and D and N as they are; null unless all are limited",
            loss_any_data="L with D unlimited, and T and N as they are; null unless all are limited",
            loss_any_width="L with N unlimited, and T and D as they are; null unless all are limited",
        ),
        "best_width": columns_of(
            LIST, best_width="N at each point, the width of least loss; null unless the resource is compute"
        ),
    }
    ends = ("loss",)

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

    def train(self, cell: Cell[ScalingParams], recording: Recording) -> Trained:
        """Compute the curves of a cell."""
        from .losses import train

        return train(cell, recording)
