"""The figures of a report: what is drawn, its caption, how to read it, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from analysis.charts.grid import plain
from analysis.charts.losses import OOD_LOSS, TRAINING_LOSS, Band, Run, loss_curves
from analysis.charts.number_map import number_map
from analysis.charts.outcome_map import outcome_map
from analysis.charts.phase_diagram import phase_diagram
from analysis.charts.trajectory import Place, plane_range, trajectories
from analysis.report import phases
from analysis.report.data import ReportData, ask, runs_query
from analysis.report.page import Figure
from analysis.report.queries import Query
from analysis.seeds import Bump, bump_over_seeds
from swingby.store import Store

SHARES = (
    "Each tile is one point of the grid; its colour is the share of the seeds. The white square in it is as wide as the 95 % Wilson "
    "interval, half a tile for ±25 points of per cent: the more white, the less is known. A dot marks points whose interval contains "
    "one half; the line is where the share, interpolated between points, is one half. Tiles without colour have no result."
)
SHARES_ALONG = "Each mark is one point of the grid, with the 95 % Wilson interval of its share. Open marks have an interval that contains one half."
OUTCOMES = (
    "The colour of a square is the most common outcome at that point of the grid, its area the share of the seeds that ended so; a full "
    "tile means all of them. Of equally common outcomes the one named first in the legend is drawn."
)
NUMBERS = "Each tile is the median over the seeds at one point of the grid; pointing at it shows its 95 % bootstrap interval and the seeds' quartiles. Empty tiles have no result."
LOSSES = (
    "Thick: the median over the seeds at each step. Shaded: from the 10 % to the 90 % quantile of the seeds, which is their spread and "
    "no confidence interval. Thin: the single seeds' OOD losses; a bump whose time differs between seeds is flatter in the median than in "
    "each of them. Dashed: 1 % of L_ref, below which a run counts as generalized. L_ref is half the squared length of the test point. "
    "Steps are spaced as log(1 + step), so that step 0 is on the axis; losses below 0.001 are drawn there."
)
PATHS = (
    "The output at the test point, each concept in units of its own mu, so that (1, 1) is right (diamond) and the training clusters' "
    "centres (squares) lie at 1 on one axis. Thick: the median over the seeds, coordinate by coordinate, with a dot at equal intervals of "
    "training steps: dots far apart mean fast. Thin: the single seeds."
)


@dataclass(frozen=True)
class Made:
    """The figures of one report, and the numbers that its text needs.

    Attributes:
        data: what was read.
        examples: the points whose curves are drawn at length, with the reason for each.
        runs: the single runs at these points.
    """

    data: ReportData
    examples: Mapping[int, str]
    runs: pl.DataFrame
    runs_query: Query

    @classmethod
    def of(cls, data: ReportData, store: Store) -> Made:
        """Chooses the examples, and reads their runs."""
        examples = choose(data)
        query = runs_query(data.sweep["sweep_id"], list(examples), data.plane)
        return cls(data, examples, ask(store, query), query)

    @cached_property
    def main(self) -> Figure:
        """The diagram that the sweep asks for."""
        return self._drawn(self.data.outcome, points=True)

    @cached_property
    def figures(self) -> list[Figure]:
        """Every figure, the main one first."""
        others = [name for name in ("outcome", "bump_height") if name in self.data.kinds and name != self.data.outcome]
        found = [self.main, *(self._drawn(name) for name in others), self._losses()]
        return found if self.data.plane is None else [*found, self._paths()]

    @cached_property
    def bump(self) -> tuple[int, Bump] | None:
        """The test over seeds for a bump at the first example; None where it has fewer than 2 runs that did not diverge."""
        point = next(iter(self.examples))
        losses = [
            rows["ood"].to_numpy()
            for rows in self.runs.filter(pl.col("point") == point).partition_by("seed", maintain_order=True)
            if rows["ood"].is_finite().all()
        ]
        longest = max(map(len, losses), default=0)
        whole = np.array([loss for loss in losses if len(loss) == longest])
        if len(whole) < 2 or longest < 3:
            return None
        return point, bump_over_seeds(np.arange(longest), whole)

    def _drawn(self, outcome: str, points: bool = False) -> Figure:
        kind = self.data.kinds[outcome]
        words, meaning = spoken(outcome), self.data.meanings.get(outcome, "")
        along = self.data.grid.y is None
        n = seeds_a_point(self.data, outcome)
        asked = (self.data.resolved["diagram"] or {}).get("title") if points else None
        drawing = {"yes_no": self._shares, "category": self._outcomes, "number": self._numbers}[kind]
        spec, reading = drawing(outcome)
        title = {"yes_no": f"Where runs show {words}", "category": "What became of the runs", "number": f"The {words}"}[
            kind
        ]
        what = {"yes_no": f"Share of the seeds with {words}", "category": f"Most common {words} over the seeds"}
        caption = f"{what.get(kind, f'Median {words} over the seeds')}, {n} at each point. Detected as: {meaning}."
        facts = facts_of(self.data, n)
        reading = SHARES_ALONG if along and kind == "yes_no" else reading
        queries = [self.data.queries["cells"], *([self.data.queries["curves"]] if points else [])]
        return Figure(
            f"{kind.replace('yes_no', 'phase')}-{slug(outcome)}",
            asked or title,
            caption,
            reading,
            spec,
            queries,
            facts,
            points,
        )

    def _shares(self, outcome: str) -> tuple[dict[str, Any], str]:
        found = phases.shares(self.data.cells, outcome)
        return phase_diagram(self.data.grid, found, phases.boundary(self.data.grid, found), spoken(outcome)).to_dict(), SHARES

    def _outcomes(self, outcome: str) -> tuple[dict[str, Any], str]:
        known = phases.categories(self.data.cells, outcome)
        found = phases.most_common(self.data.cells, outcome, known)
        return outcome_map(self.data.grid, found, known, f"most common {spoken(outcome)}").to_dict(), OUTCOMES

    def _numbers(self, outcome: str) -> tuple[dict[str, Any], str]:
        title = f"median {spoken(outcome)}{unit(outcome)}"
        return number_map(self.data.grid, phases.spreads(self.data.cells, outcome), title).to_dict(), NUMBERS

    def _losses(self) -> Figure:
        bands = [band for point in self.examples for band in bands_of(self.data, point)]
        runs = [
            Run(self.data.grid.label(row["point"]), OOD_LOSS, row["seed"], row["step"], row["ood"])
            for row in self.runs.iter_rows(named=True)
            if row["ood"] is not None
        ]
        spec = loss_curves(bands, runs, top_of(self.data)).to_dict()
        caption = f"OOD loss (at the test point) and training loss at three points of the grid: {self._reasons()}."
        return self._of_examples("loss-curves", "Losses over training", caption, LOSSES, spec)

    def _paths(self) -> Figure:
        assert self.data.plane is not None
        medians = [p for point in self.examples for p in self.data.curves[point].places(self.data.grid.label(point))]
        runs = [
            Place(self.data.grid.label(row["point"]), row["seed"], row["step"], row["x"], row["y"])
            for row in self.runs.iter_rows(named=True)
            if row["x"] is not None and row["y"] is not None
        ]
        spec = trajectories(medians, runs, self.data.plane).to_dict()
        caption = (
            f"The output at the test point in the plane of concepts {self.data.plane.first} and {self.data.plane.second}, "
            f"at the same points: {self._reasons()}."
        )
        return self._of_examples("trajectories", "Where the output goes", caption, PATHS, spec)

    def _of_examples(self, name: str, title: str, caption: str, reading: str, spec: dict[str, Any]) -> Figure:
        n = seeds_a_point(self.data, None)
        return Figure(
            name, title, caption, reading, spec, [self.data.queries["curves"], self.runs_query], facts_of(self.data, n)
        )

    @cached_property
    def plane_range(self) -> tuple[float, float]:
        """The range of the trajectories of all points, on both axes."""
        return plane_range([place for curve in self.data.curves.values() for place in curve.places()])

    def _reasons(self) -> str:
        return "; ".join(f"{reason} ({self.data.grid.label(point)})" for point, reason in self.examples.items())


# which points to show at length


def choose(data: ReportData) -> dict[int, str]:
    """Up to three points with their reasons: where the outcome is most frequent (or largest), half-way, and least."""
    values = [(point, value) for point, value in _values(data) if point in data.curves and data.curves[point].places()]
    values = values or [(point, 0.0) for point in data.curves]
    low, high = min(v for _, v in values), max(v for _, v in values)
    half = 0.5 if data.kind == "yes_no" else (low + high) / 2
    bumps = {spread.point: spread.median for spread in phases.spreads(data.cells, "bump_height")}
    words = spoken(data.outcome)
    # Of equals, the one with the larger bump, then the first in the grid.
    tie = {point: (-bumps.get(point, 0.0), point) for point, _ in values}
    wanted = [
        (f"most {words}", lambda value: -value),
        ("nearest to half-way", lambda value: abs(value - half)),
        (f"least {words}", lambda value: value),
    ]
    found: dict[int, str] = {}
    for reason, distance in wanted:
        rest = [(distance(value), tie[point], point) for point, value in values if point not in found]
        if rest and (not found or high > low):
            found[min(rest)[2]] = reason
    return found


def _values(data: ReportData) -> list[tuple[int, float]]:
    if data.kind == "yes_no":
        return [(share.point, share.share) for share in phases.shares(data.cells, data.outcome)]
    if data.kind == "number":
        return [(spread.point, spread.median) for spread in phases.spreads(data.cells, data.outcome)]
    order = phases.categories(data.cells, data.outcome)
    return [
        (row.point, row.k / row.n if row.outcome == order[0] else 0.0)
        for row in phases.most_common(data.cells, data.outcome, order)
    ]


# words and facts


def spoken(outcome: str) -> str:
    """An outcome's column as words."""
    return outcome.replace("_", " ")


def slug(outcome: str) -> str:
    """An outcome's column as part of a file's name."""
    return outcome.replace("_", "-")


def unit(outcome: str) -> str:
    """The unit of an outcome that is a number, as it stands behind its name."""
    return " / L_ref" if outcome == "bump_height" else ""


def seeds_a_point(data: ReportData, outcome: str | None) -> str:
    """How many seeds the points have, of those for which the outcome could be told: "20", or "17 to 20"."""
    cells = data.cells if outcome is None else data.cells.filter(pl.col(outcome).is_not_null())
    counts = cells.group_by("point").len()["len"]
    low, high = (int(counts.min() or 0), int(counts.max() or 0)) if len(counts) else (0, 0)  # pyright: ignore[reportArgumentType]
    return str(low) if low == high else f"{low} to {high}"


def facts_of(data: ReportData, n: str) -> dict[str, str]:
    """What was put in: sweep ids, seeds, n, conventions, code."""
    resolved = data.resolved
    seeds = resolved["seeds"]
    consecutive = seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    listed = f"{seeds[0]} to {seeds[-1]}" if consecutive else ", ".join(map(str, seeds))
    modes = {
        "common": "common: a seed has the same draws at every point, so errors of neighbouring points go together",
        "independent": "independent: no two points share a draw",
    }
    origins = dict.fromkeys(f"{row['name']} {row['sweep_id']}" for row in data.origins)
    commits = dict.fromkeys(
        f"{row['git_commit'] or 'no git checkout'}{' with local changes' if row['git_dirty'] else ''}"
        for row in data.origins
    )
    return {
        "Sweep": f"{data.sweep['name']} {data.sweep['sweep_id']}",
        "Cells computed by": "; ".join(origins) or "unknown",
        "Seeds": f"{len(seeds)} ({listed}), {modes[resolved['seed_mode']]}",
        "n at each point": f"{n} finished runs (those that diverged included, those that raised an error not)",
        "Conventions": "; ".join(f"{name} {shown(value)}" for name, value in resolved["common"].items()),
        "Preset": resolved["preset"] or "none",
        "Code": "; ".join(commits) or "unknown",
    }


def shown(value: Any) -> str:
    """A parameter's value in the page."""
    return f"({', '.join(map(shown, value))})" if isinstance(value, list | tuple) else plain(value)


def top_of(data: ReportData) -> float:
    """The upper end of the loss axes: just above the largest 90 % quantile, but never above 100 L_ref."""
    peaks = [float(np.max(curve.losses[OOD_LOSS][2])) for curve in data.curves.values()]
    return min(100.0, 1.1 * max([1.0, *peaks]))


def bands_of(data: ReportData, point: int) -> list[Band]:
    """The bands of one point as rows."""
    curve, label = data.curves[point], data.grid.label(point)
    return [
        Band(label, name, int(step), float(median), float(low), float(high))
        for name in (OOD_LOSS, TRAINING_LOSS)
        for step, median, low, high in zip(curve.step, *curve.losses[name], strict=True)
    ]
