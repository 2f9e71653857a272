"""Theory and experiment over the seeds of a sweep: predicted and measured arrivals, and which assumptions hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
from swingby.sweepfile.parameters import split

from .assumptions import Constants
from .detect import arrivals
from .detect.cells import PARAMETERS, cells_of
from .detect.theory import ASSUMPTIONS, assumption_columns

Array = np.ndarray
Row = dict[str, Any]
KIND, VERSION, KEY = "assumptions", "1", ("cell_id", "K", "C", "P", "kappa")
HELD = tuple(name for name in ASSUMPTIONS if name not in KEY)
"""The columns that say which assumptions hold."""
COLUMNS = ", ".join(f"e.{name}" for name in PARAMETERS)
RUNS = f"""
select m.point, c.preset, e.status, e.steps, o.a_p, o.predicted_order, o.predicted_t90, o.measured_t90,
       o.predicted_order_right, o.omega, o.cell_id, {COLUMNS}
from members m join conventions c using (sweep_id, point) join sim e using (cell_id)
join outcomes_theory o on o.cell_id = e.cell_id and o.of_shard = e.shard
where m.sweep_id = ? and o.a_p is not null order by m.point, e.seed"""
POINTS = f"""
select distinct on (m.point) m.point, c.preset, {COLUMNS}
from members m join conventions c using (sweep_id, point) join sim e using (cell_id)
where m.sweep_id = ? order by m.point"""
JUDGED = "select * from assumptions semi join members using (cell_id) where K = ? and C = ? and P = ? and kappa = ?"


@dataclass(frozen=True)
class Comparison:
    """A sweep's points: those with predictions, and the labels of those without any (`silent`)."""

    points: list[PointComparison]
    silent: list[str]


@dataclass(frozen=True)
class PointComparison:
    """One point of a sweep: theory and experiment over its runs.

    Attributes:
        label: the values in which the point differs from the others.
        runs: number of finished runs with predictions.
        a: a_p, (s,).
        orders: the predicted orders, concepts counted from 1, with their counts, the commonest first.
        predicted, measured: medians over the runs of when each concept is at 0.9, in steps, (s,); NaN where no run
            recorded it; infinite where more than half of the runs never get there.
        right: runs that arrive in the predicted order, and runs for which that is known.
        within: times within 10 % of their prediction, and times that can be compared.
        assumptions: how many runs meet each assumption of App. D.1; None for one layer, which App. D does not cover.
    """

    label: str
    runs: int
    a: Array
    orders: list[tuple[tuple[int, ...], int]]
    predicted: Array
    measured: Array
    right: tuple[int, int]
    within: tuple[int, int]
    assumptions: dict[str, int] | None

    @classmethod
    def of(cls, runs: Sequence[Row], label: str, assumptions_of: dict[str, Row]) -> PointComparison:
        """Compare the runs of a point; `assumptions_of`: cell id -> which assumptions hold."""
        measured = [row for row in runs if row["measured_t90"] is not None]
        ratios = [
            arrivals.ratios(np.array(row["predicted_t90"]), np.array(row["measured_t90"]), row["steps"])
            for row in measured
        ]
        compared = np.concatenate([np.zeros(0), *(ratio[~np.isnan(ratio)] for ratio in ratios)])
        right = [row["predicted_order_right"] for row in runs if row["predicted_order_right"] is not None]
        judged = [assumptions_of[row["cell_id"]] for row in runs if row["cell_id"] in assumptions_of]
        return cls(
            label=label,
            runs=len(runs),
            a=np.array(runs[0]["a_p"]),
            orders=Counter(tuple(k + 1 for k in row["predicted_order"]) for row in runs).most_common(),
            predicted=_median([row["predicted_t90"] for row in runs]),
            measured=_median([row["measured_t90"] for row in measured] or [[np.nan] * len(runs[0]["a_p"])]),
            right=(sum(right), len(right)),
            within=(int(arrivals.near(compared).sum()), len(compared)),
            assumptions={name: sum(row[name] for row in judged) for name in HELD} if judged else None,
        )


def compare(records: Records, sweep: str, constants: Constants) -> Comparison:
    """Every point of a sweep with finished runs; which assumptions hold under `constants` is judged and kept first.

    Raises:
        SwingbyError: no such sweep, it is not over SIM, no run is finished, or theory speaks of none.
    """
    ingest(records)
    with Store.open(records.data) as store:
        known = find_sweep(store, sweep)
        if known.experiment != "sim":
            raise SwingbyError(f"sweep {known.name!r} is over {known.experiment!r}; theory speaks of sweeps over sim")
        derive(records, [known.sweep_id])
        if "outcomes_theory" not in store.names():
            raise SwingbyError(f"sweep {known.name!r} has no finished cell yet; `swingby run {known.name}` trains them")
        rows = store.sql(RUNS, [known.sweep_id]).arrow()
        if not rows.num_rows:
            raise SwingbyError(
                f"theory is silent on every finished cell of {known.name!r}: it speaks of the symmetric family, and of "
                "one layer without bias, trained on whole clusters (not truncate)"
            )
        assumptions_of = _judged(records, store, rows, constants)
        points = store.sql(POINTS, [known.sweep_id]).arrow().to_pylist()
        (sweep_row,) = store.sql("select resolved from sweeps where sweep_id = ?", [known.sweep_id]).rows()
    on_axes = [name for axis in json.loads(sweep_row.resolved)["axes"] for name in axis["names"]]
    names = [name for name in on_axes if len({str(_value(row, name)) for row in points}) > 1]
    names.sort(key=lambda name: name != "preset")
    runs_of: dict[int, list[Row]] = {}
    for row in rows.to_pylist():
        runs_of.setdefault(row["point"], []).append(row)
    return Comparison(
        [PointComparison.of(runs, _label(runs[0], names), assumptions_of) for runs in runs_of.values()],
        [_label(row, names) for row in points if row["point"] not in runs_of],
    )


def unmet(constants: Constants) -> list[str]:
    """The demands of App. D.1 on the constants that these do not meet, a line for each; no run meets its assumption."""
    c, most = constants, 1 + constants.K / (2 * constants.C)
    met_by_demand = {
        f"D.2 asks for K >= 20, and K is {c.K:g}": c.K >= 20,
        f"D.4 asks for kappa > 1.1, and kappa is {c.kappa:g}": c.kappa > 1.1,
        f"D.4 asks for kappa <= 1 + K/(2C) = {most:g}, and kappa is {c.kappa:g}": c.kappa <= most,
        f"D.4 asks for P >= 2, and P is {c.P:g}": c.P >= 2,
        f"D.5 asks for C > 1, and C is {c.C:g}": c.C > 1,
    }
    return [demand for demand, met in met_by_demand.items() if not met]


def _judged(records: Records, store: Store, rows: pa.Table, constants: Constants) -> dict[str, Row]:
    """Cell id -> which assumptions hold, for the symmetric family; verdicts not yet kept become derived records."""
    kept: dict[str, Row] = {}
    if KIND in store.names():
        kept = {row["cell_id"]: row for row in store.sql(JUDGED, list(asdict(constants).values())).arrow().to_pylist()}
    family = [row for row, omega in enumerate(rows["omega"].to_pylist()) if omega is not None]
    missing = [row for row in family if rows["cell_id"][row].as_py() not in kept]
    cells = cells_of(rows.take(pa.array(missing, pa.int64())))
    fresh = [{"cell_id": cell.cell_id, **assumption_columns(cell, constants)} for cell in cells if cell is not None]
    if fresh:
        schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in ASSUMPTIONS.items())])
        records.write_derived(KIND, VERSION, KEY, pa.Table.from_pylist(fresh, schema), experiment="sim")
        ingest(records)
    return kept | {row["cell_id"]: row for row in fresh}


def _value(row: Row, name: str) -> Any:
    parameter, entry = split(name)
    return row[parameter] if entry is None else row[parameter][entry]


def _label(row: Row, names: Sequence[str]) -> str:
    return ", ".join(_value(row, name) if name == "preset" else f"{name} {_short(_value(row, name))}" for name in names)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_short, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _median(times: Sequence[Sequence[float]]) -> Array:
    """The middle run's time, the lower of two (a mean with an infinite one would say nothing), (s,)."""
    return np.sort(np.array(times, dtype=np.float64), axis=0)[(len(times) - 1) // 2]
