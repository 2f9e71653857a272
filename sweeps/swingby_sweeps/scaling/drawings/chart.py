"""Lines over a resource on a logarithmic axis: a panel a setting, a colour a series, laws dashed or dotted."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import altair as alt

from swingby_analysis.charts import style

SQL = __name__.rpartition(".")[0]
"""The folder of the queries of these drawings."""
PANEL = 250
"""The side in px of a panel."""
NUMBERS = ("x", "y", "low", "high")
Kind = Literal["curve", "law", "corrected"]
DASHES: dict[Kind, list[int]] = {"curve": [1, 0], "law": [6, 4], "corrected": [2, 3]}


class Line(NamedTuple):
    """One line of a panel, and perhaps a band about it."""

    panel: str
    series: str
    kind: Kind
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def chart(lines: Sequence[Line], series: Sequence[str], x_title: str, y_title: str, log_y: bool) -> Any:
    """The panels in the order of their first lines; `series` is the order of the legend."""
    panels = list(dict.fromkeys(line.panel for line in lines))
    values = [(x, y) for line in lines if line.kind == "curve" for x, y in zip(line.x, line.y, strict=True) if y > 0]
    ends = [(min(axis), max(axis)) for axis in zip(*values, strict=True)]
    rows = [
        row
        for number, line in enumerate(lines)
        for row in _rows(number, line, panels.index(line.panel), ends[1] if log_y else (-math.inf, math.inf))
    ]
    drawn = alt.layer(*_layers(series, ends, (x_title, y_title), log_y)).properties(width=PANEL, height=PANEL)
    header = alt.Header(title=None, labelLimit=PANEL + 10, labelExpr=f"{json.dumps(panels)}[datum.value]")
    drawn = drawn.facet(
        facet=alt.Facet("panel:O", header=header), columns=4 if len(panels) % 4 == 0 else 3, data=style.LATER
    )
    return style.finished(drawn, rows, spacing=20)


def _rows(number: int, line: Line, panel: int, ends: tuple[float, float]) -> list[dict[str, Any]]:
    """A row a point, of those between the ends of the axis."""
    common = {"line": number, "panel": panel, "series": line.series, "kind": line.kind}
    band = zip(line.low or line.y, line.high or line.y, strict=True)
    return [
        {**common, **{name: style.short(at) for name, at in zip(NUMBERS, (x, y, max(low, ends[0]), high), strict=True)}}
        for x, y, (low, high) in zip(line.x, line.y, band, strict=True)
        if ends[0] * 0.999 <= y <= ends[1] * 1.001
    ]


def _layers(
    series: Sequence[str], ends: Sequence[tuple[float, float]], titles: tuple[str, str], log_y: bool
) -> list[alt.Chart]:
    colours = style.ordered_colours(len(series))
    legend = alt.Legend(title=None, orient="bottom", symbolOpacity=1, columns=8)
    colour = alt.Color("series:N", scale=alt.Scale(domain=list(series), range=colours), legend=legend)
    kinds = alt.Scale(domain=[*DASHES], range=[*DASHES.values()])
    x = alt.X("x:Q", scale=_log(ends[0]), axis=alt.Axis(title=titles[0], format="~e", tickCount=5, grid=False))
    y_scale = _log(ends[1]) if log_y else alt.Scale(nice=False)
    y_axis = alt.Axis(title=titles[1], format="~g", tickCount=5, grid=False)
    base = alt.Chart().encode(x=x, color=colour, detail="line:N")
    band = base.transform_filter("datum.kind == 'curve' && datum.high > datum.low").mark_area(opacity=0.15, clip=True)
    line = base.mark_line(strokeWidth=1.5, clip=True).encode(
        y=alt.Y("y:Q", scale=y_scale, axis=y_axis),
        strokeDash=alt.StrokeDash("kind:N", scale=kinds, legend=None),
        tooltip=[alt.Tooltip("series:N", title="of"), *(alt.Tooltip(f"{name}:Q", format=".3~g") for name in "xy")],
    )
    return [band.encode(y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q"), line]


def _log(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(ends), nice=False)
