"""The experiment `parity_net`: a two-layer ReLU net that learns parities of unequal frequency."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Column, Recording
from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.columns import COUNT, LIST, ROWS, Trained
from swingby_sweeps.dynamics.shells import CellExperiment, presets_of

from . import presets
from .params import ParityParams


class ParityNet(CellExperiment[ParityParams]):
    """f = w2 relu(W1 x + b1) + b2 on multitask sparse parity ([T] 4.2.1, C.3), all weights from N(0, sigma^2)."""

    name = "parity_net"
    stream_version = 1
    pinned = True
    Params = ParityParams
    presets = presets_of(presets.fast, presets.figures, presets.text)
    counted = "training_steps"
    read_where: ClassVar = {
        "alpha": "skills > 1",
        "halve_every": "schedule == 'halved'",
    }
    curves: ClassVar = {
        "strength": Column(ROWS, "R_k/S = E[g_k f]/S of each skill, on its test points", title="skill strength"),
        "loss": Column(LIST, "c/2 E(f - y)^2, each skill weighted by its frequency, on the test points"),
        "train_loss": Column(LIST, "c/2 mean (f - y)^2 on the training set; `loss` where every step has fresh points"),
    }
    scalars: ClassVar = {
        "counts": Column(pa.list_(COUNT), "d_k, the training points of each skill; null where all are fresh"),
        "stopped_step": Column(COUNT, "step at which stop_at was reached; null if never", "steps"),
    }
    report = Reported(
        companions=("skills_learned", "outcome", "order_violated", "decoupling"),
        drawings=("emergence",),
        titles={"outcome": "Which skills were learned"},
        curves=Curves(
            titles={"loss": "loss", "train_loss": "loss on the training set"},
            axis="loss",
            title="Losses over training",
            caption="The loss, each skill weighted by its frequency, at single points of the grid",
            reading="A skill that is learned takes its share p_k of the loss away: a staircase of skills.",
        ),
    )

    def shape(self, params: ParityParams) -> str:
        """Cells are trained one by one, so those of a batch share only about how long they take."""
        names = ("width", "skills", "bits", "batch_size", "samples", "training_steps")
        return " ".join(str(getattr(params, name)) for name in names)

    def work(self, params: ParityParams) -> float:
        """Rows of W1 that are added, in seconds on one core of 2024."""
        points = min(params.batch_size, params.samples or params.batch_size)
        rows = params.training_steps * (points + 40) * (params.bits / 4 + 2)
        return rows * (params.width + 30) * 2.5e-10

    def max_batch(self, params: ParityParams) -> int:
        """So many that a batch is some seconds: cells gain nothing from company."""
        return max(1, min(256, int(10 / self.work(params))))

    def train(self, cell: Cell[ParityParams], recording: Recording) -> Trained:
        """Train a cell by compiled steps."""
        from .engine import train

        return train(cell, recording)
