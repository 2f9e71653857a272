"""The map of a difference: the share of runs in B less that in A at every point, and where it is no chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid

SIDES = ("#2c7fb8", "#f7f7f5", "#d95f0e")
"""Colours below 0, at 0, above it, which colour-blind readers can tell apart."""
REACHES = (0.1, 0.25, 0.5, 1.0)
"""How far the scale may reach to either side."""
YES, NO = "A and B differ", "may be chance"


class ShareDifference(NamedTuple):
    """B less A at one point, in shares, with its interval; `sure`: the corrected test says that they differ."""

    point: int
    difference: float
    low: float
    high: float
    sure: bool
    text: str


def reach_of(rows: Sequence[ShareDifference]) -> float:
    """The reach of a scale that holds every difference: one of REACHES, the same for charts that are to be compared."""
    largest = max((abs(row.difference) for row in rows), default=0.0)
    return next(reach for reach in REACHES if largest <= reach + 1e-12)


def share_difference(grid: Grid, rows: Sequence[ShareDifference], title: str, reach: float) -> Any:
    """The difference as colour, from -reach over 0, which is nearly white, to reach; a dot where it is no chance.

    Along one parameter (no y axis) it is drawn as marks with their intervals, filled where it is no chance.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "mark": YES if row.sure else NO} for row in rows]
    layers = _along_one(grid, rows, title) if grid.y is None else _map(grid, title, reach)
    return style.faceted(layers, table, grid)


def _tip(title: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=title)]


def _map(grid: Grid, title: str, reach: float) -> list[alt.Chart]:
    legend = alt.Legend(
        title=f"share in B less share in A: {title}", orient="bottom", gradientLength=220, gradientThickness=10,
        format="+.0%", values=[-reach, -reach / 2, 0, reach / 2, reach],
    )  # fmt: skip
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES), clamp=True, interpolate="rgb")
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(
        **style.tile_area(grid), color=alt.Color("difference:Q", scale=scale, legend=legend), tooltip=_tip(title)
    )  # fmt: skip
    side = style.smallest_tile(grid)
    shape = alt.Shape("mark:N", scale=alt.Scale(domain=[YES], range=["circle"]), legend=_legend())
    dots = alt.Chart().transform_filter("datum.sure").mark_point(
        filled=True, fill=style.INK, opacity=1, stroke="white", strokeWidth=0.04 * side,
        size=max(4.0, min(120.0, (0.26 * side) ** 2)),
    ).encode(x=style.grid_x(grid), y=style.grid_y(grid), shape=shape, tooltip=_tip(title))  # fmt: skip
    return [tiles, dots]


def _legend() -> alt.Legend:
    return alt.Legend(title=["after correction"], orient="bottom", symbolFillColor=style.INK, symbolSize=60)


def _along_one(grid: Grid, rows: Sequence[ShareDifference], title: str) -> list[alt.Chart]:
    ends = [end for row in rows for end in (row.low, row.high)]
    limit = min(1.0, 1.05 * max((abs(end) for end in ends), default=1.0)) or 1.0
    axis = alt.Axis(title=f"share in B less share in A: {title}", format="+.0%", tickCount=6, gridColor=style.RULE)
    scale = alt.Scale(domain=[-limit, limit], nice=False)
    base = alt.Chart().encode(x=style.grid_x(grid), tooltip=_tip(title))
    bars = base.mark_rule(color=style.TRAINING, strokeWidth=1.5).encode(
        y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"
    )
    fill = alt.condition("datum.sure", alt.value(style.TRAINING), alt.value("white"))
    marks = base.mark_point(stroke=style.TRAINING, opacity=1, size=70, filled=True, strokeWidth=1.5)
    return [style.level(0), bars, marks.encode(y=alt.Y("difference:Q", scale=scale, axis=axis), fill=fill)]
