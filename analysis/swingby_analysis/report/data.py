"""The data of a report, read from the store once: the grid, every cell's outcomes, and the curves of every point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import polars as pl

from swingby.errors import SwingbyError
from swingby.imports.notice import ImportedResults, imported_results
from swingby.model import registry
from swingby.model.detector import OutcomeKind
from swingby.model.registry import nearest
from swingby.model.reported import Reported
from swingby.store import Store
from swingby.store.failures import Failed, Failure, failures
from swingby.store.recorded import RecordedResults, recorded_results
from swingby.store.refined import Refined, only_refined
from swingby.store.sql import quoted
from swingby.store.sweep_grid import points_of
from swingby_analysis.charts.bands import ValueScale
from swingby_analysis.charts.curves import FLOOR
from swingby_analysis.charts.summaries import Fitted, Surface
from swingby_analysis.charts.trajectories import PlaneView
from swingby_analysis.grid import Grid, grid_of
from swingby_analysis.query import Query, ask
from swingby_analysis.report import prose, singles
from swingby_analysis.report.cells import cells_query, outcome_tables
from swingby_analysis.report.curves import PointCurves
from swingby_analysis.report.ended import Ended, ended
from swingby_analysis.report.extremes import Extremes, extremes
from swingby_analysis.report.later import Later
from swingby_analysis.report.outcomes import (
    FINAL,
    Outcome,
    among,
    asked_outcome,
    current,
    drawable,
    outcomes_of,
    restricted,
    with_written,
)
from swingby_analysis.report.phases import Phases, boundary, surface_of
from swingby_analysis.report.point_curves import ONES, CurvePart, curves_at, curves_query
from swingby_analysis.report.shown import ShownCurve, scales_of, shown_curves
from swingby_analysis.report.singles import Single
from swingby_analysis.report.slices import sliced

KINDS: Sequence[OutcomeKind] = ("yes_no", "category", "number")
"""The order of the diagrams of an experiment that declares none."""
COMPANIONS = 3
"""Scalars that are drawn beside the diagram of an experiment that no detector reads."""


@dataclass(frozen=True)
class Counts:
    """How many cells were planned, and what became of them; of how many points, and how many have a result."""

    planned: int
    ok: int
    diverged: int
    failed: int
    missing: int
    points: int
    trained: int

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
        shown: the curves of numbers that the page shows.
        curves: these curves at every point that has some.
        singles: single runs of these points.
        plane: the two entries that the paths of these curves are drawn over, counted from 1; None without such paths.
        origins: which plans computed the cells.
        queries: every query, by name.
        recorded: what a reader must know of the recorded ones among the results.
        imported: what a reader must know of results that were trained elsewhere and imported.
        refined: how its refinement stands, if the sweep was refined and its grid is not whole.
        slices: of a grid that has too many points, which are drawn.
        stored: the fitted shares that the store has of the drawn points, where a refinement has ended (its own fit is
            drawn) or a grid is drawn in slices (of which no fit can be made); None elsewhere.
        remarks: what a reader must know first.
        ended: what became of the runs of each point that has some.
        failed: a row a cell that failed: its point and the message.
        fresh: outcomes on seeds that chose no extreme point, at a few of the points; None where there are none.
    """

    sweep: Mapping[str, Any]
    reported: Reported
    counts: Counts
    outcome: str
    outcomes: Mapping[str, Outcome]
    grid: Grid
    cells: pl.DataFrame
    shown: Sequence[ShownCurve]
    curves: Mapping[int, PointCurves]
    plane: tuple[int, int] | None
    origins: Sequence[Mapping[str, Any]]
    queries: Mapping[str, Query]
    singles: Mapping[int, Sequence[Single]] = field(default_factory=dict)
    recorded: RecordedResults | None = None
    imported: ImportedResults | None = None
    refined: Refined | None = None
    stored: pl.DataFrame | None = None
    slices: str = ""
    remarks: Sequence[str] = ()
    fresh: Phases | None = None
    ended: Mapping[int, Ended] = field(default_factory=dict)
    failed: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep, as its plan keeps it."""
        return self.sweep["resolved"]

    @property
    def source(self) -> str:
        """What a user types for the sweep: the name or file of its last run; the name where results are recorded."""
        return str(self.sweep["name"]) if self.recorded is not None else typed(self.sweep)

    @property
    def kind(self) -> OutcomeKind:
        """How the main diagram draws its outcome."""
        return self.outcomes[self.outcome].kind

    @cached_property
    def failures(self) -> list[Failure]:
        """The failed cells by their reason and by what they have in common, the most frequent first."""
        rows = self.failed.select("point", "message").iter_rows() if self.failed.height else ()
        return [] if self.grid.sweep is None else failures((Failed(*row) for row in rows), self.grid.sweep)

    def title(self, outcome: str) -> str:
        """The title of an outcome in figures and sentences."""
        return self.outcomes[outcome].title

    def with_unit(self, outcome: str) -> str:
        """The title of an outcome, and its unit behind it."""
        return f"{self.outcomes[outcome].title}{self.outcomes[outcome].unit}"

    @property
    def curve_queries(self) -> list[Query]:
        """The queries of the curves."""
        of = ("curve ", "runs ", "plane")
        return [query for name, query in self.queries.items() if name.startswith(of)]

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
    def scales(self) -> Mapping[str, ValueScale]:
        """The scale of each shown curve over all points, by title."""
        scales = scales_of(self.shown, (curve.values for curve in self.curves.values()))
        if self.reported.curves is None:
            return scales
        # Declared curves have a logarithmic axis with a floor, here as in the other figures.
        floored = {title: ValueScale(True, FLOOR, max(scale.high, 10 * FLOOR)) for title, scale in scales.items()}
        return {
            title: floored[title] if title in self.reported.curves.titles.values() else scales[title]
            for title in scales
        }

    @cached_property
    def companions(self) -> list[str]:
        """The outcomes drawn beside the main diagram, of those known of some run.

        They are the sweep file's, then the experiment's own choice. Without a choice they are every outcome of its
        detectors; where it has none, its first scalars: first shares, then categories, then numbers.
        """
        names: Sequence[str] | None = self.reported.companions
        expressions = self.resolved.get("outcomes") or {}
        if names is None:
            detected = [name for name, one in self.outcomes.items() if one.detected]
            names = detected or [name for name in self.outcomes if name not in (self.outcome, "status")][:COMPANIONS]
            names = sorted(names, key=lambda name: KINDS.index(self.outcomes[name].kind))
        others = [
            name for name in dict.fromkeys([*expressions, *names]) if name in self.outcomes and name != self.outcome
        ]
        return [name for name in others if self.cells[name].null_count() < self.cells.height]

    @cached_property
    def phases(self) -> Phases:
        """The outcomes over seeds."""
        return Phases(self.cells, {name: one.column.order for name, one in self.outcomes.items()})

    @property
    def thin(self) -> bool:
        """Whether results are recorded ones of which few have curves: nothing is drawn of those."""
        return self.recorded is not None and self.recorded.thin > 0

    @property
    def coverage(self) -> str:
        """How many drawn points have cells, and how many seeds these have; "" where all have equally many."""
        spent, drawn = self.phases.spent, len(self.grid.places)
        even = len(spent) == drawn and len(set(spent.values())) == 1
        return "" if even else prose.coverage(len(spent), drawn, *self.phases.seeds())

    def fitted(self, outcome: str) -> Mapping[int, Fitted]:
        """What the surface fitted to the shares of a yes/no outcome says at each point; empty without a surface."""
        surface = self.surface(outcome)
        return {} if surface is None else surface.at

    def surface(self, outcome: str) -> Surface | None:
        """The surface fitted to the shares of a yes/no outcome; None without one."""
        if outcome not in self._surfaces:
            self._surfaces[outcome] = self._surface(outcome)
        return self._surfaces[outcome]

    @cached_property
    def computed(self) -> dict[tuple[Any, ...], Any]:
        """What was computed of the data, kept by those that did so (see `report.effects`)."""
        return {}

    @cached_property
    def _surfaces(self) -> dict[str, Surface | None]:
        """The surfaces that were asked for: those of large grids take seconds to make."""
        return {}

    def _surface(self, outcome: str) -> Surface | None:
        if self.stored is not None:
            known = self.stored.filter(pl.col("outcome") == outcome) if self.stored.width else self.stored
            if self.slices or known.height:
                return surface_of(self.grid, known.iter_rows(named=True), self.level(outcome))
        return boundary(self.grid, self.phases.shares(outcome), self.phases.trained, self.level(outcome))

    def level(self, outcome: str) -> float:
        """The share whose line is drawn: one half, unless the sweep is refined for another."""
        section = self.resolved.get("refine") or {}
        outcomes = section.get("outcome")
        named = [outcomes] if isinstance(outcomes, str) else outcomes or [self.outcome]
        return float(section.get("share", 0.5)) if outcome in named else 0.5

    @cached_property
    def extremes(self) -> Mapping[str, Extremes | None]:
        """The extreme points of the maps of the main outcome and its companions, by outcome; none if it is refined."""
        drawn = () if self.refined is not None else (self.outcome, *self.companions)
        every = [self.outcomes[name] for name in drawn]
        return {one.name: extremes(self.phases, one.name, one.kind, fresh=self.fresh) for one in every}


def typed(sweep: Mapping[str, Any]) -> str:
    """The name or the file that the last run of a sweep was given.

    Args:
        sweep: the store's row of it, with `resolved` as a mapping.
    """
    return str(sweep["resolved"].get("source") or sweep["name"])


def read(
    store: Store,
    sweep_id: str,
    plane: tuple[int, int] = (1, 2),
    presentation: Mapping[str, Any] | None = None,
    shown: Sequence[ShownCurve] | None = None,
    pool: Executor | None = None,
) -> ReportData:
    """Reads the data of one sweep's report.

    Args:
        plane: the entries (counted from 1) that paths are drawn over.
        presentation: laid over how its last run would have it shown (see `Sweep.presentation`).
        shown: the curves to read; None: those of a report.
        pool: its threads read the curves, which may go on when this returns; None: all is read by then.

    Raises:
        SwingbyError: no cell of it is finished, or it has no such plane.
    """
    row = ask(store, Query("sweep", (sweep_id,))).row(0, named=True)
    resolved = {**json.loads(row["resolved"]), **(presentation or {})}
    sweep: dict[str, Any] = {**row, "title": resolved["title"], "resolved": resolved}
    experiment: str = sweep["experiment"]
    kind = registry.experiment(experiment)
    how: Reported = kind.report
    queries = {name: Query(name, (sweep_id, experiment)) for name in ("counts", "origins")}
    counts = ask(store, queries["counts"]).row(0, named=True) if experiment in store.names() else None
    if counts is None or not counts["ok"] + counts["diverged"]:
        raise SwingbyError(
            f"sweep {sweep['name']!r} has no finished cell yet, of {sweep['cells']:,}; "
            f"`swingby run {typed(sweep)}` trains them, `swingby status` says how far it is"
        )
    recorded = recorded_results(store, sweep_id)
    if recorded is not None and recorded.thin:
        shown = ()
    chosen, usual = _plane(store, sweep_id, experiment, how, plane), shown_curves(kind)
    shown = usual if shown is None else shown
    head, step, paths = (sweep_id, experiment), store.last_step(experiment), list[CurvePart]()
    for one in shown:
        queries[f"curve {one.column}"] = curves_query(head, [CurvePart(one.column, one.unit)], step)
    if shown and chosen is not None and how.plane is not None:
        paths = [CurvePart(how.plane.curve, how.plane.unit or ONES, entry) for entry in chosen]
        queries["plane"] = curves_query(head, paths, step)
    runs = singles.queries(head, shown, counts["trained"])
    queries |= {f"runs {title}": query for title, query in runs.items()}
    curves: Mapping[int, PointCurves] = {}
    of_runs: Mapping[int, Sequence[Single]] = {}
    if shown and pool is not None:
        curves = Later(pool, partial(curves_at, store, shown, head, paths))
        of_runs = Later(pool, partial(singles.read, store, runs))
    elif shown:
        curves, of_runs = curves_at(store, shown, head, paths), singles.read(store, runs)
    written = current(store, sweep_id, resolved)
    queries["cells"] = cells_query(store, experiment, sweep_id)
    every_cell = ask(store, queries["cells"])
    cells = every_cell.filter(pl.col("status") != "failed")
    cells, of_written = with_written(store, sweep_id, cells, written)
    queries |= {f"outcome {name}": query for name, query in of_written.items()}
    final = [] if kind.scalars or outcomes_of(experiment, written) else [one.column for one in usual]
    if final:
        queries["finals"] = Query("finals", (sweep_id, experiment, tuple(final)))
        last = ask(store, queries["finals"]).with_columns(pl.selectors.starts_with(FINAL).cast(pl.Float64))
        cells = cells.join(last, on="cell_id", how="left", maintain_order="left")
    outcomes = {name: one for name, one in drawable(experiment, final, written).items() if name in cells.columns}
    cells, outcomes = among(cells, how.among), restricted(outcomes, how.among)
    every = store.points(experiment, sweep_id)
    drawn, remark = sliced(every, resolved)
    points = points_of(store, experiment, sweep_id, [axis["names"] for axis in resolved["axes"]], drawn)
    refined, stored = only_refined(store, sweep_id), None
    if remark:
        cells = cells.filter(pl.col("point").is_in([row["point"] for row in points]))
    if remark or (refined is not None and refined.ended):
        stored = ask(store, Query("share_fit", (sweep_id,))) if "share_fit" in store.names() else pl.DataFrame()
        stored = stored.filter(pl.col("point").is_in([row["point"] for row in points])) if stored.width else stored
    if remark:
        trained = set(cells["point"].to_list())
        curves = {point: of for point, of in curves.items() if point in trained}
        of_runs = {point: of for point, of in of_runs.items() if point in trained}
    return ReportData(
        sweep=sweep,
        reported=how,
        counts=Counts(**{**counts, "points": every.num_rows}),
        outcome=_outcome(resolved, outcomes),
        outcomes=outcomes,
        grid=grid_of(resolved, points),
        cells=cells,
        shown=shown,
        curves=curves,
        singles=of_runs,
        plane=chosen,
        origins=ask(store, queries["origins"]).to_dicts(),
        queries=queries,
        recorded=recorded,
        imported=imported_results(store, sweep_id),
        slices=remark,
        ended=ended(every_cell),
        failed=every_cell.filter(pl.col("status") == "failed").select("point", "message"),
        stored=stored,
        refined=refined,
    )


def unseen(store: Store, data: ReportData) -> int:
    """How many cells with a result no detector has seen as they are now."""
    sweep_id, experiment = data.sweep["sweep_id"], data.sweep["experiment"]
    outcomes = outcome_tables(store, experiment)
    if not outcomes:
        return data.cells.height if registry.detectors_for(experiment) else 0
    return int(ask(store, Query("unseen", (sweep_id, experiment, outcomes))).item())


def _outcome(resolved: Mapping[str, Any], outcomes: Mapping[str, Outcome]) -> str:
    """What the main diagram draws: the outcome that the sweep names, else the first.

    Raises:
        SwingbyError: it names one of which nothing is known here.
    """
    name = asked_outcome(resolved)
    if name is None or name in outcomes:
        return name or next(iter(outcomes))
    raise SwingbyError(
        f"{resolved['name']!r} draws {name!r}, of which nothing is known here; {nearest(name, list(outcomes))}"
    )


def _plane(
    store: Store, sweep_id: str, experiment: str, how: Reported, requested: tuple[int, int]
) -> tuple[int, int] | None:
    """The plane that is drawn; None where the experiment has none, or a cell that cannot span one."""
    if how.plane is None:
        return None
    cells = f"{quoted(experiment)} join members using (cell_id) where sweep_id = $1 and status in ('ok', 'diverged')"
    entries = store.sql(f"select min({quoted(how.plane.entries)}) from {cells}", [sweep_id]).rows()[0][0]
    if entries < 2:
        return None
    if not all(1 <= entry <= entries for entry in requested) or requested[0] == requested[1]:
        raise SwingbyError(
            f"the plane {requested[0]},{requested[1]} is none of this sweep's; "
            f"allowed: two different {how.plane.entry}s from 1 to {entries}"
        )
    return requested
