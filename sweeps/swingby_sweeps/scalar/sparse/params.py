"""Parameters of a diagonal linear net, theta_i = a_i b_i, that learns a sparse linear function with weight decay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, UntypedParams

DECADES = 8
"""Decades of time before the end of a run over which its stops are spaced evenly in log t."""


class SparseParams(UntypedParams):
    """One point of a grid. n normal points in d dimensions, a target of k equal entries with |w| = 1."""

    dtype: Literal["float64"] = Field("float64", description="arithmetic of the run")
    drive: Literal["flow", "gd"] = Field(
        "flow", description="gradient flow, integrated for n dual numbers; or gradient descent on all weights"
    )
    dimension: int = Field(100, ge=1, le=2000, title="dimension d", description="dimension d of the input")
    points: int = Field(50, ge=1, le=2000, title="training points n", description="n, training points")
    nonzeros: int = Field(3, ge=1, title="entries k of the target", description="k, entries 1/sqrt(k) of the target w")
    alpha: float = Field(1.0, gt=0, le=1e3, title="scale alpha of the start", description="a_i(0); b_i(0) is 0")
    decay: float = Field(0.01, ge=0, le=10, title="weight decay", description="of the loss decay/2 (|a|^2 + |b|^2)")
    duration: float = Field(12.0, gt=0, description="flow time of the run, in its unit")
    duration_unit: Literal["absolute", "decay"] = Field("decay", description="unit of time: 1, or 1/(2 decay)")
    training_steps: int = Field(
        200, ge=8, le=10_000, description="stops of the run, evenly spaced in log t over its last eight decades"
    )
    step_factor: float = Field(
        0.4, gt=0, lt=2, description="gd: a step times the curvature bound H max_i(a_i^2 + b_i^2), H = ||X^T X / n||"
    )

    @property
    def flow_time(self) -> float:
        """Flow time of the run."""
        return self.duration / (2 * self.decay) if self.duration_unit == "decay" else self.duration

    def _faults(self) -> Iterator[Fault]:
        if self.nonzeros > self.dimension:
            yield "nonzeros", f"nonzeros = {self.nonzeros} do not fit; allowed: at most dimension = {self.dimension}"
        if self.duration_unit == "decay" and self.decay == 0:
            yield "duration_unit", "duration_unit decay with decay = 0, whose inverse does not exist; allowed: absolute"
        elif not math.isfinite(self.flow_time):
            yield "decay", "the flow time overflows; allowed: a larger decay, or a shorter time"
        elif self.decay * self.flow_time > 300:
            most = f"{300 / self.decay:g}"
            yield "duration", f"the start shrinks by exp(-decay t), which underflows; allowed: a flow time up to {most}"
