"""The look of every figure: type, colours that colour-blind readers can tell apart, and axes over a grid."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

from swingby_analysis.charts.ticks import CHARACTER, GAP, LONGEST, are_names, labels
from swingby_analysis.grid import Grid, GridAxis, plain

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
INK = "#1d2733"
FAINT = "#6b7785"
RULE = "#d9dee4"
NO_RESULT = "#eef1f4"
RED, BLUE, VIOLET = "#d1495b", "#2a6f97", "#7a3fa0"
"""The colours of the first line of a chart, of the second, and of one that is to stand out from both."""

ORDERED = ("#5b4fb3", "#2f7fc1", "#1fa187", "#7fb13d", "#e0952a")
"""Colours of lines at ascending values, from dark to light; each is seen on white and on a dark ground."""
TILE = 48
"""The side in px of a tile where the grid is coarse."""
OVERLAP = {"x2Offset": 0.6, "y2Offset": -0.6, "strokeWidth": 0}
"""Tiles reach a little over their neighbours, so that no hairline of the ground shows between them."""
SMALLEST = 144
"""The least side in px of a panel."""
SIZE = 11
"""That of the type, in px."""
NAME, MOST_NAMES = 13, 64
"""The px of a name on an axis, and how many an axis has room for; of more, some are left out."""
WIDEST, SPACING = 1000, 18
"""The px of panels side by side, beyond which they stand below each other, and between two of them."""
NEAR = 0.05
"""How far, as a share of the distance to the next value, a label in three digits may lie from its value."""
NARROW = 560
"""Legends below panels of less px stand below each other."""

Row = Mapping[str, Any]


LATER = alt.NamedData("rows")
"""What stands for the rows in a faceted chart until `finished` puts them in."""

TEXT = {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "labelFontSize": SIZE}
LOOK: Mapping[str, Any] = {
    "background": "white",  # on white, so that a figure prints as it shows
    "font": FONT,
    "padding": 8,
    "view": {"stroke": None},
    "axis": {
        **TEXT, "titleFontSize": 12, "titlePadding": 8, "domainColor": FAINT, "tickColor": FAINT, "grid": False,
    },
    "legend": {**TEXT, "titleFontSize": 11, "titleLimit": 400, "labelLimit": 300},
    "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold", "title": None, "labelPadding": 6},
}  # fmt: skip


class Rows(alt.InlineData):
    """Rows that are copied by reference: Altair copies a chart at every step, which is slow with rows inside."""

    def __deepcopy__(self, memo: Any) -> Rows:
        return self


def short(value: Any, digits: int = 5) -> Any:
    """A number with as many digits as a figure can show; non-finite numbers become null."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


def finished(chart: Any, rows: Iterable[Row], look: Mapping[str, Any] = LOOK, **properties: Any) -> Any:
    """The chart with its look and its rows written into it."""
    done = chart.properties(config=alt.Config(**look), **properties)
    with debug_mode(False):
        done.data = Rows(
            values=[
                {key: short(value) if isinstance(value, float) else value for key, value in row.items()} for row in rows
            ]
        )
    return done


def waiting(chart: Any, name: str, **properties: Any) -> Any:
    """The chart with its look and no rows yet, but data of this name, which the page fills in."""
    return chart.properties(config=alt.Config(**LOOK), data=alt.InlineData(values=[], name=name), **properties)


def ordered_colours(count: int) -> list[str]:
    """So many of the colours between those of `ORDERED`, from its first to its last."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in ORDERED])
    at = np.linspace(0, len(stops) - 1, count) if count > 1 else np.array([1.0])
    mixed = np.stack([np.interp(at, range(len(stops)), channel) for channel in stops.T], axis=1).round().astype(int)
    return ["#" + "".join(f"{value:02x}" for value in row) for row in mixed.tolist()]


def plasma_colours(count: int) -> list[str]:
    """Colours from dark to light that colour-blind readers can order: an excerpt of the palette plasma."""
    anchors = [(0x1B, 0x06, 0x8D), (0x8B, 0x0A, 0xA5), (0xDB, 0x5C, 0x68), (0xF7, 0xA9, 0x36)]
    colours = []
    for k in range(count):
        at = k / max(count - 1, 1) * (len(anchors) - 1)
        i = min(int(at), len(anchors) - 2)
        mixed = (round(a + (at - i) * (b - a)) for a, b in zip(anchors[i], anchors[i + 1], strict=True))
        colours.append("#" + "".join(f"{part:02x}" for part in mixed))
    return colours


def paler(colours: Sequence[str], share: float) -> list[str]:
    """The colours mixed with so much white."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours])
    mixed = (255 * share + stops * (1 - share)).round().astype(int)
    return ["#" + "".join(f"{value:02x}" for value in row) for row in mixed.tolist()]


def darker(colours: Sequence[str], share: float) -> list[str]:
    """The colours mixed with so much black."""
    parts = [[round(int(colour[i : i + 2], 16) * (1 - share)) for i in (1, 3, 5)] for colour in colours]
    return ["#" + "".join(f"{value:02x}" for value in row) for row in parts]


def panel_size(grid: Grid) -> tuple[int, int]:
    """Width and height in px of one panel: larger where there are fewer of them, but no tile is larger than TILE.

    Three in a row have room, with their axis, beside the panel of curves on a page. Names have a line each.
    """
    side = {1: 430, 2: 310, 4: 290}.get(len(grid.facets), 212)
    if grid.y is None:
        return max(side, _lines(grid.x)), round(side * 0.7)
    widths = max(TILE, label_room(grid.x)) * len(grid.x.values), TILE * len(grid.y.values)
    width, height = (min(side, max(SMALLEST, math.ceil(width_of))) for width_of in widths)
    return max(width, _lines(grid.x)), max(height, _lines(grid.y))


def _lines(axis: GridAxis) -> int:
    """The px of an axis of names that has a line for each, or for so many that the others are left out."""
    return NAME * min(len(axis.values), MOST_NAMES) if are_names(tick_texts(axis)) else 0


def columns(grid: Grid) -> int:
    """How many panels stand side by side."""
    count, width = len(grid.facets), panel_size(grid)[0]
    side_by_side = count if count <= 3 else (2 if count == 4 else 3)
    return side_by_side if width * side_by_side <= WIDEST else max(1, WIDEST // width)


def across(grid: Grid) -> int:
    """The px from the left edge of the first panel to the right edge of the last in a row."""
    count = columns(grid)
    return count * panel_size(grid)[0] + (count - 1) * SPACING


def legend_room(grid: Grid) -> float:
    """The px that a legend may take below the panels: all of them, or of wide ones what leaves a place beside it."""
    return across(grid) if across(grid) < NARROW else 0.55 * across(grid)


def grid_scale(axis: GridAxis) -> alt.Scale:
    """The scale on which tiles of this axis touch: from its first edge to its last."""
    kind = "log" if axis.kind == "log" else "linear"
    zero = alt.Undefined if kind == "log" else False
    return alt.Scale(type=kind, domain=[axis.edges[0], axis.edges[-1]], nice=False, zero=zero)


def grid_ticks(axis: GridAxis, length: float, across: bool) -> alt.Axis:
    """Ticks at the grid's own values, with the labels that an axis of `length` px has room for (see `ticks`)."""
    first, last = axis.ruler(axis.edges[0]), axis.ruler(axis.edges[-1])
    at = [(axis.ruler(position) - first) / (last - first) * length for position in axis.positions]
    shown = labels(at, tick_texts(axis), across, SIZE)
    return alt.Axis(title=wrapped(axis.title, length), **shown.axis(axis.positions))


def wrapped(text: str, length: float) -> list[str]:
    """A title in lines that are as long as an axis or a legend of `length` px, or 20 characters."""
    return textwrap.wrap(text, max(20, int(length / 6)))


def legend_columns(names: Iterable[str], room: float) -> dict[str, Any]:
    """So many columns of a legend of these names as `room` px hold, and how long a name is shown; none is left out."""
    widest = SIZE * CHARACTER * min(LONGEST, max(map(len, names), default=1)) + 26
    return {"columns": min(6, max(1, int(room / widest))), "labelLimit": SIZE * CHARACTER * LONGEST, "symbolLimit": 0}


def tick_texts(axis: GridAxis) -> list[str]:
    """The values as labels: numbers in three digits where these lie at the value, seen from its neighbours."""
    texts = [_three_digits(v) if isinstance(v, float) else plain(v) for v in axis.values]
    numbers = [v for v in axis.values if isinstance(v, int | float)]
    if len(numbers) < len(texts):
        return texts if len(set(texts)) == len(texts) else [plain(v) for v in axis.values]
    gaps = [math.inf, *(b - a for a, b in pairwise(numbers)), math.inf]
    moved = (abs(float(text) - v) for text, v in zip(texts, numbers, strict=True) if not isinstance(v, bool))
    near = all(by <= NEAR * min(gap) for by, gap in zip(moved, pairwise(gaps), strict=False))
    return texts if near else [plain(v) for v in axis.values]


def _three_digits(value: float) -> str:
    """A number in three digits; 6310, not 6.31e+03, below 100,000."""
    text = f"{value:.3g}"
    return f"{float(text):.0f}" if "e+0" in text and abs(value) < 1e5 else text


def label_room(axis: GridAxis) -> float:
    """The px that the widest label takes side by side with others."""
    return SIZE * (CHARACTER * min(LONGEST, max(map(len, tick_texts(axis)))) + GAP)


def grid_x(grid: Grid, field: str = "x") -> alt.X:
    """The x axis of a map over the grid, encoding `field`."""
    ticks = grid_ticks(grid.x, panel_size(grid)[0], across=True)
    return alt.X(f"{field}:Q", scale=grid_scale(grid.x), axis=ticks)


def grid_y(grid: Grid, field: str = "y") -> alt.Y:
    """The y axis of a map over the grid, encoding `field`.

    Raises:
        ValueError: the diagram runs along one parameter only.
    """
    axis = grid.rows_axis
    return alt.Y(f"{field}:Q", scale=grid_scale(axis), axis=grid_ticks(axis, panel_size(grid)[1], across=False))


def tile_area(grid: Grid) -> dict[str, Any]:
    """The encodings that make a rectangle fill its tile."""
    return {"x": grid_x(grid, "x0"), "x2": alt.X2("x1:Q"), "y": grid_y(grid, "y0"), "y2": alt.Y2("y1:Q")}


def tile(grid: Grid, point: int) -> dict[str, Any]:
    """Where a point's tile lies: centre x, y, edges x0, x1, y0, y1, and the label of its facet."""
    i, j, facet = grid.places[point]
    row: dict[str, Any] = {"point": point, "facet": grid.facets[facet], "label": grid.label(point)}
    row |= {"x": grid.x.positions[i], "x0": grid.x.edges[i], "x1": grid.x.edges[i + 1]}
    if grid.y is not None:
        row |= {"y": grid.y.positions[j], "y0": grid.y.edges[j], "y1": grid.y.edges[j + 1]}
    return row


def smallest_tile(grid: Grid) -> float:
    """The side in px of the largest square that fits every tile, centred at its point."""
    width, height = panel_size(grid)
    across = grid.x.narrowest * width
    return across if grid.y is None else min(across, grid.y.narrowest * height)


def headed(title: str | Sequence[str], notes: Sequence[str]) -> alt.TitleParams:
    """A panel's title with smaller lines below it."""
    return alt.TitleParams(
        title if isinstance(title, str) else list(title),
        subtitle=list(notes), fontSize=12, subtitleFontSize=11, subtitleColor=FAINT, anchor="middle",
        color=INK, subtitlePadding=3, offset=6,
    )  # fmt: skip


def line_colour(colours: Mapping[str, str], title: Sequence[str], columns: int) -> alt.Color:
    """The colour of a row's `line`, with one legend below all panels.

    Args:
        colours: the name of a line -> its colour, in the legend's order.
        title: of the legend, in lines.
        columns: of the legend.
    """
    legend = alt.Legend(
        title=list(title) or None, titleLimit=0, orient="bottom", direction="horizontal", columns=columns,
        symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1, symbolSize=260,
    )  # fmt: skip
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("line:N", scale=scale, legend=legend)


def tip(title: str) -> list[alt.Tooltip]:
    """What is shown of a row that is pointed at: its `label`, and its `text` under a title."""
    return [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=title)]


def level(value: float) -> alt.Chart:
    """A dashed line across a panel; once, not once a row."""
    once = alt.Chart().transform_aggregate(rows="count()")
    return once.mark_rule(color=FAINT, strokeDash=[4, 3]).encode(y=alt.YDatum(value))


def faceted(layers: Sequence[alt.Chart], rows: Iterable[Row], grid: Grid, look: Mapping[str, Any] = LOOK) -> Any:
    """The layers over one table, one panel a facet; `picked` is the point that the page outlines."""
    width, height = panel_size(grid)
    if across(grid) < NARROW:
        below = {"layout": {"expr": "{bottom: {direction: 'vertical', anchor: 'start', offset: 18, margin: 8}}"}}
        look = {**look, "legend": {**look["legend"], **below}}
    # Given to the first layer: a whole chart is copied five times when it gets a parameter.
    first = layers[0].add_params(alt.param(name="picked", value=-1))
    chart = alt.layer(first, *layers[1:], width=width, height=height)
    if len(grid.facets) > 1:
        header = alt.Header(title=None, labelExpr="replace(datum.label, /_/g, ' ')")
        facet = alt.Facet("facet:N", sort=list(grid.facets), header=header)
        chart = chart.facet(facet=facet, columns=columns(grid), data=LATER).properties(spacing=SPACING)
        if len(grid.facets) % columns(grid):  # shared axes would stand below places without a panel, too
            chart = chart.resolve_axis(x="independent", y="independent")
    return finished(chart, rows, look)
