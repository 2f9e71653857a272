"""Marks along one parameter, for grids without a y axis: shares, outcomes, numbers, differences and means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.bands import decades_of, scale_ticks
from swingby_analysis.charts.summaries import OPEN, Difference, SignedMean, Spread
from swingby_analysis.grid import Grid

Rows = Sequence[Mapping[str, Any]]


def shares_along(grid: Grid, rows: Rows, outcome: str, level: float = 0.5) -> Any:
    """Shares with their Wilson intervals, open marks where the side of a level is open; the fitted share with its band.

    Rows without `k` have the fitted share alone. Where no row has it, a line joins the marks.
    """
    title = style.wrapped(f"share of seeds: {outcome}", style.panel_size(grid)[1])
    axis = alt.Axis(title=title, format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    every = alt.Chart().encode(x=style.grid_x(grid), tooltip=style.tip(outcome))
    base, fit = every.transform_filter("isValid(datum.k)"), every.transform_filter("isValid(datum.fitted)")
    bars = base.mark_rule(color=style.BLUE, strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    lines = [base.mark_line(color=style.BLUE, strokeWidth=1, opacity=0.6).encode(y=y)]
    if any("fitted" in row for row in rows):
        band = fit.mark_area(color=style.BLUE, opacity=0.18).encode(y=alt.Y("fitted_low:Q"), y2=alt.Y2("fitted_high:Q"))
        lines = [band, fit.mark_line(color=style.BLUE, strokeWidth=2, opacity=0.8).encode(y=alt.Y("fitted:Q"))]
    fill = alt.condition("datum.undecided", alt.value("white"), alt.value(style.BLUE))
    marks = base.mark_point(stroke=style.BLUE, opacity=1, size=60, filled=True, strokeWidth=1.5)
    picked = every.transform_filter("datum.point == picked")
    ring = picked.mark_point(color=style.RED, size=190, strokeWidth=2)
    layers = [style.level(level), *lines, bars, marks.encode(y=y, fill=fill), ring.encode(y=y)]
    return style.faceted(layers, rows, grid)


def outcomes_along(grid: Grid, rows: Rows, colour: alt.Color, tip: Sequence[alt.Tooltip]) -> Any:
    """The share of the most common outcome, in its colour."""
    axis = alt.Axis(title="share of the most common outcome", format=".0%")
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    base = alt.Chart().encode(x=style.grid_x(grid), y=y)
    marks = base.mark_circle(opacity=1, size=90).encode(color=colour, tooltip=tip)
    ring = base.transform_filter("datum.point == picked").mark_point(color=style.RED, size=190, strokeWidth=2)
    return style.faceted([marks, ring], rows, grid)


def numbers_along(grid: Grid, rows: Rows, spreads: Sequence[Spread], title: str, even: bool = False) -> Any:
    """Medians with their intervals, on a log scale where they lie over decades, unless they are to be spaced evenly."""
    base = alt.Chart().encode(x=style.grid_x(grid), tooltip=style.tip(title))
    ends = [end for row in spreads for end in (row.low, row.median, row.high) if math.isfinite(end)]
    # Given, since the picked point is none at first, and of nothing Vega finds no domain.
    scale = alt.Scale(domain=[min(0.0, *ends), max(0.0, *ends)] if any(ends) else [0, 1], nice=True)
    lines = partial(style.wrapped, length=style.panel_size(grid)[1])
    axis = alt.Axis(title=lines(title))
    spaced = None if even else decades_of([row.median for row in spreads])
    if spaced is not None:
        near = [end for end in ends if 0.1 * spaced.low <= end <= 10 * spaced.high]
        spaced = spaced._replace(low=0.8 * min(spaced.low, *near), high=1.25 * max(spaced.high, *near))
        scale = alt.Scale(type="log", domain=[spaced.low, spaced.high], nice=False, clamp=True)
        ticks = scale_ticks(spaced)
        written = "~e" if ticks[0] < 1e-4 or ticks[-1] >= 1e6 else "~g"
        axis = alt.Axis(
            title=lines(f"{title} (log scale)"), values=ticks, format=written, grid=True, gridColor=style.RULE
        )
    y = alt.Y("median:Q", axis=axis, scale=scale)
    bars = base.mark_rule(color=style.BLUE, strokeWidth=1.5).encode(
        y=alt.Y("low:Q", axis=axis, scale=scale), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(color=style.BLUE, strokeWidth=1, opacity=0.6).encode(y=y)
    marks = base.mark_point(color=style.BLUE, filled=True, opacity=1, size=60).encode(y=y)
    ring = base.transform_filter("datum.point == picked").mark_point(color=style.RED, size=190).encode(y=y)
    return style.faceted([bars, line, marks, ring], rows, grid)


def differences_along(grid: Grid, rows: Rows, differences: Sequence[Difference], outcome: str, title: str) -> Any:
    """Differences with their intervals; filled marks where a difference is no chance."""
    ends = [end for row in differences for end in (row.low, row.high)]
    limit = min(1.0, 1.05 * max((abs(end) for end in ends), default=1.0)) or 1.0
    lines = style.wrapped(title, style.panel_size(grid)[1])
    axis = alt.Axis(title=lines, format="+.0%", tickCount=6, gridColor=style.RULE)
    scale = alt.Scale(domain=[-limit, limit], nice=False)
    base = alt.Chart().encode(x=style.grid_x(grid), tooltip=style.tip(outcome))
    bars = base.mark_rule(color=style.BLUE, strokeWidth=1.5).encode(
        y=alt.Y("low:Q", scale=scale, axis=axis), y2=alt.Y2("high:Q")
    )
    fill = alt.condition("datum.sure", alt.value(style.BLUE), alt.value("white"))
    marks = base.mark_point(stroke=style.BLUE, opacity=1, size=70, filled=True, strokeWidth=1.5)
    marks = marks.encode(y=alt.Y("difference:Q", scale=scale, axis=axis), fill=fill)
    picked = base.transform_filter("datum.point == picked").mark_point(color=style.RED, size=190, strokeWidth=2)
    ring = picked.encode(y=alt.Y("difference:Q", scale=scale, axis=axis))
    return style.faceted([style.level(0), bars, marks, ring], rows, grid)


def means_along(
    grid: Grid,
    rows: Sequence[SignedMean],
    kinds: Mapping[str, str],
    states: Mapping[str, str],
    sides: tuple[str, str],
    series: str,
) -> Any:
    """Signed means with their intervals along one parameter, the kinds side by side; open where the interval holds 0.

    Args:
        kinds: name -> colour.
        states: name -> shape; that called OPEN is drawn open.
        sides: titles of the axis below and above 0.
        series: what the legend calls the kinds.
    """
    order, width = list(kinds), style.panel_size(grid)[0]
    gap = min(9.0, 0.25 * grid.x.narrowest * width)
    table = [{**style.tile(grid, row.point), **row._asdict()} for row in rows]
    reach = 1.1 * max((abs(end) for row in rows for end in (row.mean, row.low, row.high)), default=1.0)
    reach = min(reach, 3 * max((abs(row.mean) for row in rows), default=1.0)) or 1.0
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(title=f"← {sides[0]}  |  {sides[1]} →", grid=True, gridColor=style.RULE, tickCount=6)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=order, range=list(kinds.values())), legend=_symbols(series))
    legend = _symbols("interval").copy(deep=False)
    legend.symbolFillColor = legend.symbolStrokeColor = style.FAINT
    shape = alt.Shape("state:N", scale=alt.Scale(domain=list(states), range=list(states.values())), legend=legend)
    filled: list[tuple[str, dict[str, Any]]] = [("!=", {"filled": True}), ("==", {"filled": False, "fill": "white"})]
    layers = [style.level(0)]
    for number, kind in enumerate(order):
        shift = gap * (number - (len(order) - 1) / 2)
        base = alt.Chart().transform_filter(f"datum.kind == '{kind}'").encode(
            x=style.grid_x(grid), color=colour, tooltip=[alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N")]
        )  # fmt: skip
        bar = base.mark_rule(strokeWidth=1.5, xOffset=shift, clip=True)
        layers.append(bar.encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2=alt.Y2("high:Q")))
        layers += [
            base.transform_filter(f"datum.state {test} '{OPEN}'")
            .mark_point(opacity=1, size=75, xOffset=shift, strokeWidth=1.6, **look)
            .encode(y=alt.Y("mean:Q", scale=scale), shape=shape)
            for test, look in filled
        ]
    return style.faceted(layers, table, grid)


def _symbols(title: str) -> alt.Legend:
    return alt.Legend(title=title or None, orient="bottom", direction="horizontal", columns=4, labelLimit=0)
