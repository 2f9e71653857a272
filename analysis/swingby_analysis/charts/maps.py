"""Maps over the grid of a sweep, a tile a point: shares, outcomes, numbers, differences and means.

On a grid without a y axis, all of these are marks along its one parameter (`charts.along`).
`lines` of a map are curves that are drawn over it in every panel, such as the predictions of a theory. A map that takes
lines has plain tiles: what tells how sure a tile is would hide them. None: tiles with all that is known of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.along import differences_along, numbers_along, outcomes_along, shares_along
from swingby_analysis.charts.bands import decades_of, scale_ticks
from swingby_analysis.charts.summaries import OPEN, Difference, MostCommon, Segment, Share, SignedMean, Spread
from swingby_analysis.grid import Grid, GridLine

FINE = 14
"""Side of a tile in px below which insets are too small to be compared; only their verdict is marked then."""
# Okabe and Ito's colours (jfly.uni-koeln.de/color), which colour-blind readers can tell apart; worst news darkest.
PALETTE = ("#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#222222", "#f0e442", "#0072b2")
SIDES = ("#2c7fb8", "#f7f7f5", "#d95f0e")
"""Colours below 0, at 0, above it, which colour-blind readers can tell apart."""
REACHES = (0.1, 0.25, 0.5, 1.0)
"""How far the scale of a difference of shares may reach to either side."""
LIGHT = 0.7
"""Shares above this have colours on which white is hard to see."""
YES, NO = "{} and {} differ", "may be chance"
DASHES: Sequence[Sequence[int]] = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
"""Of the lines over a map, in turn."""
LINED = {**style.LOOK, "view": {**style.LOOK["view"], "fill": style.NO_RESULT}}
"""The look of a map that takes lines."""

Lines = Sequence[GridLine] | None


def is_fine(grid: Grid) -> bool:
    """Whether the tiles are too small for insets."""
    return grid.y is not None and style.smallest_tile(grid) < FINE


def share_map(
    grid: Grid, shares: Sequence[Share], contour: Sequence[Segment], outcome: str, lines: Lines = None
) -> Any:
    """The share as colour (viridis, always from 0 to 1), with the contour at one half, and how sure each share is.

    The Wilson half-width is the size of an open square, and a dot stands where the interval contains one half. On a
    fine grid, and under lines, there are no squares, and the dots are white. Along one parameter (no y axis) the
    shares are points with their intervals.
    """
    rows: list[dict[str, Any]] = []
    for one in shares:
        interval = f"95 % interval {one.low:.0%} to {one.high:.0%}"
        known = {"half_width": one.half_width, "undecided": one.undecided}
        text = f"{one.k} of {one.n} seeds: {one.share:.0%} ({interval})"
        rows.append({"kind": "tile", **style.tile(grid, one.point), **one._asdict(), **known, "text": text})
    if grid.y is None and lines is None:
        return shares_along(grid, rows, outcome)
    rows += [{"kind": "contour", **piece._asdict()} for piece in contour]
    legend = _gradient(f"share of seeds: {outcome}", format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    colour = alt.Color("share:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)
    tip = style.tip(outcome)
    if lines is not None:
        size = min(max(2.0, 0.16 * style.smallest_tile(grid) ** 2), 14)
        dots = _tile(grid).transform_filter("datum.undecided").mark_circle(color="white", opacity=0.75, size=size)
        return _lined(grid, [_tiles(grid, colour), dots, *_contour(grid, 1.2, 2.6)], rows, lines)
    tiles, side = _tiles(grid, colour, tooltip=tip), style.smallest_tile(grid)
    layers = _fine_marks(grid, shares, tip) if is_fine(grid) else _coarse_marks(grid, side, tip)
    return style.faceted([tiles, *layers, _picked(grid, _tile(grid))], rows, grid)


def outcome_map(
    grid: Grid, rows: Sequence[MostCommon], outcomes: Sequence[str], title: str, lines: Lines = None
) -> Any:
    """The most common outcome as the colour of its tile, its share of the seeds as the strength of that colour.

    Args:
        outcomes: every possible outcome, in the order of the legend, which lists those that are drawn, each in the
            colour that it has in every map.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "share": row.k / row.n} for row in rows]
    for row in table:
        row["text"] = f"{row['outcome']}: {row['k']} of {row['n']} seeds"
    seen = {row.outcome for row in rows}
    colours = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(outcomes) if name in seen}
    colour = _outcome_colour(colours, title)
    tip = [alt.Tooltip(f"{field}:N", title=said) for field, said in
           (("label", "at"), ("text", "most common"), ("counts", "all"))]  # fmt: skip
    if grid.y is None and lines is None:
        return outcomes_along(grid, table, colour, tip)
    strong = alt.Opacity(
        "share:Q", scale=alt.Scale(domain=[0.25, 1], range=[0.35, 1], clamp=True),
        legend=alt.Legend(
            title="strength: its share of the seeds", orient="bottom", direction="horizontal",
            values=[0.4, 0.6, 0.8, 1], format=".0%", symbolType="square", symbolSize=110,
            symbolFillColor=style.INK, symbolStrokeWidth=0,
        ),
    )  # fmt: skip
    table = [{"kind": "tile", **row} for row in table]
    if lines is not None:
        return _lined(grid, [_tiles(grid, colour, opacity=strong)], table, lines)
    return style.faceted([_tiles(grid, colour, opacity=strong, tooltip=tip), _picked(grid, _tile(grid))], table, grid)


def number_map(grid: Grid, rows: Sequence[Spread], title: str) -> Any:
    """The median as colour (cividis, from zero or the smallest value); interval, quartiles and n where one points.

    Positive medians over at least `bands.DECADES` decades are coloured by their logarithm, and the legend says so.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "text": row.text} for row in rows]
    if grid.y is None:
        return numbers_along(grid, table, rows, title)
    medians = [row.median for row in rows if math.isfinite(row.median)]
    domain = [min(0.0, *medians), max(medians) or 1.0] if medians else [0, 1]
    legend, scale = _gradient(title, format=".2~g", tickCount=5), alt.Scale(scheme="cividis", domain=domain)
    spaced = decades_of(medians)
    if spaced is not None:
        ticks = scale_ticks(spaced)
        legend = _gradient(f"{title} (log scale)", format="~e" if ticks[0] < 1e-4 else "~g", values=ticks)
        scale = alt.Scale(type="log", scheme="cividis", domain=[spaced.low, spaced.high], clamp=True)
    colour = alt.Color("median:Q", scale=scale, legend=legend)
    area = {**style.tile_area(grid), "tooltip": style.tip(title)}
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**area, color=colour)
    return style.faceted([tiles, _picked(grid, alt.Chart())], table, grid)


def height_map(grid: Grid, values: Mapping[int, float], title: str, lines: Sequence[GridLine] = ()) -> Any:
    """A number of each point as colour: cividis from 0, a few that are far beyond the others in the last colour."""
    ordered = sorted(values.values()) or [0.0]
    usual = ordered[math.ceil(0.98 * (len(ordered) - 1))]
    top = ordered[-1] if ordered[-1] <= 2 * usual else usual
    scale = alt.Scale(scheme="cividis", domain=[0.0, top or 1.0], clamp=True)
    return _value_map(grid, values, scale, _gradient(title, format=".2~g", tickCount=5), lines)


def count_map(grid: Grid, values: Mapping[int, float], title: str, lines: Sequence[GridLine] = ()) -> Any:
    """The mean of a count as colour: viridis from the least to the largest."""
    ends = [min(values.values(), default=0.0), max(values.values(), default=1.0)]
    return _value_map(grid, values, alt.Scale(scheme="viridis", domain=ends), _gradient(title, format=".2~f"), lines)


def reach_of(rows: Sequence[Difference]) -> float:
    """The reach of a scale that holds every difference: one of REACHES, the same for charts that are to be compared."""
    largest = max((abs(row.difference) for row in rows), default=0.0)
    return next(reach for reach in REACHES if largest <= reach + 1e-12)


def difference_map(
    grid: Grid, rows: Sequence[Difference], outcome: str, reach: float, sides: tuple[str, str] = ("A", "B")
) -> Any:
    """The difference of shares as colour, from -reach over 0, which is nearly white, to reach.

    A dot stands where it is no chance. Along one parameter (no y axis) the differences are marks with their intervals,
    filled where it is no chance.

    Args:
        sides: what is compared; the share in the first is taken from that in the second.
    """
    differ = YES.format(*sides)
    table = [{**style.tile(grid, row.point), **row._asdict(), "mark": differ if row.sure else NO} for row in rows]
    title, tip = f"share in {sides[1]} less share in {sides[0]}: {outcome}", style.tip(outcome)
    if grid.y is None:
        return differences_along(grid, table, rows, outcome, title)
    legend = _gradient(title, format="+.0%", values=[-reach, -reach / 2, 0, reach / 2, reach])
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES), clamp=True, interpolate="rgb")
    colour, side = alt.Color("difference:Q", scale=scale, legend=legend), style.smallest_tile(grid)
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, tooltip=tip)
    said = alt.Legend(title=["after correction"], orient="bottom", symbolFillColor=style.INK, symbolSize=60)
    shape = alt.Shape("mark:N", scale=alt.Scale(domain=[differ], range=["circle"]), legend=said)
    dots = alt.Chart().transform_filter("datum.sure").mark_point(
        filled=True, fill=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side,
        size=max(4.0, min(120.0, (0.26 * side) ** 2)),
    ).encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=shape, tooltip=tip)  # fmt: skip
    return style.faceted([tiles, dots, _picked(grid, alt.Chart())], table, grid)


def mean_map(grid: Grid, rows: Sequence[SignedMean], title: str) -> Any:
    """Tiles coloured by a signed mean, from one side over white at 0 to the other, with the number in them.

    The number is bold where its interval lies on one side of 0, plain where it does not.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "said": f"{row.mean:+.2f}"} for row in rows]
    reach = max((abs(row.mean) for row in rows), default=1.0) or 1.0
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES))
    colour = alt.Color("mean:Q", scale=scale, legend=_gradient(title, format="+.2~g"))
    tiles = (
        alt.Chart().mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, tooltip=style.tip(title))
    )
    layers = [tiles]
    looks: list[tuple[str, dict[str, Any]]] = [
        ("!=", {"fontWeight": "bold", "color": style.INK}),
        ("==", {"color": style.INK}),
    ]
    for test, look in looks:
        text = alt.Chart().transform_filter(f"datum.state {test} '{OPEN}'")
        words = text.mark_text(fontSize=11, **look)
        layers.append(words.encode(x=style.grid_x(grid), y=style.grid_y(grid), text="said:N"))
    return style.faceted(layers, table, grid)


def _gradient(title: str, **options: Any) -> alt.Legend:
    return alt.Legend(title=title, orient="bottom", gradientLength=220, gradientThickness=10, **options)


def _outcome_colour(colours: Mapping[str, str], title: str) -> alt.Color:
    legend = alt.Legend(
        title=title, orient="bottom", direction="horizontal", symbolType="square", symbolSize=110, columns=6
    )
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("outcome:N", scale=scale, legend=legend)


def _of_kind(kind: str) -> alt.Chart:
    return alt.Chart().transform_filter(f"datum.kind == '{kind}'")


def _tile(grid: Grid) -> alt.Chart:
    """Rows of tiles, by their middles."""
    return _of_kind("tile").encode(x=style.grid_x(grid), y=style.grid_y(grid))


def _tiles(grid: Grid, colour: alt.Color, **more: Any) -> alt.Chart:
    return _tile(grid).mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, **more)


def _picked(grid: Grid, base: alt.Chart) -> alt.Chart:
    """The outline of the point that the page has picked."""
    outline = base.transform_filter("datum.point == picked")
    look = {"filled": False, "fill": None, "stroke": style.RED, "strokeWidth": 2.5}
    return outline.mark_rect(**look).encode(**style.tile_area(grid))


def _contour(grid: Grid, stroke: float, casing: float) -> list[alt.Chart]:
    """The contour twice: a white casing under a dark line, so that it reads on every colour."""
    pieces = _of_kind("contour").encode(x=style.grid_x(grid), y=style.grid_y(grid), x2="x2:Q", y2="y2:Q")
    return [
        pieces.mark_rule(color="white", strokeWidth=casing, strokeCap="round"),
        pieces.mark_rule(color=style.INK, strokeWidth=stroke, strokeCap="round"),
    ]


def _fine_marks(grid: Grid, shares: Sequence[Share], tip: Sequence[alt.Tooltip]) -> list[alt.Chart]:
    side, widest = style.smallest_tile(grid), max((share.half_width for share in shares), default=0.0)
    words = "95 % interval contains one half"
    legend = alt.Legend(
        title=["line: share = one half", f"95 % Wilson intervals: ± {100 * widest:.0f} points at most"],
        orient="bottom", symbolSize=30, symbolStrokeWidth=0.8,
    )  # fmt: skip
    dots = _tile(grid).transform_filter("datum.undecided").mark_circle(
        color="white", opacity=0.85, strokeWidth=0, size=max(2.5, (0.26 * side) ** 2)
    ).encode(tooltip=tip)  # fmt: skip
    # Draws nothing: a legend borrows the look of a mark, and white dots on white would not be seen in it.
    key = _of_kind("key").mark_point(fill="white", stroke=style.INK, opacity=1)
    said = alt.Shape("kind:N", scale=alt.Scale(domain=[words], range=["circle"]), legend=legend)
    key = key.encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=said)
    return [key, dots, *_contour(grid, 1.6, 2.2 * 1.6)]


def _coarse_marks(grid: Grid, side: float, tip: Sequence[alt.Tooltip]) -> list[alt.Chart]:
    title = ["square: half-width of the 95 % Wilson interval", "dot: it contains one half; line: share = one half"]
    legend = alt.Legend(
        title=title, orient="bottom", direction="horizontal", values=[0.05, 0.1, 0.2, 0.3, 0.4], format=".0%",
        symbolType="square", symbolFillColor="transparent", symbolStrokeColor=style.INK, symbolStrokeWidth=1.2,
        symbolOpacity=1,
    )  # fmt: skip
    # The square's side is proportional to the half-width, and would be the tile's at one half; hence the exponent. It
    # is open, so that it hides nothing of the colour, and dark on the light end of the colours.
    scale = alt.Scale(type="pow", exponent=2, domain=[0, 0.5], range=[0, side**2])
    size = alt.Size("half_width:Q", scale=scale, legend=legend)
    stroke = alt.condition(f"datum.share > {LIGHT}", alt.value(style.INK), alt.value("white"))
    inset = _tile(grid).mark_point(shape="square", filled=False, opacity=0.9, strokeWidth=min(1.6, 0.04 * side))
    inset = inset.encode(size=size, stroke=stroke)
    dots = _tile(grid).transform_filter("datum.undecided").mark_circle(
        color=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side, size=max(3.0, (0.24 * side) ** 2)
    ).encode(tooltip=tip)  # fmt: skip
    stroke = min(2.0, 0.1 * side + 0.5)
    return [inset, *_contour(grid, stroke, 2.2 * stroke), dots]


def _value_map(
    grid: Grid, values: Mapping[int, float], scale: alt.Scale, legend: alt.Legend, lines: Sequence[GridLine]
) -> Any:
    tiles = [{"kind": "tile", **style.tile(grid, point), "value": value} for point, value in values.items()]
    return _lined(grid, [_tiles(grid, alt.Color("value:Q", scale=scale, legend=legend))], tiles, lines)


def _lined(
    grid: Grid, layers: Sequence[alt.Chart], rows: Sequence[Mapping[str, Any]], lines: Sequence[GridLine]
) -> Any:
    """The chart with the lines on top, in every panel."""
    labels = list(dict.fromkeys(line.label for line in lines))
    corners = [
        {"kind": "theory", "facet": facet, "line": index, "label": line.label, "order": place, "x": x, "y": y}
        for facet in grid.facets
        for index, line in enumerate(lines)
        for place, (x, y) in enumerate(zip(line.x, line.y, strict=True))
    ]
    over: list[alt.Chart] = []
    if labels:
        dash = alt.StrokeDash(
            "label:N",
            scale=alt.Scale(domain=labels, range=[list(item) for item in DASHES[: len(labels)]]),
            legend=alt.Legend(
                title="theory", orient="bottom", direction="vertical", symbolType="stroke", symbolSize=400,
                symbolStrokeColor=style.RED, symbolStrokeWidth=2, labelLimit=420,
            ),
        )  # fmt: skip
        base = _of_kind("theory").encode(x=style.grid_x(grid), y=style.grid_y(grid), detail="line:N", order="order:Q")
        casing = base.mark_line(color="white", strokeWidth=4, opacity=0.85, clip=True)
        over = [casing, base.mark_line(color=style.RED, strokeWidth=2, clip=True).encode(strokeDash=dash)]
    return style.faceted([*layers, *over], [*rows, *corners], grid, LINED)
