"""The detector `theory_lines`: what theory says of a SIM cell from its parameters alone, such as its boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.detector import Detector
from swingby.model.experiment import Column

from .. import task, theory
from ..params import SimParams

LIST = pa.list_(pa.float64())
OUTCOMES: dict[str, Column] = {
    "steps_per_epoch": Column(pa.int64(), "mini-batches in one pass over the training points (sgd)"),
    "run_time": Column(pa.float64(), "time of the flow of L in the whole run", "flow time"),
    "steepest_rate": Column(
        pa.float64(), "2 / (L a_max): a linear net settles on no solution above this learning rate (nets of layers)"
    ),
    "plateau_gain": Column(
        pa.float64(), "gain of a normal start that leaves its first plateau as the run ends; 0 up to two layers"
    ),
    "steep_gain": Column(
        pa.float64(), "gain of a normal start whose largest curvature times lr is 2; infinite of one layer"
    ),
    "spread_needed": Column(
        pa.float64(), "sigma of sigma^2 T / C = 1: a piece of a ReLU net takes the whole run to learn along it (sgd)"
    ),
    "rate_in_steps": Column(
        LIST, "-log(1 - h a_k) / h: terminal rate of one layer by descent in steps of h; null from h a_k = 1 on"
    ),
    "start_sd": Column(pa.float64(), "standard deviation tau of the entries of U, gain / sqrt(d') (normal start)"),
    "predicted_rise": Column(
        pa.float64(),
        "rise of the OOD loss over L_ref by eq 4.3 to leading order, from a typical start of two concepts with unequal "
        "signals (symmetric model, normal or uniform start)",
    ),
}


class TheoryLines(Detector):
    """Boundaries and rates that theory derives from the parameters of a cell, whatever the cell did.

    It reads no curve, so that it tells of archived results as well. What does not apply to a cell is null.
    """

    name: ClassVar[str] = "theory_lines"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    needs: ClassVar[tuple[str, ...]] = (
        "model", "drive", "s", "d", "mu", "sigma", "sigma_is", "n", "zero_cluster", "layers", "width", "init",
        "init_gain", "init_high", "reduction", "lr", "epochs", "batch_size", "gd_steps", "moment_power",
    )  # fmt: skip

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        known: dict[str, Mapping[str, Any]] = {}
        rows = []
        for row in table.select(list(self.needs)).to_pylist():
            point = repr(row)  # all seeds of a point share it
            if point not in known:
                # A parameter younger than the row is null in it, and stands at its default.
                params = {name: value for name, value in row.items() if value is not None}
                known[point] = lines(SimParams.model_construct(**params))
            rows.append(known[point])
        return self.table(table["cell_id"], rows)


def lines(p: SimParams) -> dict[str, Any]:
    """The columns that apply to a cell with these parameters."""
    a = task.signal(p)
    numbers: dict[str, Any] = {"run_time": p.time}
    if p.drive == "sgd":
        numbers |= {"steps_per_epoch": p.steps_per_epoch, "spread_needed": theory.spread_needed(p.clusters, p.time)}
    if p.model == "one_layer":
        rates = theory.rate_in_steps(a, p.time_per_step).tolist()
        numbers["rate_in_steps"] = [rate if rate == rate else None for rate in rates]
    if p.model in ("linear", "relu"):
        numbers["steepest_rate"] = theory.steepest_rate(a, p.layers)
        if p.init == "normal":
            stretch = p.width / p.d
            numbers["plateau_gain"] = theory.plateau_gain(a, p.layers, stretch, p.time)
            numbers["steep_gain"] = theory.steep_gain(a, p.layers, stretch, p.lr)
    if p.starts_from_U and p.init == "normal":
        numbers["start_sd"] = p.init_gain / p.width**0.5
    if p.model == "symmetric" and p.s == 2 and p.init in ("normal", "uniform"):
        normal = p.init == "normal"
        start = theory.normal_start(p.width, p.init_gain) if normal else theory.uniform_start(p.width, p.init_high)
        rise = theory.predicted_rise(task.test_point(p), a, *start)
        numbers["predicted_rise"] = rise if rise == rise else None
    return numbers
