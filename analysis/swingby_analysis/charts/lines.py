"""Lines over a logarithmic axis: a panel a setting, a colour a series, bands about what was measured, laws dashed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import altair as alt

from swingby_analysis.charts import style

NUMBERS = ("x", "y", "low", "high")


class Line(NamedTuple):
    """One line of a panel, and perhaps a band about it; `kind` is one of the look's `dashes`."""

    panel: str
    series: str
    kind: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class LinesLook:
    """How the panels look.

    Attributes:
        dashes: of each kind of line, in px of line and gap; the first kind is what was measured, and sets the axes.
        side: of a panel, in px.
        x_format: of the numbers along x.
        shade: opacity of the bands.
        legend_columns: how many series stand side by side in the legend.
        across: from the number of panels to how many of them stand side by side.
    """

    dashes: Mapping[str, Sequence[int]]
    side: int
    x_format: str
    shade: float
    legend_columns: int
    across: Callable[[int], int]


def line_panels(
    lines: Sequence[Line],
    series: Sequence[str],
    titles: tuple[str, str],
    y: Literal["share", "log", "linear"],
    look: LinesLook,
) -> Any:
    """The panels in the order of their first lines.

    Args:
        series: in the order of the legend.
        titles: of x and y.
        y: a share from 0 to 1, or a number; of numbers the measured ones above 0 set the axes.
    """
    panels, measured = list(dict.fromkeys(line.panel for line in lines)), next(iter(look.dashes))
    points = [at for line in lines if line.kind == measured for at in zip(line.x, line.y, strict=True)]
    xs, ys = zip(*(at for at in points if y == "share" or at[1] > 0), strict=True)
    ends = (min(ys), max(ys)) if y == "log" else (-math.inf, math.inf)
    rows = [row for number, line in enumerate(lines) for row in _rows(number, line, panels.index(line.panel), ends)]
    scale = {
        "share": alt.Scale(domain=[0, 1], clamp=True),
        "log": _log(ends),
        "linear": alt.Scale(nice=False),
    }[y]
    shape = alt.Undefined if y == "share" else "~g"
    axis = alt.Axis(title=titles[1], format=shape, tickCount=5, grid=False)
    kinds = {name: {line.kind for line in lines if line.series == name} for name in series}
    drawn = alt.layer(*_layers(kinds, titles[0], (min(xs), max(xs)), {"scale": scale, "axis": axis}, look))
    header = alt.Header(title=None, labelLimit=look.side + 10, labelExpr=f"{json.dumps(panels)}[datum.value]")
    drawn = drawn.properties(width=look.side, height=look.side).facet(
        facet=alt.Facet("panel:O", header=header), columns=look.across(len(panels)), data=style.LATER
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
    kinds: Mapping[str, set[str]], title: str, ends: tuple[float, float], y: Mapping[str, Any], look: LinesLook
) -> list[alt.Chart]:
    """The bands, and the lines over them; `kinds` has the kinds of line of each series. Where each series has one kind,
    the legend shows its dashes, too."""
    series = list(kinds)
    colours = alt.Scale(domain=series, range=style.ordered_colours(len(series)))
    legend = alt.Legend(
        title=None,
        orient="bottom",
        symbolOpacity=1,
        columns=look.legend_columns,
        labelLimit=300,
        symbolType="stroke",
        symbolSize=500,
    )
    if all(len(dashes) <= 1 for dashes in kinds.values()):
        dashes = [look.dashes[next(iter(kind), next(iter(look.dashes)))] for kind in kinds.values()]
        stroke = alt.StrokeDash(
            "series:N", scale=alt.Scale(domain=series, range=[list(dash) for dash in dashes]), legend=legend
        )
    else:
        all_dashes = alt.Scale(domain=[*look.dashes], range=[list(dash) for dash in look.dashes.values()])
        stroke = alt.StrokeDash("kind:N", scale=all_dashes, legend=None)
    axis = alt.Axis(title=title, format=look.x_format, tickCount=5, grid=False)
    base = alt.Chart().encode(
        x=alt.X("x:Q", scale=_log(ends), axis=axis),
        color=alt.Color("series:N", scale=colours, legend=legend),
        detail=alt.Detail("line:N"),
    )
    band = base.transform_filter("datum.high > datum.low").mark_area(opacity=look.shade, clip=True, strokeWidth=0)
    line = base.mark_line(strokeWidth=1.5, clip=True).encode(
        y=alt.Y("y:Q", **y),
        strokeDash=stroke,
        tooltip=[alt.Tooltip("series:N", title="of"), *(alt.Tooltip(f"{name}:Q", format=".3~g") for name in "xy")],
    )
    return [band.encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q")), line]


def _log(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(ends), nice=False)
