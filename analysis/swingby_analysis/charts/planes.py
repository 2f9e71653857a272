"""Paths in planes: a panel each, with bands over seeds, marks at equal times, points and landmarks beside them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby.model.reported import Landmark
from swingby_analysis.charts import style

ARROW = "M0,-1L0.62,0.8L0,0.4L-0.62,0.8Z"
"""An arrowhead that points up at angle 0."""
REST = 0.03
"""A path has come to rest once it stays within this distance (in its unit) of where it ends."""


class Place(NamedTuple):
    """A path at one step: two coordinates in their units; `seed` is None for the median."""

    group: str
    seed: int | None
    step: float
    x: float
    y: float


class PlaneView(NamedTuple):
    """How a plane is drawn: the titles of its axes, and its landmarks."""

    x: str
    y: str
    landmarks: Sequence[Landmark]


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
    """The panels side by side.

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


def trajectories(medians: Sequence[Place], runs: Sequence[Place], plane: PlaneView) -> Any:
    """A panel a group (in order of appearance): the median path with its time marks, and the single runs (thin).

    A group without a median path has no panel.
    """
    known = {place.group for place in medians}
    rows: list[dict[str, Any]] = [{"kind": "run", **place._asdict()} for place in runs if place.group in known]
    titles: dict[str, str] = {}
    for group in dict.fromkeys(place.group for place in medians):
        path = [place for place in medians if place.group == group]
        every = even_time(path)
        titles[group] = f"{group}|a dot every {every:g} step{'' if every == 1 else 's'}"
        rows += [{"kind": "median", **place._asdict()} for place in path]
        rows += [{"kind": "mark", **place._asdict()} for place in time_marks(path, every)]
        rows += [{**landmark, "group": group} for landmark in landmark_rows(plane)]
    rows = [{**row, "group": titles[row["group"]]} for row in rows]
    chart = alt.layer(
        *_path_layers(plane, plane_range(v for place in [*medians, *runs] for v in (place.x, place.y)))
    ).properties(width=250, height=250)
    header = alt.Header(title=None, labelExpr="split(datum.label, '|')", labelLineHeight=15)
    facet = alt.Facet("group:N", sort=list(titles.values()), header=header)
    return style.finished(chart.facet(facet=facet, columns=3, data=style.LATER), rows, spacing=24)


def trajectory_panel(plane: PlaneView, domain: tuple[float, float]) -> Any:
    """The same picture for the page: no rows yet, but the named data `path`, which the page fills in."""
    return style.waiting(alt.layer(*_path_layers(plane, domain)), "path", width=270, height=270)


def landmark_rows(plane: PlaneView) -> list[dict[str, Any]]:
    """The landmarks of a plane as rows."""
    return [{"kind": "landmark", "what": mark.name, "x": mark.x, "y": mark.y} for mark in plane.landmarks]


def plane_range(coordinates: Iterable[float]) -> tuple[float, float]:
    """One range for both axes, so that the plane keeps its shape; with room for the landmarks, within -1 and 2."""
    values = [v for v in coordinates if math.isfinite(v)]
    return max(-1.0, min([-0.1, *values]) - 0.05), min(2.0, max([1.15, *values]) + 0.05)


def moves_until(path: Sequence[Place]) -> float:
    """The last recorded step at which the output was not yet at rest; at least 1."""
    x, y = path[-1].x, path[-1].y
    moving = [place.step for place in path if math.hypot(place.x - x, place.y - y) > REST]
    return max(moving[-1] if moving else path[-1].step, 1.0)


def even_time(path: Sequence[Place], marks: int = 16) -> float:
    """A round number of steps that puts about `marks` marks on the part of the path that moves."""
    span = moves_until(path)
    power = 10.0 ** math.floor(math.log10(max(span / marks, 1.0)))
    return next(k * power for k in (1, 2, 5, 10) if k * power * marks >= span)


def time_marks(path: Sequence[Place], every: float) -> list[Place]:
    """The path at steps 0, every, 2 every, ... until it rests, by straight lines between its recorded steps."""
    steps = [place.step for place in path]
    marks: list[Place] = []
    for i in range(int(moves_until(path) // every) + 1):
        at = i * every
        k = min(bisect_right(steps, at), len(path) - 1)
        a, b = path[k - 1], path[k]
        w = (at - a.step) / (b.step - a.step)
        marks.append(Place(a.group, None, at, a.x + w * (b.x - a.x), a.y + w * (b.y - a.y)))
    return marks


def ordered_colours(count: int) -> list[str]:
    """Colours from dark to light that colour-blind readers can order: an excerpt of the palette plasma."""
    anchors = [(0x1B, 0x06, 0x8D), (0x8B, 0x0A, 0xA5), (0xDB, 0x5C, 0x68), (0xF7, 0xA9, 0x36)]
    found = []
    for k in range(count):
        at = k / max(count - 1, 1) * (len(anchors) - 1)
        i = min(int(at), len(anchors) - 2)
        mixed = (round(a + (at - i) * (b - a)) for a, b in zip(anchors[i], anchors[i + 1], strict=True))
        found.append("#" + "".join(f"{part:02x}" for part in mixed))
    return found


def _panel(panel: Panel, colour: alt.Color, side: int, shade: float) -> Any:
    base = alt.Chart().encode(x=_axis("x", panel.x, panel.x_range), y=_axis("y", panel.y, panel.y_range))
    base = base.transform_filter(f"datum.panel == '{panel.key}'")
    (region, thin, *lines), (squares, own, diamond, *names) = _lines(base, colour, shade), _landmarks(base, colour)
    points, *marks = _marks(base, colour)
    layers = [region, thin, points, squares, own, *lines, *marks, diamond, *names]
    return alt.layer(*layers).properties(width=side, height=side, title=style.headed(panel.title, panel.notes))


def _axis(channel: str, title: str, domain: tuple[float, float]) -> Any:
    kind = alt.X if channel == "x" else alt.Y
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    axis = alt.Axis(title=title, grid=True, gridColor=style.RULE, tickCount=6, format="~g", titleFontSize=11)
    return kind(f"{channel}:Q", scale=scale, axis=axis)


def _lines(base: alt.Chart, colour: alt.Color, shade: float) -> list[Any]:
    """Regions, then thin lines, dashed and thick ones, each kind above the one before."""
    order, detail = alt.Order("order:Q"), ["line:N", "run:N"]
    smooth = {"clip": True, "strokeJoin": "round", "strokeCap": "round"}
    area = _only(base, "region").mark_line(filled=True, strokeWidth=0, fillOpacity=shade, clip=True)
    thin = _only(base, "run").mark_line(strokeWidth=0.6, strokeOpacity=0.55, **smooth)
    dashed = _only(base, "dashed").mark_line(strokeWidth=1.4, strokeDash=[5, 3], **smooth)
    thick = _only(base, "line").mark_line(strokeWidth=2.1, **smooth)
    return [chart.encode(color=colour, detail=detail, order=order) for chart in (area, thin, dashed, thick)]


def _marks(base: alt.Chart, colour: alt.Color) -> list[Any]:
    said = [alt.Tooltip("step:Q", title="step", format=",d"), alt.Tooltip("line:N", title="line")]
    dots = _only(base, "dot").mark_circle(size=30, opacity=1, clip=True)
    arrows = _only(base, "arrow").mark_point(
        filled=True, shape=ARROW, size=150, opacity=1, stroke="white", strokeWidth=0.6, clip=True
    )
    points = _only(base, "point").mark_circle(size=8, opacity=1, fillOpacity=0.6, clip=True)
    return [
        points.encode(color=colour),
        dots.encode(color=colour, tooltip=said),
        arrows.encode(color=colour, angle=alt.Angle("angle:Q", scale=None), tooltip=said),
    ]


def _landmarks(base: alt.Chart, colour: alt.Color) -> list[Any]:
    """Centres as squares, the target as a diamond, then their names; in colours of their own, or in those of a line."""
    kinds = (("centre", "square", alt.value(style.BLUE)), ("own", "square", colour), ("target", "diamond", None))
    look = {"filled": True, "size": 110, "opacity": 1, "stroke": "white", "strokeWidth": 1, "clip": True}
    text = {"dx": -9, "dy": -11, "align": "right", "fontSize": 11}
    casing = {"stroke": "white", "strokeWidth": 3, "strokeJoin": "round"}
    marks, names = list[Any](), list[Any]()
    for kind, shape, own in kinds:
        chart, hue = _only(base, kind), own or alt.value(style.INK)
        marks.append(chart.mark_point(shape=shape, **look).encode(color=hue))
        names.append(chart.mark_text(**text, **casing).encode(text="what:N"))
        names.append(chart.mark_text(**text).encode(text="what:N", color=hue))
    return [*marks, *names]


def _only(base: alt.Chart, kind: str) -> alt.Chart:
    return base.transform_filter(f"datum.kind == '{kind}'")


def _path_layers(plane: PlaneView, domain: tuple[float, float]) -> list[alt.Chart]:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    ticks = [-1, -0.5, 0, 0.5, 1, 1.5, 2]

    axes = [alt.Axis(title=title, values=ticks, grid=True, gridColor=style.RULE) for title in (plane.x, plane.y)]
    x, y = alt.X("x:Q", scale=scale, axis=axes[0]), alt.Y("y:Q", scale=scale, axis=axes[1])
    order = alt.Order("step:Q")
    base = alt.Chart().encode(x=x, y=y)
    runs = base.transform_filter("datum.kind == 'run'").mark_line(
        strokeWidth=0.6, opacity=0.4, color=style.FAINT, clip=True
    )
    median = base.transform_filter("datum.kind == 'median'").mark_line(strokeWidth=2.2, color=style.INK, clip=True)
    dots = base.transform_filter("datum.kind == 'mark'").mark_circle(size=34, opacity=1, color=style.INK, clip=True)
    return [
        runs.encode(detail="seed:N", order=order), median.encode(order=order),
        dots.encode(tooltip=alt.Tooltip("step:Q", title="step")), *_named_landmarks(base, plane),
    ]  # fmt: skip


def _named_landmarks(base: alt.Chart, plane: PlaneView) -> list[alt.Chart]:
    """Squares, and a diamond for what paths should lead to; all named in the picture."""
    chart = base.transform_filter("datum.kind == 'landmark'")
    looks = {mark.name: (style.RED, "diamond") if mark.target else (style.BLUE, "square") for mark in plane.landmarks}
    names, colours, shapes = list(looks), [hue for hue, _ in looks.values()], [shape for _, shape in looks.values()]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names, range=colours), legend=None)
    shape = alt.Shape("what:N", scale=alt.Scale(domain=names, range=shapes), legend=None)
    marks = chart.mark_point(filled=True, size=110, opacity=1, stroke="white", strokeWidth=1)
    name = {"dx": -9, "dy": -11, "align": "right", "fontSize": 11}
    casing = chart.mark_text(stroke="white", strokeWidth=3, strokeJoin="round", **name)
    return [
        marks.encode(color=colour, shape=shape),
        casing.encode(text="what:N"),
        chart.mark_text(**name).encode(text="what:N", color=colour),
    ]
