"""The experiment `mlp_regimes`: what the platform asks of it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Column, Recording
from swingby_sweeps.dynamics.columns import COUNT, LIST, Trained, columns_of
from swingby_sweeps.dynamics.metrics import COLUMNS, Metrics, as_columns
from swingby_sweeps.dynamics.shells import CellExperiment, presets_of

from . import presets
from .params import MlpParams
from .report import REPORT

_RECORDED = 80
"""Recorded steps of a usual run."""
_TESTED = {"digits": 1541, "mnist": 10_000}


def _features() -> dict[str, Column]:
    """Columns of the metrics of the last hidden layer, on test and training points (`dynamics.metrics`)."""
    samples = {"test": "test points", "train": "training points and their labels"}
    return {
        name: Column(LIST, f"{COLUMNS[name.removeprefix('train_')]}; of the {points}; null where there is none")
        for sample, points in samples.items()
        for name in as_columns(Metrics(), sample, spectrum=False)
    }


class MlpRegimes(CellExperiment[MlpParams]):
    """Tanh nets on handwritten digits ([T] 2.3, 3.5.3, 6.4): when do they generalise, and with which features?"""

    name = "mlp_regimes"
    stream_version = 1
    pinned = True
    Params = MlpParams
    presets = presets_of(presets.digits, presets.cheap, presets.collapse, presets.thesis)
    one_thread = "torch"
    report = REPORT
    curves = columns_of(
        LIST,
        train_accuracy="share of the training points whose label is told",
        test_accuracy="share of the test points whose digit is told",
        train_loss="mean of (f - y)^2 over the training points and the outputs",
        test_loss="mean of (f - y)^2 over the test points and the outputs",
        weight_norm="norm of all weight matrices over that at the start",
        feature_change="||Phi - Phi_0|| / ||Phi_0|| of the last hidden layer on the training points: 0 where it is "
        "lazy",
        kappa="1 - CKA of the features' kernel and the projection onto the span of the outputs, not centred over "
        "classes, on the training points ([T] Definition 2); null where either is constant. For kappa_cka of the "
        "recording features the mean over classes is taken from the outputs first",
        d_eff="effective dimension of the features on the training points, the first counted as one ([T] eq 2.6)",
    )
    recordings: ClassVar = {"features": _features()}
    scalars: ClassVar = {
        "steps_per_epoch": Column(COUNT, "steps in one pass over the training points", "steps"),
        "test_points": Column(COUNT, "number of test points"),
    }

    def shape(self, p: MlpParams) -> str:
        """What decides the cost of a cell."""
        sizes = f"{p.images}-n{p.points}-{p.layers}x{p.width}-{p.target}-{p.trained}"
        return f"{sizes}-b{p.batch_size}-e{p.epochs}-{p.dtype}"

    def steps(self, p: MlpParams) -> int:
        """Steps of the whole run."""
        return p.total_steps

    def length(self, params: MlpParams) -> str:
        """Passes over the training points."""
        return "epochs"

    def work(self, p: MlpParams) -> float:
        """Seconds of a cell on the machine where they were measured, to a factor of 2."""
        slower = 1 if p.dtype == "float32" else 2
        epoch = 1.5e-10 * p.points * p.weights + p.steps_per_epoch * (1e-4 + 3e-10 * p.weights)
        records = min(_RECORDED, p.total_steps + 1)
        recorded = records * (4e-11 * (_TESTED[p.images] + p.points) * p.weights + 1e-8 * p.width**2.5)
        return slower * (p.epochs * epoch + recorded)

    def max_batch(self, params: MlpParams) -> int:
        """Cells of a minute or so: they are trained one after another, and a batch is the unit that is handed out."""
        return int(np.clip(60 / self.work(params), 1, 256))

    def tolerance(self, params: MlpParams) -> float:
        """Nothing but the order of equal operations: a cell never shares an array with another."""
        return 1e-9

    def train(self, cell: Cell[MlpParams], recording: Recording) -> Trained:
        """Train a cell.

        Raises:
            SwingbyError: the images cannot be read.
        """
        from .engine import train

        return train(cell, recording)
