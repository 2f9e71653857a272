"""What a report is made of, read from the store once: the grid, every cell's outcome, and the curves of every point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from swingby.archive import OfRecord, of_record
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.model.detector import OutcomeKind
from swingby.store import Store
from swingby_analysis.charts.axes import Grid
from swingby_analysis.charts.losses import OOD_LOSS, TRAINING_LOSS
from swingby_analysis.charts.trajectory import Plane
from swingby_analysis.grid import grid_of
from swingby_analysis.query import Query
from swingby_analysis.report.curves import PointCurves
from swingby_analysis.report.experiments import Reported, reported
from swingby_analysis.report.phases import Phases

KEPT_STEPS = 60
"""About how many steps of each curve travel in the page."""
MOST_SEEDS = 100
"""Seeds of a point whose curves are read: more move a median or a decile by less than a line is wide."""


@dataclass(frozen=True)
class Counts:
    """How many cells were planned, and what became of them."""

    planned: int
    ok: int
    diverged: int
    failed: int
    missing: int
    points: int

    @property
    def finished(self) -> int:
        """Cells with a result: diverging is one."""
        return self.ok + self.diverged


@dataclass(frozen=True)
class ReportData:
    """Everything that the figures and the page are made from.

    Attributes:
        sweep: the store's row of the sweep, with `resolved` as a dict.
        reported: how sweeps over its experiment are reported.
        outcome: what the main diagram draws.
        kinds, meanings: every outcome that can be drawn, and what the detector says it means.
        grid: where the points stand.
        cells: a row a finished cell: point, seed, status, scalars, outcomes.
        curves: the curves of every point that has some, where the page shows them.
        plane: the two concepts of these curves' trajectories; None with a single concept, or without them.
        origins: which plans computed the cells.
        queries: by name; what was asked.
        recorded: what is to be told of the recorded ones among the results.
        remarks: what is to be told first.
    """

    sweep: Mapping[str, Any]
    reported: Reported
    counts: Counts
    outcome: str
    kinds: Mapping[str, OutcomeKind]
    meanings: Mapping[str, str]
    grid: Grid
    cells: pl.DataFrame
    curves: Mapping[int, PointCurves]
    plane: Plane | None
    origins: Sequence[Mapping[str, Any]]
    queries: Mapping[str, Query]
    recorded: OfRecord | None = None
    remarks: Sequence[str] = ()

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep, as its plan keeps it."""
        return self.sweep["resolved"]

    @property
    def kind(self) -> OutcomeKind:
        """How the main diagram draws its outcome."""
        return self.kinds[self.outcome]

    @cached_property
    def companions(self) -> list[str]:
        """What is drawn beside the main diagram: the experiment's own choice, as far as it was told of some run."""
        wanted = self.kinds if self.reported.companions is None else self.reported.companions
        told = [name for name in wanted if name in self.kinds and name != self.outcome]
        return [name for name in told if self.cells[name].null_count() < self.cells.height]

    @cached_property
    def phases(self) -> Phases:
        """The outcomes over seeds."""
        return Phases(self.cells)


def read(
    store: Store, sweep_id: str, plane: tuple[int, int] = (1, 2), presentation: Mapping[str, Any] | None = None
) -> ReportData:
    """Everything for the report of one sweep.

    Args:
        plane: the concepts (counted from 1) that trajectories are drawn over.
        presentation: laid over how its last run would have it shown (see `Sweep.presentation`).

    Raises:
        SwingbyError: no cell of it is finished, no detector tells of its experiment, or it has no such concepts.
    """
    sweep = _sweep(store, sweep_id, presentation or {})
    experiment: str = sweep["experiment"]
    how = reported(experiment)
    queries = {name: Query(name, (sweep_id, experiment)) for name in ("counts", "origins")}
    counts = _counts(store, queries["counts"], sweep)
    recorded = _recorded(store, sweep)
    kinds, meanings = _outcomes(experiment)
    queries["cells"] = cells_query(store, experiment, sweep_id)
    cells = ask(store, queries["cells"]).filter(pl.col("status") != "failed")
    chosen = _plane(cells, plane) if how.points else None
    if how.points:
        queries["curves"] = Query("curves", (sweep_id, KEPT_STEPS, *plane, MOST_SEEDS))
    firsts = cells.unique("point", keep="first", maintain_order=True)
    return ReportData(
        sweep=sweep,
        reported=how,
        counts=counts,
        outcome=(sweep["resolved"]["diagram"] or sweep["resolved"]).get("outcome") or next(iter(kinds)),
        kinds=kinds,
        meanings=meanings,
        grid=grid_of(sweep["resolved"], firsts.iter_rows(named=True)),
        cells=cells,
        curves=_curves(ask(store, queries["curves"]), chosen) if how.points else {},
        plane=chosen,
        origins=ask(store, queries["origins"]).to_dicts(),
        queries=queries,
        recorded=recorded,
    )


def ask(store: Store, query: Query) -> pl.DataFrame:
    """The rows of one query."""
    return store.sql(query.text, [list(p) if isinstance(p, tuple) else p for p in query.parameters]).polars()


def cells_query(store: Store, experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells with what every detector says of them; curves and matrices are left out.

    Raises:
        SwingbyError: no detector has told anything of cells of this experiment.
    """
    told = (f"outcomes_{detector.name}" for detector in registry.detectors_for(experiment))
    outcomes = tuple(name for name in told if name in store.tables())
    if not outcomes:
        raise SwingbyError(
            f"no installed detector tells anything of {experiment!r}, so there is no outcome to draw; a package offers "
            f"one under the entry-point group {registry.DETECTORS!r}"
        )
    kind = registry.experiment(experiment)
    curves = {name for columns in (kind.curves, *kind.recordings.values()) for name in columns}
    types = {field.name: field.type for field in parameter_schema(kind.Params)}
    types |= {name: column.type for name, column in kind.scalars.items()}
    matrices = {name for name, type_ in types.items() if pa.types.is_list(type_) and pa.types.is_list(type_.value_type)}
    return Query("cells", (sweep_id, experiment, outcomes, tuple(sorted({"recorded", *curves, *matrices}))))


def untold(store: Store, data: ReportData) -> int:
    """How many cells with a result no detector has seen as they are now."""
    sweep_id, experiment, outcomes, _ = data.queries["cells"].parameters
    return int(ask(store, Query("untold", (sweep_id, experiment, outcomes))).item())


def _sweep(store: Store, sweep_id: str, presentation: Mapping[str, Any]) -> dict[str, Any]:
    row = ask(store, Query("sweep", (sweep_id,))).row(0, named=True)
    resolved = {**json.loads(row["resolved"]), **presentation}
    return {**row, "title": resolved["title"], "resolved": resolved}


def _counts(store: Store, query: Query, sweep: Mapping[str, Any]) -> Counts:
    name = sweep["name"]
    if sweep["experiment"] in store.tables():
        counts = Counts(**ask(store, query).row(0, named=True))
        if counts.finished:
            return counts
    raise SwingbyError(
        f"sweep {name!r} has no finished cell yet, of {sweep['cells']:,}; `swingby run {name}` trains them, "
        "`swingby status` says how far it is"
    )


def _recorded(store: Store, sweep: Mapping[str, Any]) -> OfRecord | None:
    """The recorded ones among the results; refuses those that are not whole: a report is about curves."""
    found = of_record(store, sweep["sweep_id"])
    if found is not None and found.thin:
        raise SwingbyError(
            f"the results of {sweep['name']!r} are recorded ones, which have hardly a curve; `swingby run "
            f"{sweep['name']}` trains it for a report, `swingby findings --recorded` shows what is recorded"
        )
    return found


def _outcomes(experiment: str) -> tuple[dict[str, OutcomeKind], dict[str, str]]:
    detectors = registry.detectors_for(experiment)
    kinds = {name: kind for detector in detectors for name, kind in detector.kinds.items()}
    meanings = {name: column.meaning for detector in detectors for name, column in detector.outcomes.items()}
    return kinds, meanings


def _plane(cells: pl.DataFrame, asked: tuple[int, int]) -> Plane | None:
    concepts = min(cells["s"].to_list())
    if concepts < 2:
        return None
    if not all(1 <= concept <= concepts for concept in asked) or asked[0] == asked[1]:
        raise SwingbyError(
            f"the plane {asked[0]},{asked[1]} is none of this sweep's; "
            f"allowed: two different concepts from 1 to {concepts}"
        )
    return Plane(*asked, origin=bool(cells["zero_cluster"].all()))


def _curves(table: pl.DataFrame, plane: Plane | None) -> dict[int, PointCurves]:
    """The rows of curves.sql, point by point."""
    found = {}
    for (point,), rows in table.partition_by("point", as_dict=True, maintain_order=True).items():
        losses = {OOD_LOSS: _quantiles(rows["ood"]), TRAINING_LOSS: _quantiles(rows["training"])}
        path = None if plane is None else rows.select(pl.col("x", "y").cast(pl.Float64).fill_null(np.nan)).to_numpy().T
        found[int(point)] = PointCurves(rows["step"].to_numpy(), losses, path, int(rows["runs"][0]))
    return found


def _quantiles(column: pl.Series) -> np.ndarray:
    """(3, T): median, low, high."""
    return column.list.to_array(3).to_numpy().T
