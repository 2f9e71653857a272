"""Power of detection: the share of known bumps that are found against their size, and false calls, with intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

WIDTH, HEIGHT = 250, 200
DODGE = 0.09
"""By how much of the distance between two sizes the lines stand apart, so that their intervals do not overlap."""
TILE = (112, 40)
"""Width and height in px of a tile of a table."""
LIGHT = 0.7
"""Shares above this have colours on which dark text is read better than white."""


class Found(NamedTuple):
    """Runs of one panel, line and column: `k` of `n`, their share, and its 95 % Wilson interval."""

    panel: str
    line: str
    column: str
    k: int
    n: int
    share: float
    low: float
    high: float


def power_chart(rows: Sequence[Found], columns: Sequence[str], titles: tuple[str, str, str]) -> Any:
    """A panel each, in order of appearance: the share over the columns, a line each with its intervals.

    Args:
        columns: from left to right.
        titles: of the columns, of the shares, and of the lines.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    middle = (len(lines) - 1) / 2
    table = [{**_known(row), "x": columns.index(row.column) + DODGE * (lines.index(row.line) - middle)} for row in rows]
    axis = alt.Axis(
        title=titles[0], values=list(range(len(columns))), labelExpr=f"{json.dumps(list(columns))}[datum.value]"
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.5, len(columns) - 0.5], nice=False, zero=False), axis=axis)
    scale = alt.Scale(domain=[0, 1], nice=False)
    shares = alt.Axis(title=titles[1], format=".0%", values=[0, 0.25, 0.5, 0.75, 1], grid=True, gridColor=style.RULE)
    colours = dict(zip(lines, style.ordered_colours(len(lines)), strict=True))
    base = alt.Chart().encode(x=x, color=style.line_colour(colours, [titles[2]], 8), tooltip=_tip(titles[2]))
    y = alt.Y("share:Q", scale=scale, axis=shares)
    bars = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", scale=scale, axis=shares), y2="high:Q")
    layers = [bars, base.mark_line(strokeWidth=1.6, opacity=0.7).encode(y=y), _marks(base).encode(y=y)]
    return _panels(layers, table, WIDTH, HEIGHT)


def calls_chart(rows: Sequence[Found], level: float, titles: tuple[str, str]) -> Any:
    """A panel each: the share of calls on each line, with its interval and its count; dashed: `level`.

    Args:
        titles: of the lines, which stand side by side, and of the shares.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    top = min(1.0, 1.25 * max([2 * level, *(row.high for row in rows)]))
    table = [{**_known(row), "x": lines.index(row.line), "count": f"{row.k} of {row.n}"} for row in rows]
    axis = alt.Axis(title=titles[0], values=list(range(len(lines))), labelExpr=f"{json.dumps(lines)}[datum.value]")
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.5, len(lines) - 0.5], nice=False, zero=False), axis=axis)
    scale = alt.Scale(domain=[0, top], nice=False)
    shares = alt.Axis(title=titles[1], format=".1%", tickCount=5, grid=True, gridColor=style.RULE)
    base = alt.Chart().encode(x=x, tooltip=_tip(titles[0]))
    low, y = alt.Y("low:Q", scale=scale, axis=shares), alt.Y("share:Q", scale=scale, axis=shares)
    bars = base.mark_rule(color=style.BLUE, strokeWidth=1.6).encode(y=low, y2="high:Q")
    text = base.mark_text(dy=-8, fontSize=10.5, color=style.INK).encode(y=alt.Y("high:Q", scale=scale), text="count:N")
    layers = [style.level(level), bars, _marks(base).encode(y=y, color=alt.value(style.BLUE)), text]
    return _panels(layers, table, WIDTH, 150)


def table_chart(rows: Sequence[Found], columns: Sequence[str], titles: tuple[str, str, str]) -> Any:
    """A panel each: a tile for every line and column, with its count, its share as colour, and the interval.

    Args:
        columns: from left to right.
        titles: of the columns, of the lines, and of the shares.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    table = [{**_known(row), "interval": _interval(row), "count": f"{row.k} of {row.n}"} for row in rows]
    across = alt.Axis(title=titles[0], labelAngle=0, orient="top")
    x = alt.X("column:N", sort=list(columns), axis=across, scale=alt.Scale(domain=list(columns)))
    y = alt.Y("line:N", sort=lines, axis=alt.Axis(title=titles[1]), scale=alt.Scale(domain=lines))
    legend = alt.Legend(title=titles[2], format=".0%", orient="bottom", gradientLength=220, gradientThickness=10)
    colour = alt.Color("share:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)
    base = alt.Chart().encode(x=x, y=y, tooltip=_tip(titles[1]))
    ink = alt.condition(f"datum.share > {LIGHT}", alt.value(style.INK), alt.value("white"))
    words = [
        base.mark_text(dy=shift, fontSize=size).encode(text=f"{field}:N", color=ink)
        for field, shift, size in (("interval", -6, 11), ("count", 8, 10))
    ]
    tiles = base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour)
    return _panels([tiles, *words], table, TILE[0] * len(columns), TILE[1] * len(lines), across=1)


def _known(row: Found) -> dict[str, Any]:
    text = f"{row.k} of {row.n}: {row.share:.1%} (95 % interval {row.low:.1%} to {row.high:.1%})"
    return {**row._asdict(), "text": text}


def _interval(row: Found) -> str:
    return f"{100 * row.share:.0f} % ({100 * row.low:.0f} to {100 * row.high:.0f})"


def _tip(line: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("panel:N"), alt.Tooltip("line:N", title=line), alt.Tooltip("text:N", title="share")]


def _marks(base: alt.Chart) -> alt.Chart:
    return base.mark_point(filled=True, opacity=1, size=46)


def _panels(layers: Sequence[alt.Chart], table: Sequence[style.Row], width: int, height: int, across: int = 4) -> Any:
    panels = list(dict.fromkeys(row["panel"] for row in table))
    chart = alt.layer(*layers).properties(width=width, height=height)
    facet = alt.Facet("panel:N", sort=panels, header=alt.Header(title=None))
    return style.finished(chart.facet(facet=facet, columns=across, data=style.LATER), table, spacing=18)
