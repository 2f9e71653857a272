"""The experiment `sparse_diagonal`: a diagonal linear net that fits its points early and generalizes late."""

from __future__ import annotations

from typing import ClassVar

from swingby.model.cell import Cell
from swingby.model.experiment import Column, Recording
from swingby_sweeps.dynamics.columns import COUNT, LIST, NUMBER, ROWS, Trained, columns_of
from swingby_sweeps.dynamics.shells import CellExperiment

from ..report import SPARSE, THESIS
from .params import SparseParams


class SparseDiagonal(CellExperiment[SparseParams]):
    """theta_i = a_i b_i on |X theta - y|^2/(2n) + decay/2 (|a|^2 + |b|^2), from a(0) = alpha and b(0) = 0."""

    name = "sparse_diagonal"
    stream_version = 1
    pinned = True
    Params = SparseParams
    presets: ClassVar = {"thesis": THESIS}
    read_where: ClassVar = {"step_factor": "drive == 'gd'"}
    report = SPARSE
    numbered = "recorded stops, counted from 0", "steps"
    curves: ClassVar = {
        "at_time": Column(LIST, "flow time of the stop", "flow time"),
        "train_error": Column(LIST, "|X theta - y|^2 / |y|^2"),
        "test_error": Column(LIST, "|theta - w|^2, the error on new points over their mean y^2"),
    }
    recordings: ClassVar = {
        "theta": columns_of(ROWS, theta="theta at each recorded stop; the entries of the target come first"),
    }
    scalars: ClassVar = {
        "flow_time": Column(NUMBER, "flow time of the run", "flow time"),
        "train_time": Column(NUMBER, "first time with a train error of at most 1 %; null if never", "flow time"),
        "test_time": Column(NUMBER, "first time with |theta - w|^2 of at most .05; null if never", "flow time"),
        "final_train_error": Column(NUMBER, "train error at the end"),
        "final_test_error": Column(NUMBER, "test error at the end"),
        "late_test_error": Column(NUMBER, "test error after 80 % of the flow time, from which a run may still move"),
        "critical": Column(
            NUMBER,
            "C*: the largest c at which the interpolator theta = (c/2) sinh(2 X^T nu) of the run's own points has "
            "|theta - w|^2 <= .05; null where none does",
        ),
        "imbalance_off": Column(
            NUMBER, "gd: largest distance of a_i^2 - b_i^2 from alpha^2 exp(-2 decay t), over the latter, at any stop"
        ),
        "steps_taken": Column(COUNT, "steps of descent, or of the integrator"),
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

    def train(self, cell: Cell[SparseParams], recording: Recording) -> Trained:
        """Train a cell by compiled kernels."""
        from .engine import train

        return train(cell, recording)
