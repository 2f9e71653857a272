"""The SIM experiment: what the platform asks of it, and its batches of cells of one shape."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model.cell import Cell, Point, SeedMode
from swingby.model.experiment import Batch, Column, Recording
from swingby_sweeps.dynamics.columns import COUNT, LIST, NUMBER, ROWS, Columns, columns_of, table
from swingby_sweeps.dynamics.kernels import LANES, side_by_side, two_by_two
from swingby_sweeps.dynamics.metrics import COLUMNS
from swingby_sweeps.dynamics.shapes import CHUNK
from swingby_sweeps.dynamics.shells import BatchExperiment, presets_of

from . import presets
from .params import STREAM_VERSION, SimParams
from .report import REPORT

if TYPE_CHECKING:
    from swingby_sweeps.dynamics.training import Watch

    from .engine import Engine

_MEMORY = 1e9
"""Bytes that one batch may occupy."""
_RECORDED = 200
"""Recorded steps of a usual run."""
_SILENT_FOR = 1.0
"""Seconds until the message about kernels: those that were compiled before are loaded in less."""


def _twin(name: str, drive: str, none: str) -> dict[str, Column]:
    """Columns of the recording `name`: curves of the twin that `drive` trains; `none` says which runs have none."""
    whole = f"of the run's twin, which has its start and its training set and is trained by {drive}, hence without "
    whole += f"sampling noise; it ends where the run or the twin diverges; null for {none}"
    return {
        f"{name}_ood_loss": Column(LIST, f"ood_loss {whole}"),
        f"{name}_train_loss": Column(LIST, f"train_loss {whole}"),
        f"{name}_output": Column(ROWS, f"output {whole}"),
    }


def _features() -> dict[str, Column]:
    """Columns of the recording `features`: metrics of the last hidden layer (`dynamics.metrics`)."""
    names = ("kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "modes", "output_variance")
    where = "of the last hidden layer on 500 points of the clusters that no training sees; null where there is none"
    return {name: Column(LIST, f"{COLUMNS[name]}; {where}") for name in names}


class Sim(BatchExperiment[SimParams]):
    """Structured identity mapping ([S] 2.1): nets and theory on one task, recorded in one table.

    Attributes:
        engine: the engine that trains, "compiled" or "torch"; None for the faster one.
    """

    name = "sim"
    stream_version = STREAM_VERSION
    pinned = True
    Params = SimParams
    presets = presets_of(presets.paper, presets.authors)
    one_thread = "torch"
    read_where: ClassVar = {
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
    report = REPORT
    curves: ClassVar = {
        **columns_of(
            LIST,
            ood_loss="1/2 ||f(x^) - x^||^2 at the test point, over all d coordinates",
            train_loss="L over the whole training set (eq 2.1), whatever a step descends",
        ),
        **columns_of(ROWS, output="f(x^) in the s informative directions, rotation undone"),
    }
    ends = "ood_loss", "train_loss"
    recordings: ClassVar = {
        "jacobian": columns_of(ROWS, jacobian="df/dx at x^, informative s x s block, row-major (row = output)"),
        "hierarchy": columns_of(ROWS, hierarchy_loss="loss at each x^(v) (B.1); bit p of the index is v_(p+1)"),
        "centres": columns_of(ROWS, centre_output="f at each training centre, s x s, row p = centre p"),
        "twin_gd": _twin("twin_gd", "full-batch descent in steps as long as the run's", "all but sgd, and relu"),
        "twin_flow": _twin("twin_flow", "gradient flow", "all but sgd and gd, and for relu and w_recurrence"),
        "velocity": columns_of(
            ROWS,
            growth="G_ij of eq 4.3 in its own time, s x s, row-major, by `a`; symmetric family only",
            suppression="S_ij of eq 4.3; W' = G - S - N for gd and flow on population moments",
            noise="N_ij of eq 4.3; growth, suppression and noise are null for other models",
        ),
        "points": columns_of(
            ROWS,
            training_point="up to 500 training points in the s informative directions, rotation undone: the 50 nearest "
            "to x^, nearest first, then every n-th other; once a run; null where moments: population draws none",
        ),
        "features": _features(),
    }
    scalars: ClassVar = {
        "a": Column(LIST, "a_p = sigma_p^2 + mu_p^2/C of the cell's own conventions (to the power moment_power)"),
        **columns_of(
            NUMBER,
            l_ref="1/2 ||x^||^2, the unit of loss",
            gradient_norm="||grad L|| over the whole training set at the final weights, float64 (null for "
            "w_recurrence)",
        ),
        "growth_rate": Column(
            NUMBER,
            "largest growth rate of the flow of L linearised at the final weights, float64; null where the final OOD "
            "loss is at most 1 % of L_ref, the net has more than 400 trained parameters, the cell diverged, or for "
            "w_recurrence",
            "1/time of the flow of L",
        ),
        **columns_of(
            NUMBER,
            smallest_eigenvalue="smallest eigenvalue of W = U U^T at the end (symmetric); of the recorded W with the "
            "lowest ratio of it to the trace, also in a cell that diverged (w_recurrence)",
            trace="trace of the W of smallest_eigenvalue",
        ),
        **columns_of(
            COUNT,
            rank0="rank of U_0: singular values above the largest x max(d, d') x 2.2e-16 (symmetric family)",
            narrowest="narrowest layer that the output passes through",
        ),
        "time_per_step": Column(
            NUMBER, "time of the flow of L (eq 4.1) in one step: lr x 1, 2/d or 1/2; that of eq 4.3 is twice this"
        ),
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
            with self.threads(params[0]):
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

    def train(self, batch: Batch[SimParams]) -> Columns:
        """Train the batch.

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
        from swingby_sweeps.dynamics.training import ask_gpu

        with retryable(ask_gpu):
            return self._columns(batch)

    def replay(self, cell: Cell[SimParams], device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again, with every recording and two more list columns: `weights_step`, and `weights` at these steps.

        Runs of up to 20,000 steps are recorded at every step, longer ones at 20,000 log-spaced steps. A row of
        `weights` has all weights (of w_recurrence: W) in the original coordinates, layer by layer from the input on,
        each weight matrix row-major and then its bias; where they would exceed 2.5e7 numbers, only every n-th recorded
        step has a row.
        """
        from .init import Start
        from .rows import WeightHistory

        batch, began = Batch((cell,), self.replayed(cell), device), time.perf_counter()
        history = WeightHistory(Start.of(cell), len(batch.recording.at(cell.params.total_steps)))
        with self.threads(cell.params):
            columns = self._columns(batch, history)
        yield history.append_to(table(columns, self.schema(batch.recording), began))

    def _columns(self, batch: Batch[SimParams], watch: Watch | None = None) -> Columns:
        from swingby_sweeps.dynamics.parts import host_threads

        device = batch.device
        with host_threads(1 if device == "cpu" else int(batch.cpus)):
            return self._trained(batch, watch)

    def _trained(self, batch: Batch[SimParams], watch: Watch | None) -> Columns:
        from . import rows
        from .engine import Ready, SimTraining

        recording, device = batch.recording, batch.device
        training = SimTraining([Ready(cell) for cell in batch.cells], recording, device, self.engine)
        training.run(watch)
        columns = rows.trained(training, f"{training.engine} on {device}", recording.also)
        for drive in training.twins(recording.also):
            twin = SimTraining(training.ready, Recording(recording.steps, recording.points), device, self.engine, drive)
            twin.run()
            columns |= rows.of_twin(twin, training)
        return columns


def _weights(p: SimParams) -> int:
    """Number of trained weights, biases aside, in the informative frame."""
    return sum(out * fan_in for out, fan_in in p.layer_shapes[1:]) + p.layer_shapes[0][0] * (p.s + p.bias)
