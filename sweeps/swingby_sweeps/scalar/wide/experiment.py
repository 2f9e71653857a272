"""The experiment `wide_scalar`: a wide net of scalar input and output, solved in closed form and by descent."""

from __future__ import annotations

from typing import ClassVar

from swingby.model.experiment import Batch
from swingby_sweeps.dynamics.columns import LIST, NUMBER, ROWS, Columns, columns_of
from swingby_sweeps.dynamics.shells import BatchExperiment

from ..report import THESIS, WIDE
from .params import WideParams


class WideScalar(BatchExperiment[WideParams]):
    """f = (x/Z) sum_j a_j b_j on the loss c/2 E (theta - S)^2 with theta = sum_j a_j b_j / Z ([T] 6.1)."""

    name = "wide_scalar"
    stream_version = 1
    pinned = True
    Params = WideParams
    presets: ClassVar = {"thesis": THESIS}
    read_where: ClassVar = {
        "width": "init != 'pairs' or divisor_power != 0",
        "divisor_power": "width > 1",
        "sd_a": "init != 'pairs'",
        "sd_b": "init != 'pairs'",
        "mirrored": "init != 'pairs'",
        "start_size": "init == 'pairs'",
        "start_alignment": "init == 'pairs'",
    }
    report = WIDE
    counted = "training_steps"
    curves = columns_of(
        LIST,
        theta="theta = sum_j a_j b_j / Z, which learns S",
        aligned="Sigma + sign(S) theta: what the modes hold that pull towards the target",
        opposed="Sigma - sign(S) theta: what the modes hold that pull away from it",
        loss="c/2 E (theta - S)^2",
    )
    ends = "theta", "loss", "aligned", "opposed"
    recordings: ClassVar = {"modes": columns_of(ROWS, mode="a_j b_j / Z of the first 40 pairs")}
    scalars = columns_of(
        NUMBER,
        normaliser="Z",
        start_overlap="S_0 of (6.13), theta at the start",
        start_sum="Sigma_0 of (6.13)",
        time_per_step="flow time in one step: lr in its unit",
        peak_loss="largest loss at any step of gd; of other drives, whose loss falls, the first",
        nonlinearity="largest distance, over all steps, of theta from that of the kernel frozen at its start, over "
        "|S - S_0|; null where S = S_0",
    )

    def shape(self, p: WideParams) -> str:
        """The drive and the number of steps; all else is a cell's own."""
        return f"{p.drive} {p.training_steps}"

    def work(self, p: WideParams) -> float:
        """Nanoseconds of a cell on the machine where they were measured."""
        drawn = 0 if p.init == "pairs" else 12 * p.width
        each = {"closed_form": 6, "flow": 250, "gd": 2}[p.drive]
        return 7_000 + drawn + each * p.training_steps

    def train(self, batch: Batch[WideParams]) -> Columns:
        """Train the batch by compiled kernels."""
        from .engine import train

        return train(batch.cells, batch.recording)
