"""Theory beside experiment over the seeds of a sweep: what was predicted, what came, which assumptions hold."""

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
from swingby.store.lookup import KnownSweep, find_sweep
from swingby.sweepfile.parameters import split

from .assumptions import Constants
from .detect import arrivals
from .detect.cells import PARAMETERS, cells_of
from .detect.theory import ASSUMPTIONS, held

Array = np.ndarray
Row = dict[str, Any]
KIND, VERSION, KEY = "assumptions", "1", ("cell_id", "K", "C", "P", "kappa")
HELD = tuple(name for name in ASSUMPTIONS if name not in KEY)
"""The columns that say which assumptions hold."""
TOLD = """
select m.point, c.preset, e.status, e.steps, o.a_p, o.predicted_order, o.predicted_t90, o.measured_t90,
       o.predicted_order_right, o.omega, o.cell_id, {columns}
from members m join conventions c using (sweep_id, point) join sim e using (cell_id)
join outcomes_theory o on o.cell_id = e.cell_id and o.of_shard = e.shard
where m.sweep_id = ? and o.a_p is not null order by m.point, e.seed"""
POINTS = """
select distinct on (m.point) m.point, c.preset, {columns}
from members m join conventions c using (sweep_id, point) join sim e using (cell_id)
where m.sweep_id = ? order by m.point"""
COLUMNS = ", ".join(f"e.{name}" for name in PARAMETERS)
JUDGED = "select * from assumptions semi join members using (cell_id) where K = ? and C = ? and P = ? and kappa = ?"


@dataclass(frozen=True)
class Comparison:
    """A sweep's points: those of which theory speaks, and the labels of those of which it is silent."""

    points: list[Beside]
    silent: list[str]


@dataclass(frozen=True)
class Beside:
    """One point of a sweep: theory beside experiment over its runs.

    Attributes:
        label: what tells the point from the others.
        runs: finished runs of which theory speaks.
        a: a_p, (s,).
        orders: the predicted orders, concepts counted from 1, with their counts, the commonest first.
        predicted, measured: medians over the runs of when each concept is at 0.9, in steps, (s,); NaN where no run
            recorded it; infinite where more than half of the runs never get there.
        right: runs that arrive in the predicted order, of those of which it can be told.
        within: times within 10 % of their prediction, of those that can be compared.
        held: how many runs meet each assumption of App. D.1; None for one layer, of which App. D does not speak.
    """

    label: str
    runs: int
    a: Array
    orders: list[tuple[tuple[int, ...], int]]
    predicted: Array
    measured: Array
    right: tuple[int, int]
    within: tuple[int, int]
    held: dict[str, int] | None


def beside(records: Records, sweep: str, constants: Constants) -> Comparison:
    """Every point of a sweep with finished runs, after the assumptions under `constants` were judged and kept.

    Raises:
        SwingbyError: no such sweep, it is not over SIM, no run is finished, or theory speaks of none.
    """
    ingest(records)
    with Store.open(records.data) as store:
        found = find_sweep(store, sweep)
        if found.experiment != "sim":
            raise SwingbyError(f"sweep {found.name!r} is over {found.experiment!r}; theory speaks of sweeps over sim")
        derive(records, [found.sweep_id])
        rows = _rows(store, found)
        held_by = _judged(records, store, rows, constants)
        every = store.sql(POINTS.format(columns=COLUMNS), [found.sweep_id]).arrow().to_pylist()
        names = _varying(store, found, every)
    points: dict[int, list[Row]] = {}
    for row in rows.to_pylist():
        points.setdefault(row["point"], []).append(row)
    silent = [_label(row, names) for row in every if row["point"] not in points]
    return Comparison([_point(runs, names, held_by) for runs in points.values()], silent)


def unmet(constants: Constants) -> list[str]:
    """What App. D.1 asks of the constants and these do not give: a line an assumption, which then no run meets."""
    c, most = constants, 1 + constants.K / (2 * constants.C)
    asked = {
        f"D.2 asks for K >= 20, and K is {c.K:g}": c.K >= 20,
        f"D.4 asks for kappa > 1.1, and kappa is {c.kappa:g}": c.kappa > 1.1,
        f"D.4 asks for kappa <= 1 + K/(2C) = {most:g}, and kappa is {c.kappa:g}": c.kappa <= most,
        f"D.4 asks for P >= 2, and P is {c.P:g}": c.P >= 2,
        f"D.5 asks for C > 1, and C is {c.C:g}": c.C > 1,
    }
    return [line for line, met in asked.items() if not met]


def _rows(store: Store, found: KnownSweep) -> pa.Table:
    if "outcomes_theory" in store.tables():
        rows = store.sql(TOLD.format(columns=COLUMNS), [found.sweep_id]).arrow()
        if rows.num_rows:
            return rows
        raise SwingbyError(
            f"theory is silent on every finished cell of {found.name!r}: it speaks of the symmetric family, and of one "
            "layer without bias, trained on whole clusters (not truncate)"
        )
    raise SwingbyError(f"sweep {found.name!r} has no finished cell yet; `swingby run {found.name}` trains them")


def _judged(records: Records, store: Store, rows: pa.Table, constants: Constants) -> dict[str, Row]:
    """Which assumptions hold in each cell of the symmetric family; what is not kept yet becomes derived records."""
    known = _kept(store, constants)
    family = [row for row, omega in enumerate(rows["omega"].to_pylist()) if omega is not None]
    lacking = [row for row in family if rows["cell_id"][row].as_py() not in known]
    cells = cells_of(rows.take(pa.array(lacking, pa.int64())))
    fresh = [{"cell_id": cell.cell_id, **held(cell, constants)} for cell in cells if cell is not None]
    if fresh:
        schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in ASSUMPTIONS.items())])
        records.write_derived(KIND, VERSION, KEY, pa.Table.from_pylist(fresh, schema), experiment="sim")
        ingest(records)
    return known | {row["cell_id"]: row for row in fresh}


def _kept(store: Store, constants: Constants) -> dict[str, Row]:
    if KIND not in store.tables():
        return {}
    rows = store.sql(JUDGED, list(asdict(constants).values())).arrow().to_pylist()
    return {row["cell_id"]: row for row in rows}


def _varying(store: Store, found: KnownSweep, rows: Sequence[Row]) -> list[str]:
    """The names on the sweep's axes whose values differ from point to point, the preset first."""
    (kept,) = store.sql("select resolved from sweeps where sweep_id = ?", [found.sweep_id]).rows()
    names = [name for axis in json.loads(kept.resolved)["axes"] for name in axis["names"]]
    differing = [name for name in names if len({str(_value(row, name)) for row in rows}) > 1]
    return sorted(differing, key=lambda name: name != "preset")


def _value(row: Row, name: str) -> Any:
    parameter, entry = split(name)
    return row[parameter] if entry is None else row[parameter][entry]


def _label(row: Row, names: Sequence[str]) -> str:
    return ", ".join(_value(row, name) if name == "preset" else f"{name} {_short(_value(row, name))}" for name in names)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_short, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _point(runs: Sequence[Row], names: Sequence[str], held_by: dict[str, Row]) -> Beside:
    compared = [row for row in runs if row["measured_t90"] is not None]
    ratios = [arrivals.ratios(*_times(row), row["steps"]) for row in compared]
    shares = [ratio[~np.isnan(ratio)] for ratio in ratios]
    right = [row["predicted_order_right"] for row in runs if row["predicted_order_right"] is not None]
    judged = [held_by[row["cell_id"]] for row in runs if row["cell_id"] in held_by]
    return Beside(
        label=_label(runs[0], names),
        runs=len(runs),
        a=np.array(runs[0]["a_p"]),
        orders=Counter(tuple(k + 1 for k in row["predicted_order"]) for row in runs).most_common(),
        predicted=_median([row["predicted_t90"] for row in runs]),
        measured=_median([row["measured_t90"] for row in compared] or [[np.nan] * len(runs[0]["a_p"])]),
        right=(sum(right), len(right)),
        within=(sum(int((abs(s - 1) <= arrivals.TENTH).sum()) for s in shares), sum(map(len, shares))),
        held={name: sum(row[name] for row in judged) for name in HELD} if judged else None,
    )


def _times(row: Row) -> tuple[Array, Array]:
    return np.array(row["predicted_t90"]), np.array(row["measured_t90"])


def _median(times: Sequence[Sequence[float]]) -> Array:
    """The middle run's time, the lower of two (a mean with an infinite one would say nothing), (s,)."""
    return np.sort(np.array(times, dtype=np.float64), axis=0)[(len(times) - 1) // 2]
