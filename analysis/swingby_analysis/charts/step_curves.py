"""Curves over training steps, a panel each on the same axes: bands, means, single runs and fitted lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.planes import headed

LOOKS: Mapping[str, Mapping[str, Any]] = {
    "run": {"strokeWidth": 0.7, "strokeOpacity": 0.45},
    "line": {"strokeWidth": 2.1},
    "dashed": {"strokeWidth": 1.6, "strokeDash": [6, 3]},
    "dotted": {"strokeWidth": 1.9, "strokeDash": [2, 2.5]},
}
"""Kinds of lines, from the lowest to the uppermost."""


SYMLOG = 0.1
"""Values much smaller than this are spaced evenly on a symlog axis, much larger ones by their logarithm."""


class CurvePanel(NamedTuple):
    """One panel: its key in the rows, and its title with smaller lines below."""

    key: str
    title: str
    notes: tuple[str, ...] = ()


class Level(NamedTuple):
    """A line's value at a step; `kind` is one of LOOKS, `run` tells lines of one name apart."""

    panel: str
    kind: str
    line: str
    run: int
    step: float
    value: float


class Spread(NamedTuple):
    """The band of a line at a step; `run` tells bands of one name apart."""

    panel: str
    line: str
    step: float
    low: float
    high: float
    kind: str = "band"
    run: int = 0


@dataclass(frozen=True)
class Axes:
    """The axes that all panels share.

    Attributes:
        first, last: steps.
        low, high: values.
        title: of the values.
        spacing: how values are spaced: linear, log, or symlog.
        steps: how steps are spaced: linear or sqrt.
    """

    first: float
    last: float
    low: float
    high: float
    title: str
    spacing: str = "linear"
    steps: str = "sqrt"


def step_curves(
    panels: Sequence[CurvePanel],
    rows: Sequence[Level | Spread],
    axes: Axes,
    colours: Mapping[str, str],
    columns: int,
    title: Sequence[str] = (),
    width: int = 230,
    compact: bool = False,
) -> Any:
    """The panels side by side.

    Args:
        colours: the name of a line -> its colour, in the legend's order.
        title: of the legend, in lines.
        compact: only the first panel of a row names the values, only the last row the steps.
    """
    charts = []
    for at, panel in enumerate(panels):
        named = not compact or at % columns == 0, not compact or at + columns >= len(panels)
        charts.append(_panel(panel, axes, _colour(colours, title), width, named))
    spacing = {"row": 14, "column": 10} if compact else {"row": 24, "column": 26}
    chart = alt.concat(*charts, columns=columns, data=style.LATER, spacing=spacing)
    return style.finished(chart.resolve_scale(color="shared"), (row._asdict() for row in rows))


def _panel(panel: CurvePanel, axes: Axes, colour: alt.Color, width: int, named: tuple[bool, bool]) -> Any:
    base = alt.Chart().transform_filter(f"datum.panel == '{panel.key}'").encode(x=_x(axes, named[1]), color=colour)
    zero = alt.Undefined if axes.spacing == "log" else False
    constant = SYMLOG if axes.spacing == "symlog" else alt.Undefined
    scale = alt.Scale(
        type=_scale(axes.spacing), domain=[axes.low, axes.high], nice=False, zero=zero, clamp=False, constant=constant
    )
    form = ".0e" if axes.spacing == "log" else "~g"
    ticks = _symlog_ticks(axes) if axes.spacing == "symlog" else alt.Undefined
    title = axes.title if named[0] else None
    axis = alt.Axis(title=title, grid=True, gridColor=style.RULE, tickCount=6, format=form, values=ticks)
    band = base.transform_filter("datum.kind == 'band'").mark_area(opacity=1, fillOpacity=0.18, clip=True)
    one = ["line:N", "run:N"]
    layers: list[Any] = [band.encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", detail=one)]
    for kind, look in LOOKS.items():
        lines = base.transform_filter(f"datum.kind == '{kind}'").mark_line(clip=True, strokeJoin="round", **look)
        layers.append(lines.encode(y=alt.Y("value:Q", scale=scale, axis=axis), detail=one))
    return alt.layer(*layers).properties(width=width, height=min(190, width), title=headed(panel.title, panel.notes))


def _symlog_ticks(axes: Axes) -> list[float]:
    """0 and the powers of ten on either side, as far as the axis goes."""
    powers = [sign * 10.0**power for power in range(-1, 7) for sign in (-1, 1)]
    return [0.0, *(value for value in powers if axes.low <= value <= axes.high)]


def _x(axes: Axes, named: bool) -> alt.X:
    scale = alt.Scale(type=_scale(axes.steps), domain=[axes.first, axes.last], nice=False, zero=False)
    spaced = "step" if axes.steps == "linear" else "step (spaced as its root)"
    return alt.X(
        "step:Q",
        scale=scale,
        axis=alt.Axis(title=spaced if named else None, format="~s", tickCount=5, labelOverlap=True),
    )


def _scale(name: str) -> Any:
    return name


def _colour(colours: Mapping[str, str], title: Sequence[str]) -> alt.Color:
    legend = alt.Legend(
        title=list(title) or None, titleLimit=0, orient="bottom", direction="horizontal", columns=6,
        symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1, symbolSize=260,
    )  # fmt: skip
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("line:N", scale=scale, legend=legend)
