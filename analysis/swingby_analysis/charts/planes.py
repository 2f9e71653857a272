"""Paths in planes: a panel each, with bands over seeds, marks at equal times, points and landmarks beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

ARROW = "M0,-1L0.62,0.8L0,0.4L-0.62,0.8Z"
"""An arrowhead that points up at angle 0."""


class Panel(NamedTuple):
    """One plane: its key in the rows, its title with smaller lines below, and its axes, which share one scale.

    `x_range` and `y_range` are as long as each other.
    """

    key: str
    title: str
    notes: tuple[str, ...]
    x: str
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]


class Corner(NamedTuple):
    """One corner of a line or of a region's outline; `order` along it, `run` tells lines of one name apart.

    `kind`: region, run (thin), dashed, or line (thick).
    """

    panel: str
    kind: str
    line: str
    run: int
    order: int
    x: float
    y: float


class Mark(NamedTuple):
    """A mark: `kind` point (of data), dot (at a step), or arrow, which points to `angle`, degrees clockwise from up."""

    panel: str
    kind: str
    line: str
    step: float
    x: float
    y: float
    angle: float = 0.0


class Spot(NamedTuple):
    """A landmark: `kind` centre (a square), own (one with the colour of `line`), or target (a diamond).

    `what` is written beside it.
    """

    panel: str
    kind: str
    what: str
    x: float
    y: float
    line: str = ""


Row = Corner | Mark | Spot


def planes(
    panels: Sequence[Panel],
    rows: Sequence[Row],
    colours: Mapping[str, str],
    columns: int,
    title: Sequence[str] = (),
    side: int = 250,
    shade: float = 0.8,
) -> Any:
    """Planes side by side, a panel each.

    Args:
        colours: the name of a line -> its colour, in the legend's order.
        columns: panels in a row.
        title: of the legend, in lines.
        side: of a panel, in px.
        shade: opacity of the regions.
    """
    colour = style.line_colour(colours, title, 5 if len("".join(colours)) < 75 else 3)
    charts = [_panel(panel, colour, side, shade) for panel in panels]
    chart = alt.concat(*charts, columns=columns, data=style.LATER, spacing={"row": 26, "column": 30})
    return style.finished(chart.resolve_scale(color="shared"), ({**row._asdict()} for row in rows))


def _panel(panel: Panel, colour: alt.Color, side: int, shade: float) -> Any:
    """Regions lowest, then thin lines and points of data, squares, thick lines, marks, the target, and all names."""
    look = {"grid": True, "gridColor": style.RULE, "tickCount": 6, "format": "~g", "titleFontSize": 11}
    scales = [alt.Scale(domain=list(ends), nice=False, zero=False) for ends in (panel.x_range, panel.y_range)]
    x = alt.X("x:Q", scale=scales[0], axis=alt.Axis(title=panel.x, **look))
    y = alt.Y("y:Q", scale=scales[1], axis=alt.Axis(title=panel.y, **look))
    base = alt.Chart().encode(x=x, y=y).transform_filter(f"datum.panel == '{panel.key}'")
    smooth = {"clip": True, "strokeJoin": "round", "strokeCap": "round"}
    along = {"color": colour, "detail": ["line:N", "run:N"], "order": alt.Order("order:Q")}
    region = _only(base, "region").mark_line(filled=True, strokeWidth=0, fillOpacity=shade, clip=True)
    thin = _only(base, "run").mark_line(strokeWidth=0.6, strokeOpacity=0.55, **smooth)
    dashed = _only(base, "dashed").mark_line(strokeWidth=1.4, strokeDash=[5, 3], **smooth)
    thick = _only(base, "line").mark_line(strokeWidth=2.1, **smooth)
    points = _only(base, "point").mark_circle(size=8, opacity=1, fillOpacity=0.6, clip=True)
    dots = _only(base, "dot").mark_circle(size=30, opacity=1, clip=True)
    arrows = _only(base, "arrow").mark_point(
        filled=True, shape=ARROW, size=150, opacity=1, stroke="white", strokeWidth=0.6, clip=True
    )
    tip = [alt.Tooltip("step:Q", title="step", format=",d"), alt.Tooltip("line:N", title="line")]
    squares, crosses, diamond, *names = _landmarks(base, colour)
    layers = [
        region.encode(**along), thin.encode(**along), points.encode(color=colour), squares, crosses,
        dashed.encode(**along), thick.encode(**along), dots.encode(color=colour, tooltip=tip),
        arrows.encode(color=colour, angle=alt.Angle("angle:Q", scale=None), tooltip=tip), diamond, *names,
    ]  # fmt: skip
    return alt.layer(*layers).properties(width=side, height=side, title=style.headed(panel.title, panel.notes))


def _landmarks(base: alt.Chart, colour: alt.Color) -> list[Any]:
    """Centres as squares, the target as a diamond, then their names; in colours of their own, or in those of a line."""
    kinds = (("centre", "square", alt.value(style.BLUE)), ("own", "square", colour), ("target", "diamond", None))
    look = {"filled": True, "size": 110, "opacity": 1, "stroke": "white", "strokeWidth": 1, "clip": True}
    text = {"dx": -9, "dy": -11, "align": "right", "fontSize": 11}
    casing = {"stroke": "white", "strokeWidth": 3, "strokeJoin": "round"}
    marks, names = list[Any](), list[Any]()
    for kind, shape, fixed in kinds:
        chart, hue = _only(base, kind), fixed or alt.value(style.INK)
        marks.append(chart.mark_point(shape=shape, **look).encode(color=hue))
        names.append(chart.mark_text(**text, **casing).encode(text=alt.Text("what:N")))
        names.append(chart.mark_text(**text).encode(text=alt.Text("what:N"), color=hue))
    return [*marks, *names]


def _only(base: alt.Chart, kind: str) -> alt.Chart:
    return base.transform_filter(f"datum.kind == '{kind}'")
