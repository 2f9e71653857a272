"""How every figure looks: type, colours that colour-blind readers can tell apart, and axes over a grid."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from analysis.charts.grid import Grid, GridAxis, plain

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
INK = "#1d2733"
FAINT = "#6b7785"
RULE = "#d9dee4"
NO_RESULT = "#eef1f4"
OOD = "#d1495b"
TRAINING = "#2a6f97"

Row = Mapping[str, Any]


def config(chart: Any) -> Any:
    """The chart with the house's type and lines; on white, so that it prints as it shows."""
    return (
        chart.configure(background="white", font=FONT, padding=8)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=INK, titleFontWeight="normal", titleFontSize=12, labelFontSize=11,
            titlePadding=8, domainColor=FAINT, tickColor=FAINT, grid=False, labelFlush=False,
        )
        .configure_legend(
            labelColor=INK, titleColor=INK, titleFontWeight="normal", titleFontSize=11, labelFontSize=11,
            titleLimit=400, labelLimit=300,
        )
        .configure_header(labelColor=INK, labelFontSize=12, labelFontWeight="bold", title=None, labelPadding=6)
        .configure_title(color=INK, fontSize=12, fontWeight="bold", anchor="start", offset=8)
    )  # fmt: skip


def short(value: Any, digits: int = 5) -> Any:
    """A number with as many digits as a figure can show; non-finite numbers become null."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def inline(rows: Iterable[Row], name: str = "") -> alt.InlineData:
    """Rows as data written into the chart itself."""
    values = [{key: short(value) for key, value in row.items()} for row in rows]
    return alt.InlineData(values=values, name=name) if name else alt.InlineData(values=values)


def panel_size(grid: Grid) -> tuple[int, int]:
    """Width and height in px of one panel: larger where there are fewer of them."""
    side = {1: 430, 2: 300}.get(len(grid.facets), 236)
    return side, side if grid.y is not None else round(side * 0.7)


def columns(grid: Grid) -> int:
    """How many panels stand side by side."""
    count = len(grid.facets)
    return count if count <= 3 else (2 if count == 4 else 3)


def grid_scale(axis: GridAxis) -> alt.Scale:
    """The scale on which tiles of this axis touch: from its first edge to its last."""
    kind = "log" if axis.kind == "log" else "linear"
    zero = alt.Undefined if kind == "log" else False
    return alt.Scale(type=kind, domain=[axis.edges[0], axis.edges[-1]], nice=False, zero=zero)


def grid_ticks(axis: GridAxis, length: float, room: float) -> alt.Axis:
    """Ticks at the grid's own values, thinned until `room` px lie between two labels on an axis of `length` px."""
    kept = thinned(axis, length, room)
    positions = [axis.positions[i] for i in kept]
    texts = tick_texts(axis)
    labels = {f"{axis.positions[i]:.6g}": texts[i] for i in kept}
    # A look-up, because the values of an ordinal axis are text and those of a log axis are not powers of ten.
    expression = f"{json.dumps(labels)}[format(datum.value, '.6~g')]"
    return alt.Axis(title=axis.title, values=positions, labelExpr=expression, labelOverlap=False, labelFlush=False)


def tick_texts(axis: GridAxis) -> list[str]:
    """The values as labels: numbers in three digits where that still tells them apart."""
    texts = [f"{v:.3g}" if isinstance(v, float) else plain(v) for v in axis.values]
    return texts if len(set(texts)) == len(texts) else [plain(v) for v in axis.values]


def thinned(axis: GridAxis, length: float, room: float) -> list[int]:
    """Ranks of the values that get a label: evenly many steps apart, and at least `room` px."""
    first, last = axis.ruler(axis.edges[0]), axis.ruler(axis.edges[-1])
    at = [(axis.ruler(p) - first) / (last - first) * length for p in axis.positions]
    for stride in range(1, len(at)):
        kept = list(range(0, len(at), stride))
        if all(at[b] - at[a] >= room for a, b in pairwise(kept)):
            return kept
    return [0]


def grid_x(grid: Grid, field: str = "x") -> alt.X:
    """The x axis of a map over the grid, encoding `field`."""
    widest = max(map(len, tick_texts(grid.x)))
    ticks = grid_ticks(grid.x, panel_size(grid)[0], 7.0 * widest + 8)
    return alt.X(f"{field}:Q", scale=grid_scale(grid.x), axis=ticks)


def grid_y(grid: Grid, field: str = "y") -> alt.Y:
    """The y axis of a map over the grid, encoding `field`.

    Raises:
        ValueError: the diagram runs along one parameter only.
    """
    if grid.y is None:
        raise ValueError("a map needs two axes; a diagram along one parameter is drawn as a line")
    return alt.Y(f"{field}:Q", scale=grid_scale(grid.y), axis=grid_ticks(grid.y, panel_size(grid)[1], 18))


def tile_area(grid: Grid) -> dict[str, Any]:
    """The encodings that make a rectangle fill its tile."""
    return {"x": grid_x(grid, "x0"), "x2": "x1:Q", "y": grid_y(grid, "y0"), "y2": "y1:Q"}


def tile(grid: Grid, point: int) -> dict[str, Any]:
    """Where a point's tile lies: centre x, y, edges x0, x1, y0, y1, and the label of its facet."""
    i, j, facet = grid.places[point]
    row: dict[str, Any] = {"point": point, "facet": grid.facets[facet], "label": grid.label(point)}
    row |= {"x": grid.x.positions[i], "x0": grid.x.edges[i], "x1": grid.x.edges[i + 1]}
    if grid.y is not None:
        row |= {"y": grid.y.positions[j], "y0": grid.y.edges[j], "y1": grid.y.edges[j + 1]}
    return row


def smallest_tile(grid: Grid) -> float:
    """The shorter side in px of the smallest tile: what an inset mark may fill."""
    width, height = panel_size(grid)
    across = grid.x.narrowest * width
    return across if grid.y is None else min(across, grid.y.narrowest * height)


def faceted(layers: Sequence[alt.Chart], rows: Iterable[Row], grid: Grid) -> Any:
    """The layers over one table, one panel a facet; `picked` is the point that the page outlines."""
    width, height = panel_size(grid)
    chart = alt.layer(*layers).properties(width=width, height=height)
    picked = alt.param(name="picked", value=-1)
    if len(grid.facets) == 1:
        return chart.properties(data=inline(rows)).add_params(picked)
    facet = alt.Facet("facet:N", sort=list(grid.facets), header=alt.Header(title=None))
    return chart.facet(facet=facet, columns=columns(grid), data=inline(rows), spacing=18).add_params(picked)
