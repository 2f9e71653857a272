"""The SIM experiment: what the platform asks of it, and `run`, which trains one batch of cells of one shape."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model.cell import Cell, Point, SeedMode
from swingby.model.experiment import Batch, Column, Experiment, Recording
from swingby.model.params import Params
from swingby.model.reported import Reported
from swingby_sweeps.dynamics.kernels import LANES, side_by_side, two_by_two
from swingby_sweeps.dynamics.metrics import COLUMNS
from swingby_sweeps.dynamics.shapes import CHUNK

from . import presets
from .params import STREAM_VERSION, SimParams
from .report import REPORT

if TYPE_CHECKING:
    from swingby_sweeps.dynamics.training import Watch

    from .engine import Engine

_LIST, _ROWS = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))
_MEMORY = 1e9
"""Bytes that one batch may occupy."""
_RECORDED = 200
"""Recorded steps of a usual run."""
_REPLAYED_STEPS = 20_000
_SILENT_FOR = 1.0
"""Seconds until the message about kernels: those that were compiled before are loaded in less."""


def _twin(name: str, drive: str, none: str) -> dict[str, Column]:
    """Columns of the recording `name`: curves of the twin that `drive` trains; `none` says which runs have none."""
    whole = f"of the run's twin, which has its start and its training set and is trained by {drive}, hence without "
    whole += f"sampling noise; it ends where the run or the twin diverges; null for {none}"
    return {
        f"{name}_ood_loss": Column(_LIST, f"ood_loss {whole}"),
        f"{name}_train_loss": Column(_LIST, f"train_loss {whole}"),
        f"{name}_output": Column(_ROWS, f"output {whole}"),
    }


def _features() -> dict[str, Column]:
    """Columns of the recording `features`: metrics of the last hidden layer (`dynamics.metrics`)."""
    names = ("kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "modes", "output_variance")
    where = "of the last hidden layer on 500 points of the clusters that no training sees; null where there is none"
    return {name: Column(_LIST, f"{COLUMNS[name]}; {where}") for name in names}


class Sim(Experiment[SimParams]):
    """Structured identity mapping ([S] 2.1): nets and theory on one task, recorded in one table.

    Attributes:
        engine: the engine that trains, "compiled" or "torch"; None for the faster one.
    """

    name: ClassVar[str] = "sim"
    stream_version: ClassVar[int] = STREAM_VERSION
    pinned = True
    Params: ClassVar[type[Params]] = SimParams
    presets: ClassVar[Mapping[str, Any]] = {"paper": presets.paper, "authors": presets.authors}
    default_preset: ClassVar[str | None] = "paper"
    requires: ClassVar[Mapping[str, str]] = dict.fromkeys(("torch", "threadpoolctl"), "swingby[run]")
    read_where: ClassVar[Mapping[str, str]] = {
        "n": "drive == 'sgd' or moments == 'sample'",
        "layers": "model == 'linear' or model == 'relu'",
        "width": "model == 'symmetric' or model == 'w_recurrence' or (model != 'one_layer' and layers > 1)",
        "init_gain": "init == 'normal'",
        "init_high": "init == 'uniform'",
        "epochs": "drive == 'sgd'",
        "batch_size": "drive == 'sgd'",
        "shuffle": "drive == 'sgd'",
        "gd_steps": "drive != 'sgd'",
        "moments": "drive != 'sgd'",
        "rtol": "drive == 'flow'",
    }
    report: ClassVar[Reported] = REPORT
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "ood_loss": Column(_LIST, "1/2 ||f(x^) - x^||^2 at the test point, over all d coordinates"),
        "train_loss": Column(_LIST, "L over the whole training set (eq 2.1), whatever a step descends"),
        "output": Column(_ROWS, "f(x^) in the s informative directions, rotation undone"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "jacobian": {"jacobian": Column(_ROWS, "df/dx at x^, informative s x s block, row-major (row = output)")},
        "hierarchy": {"hierarchy_loss": Column(_ROWS, "loss at each x^(v) (B.1); bit p of the index is v_(p+1)")},
        "centres": {"centre_output": Column(_ROWS, "f at each training centre, s x s, row p = centre p")},
        "twin_gd": _twin("twin_gd", "full-batch descent in steps as long as the run's", "all but sgd, and relu"),
        "twin_flow": _twin("twin_flow", "gradient flow", "all but sgd and gd, and for relu and w_recurrence"),
        "velocity": {
            "growth": Column(_ROWS, "G_ij of eq 4.3 in its own time, s x s, row-major, by `a`; symmetric family only"),
            "suppression": Column(_ROWS, "S_ij of eq 4.3; W' = G - S - N for gd and flow on population moments"),
            "noise": Column(_ROWS, "N_ij of eq 4.3; growth, suppression and noise are null for other models"),
        },
        "points": {
            "training_point": Column(
                _ROWS,
                "up to 500 training points in the s informative directions, rotation undone: the 50 nearest to x^, "
                "nearest first, then every n-th other; once a run; null where moments: population draws none",
            ),
        },
        "features": _features(),
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "a": Column(_LIST, "a_p = sigma_p^2 + mu_p^2/C of the cell's own conventions (to the power moment_power)"),
        "l_ref": Column(pa.float64(), "1/2 ||x^||^2, the unit of loss"),
        "final_ood_loss": Column(pa.float64(), "last recorded OOD loss"),
        "final_train_loss": Column(pa.float64(), "last recorded training loss"),
        "gradient_norm": Column(
            pa.float64(),
            "||grad L|| over the whole training set at the final weights, float64 (null for w_recurrence)",
        ),
        "growth_rate": Column(
            pa.float64(),
            "largest growth rate of the flow of L linearised at the final weights, float64; null where the final OOD "
            "loss is at most 1 % of L_ref, the net has more than 400 trained parameters, the cell diverged, or for "
            "w_recurrence",
            "1/time of the flow of L",
        ),
        "smallest_eigenvalue": Column(
            pa.float64(),
            "smallest eigenvalue of W = U U^T at the end (symmetric); of the recorded W with the lowest ratio of it to "
            "the trace, also in a cell that diverged (w_recurrence)",
        ),
        "trace": Column(pa.float64(), "trace of the W of smallest_eigenvalue"),
        "rank0": Column(
            pa.int64(), "rank of U_0: singular values above the largest x max(d, d') x 2.2e-16 (symmetric family)"
        ),
        "narrowest": Column(pa.int64(), "narrowest layer that the output passes through"),
        "time_per_step": Column(
            pa.float64(), "time of the flow of L (eq 4.1) in one step: lr x 1, 2/d or 1/2; that of eq 4.3 is twice this"
        ),
        "seconds": Column(pa.float64(), "this cell's share of its batch's time", "s"),
        "engine": Column(pa.string(), "the code that computed it, and where"),
    }

    def __init__(self, engine: Engine | None = None) -> None:
        """`engine`: by default that of the environment variable SWINGBY_ENGINE.

        Raises:
            SwingbyError: the variable names no engine.
        """
        if engine is None:
            match variable := os.environ.get("SWINGBY_ENGINE", ""):
                case "compiled" | "torch":
                    engine = variable
                case "":
                    pass
                case _:
                    message = f"SWINGBY_ENGINE = {variable!r} is no engine; allowed: compiled, torch, or unset"
                    raise SwingbyError(message)
        self.engine: Engine | None = engine

    @classmethod
    def point(cls, preset: str = "paper", seeds: SeedMode = "common", **values: Any) -> Point:
        """One point of a grid: a preset, and the values that differ from it."""
        return Point(cls.name, cls.stream_version, SimParams(**{**cls.presets[preset](values), **values}), seeds)

    def shape(self, p: SimParams) -> str:
        """The values that cells of one batch share; mu, sigma, lr, initialisation and the like are a cell's own."""
        parts = [p.model, p.drive, f"s{p.s}", f"d{p.d}", f"L{p.depth}"]
        if p.depth > 1 or p.starts_from_U:
            parts += [f"w{p.width}"]
        if p.drive == "sgd":
            parts += [f"N{p.points}", f"b{p.batch_size}", f"e{p.epochs}", p.shuffle]
        else:
            parts += [f"t{p.gd_steps}"]
        return " ".join([*parts, *(["bias"] if p.bias else []), p.dtype])

    def steps(self, p: SimParams) -> int:
        """Steps of the whole run."""
        return p.total_steps

    def length(self, p: SimParams) -> str:
        """Passes over the data, or steps (and the time of a flow)."""
        return "epochs" if p.drive == "sgd" else "gd_steps"

    def work(self, p: SimParams) -> float:
        """Nanoseconds of a cell by compiled kernels on the machine where they were measured, to a factor of 2."""
        weights, k, drawn = _weights(p), p.s + p.bias, 0.0
        if p.drive == "sgd" or p.moments == "sample":
            passes = p.epochs if p.drive == "sgd" and p.shuffle == "every_epoch" else 1
            drawn = p.points * (6.5 * p.s + 9 * passes)
        starting = 1e5 + 1.5 * p.d**3 * p.rotate
        if p.model == "relu":
            # A multiplication takes longer in loops over points than in matrix products, which small nets do not fill.
            each = 0.04 if min(p.width, p.d) >= 16 else 0.15
            return starting + drawn + each * p.points * weights * (3 * p.epochs + _RECORDED)
        steps: float = p.total_steps
        if p.drive not in ("sgd", "gd"):  # a longer run takes hardly more: adaptive steps, or what is recorded alone
            steps = (7 * 500 if p.drive == "flow" else _RECORDED) + math.log1p(p.total_steps)
        return starting + drawn + steps * (0.1 * k * weights + 5 * p.depth)

    def max_batch(self, p: SimParams) -> int:
        """How many cells fit into 1 GB: draws and curves in float64, the engine's data in the cell's dtype."""
        k, item = p.s + p.bias, 8 if p.dtype == "float64" else 4
        held, drawn = 4 * _weights(p), sum(out * fan_in for out, fan_in in p.layer_shapes) + p.d**2
        if p.model == "relu":
            held += 2 * p.points * k + 3 * max(p.batch_size, CHUNK) * (p.depth * p.width + p.d)
            drawn += p.points * p.s
        elif p.drive == "sgd":
            held += p.steps_per_epoch * k * k
            drawn += p.steps_per_epoch * p.clusters * (1 + p.s) ** 2
            drawn += p.points * p.s if p.shuffle == "every_epoch" else 0
        curves = _RECORDED * (2 + p.s + (5 if p.starts_from_U else 2) * p.s**2 + 2**p.s)
        return int(np.clip(_MEMORY / (item * held + 8 * drawn + 16 * curves), 1, 16_384))

    def prepare(self, params: Sequence[Any], tell: Callable[[str], None]) -> None:
        """Compile the kernels that such cells need on a CPU, by training a tiny cell for each set of kernels."""
        from swingby_sweeps.dynamics.training import one_thread

        # The key has what decides which functions are compiled, and for which types.
        kernels: dict[tuple[object, ...], SimParams] = {}
        for p in params:
            if p.compiled:
                kinds = p.net_shape.kind, side_by_side(p.net_shape), two_by_two(p.net_shape)
                kernels[(*kinds, p.drive, p.shuffle, p.dtype)] = p
        text = "loading kernels; where they are new to this machine they are compiled first, up to 20 s, once ..."
        timer = threading.Timer(_SILENT_FOR, tell, [text])
        timer.daemon = True
        timer.start()
        try:
            with one_thread():
                for p in kernels.values():
                    tiny = p.model_copy(update={"n": 8, "epochs": 2, "batch_size": 4, "gd_steps": 2})
                    cell = Cell(Point(self.name, self.stream_version, tiny), 0)
                    for _ in self.run(Batch((cell,), Recording(points=3))):
                        pass
        finally:
            timer.cancel()

    def lanes(self, p: SimParams) -> int:
        """Sixteen on a CPU; one for large ReLU nets, and where torch trains."""
        return LANES if self.engine != "torch" and p.compiled and side_by_side(p.net_shape) else 1

    def tolerance(self, p: SimParams) -> float:
        """Rounding; for a flow more, as its adaptive steps end at recorded steps, and so depend on what is recorded.

        `rtol` bounds the error of one step; on the way out of a saddle it grows, to 5 rtol in the nets tried.
        """
        rounding = super().tolerance(p)
        return max(rounding, 100 * p.rtol) if p.drive == "flow" else rounding

    def run(self, batch: Batch[SimParams]) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch.

        Raises:
            LostWorkerError: the GPU is lost, for which no cell is at fault.
            SwingbyError: features are asked for of a model without a hidden layer.
        """
        p = batch.cells[0].params
        if "features" in batch.recording.also and (p.model == "w_recurrence" or not p.net_shape.hidden):
            layers = f" of {p.layers} layer" if p.model in ("linear", "relu") else ""
            raise SwingbyError(
                f"record: {{also: [features]}}: the model {p.model}{layers} has no hidden layer; allowed: linear and "
                "relu of 2 layers or more, symmetric"
            )
        from swingby.model.retryable import retryable
        from swingby_sweeps.dynamics.training import ask_gpu, one_thread

        with retryable(ask_gpu), one_thread():
            result = self._train(batch.cells, batch.recording, batch.device)
        yield result

    def replay(self, cell: Cell[SimParams], device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again, with every recording and two more list columns: `weights_step`, and `weights` at these steps.

        Runs of up to 20,000 steps are recorded at every step, longer ones at 20,000 log-spaced steps. A row of
        `weights` has all weights (of w_recurrence: W) in the original coordinates, layer by layer from the input on,
        each weight matrix row-major and then its bias; where they would exceed 2.5e7 numbers, only every n-th recorded
        step has a row.
        """
        from swingby_sweeps.dynamics.training import one_thread

        from .init import Start
        from .rows import WeightHistory

        p = cell.params
        every = p.total_steps <= _REPLAYED_STEPS
        recording = Recording("every" if every else "log", _REPLAYED_STEPS, tuple(self.recordings))
        history = WeightHistory(Start.of(cell), len(recording.at(p.total_steps)))
        with one_thread():
            table = self._train([cell], recording, device, history)
        yield history.append_to(table)

    def _train(self, cells: Sequence[Cell], recording: Recording, device: str, watch: Watch | None = None) -> pa.Table:
        from swingby_sweeps.dynamics.columns import table as table_of

        from . import rows
        from .engine import Ready, SimTraining

        started = time.perf_counter()
        schema = self.schema(recording)
        training = SimTraining([Ready.of(cell) for cell in cells], recording, device, self.engine)
        training.run(watch)
        columns = rows.trained(training, f"{training.engine} on {device}", recording.also)
        for drive in training.twins(recording.also):
            twin = SimTraining(training.ready, Recording(recording.steps, recording.points), device, self.engine, drive)
            twin.run()
            columns |= rows.of_twin(twin, training)
        table = table_of(columns, schema)
        share = pa.array(np.full(len(cells), (time.perf_counter() - started) / len(cells)))
        return table.set_column(schema.get_field_index("seconds"), "seconds", share)


def _weights(p: SimParams) -> int:
    """Number of trained weights, biases aside, in the informative frame."""
    return sum(out * fan_in for out, fan_in in p.layer_shapes[1:]) + p.layer_shapes[0][0] * (p.s + p.bias)
