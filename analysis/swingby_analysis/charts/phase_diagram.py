"""The phase diagram: the share of seeds with an outcome at every point of the grid, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid

FINE = 14
"""Side of a tile in px below which insets are too small to be compared; only their verdict is marked then."""


class Share(NamedTuple):
    """What is known at one point: `k` of `n` seeds have the outcome; `low` to `high` is the 95 % Wilson interval."""

    point: int
    k: int
    n: int
    share: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's width, in shares."""
        return (self.high - self.low) / 2

    @property
    def undecided(self) -> bool:
        """Whether the interval contains one half."""
        return self.low <= 0.5 <= self.high


class Segment(NamedTuple):
    """A piece of a contour, in the positions of the grid's axes."""

    facet: str
    x: float
    y: float
    x2: float
    y2: float


def is_fine(grid: Grid) -> bool:
    """Whether the tiles are too small for insets."""
    return grid.y is not None and style.smallest_tile(grid) < FINE


def phase_diagram(grid: Grid, shares: Sequence[Share], contour: Sequence[Segment], outcome: str) -> Any:
    """The share as colour (viridis, always from 0 to 1), the Wilson half-width as the size of a white inset.

    A dot stands where the interval contains one half; the line is the contour at one half. On a fine grid there are no
    insets, the dots are white, and the legend tells the largest half-width. Along one parameter
    (no y axis) the shares are drawn as points with their intervals.
    """
    if grid.y is None:
        return _along_one(grid, shares, outcome)
    rows = [_row(grid, share) for share in shares] + [{"kind": "contour", **piece._asdict()} for piece in contour]
    layers = _fine_layers(grid, shares, outcome) if is_fine(grid) else _layers(grid, outcome)
    return style.faceted(layers, rows, grid)


def _row(grid: Grid, share: Share) -> dict[str, Any]:
    row = {"kind": "tile", **style.tile(grid, share.point), **share._asdict()}
    row |= {"half_width": share.half_width, "undecided": share.undecided}
    row["text"] = f"{share.k} of {share.n} seeds: {share.share:.0%} (95 % interval {share.low:.0%} to {share.high:.0%})"
    return row


def _tip(outcome: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=outcome)]


def _tiles(grid: Grid, outcome: str) -> tuple[alt.Chart, alt.Chart, alt.Chart]:
    """What encodes a tile's centre, the coloured tiles, and the outline of the picked one."""
    base = alt.Chart().transform_filter("datum.kind == 'tile'").encode(x=style.grid_x(grid), y=style.grid_y(grid))
    area = style.tile_area(grid)
    tiles = base.mark_rect(**style.OVERLAP).encode(**area, color=_colour(outcome), tooltip=_tip(outcome))
    outline = base.transform_filter("datum.point == picked").mark_rect(
        filled=False, fill=None, stroke=style.OOD, strokeWidth=2.5
    ).encode(**area)  # fmt: skip
    return base, tiles, outline


def _fine_layers(grid: Grid, shares: Sequence[Share], outcome: str) -> list[alt.Chart]:
    base, tiles, outline = _tiles(grid, outcome)
    side, widest = style.smallest_tile(grid), max((share.half_width for share in shares), default=0.0)
    words = "95 % interval contains one half"
    legend = alt.Legend(
        title=["line: share = one half", f"95 % Wilson intervals: ± {100 * widest:.0f} points at most"],
        orient="bottom", symbolSize=30, symbolStrokeWidth=0.8,
    )  # fmt: skip
    dots = base.transform_filter("datum.undecided").mark_circle(
        color="white", opacity=0.85, strokeWidth=0, size=max(2.5, (0.26 * side) ** 2)
    ).encode(tooltip=_tip(outcome))  # fmt: skip
    # Draws nothing: a legend borrows the look of a mark, and white dots on white would not be seen in it.
    key = alt.Chart().transform_filter("datum.kind == 'key'").mark_point(fill="white", stroke=style.INK, opacity=1)
    said = alt.Shape("kind:N", scale=alt.Scale(domain=[words], range=["circle"]), legend=legend)
    key = key.encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=said)
    return [tiles, key, dots, *_contour(style.grid_x(grid), style.grid_y(grid), 1.6), outline]


def _layers(grid: Grid, outcome: str) -> list[alt.Chart]:
    x, y, tip = style.grid_x(grid), style.grid_y(grid), _tip(outcome)
    base, tiles, outline = _tiles(grid, outcome)
    side = style.smallest_tile(grid)
    inset = base.mark_square(color="white", opacity=1).encode(size=_inset_size(side), tooltip=tip)
    # Draws nothing: a legend borrows the look of a mark, and white squares on white would not be seen in it.
    key = alt.Chart().transform_filter("datum.kind == 'key'").mark_square(fill="white", stroke=style.INK, opacity=1)
    key = key.encode(x=x, y=y, size=_inset_size(side, _inset_legend()))
    dots = base.transform_filter("datum.undecided").mark_circle(
        color=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side, size=max(3.0, (0.24 * side) ** 2)
    ).encode(tooltip=tip)  # fmt: skip
    return [tiles, key, inset, *_contour(x, y, min(2.0, 0.1 * side + 0.5)), dots, outline]


def _colour(outcome: str) -> alt.Color:
    legend = alt.Legend(
        title=f"share of seeds: {outcome}", orient="bottom", gradientLength=220, gradientThickness=10, format=".0%",
        values=[0, 0.25, 0.5, 0.75, 1],
    )  # fmt: skip
    return alt.Color("share:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)


def _inset_size(side: float, legend: alt.Legend | None = None) -> alt.Size:
    """The inset's side is proportional to the half-width, and would fill the tile at one half; hence the square."""
    scale = alt.Scale(type="pow", exponent=2, domain=[0, 0.5], range=[0, side**2])
    size = alt.Size("half_width:Q", scale=scale)
    return size if legend is None else size.legend(legend)


def _inset_legend() -> alt.Legend:
    title = ["white inset: half-width of the 95 % Wilson interval", "dot: it contains one half; line: share = one half"]
    return alt.Legend(
        title=title, orient="bottom", direction="horizontal", values=[0.05, 0.1, 0.2, 0.3, 0.4], format=".0%",
        symbolStrokeWidth=0.8,
    )  # fmt: skip


def _contour(x: alt.X, y: alt.Y, stroke: float) -> list[alt.Chart]:
    """The contour twice: a white casing under a dark line, so that it reads on every colour."""
    pieces = alt.Chart().transform_filter("datum.kind == 'contour'").encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    casing = pieces.mark_rule(color="white", strokeWidth=2.2 * stroke, strokeCap="round")
    return [casing, pieces.mark_rule(color=style.INK, strokeWidth=stroke, strokeCap="round")]


def _along_one(grid: Grid, shares: Sequence[Share], outcome: str) -> Any:
    x = style.grid_x(grid)
    axis = alt.Axis(title=f"share of seeds: {outcome}", format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    tip = [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=outcome)]
    base = alt.Chart().encode(x=x, tooltip=tip)
    half = style.level(0.5)
    bars = base.mark_rule(color=style.TRAINING, strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q")
    line = base.mark_line(color=style.TRAINING, strokeWidth=1, opacity=0.6).encode(y=y)
    # Filled where the interval lies on one side of a half, open where it contains it.
    fill = alt.condition("datum.undecided", alt.value("white"), alt.value(style.TRAINING))
    marks = base.mark_point(stroke=style.TRAINING, opacity=1, size=60, filled=True, strokeWidth=1.5).encode(
        y=y, fill=fill
    )
    ring = (
        base.transform_filter("datum.point == picked").mark_point(color=style.OOD, size=190, strokeWidth=2).encode(y=y)
    )
    layers = [half, bars, line, marks, ring]
    return style.faceted(layers, [_row(grid, share) for share in shares], grid)
