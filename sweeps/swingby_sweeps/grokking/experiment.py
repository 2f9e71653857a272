"""The experiment `mlp_regimes`: what the platform asks of it, and `run`, which trains one cell after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment, Recording
from swingby.model.params import Params
from swingby.model.reported import Reported
from swingby_sweeps.dynamics.metrics import COLUMNS, Metrics, as_columns

from . import presets
from .params import MlpParams
from .report import REPORT

_LIST = pa.list_(pa.float64())
_RECORDED = 80
"""Recorded steps of a usual run."""
_TESTED = {"digits": 1541, "mnist": 10_000}


def _features() -> dict[str, Column]:
    """Columns of the metrics of the last hidden layer, on test and training points (`dynamics.metrics`)."""
    samples = {"test": "test points", "train": "training points and their labels"}
    return {
        name: Column(_LIST, f"{COLUMNS[name.removeprefix('train_')]}; of the {points}; null where there is none")
        for sample, points in samples.items()
        for name in as_columns(Metrics(), sample, spectrum=False)
    }


class MlpRegimes(Experiment[MlpParams]):
    """Tanh nets on handwritten digits ([T] 2.3, 3.5.3, 6.4): when do they generalise, and with which features?"""

    name: ClassVar[str] = "mlp_regimes"
    stream_version: ClassVar[int] = 1
    pinned = True
    Params: ClassVar[type[Params]] = MlpParams
    presets: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
        "digits": presets.digits,
        "cheap": presets.cheap,
        "collapse": presets.collapse,
        "thesis": presets.thesis,
    }
    default_preset: ClassVar[str | None] = "digits"
    requires: ClassVar[Mapping[str, str]] = {
        "torch": "swingby[run]",
        "threadpoolctl": "swingby[run]",
    }
    report: ClassVar[Reported] = REPORT
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "train_accuracy": Column(_LIST, "share of the training points whose label is told"),
        "test_accuracy": Column(_LIST, "share of the test points whose digit is told"),
        "train_loss": Column(_LIST, "mean of (f - y)^2 over the training points and the outputs"),
        "test_loss": Column(_LIST, "mean of (f - y)^2 over the test points and the outputs"),
        "weight_norm": Column(_LIST, "norm of all weight matrices over that at the start"),
        "feature_change": Column(
            _LIST, "||Phi - Phi_0|| / ||Phi_0|| of the last hidden layer on the training points: 0 where it is lazy"
        ),
        "kappa": Column(
            _LIST,
            "1 - CKA of the features' kernel and the projection onto the span of the outputs, not centred over "
            "classes, on the training points ([T] Definition 2); null where either is constant. For kappa_cka of the "
            "recording features the mean over classes is taken from the outputs first",
        ),
        "d_eff": Column(
            _LIST, "effective dimension of the features on the training points, the first counted as one ([T] eq 2.6)"
        ),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {"features": _features()}
    scalars: ClassVar[Mapping[str, Column]] = {
        "steps_per_epoch": Column(pa.int64(), "steps in one pass over the training points", "steps"),
        "test_points": Column(pa.int64(), "number of test points"),
        "seconds": Column(pa.float64(), "time of the training", "s"),
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

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the cells in their order; a table with one final row as each ends.

        Raises:
            SwingbyError: the images cannot be read.
        """
        from swingby_sweeps.dynamics.training import one_thread

        with one_thread():
            for cell in batch.cells:
                if batch.draining():
                    return
                yield self._train(cell, batch.recording)

    def _train(self, cell: Cell[MlpParams], recording: Recording) -> pa.Table:
        from swingby_sweeps.dynamics.columns import finished, lists, table

        from .engine import train

        p = cell.params
        began = time.perf_counter()
        steps = recording.at(p.total_steps, p.steps_per_epoch)
        trained = train(cell, steps, "features" in recording.also)
        kept, status = len(trained.rows), np.array(["diverged" if trained.diverged else "ok"])
        names = [*self.curves, *(name for key in recording.also for name in self.recordings[key])]
        curves = {name: np.array([row[name] for row in trained.rows], float) for name in names if name != "step"}
        ends = np.array([0, kept])
        found = {
            **finished([cell], steps, np.array([kept]), status, [trained.diverged]),
            # NaN is how the engine writes that a value does not exist.
            **{name: lists(ends, pa.array(curve, from_pandas=True)) for name, curve in curves.items()},
            "steps_per_epoch": pa.array([p.steps_per_epoch]),
            "test_points": pa.array([trained.tested]),
            "seconds": pa.array([time.perf_counter() - began]),
        }
        return table(found, self.schema(recording))
