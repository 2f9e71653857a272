"""The experiment `parity_net`: a two-layer ReLU net that learns parities of unequal frequency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import UntypedParams
from swingby.model.reported import Curves, Reported

from . import presets
from .params import ParityParams

_LIST, _ROWS = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))


class ParityNet(Experiment[ParityParams]):
    """f = w2 relu(W1 x + b1) + b2 on multitask sparse parity ([T] 4.2.1, C.3), all weights from N(0, sigma^2)."""

    name: ClassVar[str] = "parity_net"
    stream_version: ClassVar[int] = 1
    pinned = True
    Params: ClassVar[type[UntypedParams]] = ParityParams
    presets: ClassVar[Mapping[str, Any]] = {
        "fast": presets.fast,
        "figures": presets.figures,
        "text": presets.text,
    }
    default_preset: ClassVar[str | None] = "fast"
    read_where: ClassVar[Mapping[str, str]] = {
        "alpha": "skills > 1",
        "halve_every": "schedule == 'halved'",
    }
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "strength": Column(_ROWS, "R_k/S = E[g_k f]/S of each skill, on its test points", title="skill strength"),
        "loss": Column(_LIST, "c/2 E(f - y)^2, each skill weighted by its frequency, on the test points"),
        "train_loss": Column(_LIST, "c/2 mean (f - y)^2 on the training set; `loss` where every step has fresh points"),
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "counts": Column(pa.list_(pa.int64()), "d_k, the training points of each skill; null where all are fresh"),
        "stopped_step": Column(pa.int64(), "step at which stop_at was reached; null if never", "steps"),
        "seconds": Column(pa.float64(), "time that the cell took", "s"),
    }
    report: ClassVar[Reported] = Reported(
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

    def steps(self, params: ParityParams) -> int:
        """The number of steps of a run."""
        return params.training_steps

    def length(self, params: ParityParams) -> str | None:
        """Training steps."""
        return "training_steps"

    def work(self, params: ParityParams) -> float:
        """Rows of W1 that are added, in seconds on one core of 2024."""
        points = min(params.batch_size, params.samples or params.batch_size)
        rows = params.training_steps * (points + 40) * (params.bits / 4 + 2)
        return rows * (params.width + 30) * 2.5e-10

    def max_batch(self, params: ParityParams) -> int:
        """So many that a batch is some seconds: cells gain nothing from company."""
        return max(1, min(256, int(10 / self.work(params))))

    def run(self, batch: Batch[ParityParams]) -> Iterator[pa.Table]:
        """Train the cells in turn; a table, with one final row, for each."""
        from .engine import train

        schema = self.schema(batch.recording)
        for cell in batch.cells:
            if batch.draining():
                return
            yield pa.Table.from_pylist([train(cell, cell.params, batch.recording)], schema)
