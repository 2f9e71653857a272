"""Maps of a fine grid: a tile a point, the contour of the share, the lines of theory over them, and what both mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid
from swingby_analysis.charts.outcome_map import PALETTE, MostCommon
from swingby_analysis.charts.phase_diagram import Segment, Share
from swingby_analysis.statements.diagram import Line

THEORY = "#d1495b"
"""The lines of theory, on every ground."""
DASHES: Sequence[Sequence[int]] = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])


def share_map(
    grid: Grid, shares: Sequence[Share], contour: Sequence[Segment], lines: Sequence[Line], what: str
) -> dict[str, Any]:
    """The share of the seeds as colour (viridis, always from 0 to 1); a dot where its interval contains one half."""
    rows = [{"kind": "tile", **style.tile(grid, row.point), "value": row.share} for row in shares]
    dots = [{"kind": "dot", **style.tile(grid, row.point)} for row in shares if row.undecided]
    pieces = [{"kind": "contour", **piece._asdict()} for piece in contour]
    legend = _gradient(f"share of seeds: {what}", format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    colour = alt.Color("value:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)
    size = max(2.0, 0.16 * style.smallest_tile(grid) ** 2)
    mark = _of_kind("dot").mark_circle(color="white", opacity=0.75, size=min(size, 14))
    layers = [_tiles(grid, colour), mark.encode(x=_x(grid), y=_y(grid)), *_contour(grid)]
    return _finished(grid, layers, [*rows, *dots, *pieces], lines)


def outcome_share_map(
    grid: Grid, rows: Sequence[MostCommon], outcomes: Sequence[str], lines: Sequence[Line], what: str
) -> dict[str, Any]:
    """The most common outcome as colour, stronger the more seeds ended so."""
    tiles = [
        {"kind": "tile", **style.tile(grid, row.point), "outcome": row.outcome, "strength": row.k / row.n}
        for row in rows
    ]
    colours = dict(zip(outcomes, PALETTE, strict=False))
    there = [name for name in outcomes if any(row.outcome == name for row in rows)]
    legend = alt.Legend(
        title=what, orient="bottom", direction="horizontal", symbolType="square", symbolSize=110, columns=6
    )
    colour = alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=there, range=[colours.get(name, style.INK) for name in there]),
        legend=legend,
    )
    strong = alt.Opacity(
        "strength:Q",
        scale=alt.Scale(domain=[0.25, 1], range=[0.35, 1], clamp=True),
        legend=alt.Legend(
            title="strength: its share of the seeds", orient="bottom", direction="horizontal",
            values=[0.4, 0.6, 0.8, 1], format=".0%", symbolType="square", symbolSize=110, symbolFillColor=style.INK,
            symbolStrokeWidth=0,
        ),
    )  # fmt: skip
    return _finished(grid, [_tiles(grid, colour, opacity=strong)], tiles, lines)


def number_share_map(grid: Grid, values: Mapping[int, float], lines: Sequence[Line], what: str) -> dict[str, Any]:
    """A number of each point as colour: cividis from 0, a few that are far beyond the others in the last colour."""
    scale = alt.Scale(scheme="cividis", domain=[0.0, _top(list(values.values()) or [0.0])], clamp=True)
    return _number_map(grid, values, lines, scale, _gradient(what, format=".2~g", tickCount=5))


def count_map(grid: Grid, values: Mapping[int, float], lines: Sequence[Line], what: str) -> dict[str, Any]:
    """The mean of a count as colour: viridis from the least to the largest."""
    ends = [min(values.values(), default=0.0), max(values.values(), default=1.0)]
    return _number_map(grid, values, lines, alt.Scale(scheme="viridis", domain=ends), _gradient(what, format=".2~f"))


def _number_map(
    grid: Grid, values: Mapping[int, float], lines: Sequence[Line], scale: alt.Scale, legend: alt.Legend
) -> dict[str, Any]:
    tiles = [{"kind": "tile", **style.tile(grid, point), "value": value} for point, value in values.items()]
    return _finished(grid, [_tiles(grid, alt.Color("value:Q", scale=scale, legend=legend))], tiles, lines)


def _top(values: Sequence[float]) -> float:
    """The end of the colours: the largest, or what all but two in a hundred stay below where a few are far beyond."""
    ordered = sorted(values)
    usual = ordered[math.ceil(0.98 * (len(ordered) - 1))]
    top = ordered[-1] if ordered[-1] <= 2 * usual else usual
    return top or 1.0


def _gradient(title: str, **options: Any) -> alt.Legend:
    return alt.Legend(title=title, orient="bottom", gradientLength=220, gradientThickness=10, **options)


def _of_kind(kind: str) -> alt.Chart:
    return alt.Chart().transform_filter(f"datum.kind == '{kind}'")


def _x(grid: Grid) -> alt.X:
    return style.grid_x(grid)


def _y(grid: Grid) -> alt.Y:
    return style.grid_y(grid)


def _tiles(grid: Grid, colour: alt.Color, **more: Any) -> alt.Chart:
    return _of_kind("tile").mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, **more)


def _contour(grid: Grid) -> list[alt.Chart]:
    pieces = _of_kind("contour").encode(x=_x(grid), y=_y(grid), x2="x2:Q", y2="y2:Q")
    casing = pieces.mark_rule(color="white", strokeWidth=2.6, strokeCap="round")
    return [casing, pieces.mark_rule(color=style.INK, strokeWidth=1.2, strokeCap="round")]


def _finished(
    grid: Grid, layers: Sequence[alt.Chart], rows: Sequence[Mapping[str, Any]], lines: Sequence[Line]
) -> dict[str, Any]:
    """The chart with the lines of theory on top, in every panel."""
    labels = list(dict.fromkeys(line.label for line in lines))
    corners = [
        {"kind": "theory", "facet": facet, "line": index, "label": line.label, "order": place, "x": x, "y": y}
        for facet in grid.facets
        for index, line in enumerate(lines)
        for place, (x, y) in enumerate(zip(line.x, line.y, strict=True))
    ]
    chart = style.faceted([*layers, *(_theory(grid, labels) if labels else [])], [*rows, *corners], grid).to_dict()
    chart["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical", "margin": 12}}
    chart["config"]["view"]["fill"] = style.NO_RESULT
    return chart


def _theory(grid: Grid, labels: Sequence[str]) -> list[alt.Chart]:
    dash = alt.StrokeDash(
        "label:N",
        scale=alt.Scale(domain=list(labels), range=[list(item) for item in DASHES[: len(labels)]]),
        legend=alt.Legend(
            title="theory", orient="bottom", direction="vertical", symbolType="stroke", symbolSize=400,
            symbolStrokeColor=THEORY, symbolStrokeWidth=2, labelLimit=420,
        ),
    )  # fmt: skip
    base = _of_kind("theory").encode(x=_x(grid), y=_y(grid), detail="line:N", order="order:Q")
    casing = base.mark_line(color="white", strokeWidth=4, opacity=0.85, clip=True)
    return [casing, base.mark_line(color=THEORY, strokeWidth=2, clip=True).encode(strokeDash=dash)]
