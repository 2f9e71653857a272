"""The experiment `wide_scalar`: a wide net of scalar input and output, solved in closed form and by descent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.reported import Reported

from .. import presets
from ..report import WIDE
from .params import WideParams

_LIST, _NUMBER = pa.list_(pa.float64()), pa.float64()


class WideScalar(Experiment[WideParams]):
    """f = (x/Z) sum_j a_j b_j on the loss c/2 E (theta - S)^2 with theta = sum_j a_j b_j / Z ([T] 6.1)."""

    name: ClassVar[str] = "wide_scalar"
    stream_version: ClassVar[int] = 1
    pinned: ClassVar[bool] = True
    Params: ClassVar[type[WideParams]] = WideParams
    presets: ClassVar[Mapping[str, Any]] = {"thesis": presets.thesis}
    default_preset: ClassVar[str | None] = "thesis"
    read_where: ClassVar[Mapping[str, str]] = {
        "width": "init != 'pairs' or divisor_power != 0",
        "divisor_power": "width > 1",
        "sd_a": "init != 'pairs'",
        "sd_b": "init != 'pairs'",
        "mirrored": "init != 'pairs'",
        "start_size": "init == 'pairs'",
        "start_alignment": "init == 'pairs'",
    }
    report: ClassVar[Reported] = WIDE
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "theta": Column(_LIST, "theta = sum_j a_j b_j / Z, which learns S"),
        "aligned": Column(_LIST, "Sigma + sign(S) theta: what the modes hold that pull towards the target"),
        "opposed": Column(_LIST, "Sigma - sign(S) theta: what the modes hold that pull away from it"),
        "loss": Column(_LIST, "c/2 E (theta - S)^2"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "modes": {"mode": Column(pa.list_(_LIST), "a_j b_j / Z of the first 40 pairs")},
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "normaliser": Column(_NUMBER, "Z"),
        "start_overlap": Column(_NUMBER, "S_0 of (6.13), theta at the start"),
        "start_sum": Column(_NUMBER, "Sigma_0 of (6.13)"),
        "time_per_step": Column(_NUMBER, "flow time in one step: lr in its unit", "flow time"),
        "final_theta": Column(_NUMBER, "last recorded theta"),
        "final_loss": Column(_NUMBER, "last recorded loss"),
        "final_aligned": Column(_NUMBER, "last recorded Sigma + sign(S) theta"),
        "final_opposed": Column(_NUMBER, "last recorded Sigma - sign(S) theta"),
        "peak_loss": Column(_NUMBER, "largest loss at any step of gd; of other drives, whose loss falls, the first"),
        "nonlinearity": Column(
            _NUMBER,
            "largest distance, over all steps, of theta from that of the kernel frozen at its start, over |S - S_0|; "
            "null where S = S_0",
        ),
        "seconds": Column(_NUMBER, "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: WideParams) -> str:
        """The drive and the number of steps; all else is a cell's own."""
        return f"{p.drive} {p.training_steps}"

    def steps(self, p: WideParams) -> int:
        """Steps of the whole run."""
        return p.training_steps

    def length(self, params: WideParams) -> str:
        """The number of steps."""
        return "training_steps"

    def work(self, p: WideParams) -> float:
        """Nanoseconds of a cell on the machine where they were measured."""
        drawn = 0 if p.init == "pairs" else 12 * p.width
        each = {"closed_form": 6, "flow": 250, "gd": 2}[p.drive]
        return 7_000 + drawn + each * p.training_steps

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        from swingby_sweeps.dynamics.columns import table

        from .engine import train

        began = time.perf_counter()
        yield table(train(batch.cells, batch.recording), self.schema(batch.recording), began)

    def replay(self, cell: Cell, device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again with its modes, at every step up to 20,000 of them, and else at 20,000 log-spaced ones."""
        from swingby.model.experiment import Recording

        spacing = "every" if self.steps(cell.params) <= 20_000 else "log"
        yield from self.run(Batch((cell,), Recording(spacing, 20_000, tuple(self.recordings)), device))
