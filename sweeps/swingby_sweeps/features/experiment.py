"""The experiment `features`: what the platform asks of it, and its stacks of cells."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.experiment import Batch, Recording, Resources
from swingby_sweeps.dynamics.columns import Columns
from swingby_sweeps.dynamics.shells import BatchExperiment, presets_of

from . import presets
from .columns import CURVES, RECORDINGS, SCALARS, SPECTRA_TIMES
from .layers import layers, width_of_features
from .params import VISION, FeaturesParams
from .report import REPORT

_RECORDED = 40
"""Recorded steps of a usual run."""


class Features(BatchExperiment[FeaturesParams]):
    """Nets that classify ([T] 2.4, 7): when do they keep C features alone, and do these collapse onto the classes?"""

    name = "features"
    stream_version = 1
    pinned = True
    Params = FeaturesParams
    presets = presets_of(
        presets.digits, presets.cheap, presets.mixture, presets.toy, presets.mnist1d, presets.resnet18, presets.vgg16
    )
    read_where: ClassVar = {
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
    one_thread = "torch"
    seconds = "time of the training, shared by the cells of a stack"
    report = REPORT
    curves = CURVES
    scalars = SCALARS
    recordings = RECORDINGS

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

    def together(self, p: FeaturesParams) -> int:
        """A stack; of nets of torchvision one cell."""
        if p.net in VISION:
            return 1
        from .engine import together

        return together(p)

    def threads(self, p: FeaturesParams) -> AbstractContextManager[object]:
        """One thread; nets of torchvision have those of their resources."""
        return nullcontext() if p.net in VISION else super().threads(p)

    def train(self, batch: Batch[FeaturesParams]) -> Columns:
        """Train a stack. What is asked for is written of whole stacks only.

        Raises:
            SwingbyError: the data or the net cannot be had; says how to have it.
        """
        from .data import drawn
        from .record import follow, rows

        cells, recording, p = batch.cells, batch.recording, batch.cells[0].params
        steps = recording.at(p.total_steps, p.steps_per_epoch)
        with_spectra = "spectra" in recording.also
        spectral = Recording("log", SPECTRA_TIMES).at(p.total_steps).tolist() if with_spectra else []
        points = [drawn(cell) for cell in cells]
        if p.net in VISION:
            from .vision import OneNet, accelerated

            with accelerated(batch.device, max(1, int(batch.cpus))) as accelerator:
                trained = OneNet(cells[0], points[0], accelerator)
                records = follow(trained, cells, points, steps.tolist(), spectral)
        else:
            from .engine import Stack

            records = follow(Stack(cells, points), cells, points, steps.tolist(), spectral)
        alike = {
            "steps_per_epoch": p.steps_per_epoch,
            "test_points": len(points[0][1].x),
            "feature_count": width_of_features(p),
            "output_count": p.outputs,
        }
        shared = {name: pa.array([value] * len(cells)) for name, value in alike.items()}
        return {**rows(cells, records, steps, with_spectra), **shared}


def _net(p: FeaturesParams) -> str:
    """The net as text."""
    if p.net in VISION:
        return p.net
    sizes = "-".join(str(layer.fan_out) for layer in layers(p))
    kind = f"{p.net}-{sizes}-{p.activation if sizes.count('-') else 'linear'}"
    return f"{kind}{'-norm' if p.normed else ''}{'-bias' if p.bias else ''}"
