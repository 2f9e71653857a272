"""The experiment `sparse_diagonal`: a diagonal linear net that fits its points early and generalizes late."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment, Recording
from swingby.model.reported import Reported

from .. import presets
from ..report import SPARSE
from .params import SparseParams

_LIST, _NUMBER = pa.list_(pa.float64()), pa.float64()


class SparseDiagonal(Experiment[SparseParams]):
    """theta_i = a_i b_i on |X theta - y|^2/(2n) + decay/2 (|a|^2 + |b|^2), from a(0) = alpha and b(0) = 0."""

    name: ClassVar[str] = "sparse_diagonal"
    stream_version: ClassVar[int] = 1
    pinned: ClassVar[bool] = True
    Params: ClassVar[type[SparseParams]] = SparseParams
    presets: ClassVar[Mapping[str, Any]] = {"thesis": presets.thesis}
    default_preset: ClassVar[str | None] = "thesis"
    read_where: ClassVar[Mapping[str, str]] = {"step_factor": "drive == 'gd'"}
    report: ClassVar[Reported] = SPARSE
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded stops, counted from 0", "steps"),
        "at_time": Column(_LIST, "flow time of the stop", "flow time"),
        "train_error": Column(_LIST, "|X theta - y|^2 / |y|^2"),
        "test_error": Column(_LIST, "|theta - w|^2, the error on new points over their mean y^2"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "theta": {
            "theta": Column(pa.list_(_LIST), "theta at each recorded stop; the entries of the target come first")
        },
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "flow_time": Column(_NUMBER, "flow time of the run", "flow time"),
        "train_time": Column(_NUMBER, "first time with a train error of at most 1 %; null if never", "flow time"),
        "test_time": Column(_NUMBER, "first time with |theta - w|^2 of at most .05; null if never", "flow time"),
        "final_train_error": Column(_NUMBER, "train error at the end"),
        "final_test_error": Column(_NUMBER, "test error at the end"),
        "late_test_error": Column(_NUMBER, "test error after 80 % of the flow time, from which a run may still move"),
        "critical": Column(
            _NUMBER,
            "C*: the largest c at which the interpolator theta = (c/2) sinh(2 X^T nu) of the run's own points has "
            "|theta - w|^2 <= .05; null where none does",
        ),
        "imbalance_off": Column(
            _NUMBER, "gd: largest distance of a_i^2 - b_i^2 from alpha^2 exp(-2 decay t), over the latter, at any stop"
        ),
        "steps_taken": Column(pa.int64(), "steps of descent, or of the integrator"),
        "seconds": Column(_NUMBER, "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: SparseParams) -> str:
        """The drive and the number of stops; all else is a cell's own."""
        return f"{p.drive} {p.training_steps}"

    def steps(self, p: SparseParams) -> int:
        """Stops of the whole run."""
        return p.training_steps

    def work(self, p: SparseParams) -> float:
        """Nanoseconds of a cell on the machine where they were measured, to a factor of 2."""
        n, d = p.points, p.dimension
        solves = 1e4 + n * n * (0.15 * d + 0.06 * n)
        whole = 120 * solves  # C*
        if p.drive == "flow":
            return whole + (1.3 * p.training_steps + 20) * solves
        # Steps of descent while the start shrinks, and afterwards, at the bound of the Marchenko-Pastur law.
        bound = (1 + (d / n) ** 0.5) ** 2 / (2 * p.step_factor)
        shrunk = p.alpha**2 * min(p.flow_time, 0.5 / p.decay) if p.decay else p.alpha**2 * p.flow_time
        taken = 2 * bound * (shrunk + 1.2 * p.flow_time) + 20 * p.decay * p.flow_time
        return whole + min(taken + p.training_steps, 5e6) * (0.5 * n * d + 200)

    def max_batch(self, params: SparseParams) -> int:
        """Cells are trained one by one; a batch of 256 takes seconds."""
        return 256

    def tolerance(self, params: SparseParams) -> float:
        """Rounding, which the flow's adaptive steps carry on."""
        return 1e-9

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        from swingby_sweeps.dynamics.columns import table

        from .engine import train

        began = time.perf_counter()
        yield table(train(batch.cells, batch.recording), self.schema(batch.recording), began)

    def replay(self, cell: Cell, device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again, with theta at every stop."""
        yield from self.run(Batch((cell,), Recording("every", also=tuple(self.recordings)), device))
