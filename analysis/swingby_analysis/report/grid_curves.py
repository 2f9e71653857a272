"""The curves of a sweep over its grid: bands over seeds, panels by one axis, colours by another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from swingby_analysis.charts import style
from swingby_analysis.charts.bands import Quantiles, ValueScale, band_panels
from swingby_analysis.charts.curves import COLOURS
from swingby_analysis.grid import Grid, plain
from swingby_analysis.page import Figure
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.origins import facts_of
from swingby_analysis.report.point_curves import MOST_SEEDS
from swingby_analysis.report.shown import ShownCurve

LINES = 5
"""Lines of a panel."""
PANELS = 6
"""Panels of a figure; nine where two axes are laid out."""
READING = (
    "A line is the median over the seeds of a point of the grid; the darker band around it holds the central half of "
    "the seeds, the lighter one 10 % to 90 % of them. Of what is not finite only its rank counts: it lies above all "
    "else. What lies outside of the axes is cut off."
)


class Layout(NamedTuple):
    """The points of a figure: panels with their lines.

    Attributes:
        panels: title (with a second line behind a "|"), and the name and point of each line.
        names: of the lines, in the order of the legend.
        ordered: whether the names are numbers, ascending.
        legend: what the legend calls the lines.
    """

    panels: Sequence[tuple[str, Sequence[tuple[str, int]]]]
    names: Sequence[str]
    ordered: bool
    legend: str

    @property
    def points(self) -> int:
        """How many points are drawn."""
        return sum(len(lines) for _, lines in self.panels)


def spread(count: int, most: int) -> list[int]:
    """At most so many of the ranks 0, 1, ..., count - 1: evenly apart, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(rank) for rank in np.linspace(0, count - 1, most).tolist()})


def layout(grid: Grid, points: Sequence[int]) -> Layout:
    """A choice of points spread over the grid: lines along x, panels along y and the facets.

    Where hardly two points share their place on the other axes, as in a sample of the grid, they are the lines of a
    single panel instead.
    """
    at = {grid.places[point]: point for point in points}
    rows = sorted({(facet, j) for _, j, facet in at})
    if len(at) > 1 and len(rows) > 1 and len(at) < 1.5 * len(rows):
        chosen = [points[rank] for rank in spread(len(points), PANELS)]
        lines = [(grid.label(point), point) for point in chosen]
        return Layout([("", lines)], [name for name, _ in lines], False, "at")
    facets, ys = sorted({facet for facet, _ in rows}), sorted({j for _, j in rows})
    if len(facets) > 1 and len(ys) > 1:
        facets, ys = ([kept[rank] for rank in spread(len(kept), 3)] for kept in (facets, ys))
    else:
        facets, ys = ([kept[rank] for rank in spread(len(kept), PANELS)] for kept in (facets, ys))
    filled = [(facet, j) for facet in facets for j in ys if (facet, j) in rows]
    xs = sorted({i for i, j, facet in at if (facet, j) in filled})
    xs = [xs[rank] for rank in spread(len(xs), LINES)]
    panels = []
    for facet, j in filled:
        on_y = "" if grid.y is None else f"{grid.y.name} = {plain(grid.y.values[j])}"
        parts = [part for part in (on_y, grid.facets[facet]) if part]
        lines = [(plain(grid.x.values[i]), at[i, j, facet]) for i in xs if (i, j, facet) in at]
        if lines:
            panels.append(("|".join(parts), lines))
    names = [plain(grid.x.values[i]) for i in xs]
    return Layout(panels, names, grid.x.kind != "ordinal", grid.x.title)


def grid_curves(data: ReportData) -> list[Figure]:
    """A figure for each curve that the report shows; none for one that is finite nowhere."""
    points = [point for point in data.grid.places if point in data.curves]
    if not points:
        return []
    chosen = layout(data.grid, points)
    return [
        _figure(data, one, chosen, len(points))
        for one in data.shown
        if any((np.abs(curve.values[one.title][0]) < 1e299).any() for curve in data.curves.values())
    ]


def _figure(data: ReportData, one: ShownCurve, chosen: Layout, every: int) -> Figure:
    scale = data.scales[one.title]
    rows = [
        row
        for group, lines in chosen.panels
        for name, point in lines
        for row in _rows(data, one, scale, group, name, point)
    ]
    hues = style.ordered_colours(len(chosen.names)) if chosen.ordered else COLOURS
    colours = {name: hues[rank % len(hues)] for rank, name in enumerate(chosen.names)}
    numbered = data.reported.curves.numbered if data.reported.curves is not None else ""
    spec = band_panels(rows, colours, chosen.legend, one.axis, scale, numbered).to_dict(validate=False)
    seeds = [data.curves[point].n for _, lines in chosen.panels for _, point in lines]
    n = prose.between(min(seeds), max(seeds))
    called = f"{one.title[:1].upper()}{one.title[1:]}"
    what = f"{called}: {one.meaning}. " if one.meaning else ""
    whole = "all points" if chosen.points == every else f"{chosen.points} of {every:,} points, spread over the grid"
    over = f"the first {MOST_SEEDS} seeds of each" if max(seeds) == MOST_SEEDS else f"{n} seed{'s' * (n != '1')} each"
    caption = f"{what}Median and bands at {whole}; {over}. Values on a {scale.in_words}."
    slug = f"curves-{one.column.replace('_', '-')}"
    queries, facts = [data.queries[f"curve {one.column}"]], facts_of(data, prose.between(*data.phases.seeds()))
    return Figure(
        slug,
        f"{called} over {'time' if numbered else 'the steps'}",
        caption,
        READING,
        spec,
        queries,
        facts,
        points=True,
        section="curves",
    )


def _rows(data: ReportData, one: ShownCurve, scale: ValueScale, group: str, name: str, point: int) -> list[Quantiles]:
    """The quantiles at a point; what lies far outside of the scale is brought near to its edge."""
    curve, (low, high) = data.curves[point], scale.near
    quantiles = np.concatenate([curve.values[one.title], curve.quartiles[one.title]])
    values = np.clip(np.nan_to_num(quantiles, nan=high), low, high)
    return [
        Quantiles(group, name, *row, point=point) for row in zip(curve.step.tolist(), *values.tolist(), strict=True)
    ]
