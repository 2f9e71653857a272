"""The data of a report, read from the store once: the grid, every cell's outcomes, and the curves of every point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from swingby.archive import RecordedResults, recorded_results
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.model.detector import OutcomeKind
from swingby.model.reported import Curves, Reported
from swingby.store import Store
from swingby_analysis.charts.trajectories import PlaneView
from swingby_analysis.grid import Grid, grid_of
from swingby_analysis.query import Query, ask
from swingby_analysis.report.curves import PointCurves
from swingby_analysis.report.outcomes import Outcome, outcomes_of
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
    """The data that figures and page are made from.

    Attributes:
        sweep: the store's row of the sweep, with `resolved` as a dict.
        reported: what a report of a sweep over its experiment draws and says.
        outcome: what the main diagram draws.
        outcomes: every outcome that can be drawn.
        grid: where the points stand.
        cells: a row a finished cell: point, seed, status, scalars, outcomes.
        curves: the curves of every point that has some, where the page shows them.
        plane: the two entries that the paths of these curves are drawn over, counted from 1; None without such paths.
        origins: which plans computed the cells.
        queries: every query, by name.
        recorded: what a reader must know of the recorded ones among the results.
        remarks: what a reader must know first.
    """

    sweep: Mapping[str, Any]
    reported: Reported
    counts: Counts
    outcome: str
    outcomes: Mapping[str, Outcome]
    grid: Grid
    cells: pl.DataFrame
    curves: Mapping[int, PointCurves]
    plane: tuple[int, int] | None
    origins: Sequence[Mapping[str, Any]]
    queries: Mapping[str, Query]
    recorded: RecordedResults | None = None
    remarks: Sequence[str] = ()

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep, as its plan keeps it."""
        return self.sweep["resolved"]

    @property
    def kind(self) -> OutcomeKind:
        """How the main diagram draws its outcome."""
        return self.outcomes[self.outcome].kind

    def title(self, outcome: str) -> str:
        """The title of an outcome in figures and sentences."""
        return self.outcomes[outcome].title

    def with_unit(self, outcome: str) -> str:
        """The title of an outcome, and its unit behind it."""
        return f"{self.outcomes[outcome].title}{self.outcomes[outcome].unit}"

    @property
    def curve_queries(self) -> list[Query]:
        """The queries of the curves."""
        return [query for name, query in self.queries.items() if name.startswith("curve ") or name == "plane"]

    @property
    def view(self) -> PlaneView | None:
        """How the plane of the paths is drawn; None without one."""
        plane = self.reported.plane
        if plane is None or self.plane is None:
            return None
        landmarks = [mark for mark in plane.landmarks if not mark.where or bool(self.cells[mark.where].all())]
        x, y = (plane.axis.format(entry) for entry in self.plane)
        return PlaneView(x, y, landmarks)

    @cached_property
    def companions(self) -> list[str]:
        """The outcomes drawn beside the main diagram: the experiment's own choice, of those known of some run."""
        wanted = self.outcomes if self.reported.companions is None else self.reported.companions
        others = [name for name in wanted if name in self.outcomes and name != self.outcome]
        return [name for name in others if self.cells[name].null_count() < self.cells.height]

    @cached_property
    def phases(self) -> Phases:
        """The outcomes over seeds."""
        return Phases(self.cells, {name: one.column.order for name, one in self.outcomes.items()})


def read(
    store: Store, sweep_id: str, plane: tuple[int, int] = (1, 2), presentation: Mapping[str, Any] | None = None
) -> ReportData:
    """Reads the data of one sweep's report.

    Args:
        plane: the entries (counted from 1) that paths are drawn over.
        presentation: laid over how its last run would have it shown (see `Sweep.presentation`).

    Raises:
        SwingbyError: no cell of it is finished, no detector reads its experiment, or it has no such plane.
    """
    row = ask(store, Query("sweep", (sweep_id,))).row(0, named=True)
    resolved = {**json.loads(row["resolved"]), **(presentation or {})}
    sweep: dict[str, Any] = {**row, "title": resolved["title"], "resolved": resolved}
    experiment: str = sweep["experiment"]
    how: Reported = registry.experiment(experiment).report
    queries = {name: Query(name, (sweep_id, experiment)) for name in ("counts", "origins")}
    counts = ask(store, queries["counts"]).row(0, named=True) if experiment in store.names() else None
    if counts is None or not counts["ok"] + counts["diverged"]:
        raise SwingbyError(
            f"sweep {sweep['name']!r} has no finished cell yet, of {sweep['cells']:,}; `swingby run {sweep['name']}` "
            "trains them, `swingby status` says how far it is"
        )
    recorded = recorded_results(store, sweep_id)
    if recorded is not None and recorded.thin:
        raise SwingbyError(
            f"the results of {sweep['name']!r} are recorded ones, which have hardly a curve; `swingby run "
            f"{sweep['name']}` trains it for a report, `swingby findings --recorded` shows what is recorded"
        )
    outcomes = outcomes_of(experiment)
    queries["cells"] = cells_query(store, experiment, sweep_id)
    cells = ask(store, queries["cells"]).filter(pl.col("status") != "failed")
    chosen = _plane(cells, how, plane)
    if how.curves is not None:
        head = sweep_id, experiment, MOST_SEEDS, KEPT_STEPS
        for name in how.curves.titles:
            queries[f"curve {name}"] = Query("curves", (*head, name, how.curves.unit or "ones", (1,)))
        if chosen is not None and how.plane is not None:
            queries["plane"] = Query("curves", (*head, how.plane.curve, how.plane.unit or "ones", chosen))
    firsts = cells.unique("point", keep="first", maintain_order=True)
    return ReportData(
        sweep=sweep,
        reported=how,
        counts=Counts(**counts),
        outcome=(resolved["diagram"] or resolved).get("outcome") or next(iter(outcomes)),
        outcomes=outcomes,
        grid=grid_of(resolved, firsts.iter_rows(named=True)),
        cells=cells,
        curves=_curves(store, how.curves, queries, chosen) if how.curves is not None else {},
        plane=chosen,
        origins=ask(store, queries["origins"]).to_dicts(),
        queries=queries,
        recorded=recorded,
    )


def cells_query(store: Store, experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells with their outcomes by every detector; curves and matrices are left out.

    Raises:
        SwingbyError: no detector has an outcome of a cell of this experiment.
    """
    tables = (f"outcomes_{detector.name}" for detector in registry.detectors_for(experiment))
    outcomes = tuple(name for name in tables if name in store.names())
    if not outcomes:
        raise SwingbyError(
            f"no installed detector reads {experiment!r}, so there is no outcome to draw; a package offers "
            f"one under the entry-point group {registry.DETECTORS!r}"
        )
    kind = registry.experiment(experiment)
    curves = {name for columns in (kind.curves, *kind.recordings.values()) for name in columns}
    types = {field.name: field.type for field in parameter_schema(kind.Params)}
    types |= {name: column.type for name, column in kind.scalars.items()}
    matrices = {name for name, type_ in types.items() if pa.types.is_list(type_) and pa.types.is_list(type_.value_type)}
    return Query("cells", (sweep_id, experiment, outcomes, tuple(sorted({"recorded", *curves, *matrices}))))


def unseen(store: Store, data: ReportData) -> int:
    """How many cells with a result no detector has seen as they are now."""
    sweep_id, experiment, outcomes, _ = data.queries["cells"].parameters
    return int(ask(store, Query("unseen", (sweep_id, experiment, outcomes))).item())


def _plane(cells: pl.DataFrame, how: Reported, asked: tuple[int, int]) -> tuple[int, int] | None:
    """The plane that is drawn; None where the experiment has none, or a cell that cannot span one."""
    if how.plane is None:
        return None
    entries = min(cells[how.plane.entries].to_list())
    if entries < 2:
        return None
    if not all(1 <= entry <= entries for entry in asked) or asked[0] == asked[1]:
        raise SwingbyError(
            f"the plane {asked[0]},{asked[1]} is none of this sweep's; "
            f"allowed: two different {how.plane.entry}s from 1 to {entries}"
        )
    return asked


def _curves(
    store: Store, curves: Curves, queries: Mapping[str, Query], plane: tuple[int, int] | None
) -> dict[int, PointCurves]:
    """The curves of every point: those of all columns at the same steps, and its path where there is a plane."""
    tables = {title: ask(store, queries[f"curve {name}"]) for name, title in curves.titles.items()}
    values = {title: table["value"].list.to_array(3).to_numpy() for title, table in tables.items()}  # median, low, high
    rows = {title: _rows_of_points(table) for title, table in tables.items()}
    paths = []
    both = ask(store, queries["plane"]) if plane is not None else pl.DataFrame()
    for entry in plane or ():
        entries = both.filter(pl.col("entry") == entry)
        paths.append((entries["finite"].fill_null(np.nan).to_numpy(), _rows_of_points(entries)))
    first = next(iter(curves.titles.values()))
    steps, runs = tables[first]["step"].to_numpy(), tables[first]["runs"].to_numpy()
    return {
        point: PointCurves(
            steps[at],
            {title: values[title][rows[title][point]].T for title in tables},
            np.stack([entry[of[point]] for entry, of in paths]) if paths else None,
            int(runs[at.start]),
        )
        for point, at in rows[first].items()
    }


def _rows_of_points(table: pl.DataFrame) -> dict[int, slice]:
    """The rows of each point, in a table whose rows are in the order of the points."""
    points = table["point"].to_numpy()
    starts = np.flatnonzero(np.diff(points, prepend=points[:1] - 1)).tolist()
    return {int(points[start]): slice(start, stop) for start, stop in pairwise([*starts, len(points)])}
