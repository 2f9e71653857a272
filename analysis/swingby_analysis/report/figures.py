"""The figures of a report: what is drawn, its caption, how to read it, and where it comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from swingby.model.reported import Curves
from swingby_analysis.charts.curves import Band, LogAxes, Run, log_curves
from swingby_analysis.charts.maps import is_fine, number_map, outcome_map, share_map, spent_tiles
from swingby_analysis.charts.states import KEYS, State, with_states
from swingby_analysis.charts.summaries import BOUND, LINE, Share, Surface, level_text
from swingby_analysis.charts.trajectories import Place, plane_range, trajectories
from swingby_analysis.grid import Grid
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report import prose
from swingby_analysis.report.chosen import chosen_curves
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.effects import effects_figure, parallel_figure
from swingby_analysis.report.ended import Ended, states, values_of
from swingby_analysis.report.examples import Examples, choose
from swingby_analysis.report.grid_curves import grid_curves
from swingby_analysis.report.origins import facts_of
from swingby_analysis.report.outcomes import FINAL, Outcome
from swingby_analysis.report.phases import Phases


def distinct(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, a later one of a name that is taken under a name of its own: names are those of files."""
    seen: Counter[str] = Counter()
    renamed = []
    for figure in figures:
        seen[figure.slug] += 1
        count = seen[figure.slug]
        renamed.append(figure if count == 1 else replace(figure, slug=f"{figure.slug}-{count}"))
    return renamed


def map_of(
    grid: Grid,
    phases: Phases,
    outcome: Outcome,
    surface: Surface | None = None,
    ends: Mapping[int, Ended] | None = None,
) -> Figure:
    """The map of an outcome, or its marks along one parameter; without queries and facts.

    Args:
        surface: fitted to the shares of a yes/no outcome.
        ends: what became of the runs of each point; points where all failed or diverged have a colour of their own.
    """
    name, words, along, absent = outcome.name, outcome.title, grid.y is None, outcome.column.absent
    if outcome.kind == "yes_no":
        rows, slug, title = phases.shares(name), "phase", f"Where “{words}” is true"
        chart = share_map(grid, rows, surface, words)
        what = f"Share of the seeds of which “{words}” is true"
        reading = prose.SHARES_ALONG if along else prose.SHARES_FINE if is_fine(grid) else prose.SHARES
        reading = reading.replace("one half", level_text(0.5 if surface is None else surface.level))
    elif outcome.kind == "category":
        most, slug = phases.most_common(name), "map"
        title, what = f"The most common {words}", f"Most common {words} of the seeds"
        chart = outcome_map(grid, most, phases.categories(name), f"most common {words}")
        reading = prose.OUTCOMES_ALONG if along else prose.OUTCOMES
    else:
        unit, slug = f"{words}{outcome.unit}", "map"
        title, what = f"The {words}", f"Median {unit} over the seeds"
        if absent:  # the median over all runs is 0 wherever most have none
            cells = phases.cells.filter(pl.col(name) != 0)
            what += f", of the runs that have a {absent}"
            phases = Phases(cells) if cells.height else phases
        of_those = f" of the runs with a {absent}" if absent else ""
        even = outcome.column.bounds is not None
        spreads = [one for one in phases.spreads(name) if abs(one.median) < BOUND]
        chart = number_map(grid, spreads, f"median {unit}{of_those}", even)
        reading = prose.NUMBERS_ALONG if along else prose.NUMBERS
    low, high = phases.seeds(name)
    caption = f"{what}, {prose.between(low, high)} at each point."
    if len(phases.trained) < len(grid.places):
        runs = f"runs with a {absent}" if absent else "cells"
        caption = f"{what}; {prose.coverage(len(phases.trained), len(grid.places), low, high, runs)}."
    if outcome.column.meaning:
        caption += f" {words[:1].upper()}{words[1:]}: {outcome.column.meaning}."
    if absent:
        caption += f" A point at which no run has a {absent} is blank. Table and panel count all runs."
    values = values_of(phases, name, outcome.kind)
    without = states(grid, ends or {}, values)
    return Figure(
        f"{slug}-{name.replace('_', '-')}",
        title,
        caption,
        reading,
        with_states(chart.to_dict(validate=False), grid, without),
        section="maps",
        marks=marks_of(
            grid, outcome, values, surface, phases.shares(name) if outcome.kind == "yes_no" else (), without
        ),
    )


def marks_of(
    grid: Grid,
    outcome: Outcome,
    values: Mapping[int, float],
    surface: Surface | None,
    shares: Sequence[Share],
    without: Sequence[State],
) -> dict[str, str]:
    """What the marks of a map mean, of those that are there, by the glyph that shows each."""
    marks, fits = dict[str, str](), {} if surface is None else surface.at
    level = level_text(0.5 if surface is None else surface.level)
    if outcome.kind == "yes_no" and grid.y is not None:
        if surface is not None and any(corner.part == LINE for corner in surface.corners):
            marks["line"] = f"the boundary: the share is {level}"
            marks["band"] = "where the boundary may lie (95\u00a0%)"
        unsure = [not fits[one.point].decided if one.point in fits else one.undecided for one in shares]
        if any(unsure):
            marks["dot"] = f"too few runs to say on which side of {level}"
        if not is_fine(grid) and shares:
            marks["square"] = "the larger, the less is known of the share"
        if any(point not in values for point in fits):
            marks["faint"] = "no run here: the colour follows from the points around"
    elif outcome.kind == "yes_no":
        if fits:
            marks["line"] = "the share that fits all points, with its 95\u00a0% band"
        if any(not fits[one.point].decided if one.point in fits else one.undecided for one in shares):
            marks["open"] = f"too few runs to say on which side of {level}"
    marks |= {KEYS[name]: name for name in KEYS if any(one.state == name for one in without)}
    shown = {*values, *fits, *(one.point for one in without)}
    if grid.y is not None and not shown.issuperset(grid.places):
        marks["blank"] = "no result"
    return marks


def maps_of(data: ReportData) -> dict[str, Figure]:
    """The maps of the diagram's outcome and its companions, which need no curves; none if drawings take their place."""
    if data.resolved.get("drawings") and data.resolved["diagram"] is None:
        return {}
    return {name: _map(data, name) for name in (data.outcome, *data.companions)}


def _map(data: ReportData, outcome: str) -> Figure:
    surface = data.surface(outcome) if data.outcomes[outcome].kind == "yes_no" else None
    return map_of(data.grid, data.phases, data.outcomes[outcome], surface, data.ended)


def spent_map(grid: Grid, phases: Phases) -> Figure | None:
    """The map of the seeds that have a result at each point; None where all have equally many, and without a y axis."""
    spent = {point: phases.spent.get(point, 0) for point in grid.places}
    if grid.y is None or len(set(spent.values())) == 1:
        return None
    seen = phases.spent.values()
    caption = f"Cells spent: {prose.coverage(len(seen), len(spent), min(seen), max(seen))}."
    chart = spent_tiles(grid, spent)
    return Figure("cells-spent", "Where cells were spent", caption, prose.SPENT, chart.to_dict(validate=False))


@dataclass(frozen=True)
class Figures:
    """The figures of one sweep.

    Attributes:
        data: what they are made from.
        examples: the points whose curves are shown at length; None where no curves are.
        drawn: what the drawings made that the sweep file names.
        faults: which of these drawings failed, and why.
        summary: sentences for the summary that took more than the outcomes.
        maps: what `maps_of` made before; any other map is made when it is drawn.
    """

    data: ReportData
    examples: Examples | None
    drawn: Sequence[Figure] = ()
    faults: Sequence[str] = ()
    summary: Sequence[str] = ()
    maps: Mapping[str, Figure] = field(default_factory=dict)

    @cached_property
    def every(self) -> list[Figure]:
        """Every figure: the drawings that the sweep asks for; then, if it asks for one or for none, its diagram."""
        if not self.has_main:
            return distinct(self.drawn)
        over_axes = [figure for figure in (effects_figure(self.data), parallel_figure(self.data)) if figure]
        spent = spent_map(self.data.grid, self.data.phases)
        diagrams = [
            self.main,
            *([] if spent is None else [self._spent(spent)]),
            *map(self._drawn, self.data.companions),
            *over_axes,
        ]
        if self.examples is not None and self.data.reported.curves is None:
            diagrams.append(chosen_curves(self.data, self.examples))
        elif self.examples is not None:
            paths = None if self.data.plane is None else self._paths(self.examples)
            diagrams += [self._curves(self.examples), *([] if paths is None else [paths])]
        diagrams += grid_curves(self.data)
        return distinct([*self.drawn, *diagrams])

    @property
    def has_main(self) -> bool:
        """Whether the sweep's diagram is drawn."""
        return not self.drawn or not self.data.resolved.get("drawings") or self.data.resolved["diagram"] is not None

    @cached_property
    def main(self) -> Figure:
        """The diagram that the sweep asks for; pointing at it shows curves."""
        return self._drawn(self.data.outcome, main=True)

    @cached_property
    def first(self) -> int | None:
        """The point whose curves stand beside the main diagram at first; None where no curves are shown."""
        if self.examples is not None:
            return self.examples.first
        return next(iter(choose(self.data))) if self.data.curves else None

    @property
    def curves(self) -> Curves:
        """The curves that the experiment declares; only where `examples` are shown."""
        assert self.data.reported.curves is not None
        return self.data.reported.curves

    @property
    def curve_titles(self) -> list[str]:
        """The titles of the curves, in the order of the legend."""
        return [one.title for one in self.data.shown]

    @cached_property
    def axes(self) -> LogAxes:
        """The axes of the curves: up to above every band and every single run drawn, but never above 100 units."""
        first = self.curve_titles[0]
        peaks = [float(np.max(curve.values[first][2])) for curve in self.data.curves.values()]
        runs = [] if self.examples is None else self.examples.runs["value"].drop_nulls().to_list()
        drawn = [value for value in runs if math.isfinite(value)]
        top = min(100.0, 1.1 * max([1.0, *peaks, *drawn]))
        last = max((int(curve.step[-1]) for curve in self.data.curves.values()), default=1)
        return LogAxes(last, top, self.curves.axis, self.curves.level, self.curves.numbered)

    @cached_property
    def plane_range(self) -> tuple[float, float]:
        """The range of the median paths of all points, on both axes."""
        paths = [curve.path for curve in self.data.curves.values() if curve.path is not None]
        return plane_range(np.concatenate([path.ravel() for path in paths]) if paths else [])

    def _drawn(self, outcome: str, main: bool = False) -> Figure:
        """The map of an outcome, or its marks along one parameter."""
        data, heading = self.data, (self.data.resolved["diagram"] or {}).get("title") if main else None
        drawn = self.maps.get(outcome) or _map(data, outcome)
        title = heading or data.reported.titles.get(outcome, drawn.title)
        n = prose.between(*data.phases.seeds(outcome))
        points = self.first is not None
        of_outcome = [query for name, query in data.queries.items() if name == f"outcome {outcome}"]
        finals = [data.queries["finals"]] if outcome.startswith(FINAL) and "finals" in data.queries else []
        queries = [data.queries["cells"], *of_outcome, *finals, *(data.curve_queries if points and main else [])]
        return replace(drawn, title=title, queries=queries, facts=facts_of(data, n), points=points)

    def _spent(self, drawn: Figure) -> Figure:
        """The map of the seeds at each point."""
        facts = facts_of(self.data, prose.between(*self.data.phases.seeds()))
        return replace(
            drawn, queries=[self.data.queries["cells"]], facts=facts, points=self.first is not None, section="axes"
        )

    def _curves(self, examples: Examples) -> Figure:
        """Every declared curve at the example points: band and median, and single runs of the first."""
        bands = [
            Band(self.data.grid.label(point), name, int(step), float(median), float(low), float(high), point)
            for point in examples.reasons
            for name in self.curve_titles
            for curve in [self.data.curves[point]]
            for step, median, low, high in zip(curve.step, *curve.values[name], strict=True)
        ]
        runs = [
            Run(self.data.grid.label(point), self.curve_titles[0], seed, step, value, point)
            for point, seed, step, value in examples.runs.select("point", "seed", "step", "value").iter_rows()
            if value is not None
        ]
        last = max((band.step for band in bands), default=1)
        spec = log_curves(bands, runs, self.curve_titles, replace(self.axes, last=last)).to_dict(validate=False)
        caption = f"{self.curves.caption}: {examples.why(self.data)}."
        drawn = self._of_examples(examples, "loss-curves", self.curves.title, caption, self.curves.reading, spec)
        return replace(drawn, points=True)

    def _paths(self, examples: Examples) -> Figure | None:
        """Median paths and single runs; None where no path has two places."""
        plane, view, label = self.data.reported.plane, self.data.view, self.data.grid.label
        assert plane is not None
        assert view is not None
        assert self.data.plane is not None
        assert examples.paths is not None
        paths = [self.data.curves[point].places(label(point)) for point in examples.reasons]
        medians = [place for path in paths if len(path) > 1 for place in path]
        if not medians:
            return None
        runs = [
            Place(label(point), seed, step, x, y)
            for point, seed, step, x, y in examples.paths.select("point", "seed", "step", "x", "y").iter_rows()
            if x is not None and y is not None
        ]
        spec = trajectories(medians, runs, view).to_dict(validate=False)
        caption = f"{plane.caption.format(*self.data.plane)}, at the same points: {examples.why(self.data)}."
        return self._of_examples(examples, "trajectories", plane.title, caption, plane.reading, spec)

    def _of_examples(
        self, examples: Examples, slug: str, title: str, caption: str, reading: str, spec: dict[str, Any]
    ) -> Figure:
        queries: Sequence[Query] = [*self.data.curve_queries, *examples.queries]
        facts = facts_of(self.data, prose.between(*self.data.phases.seeds()))
        return Figure(slug, title, caption, reading, spec, queries, facts, section="curves")
