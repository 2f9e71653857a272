"""The few points whose curves a report shows at length: which, why, and every single run at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from swingby.store import Store
from swingby_analysis.charts.bands import decades_of
from swingby_analysis.query import Query, ask, literal
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.extremes import seen_text
from swingby_analysis.stats.seeds import Bump, bump_over_seeds

DETAILED_STEPS = 120
"""About how many steps of the single runs are drawn."""
MOST_NAMED = 2000
"""Cells that are named in a query."""


@dataclass(frozen=True)
class Examples:
    """Up to three points of a sweep.

    Attributes:
        reasons: point -> why it was chosen; the first is the most telling.
        curves: title of a curve -> a row a kept step of each run there: point, seed, step, and its value, in its unit.
            Of declared curves the first alone.
        paths: a row a kept step of each run there: point, seed, step, x, y; None where there is no plane.
        queries: what gave the runs, and the paths.
    """

    reasons: Mapping[int, str]
    curves: Mapping[str, pl.DataFrame]
    paths: pl.DataFrame | None
    queries: Sequence[Query]

    @classmethod
    def of(cls, data: ReportData, store: Store) -> Examples:
        """Chooses the points by their outcomes, then reads their runs."""
        reasons, plane, value = choose(data), data.reported.plane, pl.col("value").list
        shown = data.shown if data.reported.curves is None else data.shown[:1]
        head = data.sweep["sweep_id"], data.sweep["experiment"], tuple(reasons), DETAILED_STEPS
        queries = [Query("runs", (*head, one.column, one.unit, (1,))) for one in shown]
        curves = {
            one.title: _runs(data, store, query, reasons).with_columns(value=value.get(0))
            for one, query in zip(shown, queries, strict=True)
        }
        places = None
        if plane is not None and data.plane is not None:
            queries.append(Query("runs", (*head, plane.curve, plane.unit or "ones", data.plane)))
            places = _runs(data, store, queries[-1], reasons).with_columns(x=value.get(0), y=value.get(1))
        return cls(reasons, curves, places, queries)

    @property
    def runs(self) -> pl.DataFrame:
        """The runs of the first curve."""
        return next(iter(self.curves.values()))

    @property
    def first(self) -> int:
        """The most telling point."""
        return next(iter(self.reasons))

    def why(self, data: ReportData) -> str:
        """The points with the reason for each; an extreme of a map with what is left of it after shrinking."""
        extremes = data.extremes.get(data.outcome)
        rows = {} if extremes is None else {row.point: row for row in extremes.rows}
        texts = []
        for point, reason in self.reasons.items():
            text = data.grid.label(point)
            if extremes is not None and point in rows:
                text += f"; {seen_text(rows[point].seen)}; {extremes.qualified(rows[point])}"
            texts.append(f"{reason} ({text})")
        return "; ".join(texts)

    def bump(self) -> Bump | None:
        """The test over seeds for a bump at the first point, on runs that came to their end; None with fewer than 2."""
        runs = self.runs.filter(pl.col("point") == self.first).partition_by("seed", maintain_order=True)
        whole = [run for run in runs if run["value"].is_finite().all()]
        longest = max((run.height for run in whole), default=0)
        losses = [run["value"].to_numpy() for run in whole if run.height == longest]
        if len(losses) < 2 or longest < 3:
            return None
        return bump_over_seeds(np.arange(longest), np.array(losses))


def _runs(data: ReportData, store: Store, query: Query, points: Collection[int]) -> pl.DataFrame:
    """The rows of a query of the runs at some points; of cells that are named in it DuckDB reads no other curves."""
    cells = data.cells.filter(pl.col("point").is_in(list(points)))["cell_id"].unique().sort().to_list()
    if len(cells) > MOST_NAMED:
        return ask(store, query)
    named = f"    from cells\n    where cell_id in ({', '.join(map(literal, cells))})\n)"
    return ask(store, replace(query, inline=query.text.replace("    from cells\n)", named, 1)))


def choose(data: ReportData) -> dict[int, str]:
    """Where the outcome is most frequent (or the number largest), nearest to half-way, and least; one if all are alike.

    Of equal points, the one with the larger median of `Reported.decides` stands, then the first of the grid. Points of
    a refined sweep have few seeds, or one: there it is the fitted share that counts.
    """
    phases, outcome = data.phases, data.outcome
    if data.kind == "yes_no":
        every = {share.point: share.share for share in phases.shares(outcome)}
        if data.refined is not None:  # of one seed of one, the share would be all
            fits = data.fitted(outcome)
            every = {point: fits[point].mean if point in fits else share for point, share in every.items()}
    elif data.kind == "number":
        every = {row.point: row.median for row in phases.spreads(outcome)}
        scale = decades_of([*every.values()])
        if scale is not None:  # half-way on the axis on which it is drawn
            every = {point: math.log10(max(value, scale.low)) for point, value in every.items()}
    else:  # the share of the first category
        first = phases.categories(outcome)[0]
        every = {row.point: row.k / row.n if row.outcome == first else 0.0 for row in phases.most_common(outcome)}
    values = {point: value for point, value in every.items() if point in data.curves} or dict.fromkeys(data.curves, 0.0)
    low, high = min(values.values()), max(values.values())
    half = 0.5 if data.kind == "yes_no" else (low + high) / 2
    decides = data.reported.decides
    decided = {row.point: -row.median for row in data.phases.spreads(decides)} if decides in data.outcomes else {}
    words = data.title(data.outcome)
    distances: list[tuple[str, Callable[[float], float]]] = [
        (f"most {words}", lambda value: -value),
        ("nearest to half-way", lambda value: abs(value - half)),
        (f"least {words}", lambda value: value),
    ]
    reasons: dict[int, str] = {}
    for reason, distance in distances if high > low else distances[:1]:
        rest = [
            (distance(value), decided.get(point, 0.0), point) for point, value in values.items() if point not in reasons
        ]
        if rest:
            reasons[min(rest)[2]] = reason
    return reasons
