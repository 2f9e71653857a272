"""What a report is made of, read from the store once: the grid, every cell's outcome, and the curves of every point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from analysis.charts.grid import Grid, GridAxis, Value, plain
from analysis.charts.losses import OOD_LOSS, TRAINING_LOSS
from analysis.charts.trajectory import Plane
from analysis.report.curves import PointCurves
from analysis.report.queries import Query
from swingby import plugins
from swingby.detector import OutcomeKind
from swingby.errors import SwingbyError
from swingby.parameters import split
from swingby.store import Store

KEPT_STEPS = 60
"""About how many steps of each curve travel in the page."""
DETAILED_STEPS = 120
"""About how many steps of the single runs are drawn."""

TITLES: Mapping[str, str] = {
    "mu": "distance of training cluster {} from the origin",
    "sigma": "spread of training cluster {}",
    "layers": "number of layers",
    "width": "hidden width",
    "d": "dimension of the space",
    "s": "number of concepts",
    "lr": "learning rate",
    "init_gain": "gain of the initialisation",
}
"""Short names of the parameters that diagrams are drawn over; any other is called by its description."""


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
        outcome, kind: what the main diagram draws, and how.
        kinds, meanings: every outcome that can be drawn, and what the detector says it means.
        grid: where the points stand.
        cells: a row a finished cell: point, seed, status, scalars, outcomes.
        curves: the curves of every point that has some.
        plane: the two concepts of the trajectories; None with a single concept.
        origins: which plans computed the cells.
        queries: by name; what was asked.
    """

    sweep: Mapping[str, Any]
    counts: Counts
    outcome: str
    kind: OutcomeKind
    kinds: Mapping[str, OutcomeKind]
    meanings: Mapping[str, str]
    grid: Grid
    cells: pl.DataFrame
    curves: Mapping[int, PointCurves]
    plane: Plane | None
    origins: Sequence[Mapping[str, Any]]
    queries: Mapping[str, Query]

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep, as its plan keeps it."""
        return self.sweep["resolved"]


def read(store: Store, sweep_id: str, plane: tuple[int, int] = (1, 2)) -> ReportData:
    """Everything for the report of one sweep.

    Args:
        plane: the concepts (counted from 1) that trajectories are drawn over.

    Raises:
        SwingbyError: no cell of it is finished, or its experiment has no detector of descents.
    """
    queries = {name: Query(name, (sweep_id,)) for name in ("counts", "cells", "origins")}
    queries["curves"] = Query("curves", (sweep_id, KEPT_STEPS, *plane))
    sweep = _sweep(store, sweep_id)
    counts = _counts(store, queries["counts"], sweep)
    cells = ask(store, queries["cells"])
    kinds, meanings = _outcomes(sweep["experiment"])
    finished = cells.filter(pl.col("status") != "failed")
    diagram = sweep["resolved"]["diagram"] or {}
    outcome = diagram.get("outcome") or next(iter(kinds))
    chosen = _plane(finished, plane)
    return ReportData(
        sweep=sweep, counts=counts, outcome=outcome, kind=kinds[outcome], kinds=kinds, meanings=meanings,
        grid=grid_of(sweep["resolved"], finished), cells=finished, curves=_curves(ask(store, queries["curves"]), chosen),
        plane=chosen, origins=ask(store, queries["origins"]).to_dicts(), queries=queries,
    )  # fmt: skip


def ask(store: Store, query: Query) -> pl.DataFrame:
    """The rows of one query."""
    return store.sql(query.text, [list(p) if isinstance(p, tuple) else p for p in query.parameters]).polars()


def runs_query(sweep_id: str, points: Sequence[int], plane: Plane | None) -> Query:
    """The query for the single runs of a few points."""
    plane = plane or Plane(1, 1)
    return Query("runs", (sweep_id, tuple(points), DETAILED_STEPS, plane.first, plane.second))


def _sweep(store: Store, sweep_id: str) -> dict[str, Any]:
    row = dict(store.sql("select * from sweeps where sweep_id = $1", [sweep_id]).polars().row(0, named=True))
    return {**row, "resolved": json.loads(row["resolved"])}


def _counts(store: Store, query: Query, sweep: Mapping[str, Any]) -> Counts:
    if sweep["experiment"] != "sim":
        raise SwingbyError(
            f"sweep {sweep['name']!r} is over {sweep['experiment']!r}; reports are drawn of sweeps over: sim"
        )
    if "sim" in store.tables():
        counts = Counts(**ask(store, query).row(0, named=True))
        if counts.finished:
            return counts
    raise SwingbyError(
        f"sweep {sweep['name']!r} has no finished cell yet, of {sweep['cells']:,}: `swingby run {sweep['name']}` trains them, "
        f"`swingby status` says how far it is"
    )


def _outcomes(experiment: str) -> tuple[dict[str, OutcomeKind], dict[str, str]]:
    kinds: dict[str, OutcomeKind] = {}
    meanings: dict[str, str] = {}
    for detector in plugins.detectors_for(experiment):
        kinds |= detector.kinds
        meanings |= {name: column.meaning for name, column in detector.outcomes.items()}
    return kinds, meanings


# the grid


def grid_of(resolved: Mapping[str, Any], cells: pl.DataFrame) -> Grid:
    """The grid of a resolved sweep: the diagram's x and y, and a panel for every combination of what else varies.

    Args:
        cells: a row a cell; of each point the first is looked at for its parameters.
    """
    diagram = resolved["diagram"] or {}
    axes = [(tuple(axis["names"]), [tuple(value) for value in axis["values"]]) for axis in resolved["axes"]]
    names = [name for axis, _ in axes for name in axis]
    x = diagram.get("x") or (names[0] if names else "point")
    y = diagram["y"] if diagram else next((axis[0] for axis, _ in axes[1:]), None)
    others = [axis for axis, _ in axes if x not in axis and y not in axis]
    others.sort(key=lambda axis: diagram.get("facet") not in axis)  # the facet that was asked for comes first
    values = dict(axes)
    combinations = list(product(*(values[axis] for axis in others)))
    labels = [_facet_label(others, combination) for combination in combinations]
    rows = cells.unique("point", keep="first", maintain_order=True).sort("point").to_dicts()
    places = {row["point"]: [_value(row, name) for name in names] for row in rows}
    at = {name: index for index, name in enumerate(names)}
    grid_x = _axis(x, axes, resolved)
    grid_y = None if y is None else _axis(y, axes, resolved)

    def place(own: list[Value]) -> tuple[int, int, int]:
        facet = tuple(tuple(own[at[name]] for name in axis) for axis in others)
        return (
            grid_x.index(own[at[x]]) if names else 0,
            0 if grid_y is None or y is None else grid_y.index(own[at[y]]),
            [tuple(tuple(map(_scalar, value)) for value in combination) for combination in combinations].index(facet),
        )

    found = {point: place(own) for point, own in places.items()}
    return _without_empty_facets(Grid(grid_x, grid_y, tuple(labels), found))


def _axis(
    name: str, axes: Sequence[tuple[tuple[str, ...], list[tuple[Any, ...]]]], resolved: Mapping[str, Any]
) -> GridAxis:
    for names, values in axes:
        if name in names:
            index = names.index(name)
            return GridAxis.of(
                name, axis_title(name, resolved["experiment"]), [_scalar(value[index]) for value in values]
            )
    return GridAxis.of(name, "the only point", [0])


def axis_title(name: str, experiment: str) -> str:
    """What a reader calls a parameter, and how the sweep file writes it."""
    parameter, entry = split(name)
    if parameter in TITLES:
        concept = "" if entry is None else str(entry + 1)
        return f"{TITLES[parameter].format(concept)} ({name})"
    field = plugins.experiment(experiment).Params.model_fields.get(parameter)
    meaning = (field.description or "").split(";")[0].split(":")[0] if field is not None else ""
    return f"{meaning} ({name})" if 0 < len(meaning) <= 60 else name


def _without_empty_facets(grid: Grid) -> Grid:
    used = sorted({facet for _, _, facet in grid.places.values()})
    rank = {facet: index for index, facet in enumerate(used)}
    places = {point: (i, j, rank[facet]) for point, (i, j, facet) in grid.places.items()}
    return Grid(grid.x, grid.y, tuple(grid.facets[facet] for facet in used), places)


def _facet_label(axes: Sequence[tuple[str, ...]], combination: Sequence[tuple[Any, ...]]) -> str:
    pairs = [pair for axis, value in zip(axes, combination, strict=True) for pair in zip(axis, value, strict=True)]
    return ", ".join(f"{name} = {plain(_scalar(value))}" for name, value in pairs)


def _scalar(value: Any) -> Value:
    """A value that can stand on an axis; a vector as its text."""
    return f"({', '.join(plain(v) for v in value)})" if isinstance(value, list | tuple) else value


def _value(row: Mapping[str, Any], name: str) -> Value:
    parameter, entry = split(name)
    return _scalar(row[parameter] if entry is None else row[parameter][entry])


# the curves


def _plane(cells: pl.DataFrame, asked: tuple[int, int]) -> Plane | None:
    concepts = int(cells["s"].min())  # pyright: ignore[reportArgumentType]
    if concepts < 2:
        return None
    if not all(1 <= concept <= concepts for concept in asked) or asked[0] == asked[1]:
        raise SwingbyError(
            f"the plane {asked[0]},{asked[1]} is none of this sweep's; allowed: two different concepts of 1 to {concepts}"
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
