"""The experiment `features`: what the platform asks of it, and `run`, which trains stacks of cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment, Recording, Resources
from swingby.model.params import Params
from swingby.model.reported import Reported

from . import presets
from .columns import CURVES, RECORDINGS, SCALARS, SPECTRA_TIMES
from .layers import layers, width_of_features
from .params import VISION, FeaturesParams
from .report import REPORT

_RECORDED = 40
"""Recorded steps of a usual run."""


class Features(Experiment[FeaturesParams]):
    """Nets that classify ([T] 2.4, 7): when do they keep C features alone, and do these collapse onto the classes?"""

    name: ClassVar[str] = "features"
    stream_version: ClassVar[int] = 1
    pinned = True
    Params: ClassVar[type[Params]] = FeaturesParams
    presets: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {
        "digits": presets.digits,
        "cheap": presets.cheap,
        "mixture": presets.mixture,
        "toy": presets.toy,
        "mnist1d": presets.mnist1d,
        "resnet18": presets.resnet18,
        "vgg16": presets.vgg16,
    }
    default_preset: ClassVar[str | None] = "digits"
    read_where: ClassVar[Mapping[str, str]] = {
        "classes": "data != 'step'",
        "label_noise": "data != 'step'",
        "dims": "data == 'mixture'",
        "separation": "data == 'mixture'",
        "layers": "net == 'mlp' or net == 'cnn1d'",
        "width": "(net == 'mlp' or net == 'cnn1d') and layers > 1",
        "channels": "net == 'cnn1d'",
        "activation": "net == 'cnn1d' or (net == 'mlp' and layers > 1)",
        "batch_norm": "net == 'cnn1d' or (net == 'mlp' and layers > 1)",
        "bias": "net == 'mlp' or net == 'cnn1d'",
        "gain": "net == 'mlp' or net == 'cnn1d'",
        "reduction": "loss == 'mse'",
        "target_scale": "loss == 'mse'",
        "drop_factor": "drop_every != null",
        "epochs": "time == null",
        "augment": "net == 'resnet18' or net == 'vgg16_bn'",
    }
    requires: ClassVar[Mapping[str, str]] = {
        "torch": "swingby[run]",
        "threadpoolctl": "swingby[run]",
    }
    report: ClassVar[Reported] = REPORT
    curves: ClassVar[Mapping[str, Column]] = CURVES
    scalars: ClassVar[Mapping[str, Column]] = SCALARS
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = RECORDINGS

    def shape(self, p: FeaturesParams) -> str:
        """What decides the cost of a cell, and what all cells of a stack have in common."""
        loss = p.loss if p.loss == "cross_entropy" else p.reduction
        points = f"{p.data}-n{p.n}-{p.inputs}to{p.outputs}"
        return f"{points}-{_net(p)}-{p.trained}-{loss}-b{p.batch}-s{p.total_steps}-{p.dtype}"

    def steps(self, p: FeaturesParams) -> int:
        """Steps of the whole run."""
        return p.total_steps

    def length(self, p: FeaturesParams) -> str | None:
        """Passes over the training points, unless the time is given."""
        return "epochs" if p.time is None else None

    def resources(self, p: FeaturesParams) -> Resources:
        """One core; a net of torchvision takes up to eight where fewer runs than cores are left."""
        return Resources(most_cpus=8.0 if p.net in VISION else None)

    def work(self, p: FeaturesParams) -> float:
        """Seconds of a cell on the machine where they were measured, to a factor of 2."""
        slower = 1 if p.dtype == "float32" else 2
        if p.net in VISION:
            return slower * p.total_steps * p.batch * 0.025 * (1 if p.net == "resnet18" else 1.5)
        shape = layers(p)
        products = sum(layer.fan_in * layer.fan_out * layer.places for layer in shape)
        values = sum((layer.fan_in + layer.fan_out) * layer.places for layer in shape)
        one = 1e-10 * products + 8e-10 * values
        step, width = 2e-6 * len(shape) + p.batch * one, shape[-1].fan_in
        record = 3e-3 + (p.n + p.test_points) * (one / 2 + 1e-10 * width**2) + 2e-9 * width**3
        return slower * (p.total_steps * step + min(_RECORDED, p.total_steps + 1) * record)

    def max_batch(self, params: FeaturesParams) -> int:
        """Cells of a minute or so: a batch is the unit that is handed out, and is trained stack by stack."""
        return int(np.clip(60 / self.work(params), 1, 256))

    def tolerance(self, params: FeaturesParams) -> float:
        """Nothing but the order of equal operations: every product and sum is within one cell."""
        return 1e-9

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the cells, stack by stack; a table as each ends. What is asked for is written of whole stacks only.

        Raises:
            SwingbyError: the data or the net cannot be had; says how to have it.
        """
        p: Any = batch.cells[0].params
        if p.net in VISION:
            from .vision import OneNet, accelerated

            with accelerated(batch.device, max(1, int(batch.cpus))) as accelerator:
                for cell in batch.cells:
                    if batch.draining():
                        return
                    yield self._train(
                        [cell], batch.recording, lambda own, points: OneNet(own[0], points[0], accelerator)
                    )
            return
        from swingby_sweeps.dynamics.training import one_thread

        from .engine import Stack, together

        size = together(p)
        with one_thread():
            for first in range(0, len(batch.cells), size):
                if batch.draining():
                    return
                yield self._train(batch.cells[first : first + size], batch.recording, Stack)

    def _train(self, cells: Sequence[Cell], recording: Recording, trainer: Any) -> pa.Table:
        from swingby_sweeps.dynamics.columns import table

        from .data import drawn
        from .record import follow, rows

        p: Any = cells[0].params
        began = time.perf_counter()
        steps = recording.at(p.total_steps, p.steps_per_epoch)
        asked = "spectra" in recording.also
        spectral = Recording("log", SPECTRA_TIMES).at(p.total_steps).tolist() if asked else []
        points = [drawn(cell) for cell in cells]
        records = follow(trainer(cells, points), cells, points, steps.tolist(), spectral)
        seconds = (time.perf_counter() - began) / len(cells)
        alike = {
            "steps_per_epoch": p.steps_per_epoch,
            "test_points": len(points[0][1].x),
            "feature_count": width_of_features(p),
            "output_count": p.outputs,
            "seconds": seconds,
        }
        shared = {name: pa.array([value] * len(cells)) for name, value in alike.items()}
        return table({**rows(cells, records, steps, asked), **shared}, self.schema(recording))


def _net(p: FeaturesParams) -> str:
    """The net as text."""
    if p.net in VISION:
        return p.net
    sizes = "-".join(str(layer.fan_out) for layer in layers(p))
    kind = f"{p.net}-{sizes}-{p.activation if sizes.count('-') else 'linear'}"
    return f"{kind}{'-norm' if p.normed else ''}{'-bias' if p.bias else ''}"
