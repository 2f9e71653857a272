"""The map of a number: its median over seeds at every point of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid


class Spread(NamedTuple):
    """A number over the seeds of one point, from the `n` runs that have it.

    `low` to `high` is the 95 % bootstrap interval of the median; the quartiles are those of the seeds themselves.
    """

    point: int
    n: int
    median: float
    low: float
    high: float
    quartile_low: float
    quartile_high: float


def number_map(grid: Grid, rows: Sequence[Spread], title: str) -> Any:
    """The median as colour (cividis, from zero or the smallest value); interval, quartiles and n where one points."""
    table = [{**style.tile(grid, row.point), **row._asdict(), "text": told(row)} for row in rows]
    layers = _along_one(grid, rows, title) if grid.y is None else _map(grid, rows, title)
    return style.faceted(layers, table, grid)


def told(row: Spread) -> str:
    """A point's number in words."""
    interval = f"95\u00a0% interval {row.low:.3g} to {row.high:.3g}"
    quartiles = f"quartiles {row.quartile_low:.3g} to {row.quartile_high:.3g}"
    return f"median {row.median:.3g} ({interval}), {quartiles}, {row.n} runs"


def _tip(title: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=title)]


def _map(grid: Grid, rows: Sequence[Spread], title: str) -> list[alt.Chart]:
    medians = [row.median for row in rows]
    legend = alt.Legend(
        title=title,
        orient="bottom",
        gradientLength=220,
        gradientThickness=10,
        format=".2~g",
        tickCount=5,
    )
    scale = alt.Scale(scheme="cividis", domain=[min(0.0, *medians), max(medians) or 1.0] if medians else [0, 1])
    area = style.tile_area(grid)
    colour = alt.Color("median:Q", scale=scale, legend=legend)
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(**area, color=colour, tooltip=_tip(title))
    outline = alt.Chart().transform_filter("datum.point == picked").mark_rect(
        filled=False, fill=None, stroke=style.OOD, strokeWidth=2.5
    ).encode(**area)  # fmt: skip
    return [tiles, outline]


def _along_one(grid: Grid, rows: Sequence[Spread], title: str) -> list[alt.Chart]:
    base = alt.Chart().encode(x=style.grid_x(grid), tooltip=_tip(title))
    ends = [end for row in rows for end in (row.low, row.median, row.high) if math.isfinite(end)]
    # Given, since the picked point is none at first, and of nothing Vega finds no domain.
    scale = alt.Scale(domain=[min(0.0, *ends), max(0.0, *ends)] if any(ends) else [0, 1], nice=True)
    y = alt.Y("median:Q", title=title, scale=scale)
    bars = base.mark_rule(color=style.TRAINING, strokeWidth=1.5).encode(
        y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"
    )
    line = base.mark_line(color=style.TRAINING, strokeWidth=1, opacity=0.6).encode(y=y)
    marks = base.mark_point(color=style.TRAINING, filled=True, opacity=1, size=60).encode(y=y)
    ring = base.transform_filter("datum.point == picked").mark_point(color=style.OOD, size=190).encode(y=y)
    return [bars, line, marks, ring]
