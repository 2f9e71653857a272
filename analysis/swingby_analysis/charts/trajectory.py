"""The output at the test point, drawn in the plane of two concepts, with marks at equal times."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style


class Place(NamedTuple):
    """The output at one step: two coordinates over mu, so that 1 is right; `seed` is None for the median."""

    group: str
    seed: int | None
    step: float
    x: float
    y: float


class Plane(NamedTuple):
    """The two concepts of the picture, counted from 1, and whether a training cluster lies at the origin."""

    first: int = 1
    second: int = 2
    origin: bool = False


REST = 0.03
"""The output has come to rest once it stays within this distance (over mu) of where it ends."""


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


def trajectories(medians: Sequence[Place], runs: Sequence[Place], plane: Plane) -> Any:
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
        rows += [{**landmark, "group": group} for landmark in landmarks(plane)]
    rows = [{**row, "group": titles[row["group"]]} for row in rows]
    chart = alt.layer(
        *_layers(plane, plane_range(v for place in [*medians, *runs] for v in (place.x, place.y)))
    ).properties(width=250, height=250)
    header = alt.Header(title=None, labelExpr="split(datum.label, '|')", labelLineHeight=15)
    facet = alt.Facet("group:N", sort=list(titles.values()), header=header)
    return style.finished(chart.facet(facet=facet, columns=3, data=style.LATER), rows, spacing=24)


def trajectory_panel(plane: Plane, domain: tuple[float, float]) -> Any:
    """The same picture for the page: no rows yet, but the named data `path`, which the page fills in."""
    return style.waiting(alt.layer(*_layers(plane, domain)), "path", width=270, height=270)


def landmarks(plane: Plane) -> list[dict[str, Any]]:
    """What the plane shows beside the path: the training clusters' centres and the test point, over mu."""
    centres = [(1, 0), (0, 1), *([(0, 0)] if plane.origin else [])]
    rows: list[dict[str, Any]] = [{"kind": "landmark", "what": "training", "x": x, "y": y} for x, y in centres]
    return [*rows, {"kind": "landmark", "what": "test point", "x": 1, "y": 1}]


def plane_range(coordinates: Iterable[float]) -> tuple[float, float]:
    """One range for both axes, so that the plane keeps its shape; with room for the landmarks, within -1 and 2."""
    values = [v for v in coordinates if math.isfinite(v)]
    return max(-1.0, min([-0.1, *values]) - 0.05), min(2.0, max([1.15, *values]) + 0.05)


def _layers(plane: Plane, domain: tuple[float, float]) -> list[alt.Chart]:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False)
    ticks = [-1, -0.5, 0, 0.5, 1, 1.5, 2]

    def axis(concept: int) -> alt.Axis:
        return alt.Axis(
            title=f"output along concept {concept} (1 = right)", values=ticks, grid=True, gridColor=style.RULE
        )

    x = alt.X("x:Q", scale=scale, axis=axis(plane.first))
    y = alt.Y("y:Q", scale=scale, axis=axis(plane.second))
    order = alt.Order("step:Q")
    base = alt.Chart().encode(x=x, y=y)
    runs = base.transform_filter("datum.kind == 'run'").mark_line(
        strokeWidth=0.6, opacity=0.4, color=style.FAINT, clip=True
    )
    median = base.transform_filter("datum.kind == 'median'").mark_line(strokeWidth=2.2, color=style.INK, clip=True)
    dots = base.transform_filter("datum.kind == 'mark'").mark_circle(size=34, opacity=1, color=style.INK, clip=True)
    return [
        runs.encode(detail="seed:N", order=order), median.encode(order=order),
        dots.encode(tooltip=alt.Tooltip("step:Q", title="step")), *_landmarks(base),
    ]  # fmt: skip


def _landmarks(base: alt.Chart) -> list[alt.Chart]:
    """Training centres as squares, the test point as a diamond; both named in the picture."""
    chart = base.transform_filter("datum.kind == 'landmark'")
    names, colours = ["training", "test point"], [style.TRAINING, style.OOD]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names, range=colours), legend=None)
    shape = alt.Shape("what:N", scale=alt.Scale(domain=names, range=["square", "diamond"]), legend=None)
    marks = chart.mark_point(filled=True, size=110, opacity=1, stroke="white", strokeWidth=1)
    name = {"dx": -9, "dy": -11, "align": "right", "fontSize": 11}
    casing = chart.mark_text(stroke="white", strokeWidth=3, strokeJoin="round", **name)
    return [
        marks.encode(color=colour, shape=shape),
        casing.encode(text="what:N"),
        chart.mark_text(**name).encode(text="what:N", color=colour),
    ]
