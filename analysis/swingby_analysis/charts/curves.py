"""Curves over training steps: bands over seeds, means, single runs and fitted lines, a panel each on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl

from swingby_analysis.charts import style

FLOOR = 1e-3
"""The lower end of the logarithmic axis of values over their unit."""
COLOURS = (style.RED, style.BLUE, "#2c8c5a", "#d9650d", style.VIOLET, style.INK)
"""Of the curves of an experiment, in turn."""
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "band": {"fillOpacity": 0.18},
    "run": {"strokeWidth": 0.7, "strokeOpacity": 0.45},
    "line": {"strokeWidth": 2.1},
    "dashed": {"strokeWidth": 1.6, "strokeDash": [6, 3]},
    "dotted": {"strokeWidth": 1.9, "strokeDash": [2, 2.5]},
}
"""The band and the kinds of lines, from the lowest to the uppermost."""
SYMLOG = 0.1
"""Values much smaller than this are spaced evenly on a symlog axis, much larger ones by their logarithm."""


class Band(NamedTuple):
    """The seeds of one point at one step, in the curve's unit: median, and 10 % and 90 % quantiles."""

    group: str
    curve: str
    step: int
    median: float
    low: float
    high: float
    point: int | None = None


class Run(NamedTuple):
    """A curve of one seed at one step, in its unit."""

    group: str
    curve: str
    seed: int
    step: int
    value: float
    point: int | None = None


class CurvePanel(NamedTuple):
    """One panel: its key in the rows, and its title with smaller lines below."""

    key: str
    title: str
    notes: tuple[str, ...] = ()


class Level(NamedTuple):
    """A line's value at a step; `kind` is one of those that have a look, `run` tells lines of one name apart."""

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


class Point(NamedTuple):
    """A point to be marked, in the colour of a line; `kind` is that of its `Marks`."""

    panel: str
    kind: str
    line: str
    step: float
    value: float


class Marks(NamedTuple):
    """How points of one kind are drawn.

    Attributes:
        kind: of the points.
        called: what a tooltip calls them.
        look: shape, size and offset, as Vega-Lite has them.
        colour: None for that of a point's line.
    """

    kind: str
    called: str
    look: Mapping[str, Any]
    colour: str | None = None


@dataclass(frozen=True)
class LogAxes:
    """The axes of curves on a logarithmic scale, over log(1 + step).

    Attributes:
        last: the last step.
        top: the upper end of the values; larger ones, and those below FLOOR, are cut off: a floor is no curve.
        title: of the values.
        level: where a dashed line lies; None for none.
        numbered: what steps number where they are spaced evenly; "" for log(1 + step).
    """

    last: int
    top: float
    title: str
    level: float | None = None
    numbered: str = ""


@dataclass(frozen=True)
class Axes:
    """The axes that all panels share.

    Attributes:
        first, last: steps.
        low, high: values.
        title: of the values.
        spacing: how values are spaced.
        steps: how steps are spaced; "log" is log(1 + step), from step 0 on.
        ticks: of the values, each with its label; () for even ones.
        level: where a dashed line lies; None for none.
    """

    first: float
    last: float
    low: float
    high: float
    title: str
    spacing: Literal["linear", "log", "symlog", "sqrt"] = "linear"
    steps: Literal["linear", "sqrt", "log"] = "sqrt"
    ticks: Sequence[float] = ()
    level: float | None = None


def medians(table: pl.DataFrame) -> list[Level | Spread]:
    """Medians with their bands from a row a point, line and step: `point`, `line`, `step`, `median`, `low`, `high`."""
    rows = list[Level | Spread]()
    for point, line, step, median, low, high in table.select(
        "point", "line", "step", "median", "low", "high"
    ).iter_rows():
        rows += [Spread(str(point), line, step, low, high), Level(str(point), "line", line, 0, step, median)]
    return rows


def log_curves(
    bands: Sequence[Band], runs: Sequence[Run], names: Sequence[str], axes: LogAxes, width: int = 212
) -> Any:
    """A panel for each group (in order of appearance): band, single runs (thin) and median of each curve.

    Args:
        names: of the curves, in the order of the legend.
    """

    def near(value: float) -> float:  # far enough off the axis to be cut off, and finite
        return min(max(value, FLOOR / 10), 10 * axes.top)

    rows: list[dict[str, Any]] = [
        {"kind": "band", **band._asdict(), **{key: near(getattr(band, key)) for key in ("median", "low", "high")}}
        for band in bands
    ]
    rows += [{"kind": "run", **run._asdict(), "value": near(run.value)} for run in runs]
    groups = list(dict.fromkeys(band.group for band in bands))
    chart = alt.layer(*_log_layers(names, axes)).properties(width=width, height=210)
    facet = alt.Facet("group:N", sort=groups, header=alt.Header(title=None))
    return style.finished(chart.facet(facet=facet, columns=3, data=style.LATER), rows, spacing=18)


def log_panel(names: Sequence[str], axes: LogAxes) -> Any:
    """A panel of `log_curves` for the page: no rows yet, but the named data `curve`, which the page fills in."""
    return style.waiting(alt.layer(*_log_layers(names, axes)), "curve", width=270, height=190)


def log_steps(last: int) -> alt.X:
    """Steps on a symlog axis (the logarithm of 1 + step), where step 0 has its true place."""
    ticks = [0, *(10**power for power in range(len(str(last))))]
    scale = alt.Scale(type="symlog", constant=1, domain=[0, last], nice=False)
    axis = alt.Axis(title="step (spaced as log(1 + step))", values=ticks, format=",d")
    return alt.X("step:Q", scale=scale, axis=axis)


def even_steps(last: int, title: str = "step") -> alt.X:
    """Steps, or what else they number, evenly spaced."""
    scale = alt.Scale(domain=[0, max(last, 1)], nice=False)
    axis = alt.Axis(title=title, format="~s", tickCount=min(5, max(last, 1)), tickMinStep=1)
    return alt.X("step:Q", scale=scale, axis=axis)


def curve_panels(
    panels: Sequence[CurvePanel],
    rows: Sequence[Level | Spread | Point],
    axes: Axes,
    colours: Mapping[str, str],
    columns: int,
    title: Sequence[str] = (),
    width: int = 230,
    compact: bool = False,
    *,
    height: int = 190,
    looks: Mapping[str, Mapping[str, Any]] = LOOKS,
    marks: Sequence[Marks] = (),
    legend_columns: int = 6,
) -> Any:
    """Curves over steps, in panels side by side.

    Args:
        colours: the name of a line -> its colour, in the legend's order.
        title: of the legend, in lines.
        compact: only the first panel of a row names the values, only the last row the steps.
        width, height: of a panel, which is never higher than wide.
        looks: kind of line, or "band" -> how it is drawn, from the lowest to the uppermost.
        marks: how points are drawn, above the lines.
    """
    colour = style.line_colour(colours, title, legend_columns)
    charts = []
    for at, panel in enumerate(panels):
        values_named, steps_named = not compact or at % columns == 0, not compact or at + columns >= len(panels)
        steps = log_steps(int(axes.last))
        if axes.steps != "log":
            scale = alt.Scale(type=axes.steps, domain=[axes.first, axes.last], nice=False, zero=False)
            called = "step" if axes.steps == "linear" else "step (spaced as its root)"
            axis = alt.Axis(title=called if steps_named else None, format="~s", tickCount=5, labelOverlap=True)
            steps = alt.X("step:Q", scale=scale, axis=axis)
        base = alt.Chart().transform_filter(f"datum.panel == '{panel.key}'").encode(x=steps, color=colour)
        layers = _curve_layers(base, _values(axes, values_named), looks, marks)
        layers = [*([] if axes.level is None else [style.level(axes.level)]), *layers]
        headed = style.headed(panel.title, panel.notes)
        charts.append(alt.layer(*layers).properties(width=width, height=min(height, width), title=headed))
    spacing = {"row": 14, "column": 10} if compact else {"row": 24, "column": 26}
    chart = alt.concat(*charts, columns=columns, data=style.LATER, spacing=spacing)
    return style.finished(chart.resolve_scale(color="shared"), (row._asdict() for row in rows))


def _log_layers(names: Sequence[str], axes: LogAxes) -> list[alt.Chart]:
    scale = alt.Scale(type="log", domain=[FLOOR, axes.top], nice=False)
    ticks = [10.0**power for power in range(-3, 7) if 10.0**power <= axes.top]
    axis = alt.Axis(title=axes.title, values=ticks, format="~g")
    legend = alt.Legend(
        title=None, orient="bottom", direction="horizontal", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1
    )
    hues = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
    colour = alt.Color("curve:N", scale=alt.Scale(domain=list(names), range=hues), legend=legend)
    x = even_steps(axes.last, axes.numbered) if axes.numbered else log_steps(axes.last)
    band = alt.Chart().transform_filter("datum.kind == 'band'").encode(x=x, color=colour)
    area = band.mark_area(opacity=0.2, clip=True).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2=alt.Y2("high:Q"))
    median = band.mark_line(strokeWidth=2.2, clip=True).encode(y=alt.Y("median:Q", scale=scale))
    runs = alt.Chart().transform_filter("datum.kind == 'run'").mark_line(strokeWidth=0.6, opacity=0.35, clip=True)
    runs = runs.encode(x=x, y=alt.Y("value:Q", scale=scale), color=colour, detail=alt.Detail("seed:N"))
    return [*([] if axes.level is None else [style.level(axes.level)]), area, runs, median]


def _curve_layers(
    base: alt.Chart, scaled: Mapping[str, Any], looks: Mapping[str, Mapping[str, Any]], marks: Sequence[Marks]
) -> list[Any]:
    """Bands, lines and marks; `scaled` are the scale and the axis of their values."""
    one, layers = ["line:N", "run:N"], list[Any]()
    for kind, look in looks.items():
        chosen = base.transform_filter(f"datum.kind == '{kind}'")
        if kind == "band":
            area = chosen.mark_area(opacity=1, clip=True, **look)
            layers.append(area.encode(y=alt.Y("low:Q", **scaled), y2=alt.Y2("high:Q"), detail=one))
        else:
            lines = chosen.mark_line(clip=True, strokeJoin="round", **look)
            layers.append(lines.encode(y=alt.Y("value:Q", **scaled), detail=one))
    for mark in marks:
        tip = [alt.Tooltip("kind:N", title=mark.called), alt.Tooltip("step:Q", format=",d")]
        points = base.transform_filter(f"datum.kind == '{mark.kind}'").mark_point(clip=True, **mark.look)
        points = points.encode(y=alt.Y("value:Q", scale=scaled["scale"]), tooltip=tip)
        layers.append(points if mark.colour is None else points.encode(color=alt.ColorValue(mark.colour)))
    return layers


def _values(axes: Axes, named: bool) -> dict[str, Any]:
    """Scale and axis of the values; without its title where a panel beside it has it."""
    log, symlog, kind = axes.spacing == "log", axes.spacing == "symlog", axes.spacing
    constant, zero = SYMLOG if symlog else alt.Undefined, alt.Undefined if log else False
    scale = alt.Scale(type=kind, domain=[axes.low, axes.high], nice=False, zero=zero, clamp=False, constant=constant)
    title, look = axes.title if named else None, {"grid": True, "gridColor": style.RULE}
    if axes.ticks:
        every = list(axes.ticks)
        axis = alt.Axis(title=title, values=every, tickCount=len(every), labelOverlap=False, format="~g", **look)
        return {"scale": scale, "axis": axis}
    powers = [sign * 10.0**power for power in range(-1, 7) for sign in (-1, 1)]
    ticks = [0.0, *(value for value in powers if axes.low <= value <= axes.high)] if symlog else alt.Undefined
    axis = alt.Axis(title=title, tickCount=6, format=".0e" if log else "~g", values=ticks, **look)
    return {"scale": scale, "axis": axis}
