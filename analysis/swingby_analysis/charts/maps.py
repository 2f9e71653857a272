"""Maps over the grid of a sweep, a tile a point: shares, outcomes, numbers, differences and means.

On a grid without a y axis, all of these are marks along its one parameter (`charts.along`).
`lines` of a map are curves that are drawn over it in every panel, such as the predictions of a theory. A map that takes
lines has plain tiles: what tells how sure a tile is would hide them. None: tiles with all that is known of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from swingby_analysis.charts import style
from swingby_analysis.charts.along import differences_along, numbers_along, outcomes_along, shares_along
from swingby_analysis.charts.bands import decades_of, scale_ticks
from swingby_analysis.charts.summaries import (
    BAND,
    LINE,
    OPEN,
    Difference,
    Fitted,
    MostCommon,
    Share,
    SignedMean,
    Spread,
    Surface,
    level_text,
)
from swingby_analysis.grid import Grid, GridLine

FINE = 14
"""Side of a tile in px below which insets are too small to be compared; only their verdict is marked then."""
# Okabe and Ito's colours (jfly.uni-koeln.de/color), which colour-blind readers can tell apart; worst news darkest.
PALETTE = ("#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#222222", "#f0e442", "#0072b2")
HUES = (*PALETTE, *style.paler(PALETTE, 0.55), *style.darker(PALETTE, 0.4))
"""The colours of outcomes, in turn; of more outcomes the rarest share a grey."""
SIDES = ("#2c7fb8", "#f7f7f5", "#d95f0e")
"""Colours below 0, at 0, above it, which colour-blind readers can tell apart."""
REACHES = (0.1, 0.25, 0.5, 1.0)
"""How far the scale of a difference of shares may reach to either side."""
MOST_FITTED = 20_000
"""Points that a map may show without seeds; of more, blocks of them share a tile."""
LIGHT = 0.7
"""Shares above this have colours on which white is hard to see."""
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""Viridis at even steps from 0 to 1."""
FAINT = style.paler(VIRIDIS, 0.55)
"""The colours of points where nothing was trained; opaque, so that neighbours may overlap."""
YES, NO = "{} and {} differ", "may be chance"
SURE = "certainty"
"""What the names of the layers begin with that show how sure a share is; a page leaves them out until it is asked."""
DASHES: Sequence[Sequence[int]] = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
"""Of the lines over a map, in turn."""
LOOK_WITH_LINES = {**style.LOOK, "view": {**style.LOOK["view"], "fill": style.NO_RESULT}}
"""The look of a map that takes lines."""

Lines = Sequence[GridLine] | None


def is_fine(grid: Grid) -> bool:
    """Whether the tiles are too small for insets."""
    return grid.y is not None and style.smallest_tile(grid) < FINE


def share_map(grid: Grid, shares: Sequence[Share], surface: Surface | None, outcome: str, lines: Lines = None) -> Any:
    """The share as colour (viridis, always from 0 to 1), how sure each is, and the line where the fitted one is a half.

    The Wilson half-width is the size of an open square; on a fine grid, and under lines, there are no squares. A dot
    stands where the surface does not tell the side of one half; without a surface, where the interval contains it.
    Points that only the surface knows are faint. Along one parameter (no y axis) the shares are points with their
    intervals, over the fitted ones.
    """
    fits, fitted = ({}, False) if surface is None else (surface.at, True)
    table = list[dict[str, Any]]()
    for one in shares:
        text = f"{one.k} of {one.n} seeds: {one.share:.0%} (95 % interval {one.low:.0%} to {one.high:.0%})"
        known = {**one._asdict(), "half_width": one.half_width, "undecided": one.undecided, "text": text}
        table.append({"kind": "tile", **style.tile(grid, one.point), **known, **_of_fit(fits.get(one.point), text)})
    faint = _fitted_tiles(grid, fits, {one.point for one in shares})
    table = [*faint, *table]
    if grid.y is None and lines is None:
        return shares_along(grid, table, outcome, 0.5 if surface is None else surface.level)
    corners = [] if surface is None else surface.corners
    rows = [*table, *({"kind": "contour", **corner._asdict()} for corner in corners)]
    level = 0.5 if surface is None else surface.level
    for row in rows:
        if row.get("part") == LINE:
            row["part"] = f"fitted share is {level_text(level)}"
    legend = _gradient(grid, f"share of seeds: {outcome}", format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    colour = alt.Color("share:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)
    side, tip = style.smallest_tile(grid), style.tip(outcome)
    tips: dict[str, Any] = {"tooltip": tip} if lines is None else {}
    tiles = [_tiles(grid, colour, **tips)]
    if faint:  # below the others, since one may stand for points around a point with seeds
        fill = _of_kind("fitted").mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), fill=_faint(grid), **tips)
        tiles = [fill, *tiles]
    stroke = 1.2 if lines is not None else 1.6 if is_fine(grid) else min(2.0, 0.1 * side + 0.5)
    contour = _contour(grid, stroke, level) if corners else []
    if lines is not None:
        dots = _dots(grid, min(max(2.0, 0.16 * side**2), 14))
        return _with_lines(grid, [*tiles, dots, *contour], rows, lines)
    inset, dots = (_fine_marks if is_fine(grid) else _coarse_marks)(grid, shares, tip, fitted)
    marks = [inset, dots, *contour] if is_fine(grid) else [inset, *contour, dots]
    return style.faceted([*tiles, *marks, _picked(grid, alt.Chart())], rows, grid)


def _fitted_tiles(grid: Grid, fits: Mapping[int, Fitted], trained: Collection[int]) -> list[dict[str, Any]]:
    """The tiles of points that only the surface knows; where they are very many, one for each block of points.

    A block has an odd number of points a side, and shows what is fitted at the one in its middle.
    """
    side = 1
    while len(fits) > MOST_FITTED * side**2:
        side += 2
    if side == 1 or grid.y is None:
        return [
            {"kind": "fitted", **style.tile(grid, point), "share": fit.mean, **_of_fit(fit, "no seed")}
            for point, fit in sorted(fits.items())
            if point not in trained
        ]
    rows, half = list[dict[str, Any]](), side // 2
    for point, fit in sorted(fits.items()):
        i, j, _ = grid.places[point]
        if i % side == half and j % side == half:
            row = {"kind": "fitted", **style.tile(grid, point), "share": fit.mean}
            for axis, place, edges in (("x", i, grid.x.edges), ("y", j, grid.y.edges)):
                row[f"{axis}0"] = edges[place - half]
                last = place + side >= len(edges) - 1  # which takes what is left of the axis
                row[f"{axis}1"] = edges[-1] if last else edges[place + half + 1]
            rows.append({**row, **_of_fit(fit, f"amid {side} x {side} points")})
    return rows


def _of_fit(fit: Fitted | None, seen: str) -> dict[str, Any]:
    """What a surface says of a point, as columns of its row; `seen` is what is said of the point without it."""
    if fit is None:
        return {}
    verdict = {"undecided": not fit.decided, "text": f"{seen}; {fit.text}"}
    return {**verdict, "fitted": fit.mean, "fitted_low": fit.low, "fitted_high": fit.high, "verdict": fit.verdict}


def outcome_map(
    grid: Grid, rows: Sequence[MostCommon], outcomes: Sequence[str], title: str, lines: Lines = None
) -> Any:
    """The most common outcome as the colour of its tile, its share of the seeds as the strength of that colour.

    Args:
        outcomes: every possible outcome, in the order of the legend, which lists those that are drawn, each in the
            colour that it has in every map. Of more than `HUES` those at the fewest points are drawn as one.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "share": row.k / row.n} for row in rows]
    for row in table:
        row["text"] = f"{row['outcome']}: {row['k']} of {row['n']} seeds"
    points = Counter(row.outcome for row in rows)
    rest = {name for name, _ in points.most_common()[len(HUES) - 1 :]} if len(points) > len(HUES) else set[str]()
    kept = [name for name in outcomes if name in points and name not in rest]
    ranks = dict(zip(kept, range(len(kept)), strict=True)) if rest else {name: i for i, name in enumerate(outcomes)}
    colours = {name: HUES[ranks[name] % len(HUES)] for name in kept}
    if rest:
        others = f"{len(rest)} others"
        colours[others] = style.FAINT
        table = [{**row, "outcome": others if row["outcome"] in rest else row["outcome"]} for row in table]
    colour = _outcome_colour(grid, colours, title)
    tip = [alt.Tooltip(f"{field}:N", title=label) for field, label in
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
        return _with_lines(grid, [_tiles(grid, colour, opacity=strong)], table, lines)
    return style.faceted([_tiles(grid, colour, opacity=strong, tooltip=tip), _picked(grid, _tile(grid))], table, grid)


def number_map(grid: Grid, rows: Sequence[Spread], title: str, even: bool = False) -> Any:
    """The median as colour (cividis, from zero or the smallest value); interval, quartiles and n where one points.

    Positive medians over at least `bands.DECADES` decades are coloured by their logarithm, and the legend says so,
    unless they are to be spaced evenly (`even`), as shares are.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "text": row.text} for row in rows]
    if grid.y is None:
        return numbers_along(grid, table, rows, title, even)
    medians = [row.median for row in rows if math.isfinite(row.median)]
    domain = [min(0.0, *medians), max(medians) or 1.0] if medians else [0, 1]
    legend, scale = _gradient(grid, title, format=".2~g", tickCount=5), alt.Scale(scheme="cividis", domain=domain)
    spaced = None if even else decades_of(medians)
    if spaced is not None:
        ticks = scale_ticks(spaced)
        legend = _gradient(grid, f"{title} (log scale)", format="~e" if ticks[0] < 1e-4 else "~g", values=ticks)
        scale = alt.Scale(type="log", scheme="cividis", domain=[spaced.low, spaced.high], clamp=True)
    colour = alt.Color("median:Q", scale=scale, legend=legend)
    area = {**style.tile_area(grid), "tooltip": style.tip(title)}
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**area, color=colour)
    return style.faceted([tiles, _picked(grid, alt.Chart())], table, grid)


def height_map(
    grid: Grid,
    values: Mapping[int, float],
    title: str,
    lines: Sequence[GridLine] = (),
    ticks: Sequence[float] = (),
) -> Any:
    """A number of each point as colour: cividis from 0, a few that are far beyond the others in the last colour.

    Args:
        ticks: those of a logarithmic scale, from its first colour to its last; () for an even one.
    """
    if ticks:
        logs = alt.Scale(type="log", scheme="cividis", domain=[ticks[0], ticks[-1]], clamp=True)
        legend = _gradient(grid, f"{title} (log scale)", format="~g", values=list(ticks))
        return _value_map(grid, values, logs, legend, lines)
    ordered = sorted(values.values()) or [0.0]
    usual = ordered[math.ceil(0.98 * (len(ordered) - 1))]
    top = ordered[-1] if ordered[-1] <= 2 * usual else usual
    scale = alt.Scale(scheme="cividis", domain=[0.0, top or 1.0], clamp=True)
    return _value_map(grid, values, scale, _gradient(grid, title, format=".2~g", tickCount=5), lines)


def count_map(grid: Grid, values: Mapping[int, float], title: str, lines: Sequence[GridLine] = ()) -> Any:
    """The mean of a count as colour: viridis from the least to the largest."""
    ends = [min(values.values(), default=0.0), max(values.values(), default=1.0)]
    return _value_map(
        grid, values, alt.Scale(scheme="viridis", domain=ends), _gradient(grid, title, format=".2~f"), lines
    )


def spent_tiles(grid: Grid, spent: Mapping[int, int]) -> Any:
    """The number of seeds at each point as a grey, the darker the more; of very many points only those with seeds."""
    drawn = {point: n for point, n in spent.items() if n or len(spent) <= MOST_FITTED}
    table = [{**style.tile(grid, point), "seeds": n, "text": f"{n:,}"} for point, n in drawn.items()]
    most = max(spent.values(), default=1)
    legend = _gradient(grid, "seeds with a result", format=",d", tickCount=min(most, 5))
    colour = alt.Color("seeds:Q", scale=alt.Scale(scheme="greys", domain=[0, most]), legend=legend)
    area = {**style.tile_area(grid), "tooltip": style.tip("seeds")}
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**area, color=colour)
    return style.faceted([tiles, _picked(grid, alt.Chart())], table, grid)


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
    legend = _gradient(grid, title, format="+.0%", values=[-reach, -reach / 2, 0, reach / 2, reach])
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES), clamp=True, interpolate="rgb")
    colour, side = alt.Color("difference:Q", scale=scale, legend=legend), style.smallest_tile(grid)
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, tooltip=tip)
    marks = alt.Legend(title=["after correction"], orient="bottom", symbolFillColor=style.INK, symbolSize=60)
    shape = alt.Shape("mark:N", scale=alt.Scale(domain=[differ], range=["circle"]), legend=marks)
    dots = alt.Chart().transform_filter("datum.sure").mark_point(
        filled=True, fill=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side,
        size=max(4.0, min(120.0, (0.26 * side) ** 2)),
    ).encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=shape, tooltip=tip)  # fmt: skip
    return style.faceted([tiles, dots, _picked(grid, alt.Chart())], table, grid)


def mean_map(grid: Grid, rows: Sequence[SignedMean], title: str) -> Any:
    """Tiles coloured by a signed mean, from one side over white at 0 to the other, with the number in them.

    The number is bold where its interval lies on one side of 0, plain where it does not.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "label": f"{row.mean:+.2f}"} for row in rows]
    reach = max((abs(row.mean) for row in rows), default=1.0) or 1.0
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES))
    colour = alt.Color("mean:Q", scale=scale, legend=_gradient(grid, title, format="+.2~g"))
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
        layers.append(words.encode(x=style.grid_x(grid), y=style.grid_y(grid), text=alt.Text("label:N")))
    return style.faceted(layers, table, grid)


def _gradient(grid: Grid, title: str, length: int = 220, **options: Any) -> alt.Legend:
    """A legend that is no wider than the map, but for a title of one word."""
    room = style.legend_room(grid)
    return alt.Legend(
        title=style.wrapped(title, room), titleLimit=0, orient="bottom", gradientLength=min(length, room),
        gradientThickness=10, **options,
    )  # fmt: skip


def _outcome_colour(grid: Grid, colours: Mapping[str, str], title: str) -> alt.Color:
    room = style.legend_room(grid)
    legend = alt.Legend(
        title=style.wrapped(title, room), orient="bottom", direction="horizontal", symbolType="square", symbolSize=110,
        **style.legend_columns(colours, room),
    )  # fmt: skip
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("outcome:N", scale=scale, legend=legend)


def _of_kind(kind: str) -> alt.Chart:
    return alt.Chart().transform_filter(f"datum.kind == '{kind}'")


def _faint(grid: Grid) -> alt.Fill:
    """The fitted share of points where nothing was trained, as a faint colour."""
    scale = alt.Scale(domain=np.linspace(0, 1, len(FAINT)).tolist(), range=FAINT)
    legend = _gradient(grid, "no seed: fitted share", 150, format=".0%", values=[0, 0.5, 1])
    return alt.Fill("share:Q", scale=scale, legend=legend)


def _tile(grid: Grid) -> alt.Chart:
    """Rows of tiles, by their middles."""
    return _of_kind("tile").encode(x=style.grid_x(grid), y=style.grid_y(grid))


def _undecided(grid: Grid) -> alt.Chart:
    """Rows of points whose side of one half is not told, by their middles."""
    return alt.Chart().transform_filter("datum.undecided").encode(x=style.grid_x(grid), y=style.grid_y(grid))


def _dots(grid: Grid, size: float) -> alt.Chart:
    """White dots at these points, with an edge that is seen on light colours."""
    look = {"filled": True, "fill": "white", "stroke": style.INK, "strokeWidth": 0.14 * math.sqrt(size)}
    return _undecided(grid).mark_point(opacity=0.85, size=size, **look)


def _tiles(grid: Grid, colour: alt.Color, **more: Any) -> alt.Chart:
    return _tile(grid).mark_rect(**style.OVERLAP).encode(**style.tile_area(grid), color=colour, **more)


def _picked(grid: Grid, base: alt.Chart) -> alt.Chart:
    """The outline of the point that the page has picked."""
    outline = base.transform_filter("datum.point == picked")
    look = {"filled": False, "fill": None, "stroke": style.RED, "strokeWidth": 2.5}
    return outline.mark_rect(**look).encode(**style.tile_area(grid))


def _contour(grid: Grid, stroke: float, level: float) -> list[alt.Chart]:
    """The lines of a surface at a level, each over a white casing, so that they read on every colour."""
    order = alt.Order("order:Q")
    lines = _of_kind("contour").encode(
        x=style.grid_x(grid), y=style.grid_y(grid), detail=alt.Detail("line:N"), order=order
    )
    widths = {f"fitted share is {level_text(level)}": stroke, BAND: 0.5 * stroke}
    casings = [
        lines.transform_filter(f"datum.part == '{part}'").mark_line(
            color="white", strokeWidth=1.4 + 1.6 * width, clip=True
        )
        for part, width in widths.items()
    ]
    legend = alt.Legend(
        title=None, orient="bottom", direction="vertical", symbolType="stroke", symbolSize=260, labelLimit=0,
        symbolStrokeColor=style.INK,
    )  # fmt: skip
    scale = alt.Scale(domain=list(widths), range=list(widths.values()))
    dark = lines.mark_line(color=style.INK, clip=True).encode(
        strokeWidth=alt.StrokeWidth("part:O", scale=scale, legend=legend)
    )
    return [*casings[::-1], dark]


def _fine_marks(
    grid: Grid, shares: Sequence[Share], tip: Sequence[alt.Tooltip], fitted: bool
) -> tuple[alt.Chart, alt.Chart]:
    """The legend of the dots, which says how wide the intervals are, and the dots."""
    side, widest = style.smallest_tile(grid), max((share.half_width for share in shares), default=0.0)
    words = "the fit does not tell the side" if fitted else "95 % interval contains one half"
    legend = alt.Legend(
        title=style.wrapped(f"95 % Wilson intervals: ± {100 * widest:.0f} points at most", style.across(grid)),
        orient="bottom", symbolSize=30, symbolStrokeWidth=0.8,
    )  # fmt: skip
    # Draws nothing: a legend borrows the look of a mark, and white dots on white would not be seen in it.
    key = _of_kind("key").mark_point(fill="white", stroke=style.INK, opacity=1)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=[words], range=["circle"]), legend=legend)
    key = key.encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=shape)
    dots = _dots(grid, max(2.5, (0.26 * side) ** 2)).encode(tooltip=tip)
    return key.properties(name=f"{SURE}_key"), dots.properties(name=f"{SURE}_dots")


def _coarse_marks(
    grid: Grid, shares: Sequence[Share], tip: Sequence[alt.Tooltip], fitted: bool
) -> tuple[alt.Chart, alt.Chart]:
    """The squares, whose legend speaks of the dots too, and the dots."""
    side, dot = style.smallest_tile(grid), "the fit does not tell the side" if fitted else "it contains one half"
    title, room = ["square: half-width of the 95 % Wilson interval", f"dot: {dot}"], style.legend_room(grid)
    rows = [0.05, 0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.4], [0.1, 0.3], [0.2]
    widths = next((row for row in rows if 2 * side * sum(row) + 45 * len(row) <= room), rows[-1])
    legend = alt.Legend(
        title=[line for text in title for line in style.wrapped(text, room)], orient="bottom", direction="horizontal",
        values=widths, format=".0%", symbolType="square", symbolFillColor="transparent", symbolStrokeColor=style.INK,
        symbolStrokeWidth=1.2, symbolOpacity=1,
    )  # fmt: skip
    # The square's side is proportional to the half-width, and would be the tile's at one half; hence the exponent. It
    # is open, so that it hides nothing of the colour, and dark on the light end of the colours.
    scale = alt.Scale(type="pow", exponent=2, domain=[0, 0.5], range=[0, side**2])
    size = alt.Size("half_width:Q", scale=scale, legend=legend)
    stroke = alt.condition(f"datum.share > {LIGHT}", alt.value(style.INK), alt.value("white"))
    inset = _tile(grid).mark_point(shape="square", filled=False, opacity=0.9, strokeWidth=min(1.6, 0.04 * side))
    dots = _undecided(grid).mark_circle(
        color=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side, size=max(3.0, (0.24 * side) ** 2)
    )
    inset, dots = inset.encode(size=size, stroke=stroke), dots.encode(tooltip=tip)
    return inset.properties(name=f"{SURE}_squares"), dots.properties(name=f"{SURE}_dots")


def _value_map(
    grid: Grid, values: Mapping[int, float], scale: alt.Scale, legend: alt.Legend, lines: Sequence[GridLine]
) -> Any:
    tiles = [{"kind": "tile", **style.tile(grid, point), "value": value} for point, value in values.items()]
    return _with_lines(grid, [_tiles(grid, alt.Color("value:Q", scale=scale, legend=legend))], tiles, lines)


def _with_lines(
    grid: Grid, layers: Sequence[alt.Chart], rows: Sequence[Mapping[str, Any]], lines: Sequence[GridLine]
) -> Any:
    """The chart with the lines on top, each in its panel or in all."""
    labels = list(dict.fromkeys(line.label for line in lines))
    corners = [
        {"kind": "theory", "facet": facet, "line": index, "label": line.label, "order": place, "x": x, "y": y}
        for facet in grid.facets
        for index, line in enumerate(lines)
        if line.facet in (None, facet)
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
        base = _of_kind("theory").encode(
            x=style.grid_x(grid), y=style.grid_y(grid), detail=alt.Detail("line:N"), order=alt.Order("order:Q")
        )
        casing = base.mark_line(color="white", strokeWidth=4, opacity=0.85, clip=True)
        over = [casing, base.mark_line(color=style.RED, strokeWidth=2, clip=True).encode(strokeDash=dash)]
    return style.faceted([*layers, *over], [*rows, *corners], grid, LOOK_WITH_LINES)
