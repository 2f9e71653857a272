"""The figures of a report: what is drawn, its caption, how to read it, and where it comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from swingby_analysis.charts.losses import OOD_LOSS, TRAINING_LOSS, Band, Run, loss_curves
from swingby_analysis.charts.number_map import number_map
from swingby_analysis.charts.outcome_map import outcome_map
from swingby_analysis.charts.phase_diagram import is_fine, phase_diagram
from swingby_analysis.charts.trajectory import Place, plane_range, trajectories
from swingby_analysis.query import Query
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.facts import facts_of
from swingby_analysis.report.page import Figure
from swingby_analysis.report.phases import boundary
from swingby_analysis.report.prose import spoken, unit


def distinct(figures: Sequence[Figure]) -> list[Figure]:
    """The figures, a later one of a name that is taken under a name of its own: names are those of files."""
    seen: Counter[str] = Counter()
    found = []
    for figure in figures:
        seen[figure.slug] += 1
        count = seen[figure.slug]
        found.append(figure if count == 1 else replace(figure, slug=f"{figure.slug}-{count}"))
    return found


@dataclass(frozen=True)
class Figures:
    """The figures of one sweep.

    Attributes:
        data: what they are made from.
        examples: the points whose curves are shown at length; None where no curves are.
        drawn: what the drawings made that the sweep file names.
        faults: which of these drawings failed, and why.
        said: sentences for the summary that took more than the outcomes.
    """

    data: ReportData
    examples: Examples | None
    drawn: Sequence[Figure] = ()
    faults: Sequence[str] = ()
    said: Sequence[str] = ()

    @cached_property
    def every(self) -> list[Figure]:
        """Every figure: the drawings that the sweep asks for; then, if it asks for one or for none, its diagram."""
        return distinct([*self.drawn, *(self._diagrams() if self.has_main else [])])

    @property
    def has_main(self) -> bool:
        """Whether the sweep's diagram is drawn."""
        return not self.drawn or not self.data.resolved.get("drawings") or self.data.resolved["diagram"] is not None

    def _diagrams(self) -> list[Figure]:
        found = [self.main, *map(self._drawn, self.data.companions)]
        if self.examples is None:
            return found
        paths = None if self.data.plane is None else self._paths(self.examples)
        return [*found, self._losses(self.examples), *([] if paths is None else [paths])]

    @cached_property
    def main(self) -> Figure:
        """The diagram that the sweep asks for; pointing at it shows curves."""
        return self._drawn(self.data.outcome, main=True)

    @cached_property
    def top(self) -> float:
        """The upper end of the loss axes: above every band and every single run drawn, but never above 100 L_ref."""
        peaks = [float(np.max(curve.losses[OOD_LOSS][2])) for curve in self.data.curves.values()]
        runs = [] if self.examples is None else self.examples.runs["ood"].drop_nulls().to_list()
        drawn = [loss for loss in runs if math.isfinite(loss)]
        return min(100.0, 1.1 * max([1.0, *peaks, *drawn]))

    @cached_property
    def plane_range(self) -> tuple[float, float]:
        """The range of the median trajectories of all points, on both axes."""
        paths = [curve.path for curve in self.data.curves.values() if curve.path is not None]
        return plane_range(np.concatenate([path.ravel() for path in paths]) if paths else [])

    def _drawn(self, outcome: str, main: bool = False) -> Figure:
        draw = {"yes_no": self._shares, "category": self._categories, "number": self._numbers}[self.data.kinds[outcome]]
        slug, title, what, reading, spec = draw(outcome)
        n = prose.between(*self.data.phases.seeds(outcome))
        asked = (self.data.resolved["diagram"] or {}).get("title") if main else None
        caption = f"{what}, {n} at each point. {spoken(outcome).capitalize()}: {self.data.meanings[outcome]}."
        if outcome in prose.BUMPS:
            caption += " So the median is 0 wherever fewer than half of the runs have a bump."
        points = main and self.examples is not None
        names = ["cells", "curves"] if points else ["cells"]
        queries = [self.data.queries[name] for name in names]
        slug = f"{slug}-{outcome.replace('_', '-')}"
        return Figure(slug, asked or title, caption, reading, spec, queries, facts_of(self.data, n), points=points)

    def _shares(self, outcome: str) -> tuple[str, str, str, str, dict[str, Any]]:
        words, grid, found = spoken(outcome), self.data.grid, self.data.phases.shares(outcome)
        reading = prose.SHARES_ALONG if grid.y is None else prose.SHARES_FINE if is_fine(grid) else prose.SHARES
        spec = phase_diagram(grid, found, boundary(grid, found), words).to_dict()
        return "phase", f"Where runs show {words}", f"Share of the seeds that show {words}", reading, spec

    def _categories(self, outcome: str) -> tuple[str, str, str, str, dict[str, Any]]:
        words, found, known = (
            spoken(outcome),
            self.data.phases.most_common(outcome),
            self.data.phases.categories(outcome),
        )
        title = "What became of the runs" if outcome == "outcome" else f"The most common {words}"
        spec = outcome_map(self.data.grid, found, known, f"most common {words}").to_dict()
        reading = prose.OUTCOMES_ALONG if self.data.grid.y is None else prose.OUTCOMES
        return "map", title, f"Most common {words} of the seeds", reading, spec

    def _numbers(self, outcome: str) -> tuple[str, str, str, str, dict[str, Any]]:
        words, found = spoken(outcome), self.data.phases.spreads(outcome)
        spec = number_map(self.data.grid, found, f"median {words}{unit(outcome)}").to_dict()
        reading = prose.NUMBERS_ALONG if self.data.grid.y is None else prose.NUMBERS
        return "map", f"The {words}", f"Median {words}{unit(outcome)} over the seeds", reading, spec

    def _losses(self, examples: Examples) -> Figure:
        bands = [band for point in examples.reasons for band in self._bands(point)]
        runs = [
            Run(self.data.grid.label(point), OOD_LOSS, seed, step, loss)
            for point, seed, step, loss in examples.runs.select("point", "seed", "step", "ood").iter_rows()
            if loss is not None
        ]
        spec = loss_curves(bands, runs, self.top).to_dict()
        caption = (
            f"OOD loss (at the test point) and training loss at single points of the grid: {self._reasons(examples)}."
        )
        return self._of_examples(examples, "loss-curves", "Losses over training", caption, prose.LOSSES, spec)

    def _bands(self, point: int) -> list[Band]:
        curve, label = self.data.curves[point], self.data.grid.label(point)
        return [
            Band(label, name, int(step), float(median), float(low), float(high))
            for name in (OOD_LOSS, TRAINING_LOSS)
            for step, median, low, high in zip(curve.step, *curve.losses[name], strict=True)
        ]

    def _paths(self, examples: Examples) -> Figure | None:
        """Median paths and single runs; None where no path has two places."""
        assert self.data.plane is not None
        label, plane = self.data.grid.label, self.data.plane
        paths = [self.data.curves[point].places(label(point)) for point in examples.reasons]
        medians = [place for path in paths if len(path) > 1 for place in path]
        if not medians:
            return None
        runs = [
            Place(label(point), seed, step, x, y)
            for point, seed, step, x, y in examples.runs.select("point", "seed", "step", "x", "y").iter_rows()
            if x is not None and y is not None
        ]
        spec = trajectories(medians, runs, plane).to_dict()
        caption = (
            f"The output at the test point in the plane of concepts {plane.first} and {plane.second}, "
            f"at the same points: {self._reasons(examples)}."
        )
        return self._of_examples(examples, "trajectories", "Where the output goes", caption, prose.PATHS, spec)

    def _of_examples(
        self, examples: Examples, slug: str, title: str, caption: str, reading: str, spec: dict[str, Any]
    ) -> Figure:
        queries: Sequence[Query] = [self.data.queries["curves"], examples.query]
        facts = facts_of(self.data, prose.between(*self.data.phases.seeds()))
        return Figure(slug, title, caption, reading, spec, queries, facts)

    def _reasons(self, examples: Examples) -> str:
        return "; ".join(f"{reason} ({self.data.grid.label(point)})" for point, reason in examples.reasons.items())
