"""The chart of a report's example paths, and the marks that put equal times on a path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from swingby.model.reported import Landmark
from swingby_analysis.charts import style

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
    ).properties(width=212, height=212)
    header = alt.Header(title=None, labelExpr="split(datum.label, '|')", labelLineHeight=15)
    facet = alt.Facet("group:N", sort=list(titles.values()), header=header)
    return style.finished(chart.facet(facet=facet, columns=3, data=style.LATER), rows, spacing=24)


def trajectory_panel(plane: PlaneView, domain: tuple[float, float]) -> Any:
    """A panel of `trajectories` for the page: no rows yet, but the named data `path`, which the page fills in."""
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
    return moving_until(*_arrays(path))


def moving_until(step: np.ndarray, path: np.ndarray) -> float:
    """The same of a path (2, T) at steps (T,)."""
    moving = step[np.hypot(*(path - path[:, -1:])) > REST]
    return max(float(moving[-1] if len(moving) else step[-1]), 1.0)


def even_time(path: Sequence[Place], marks: int = 16) -> float:
    """A round number of steps that puts about `marks` marks on the part of the path that moves."""
    return round_time(moves_until(path), marks)


def round_time(span: float, marks: int = 16) -> float:
    """A round number of steps that puts about `marks` marks on so many steps."""
    power = 10.0 ** math.floor(math.log10(max(span / marks, 1.0)))
    return next(k * power for k in (1, 2, 5, 10) if k * power * marks >= span)


def time_marks(path: Sequence[Place], every: float) -> list[Place]:
    """The path at steps 0, every, 2 every, ... until it rests, by straight lines between its recorded steps."""
    marks = marks_at(*_arrays(path), every).T.tolist()
    return [Place(path[0].group, None, place * every, x, y) for place, (x, y) in enumerate(marks)]


def marks_at(step: np.ndarray, path: np.ndarray, every: float) -> np.ndarray:
    """The same of a path (2, T) at steps (T,): (2, marks)."""
    at = every * np.arange(int(moving_until(step, path) // every) + 1)
    k = np.minimum(np.searchsorted(step, at, "right"), len(step) - 1)
    share = (at - step[k - 1]) / (step[k] - step[k - 1])
    return path[:, k - 1] + share * (path[:, k] - path[:, k - 1])


def _arrays(path: Sequence[Place]) -> tuple[np.ndarray, np.ndarray]:
    """The steps of a path, (T,), and its places, (2, T)."""
    return np.array([place.step for place in path]), np.array([(place.x, place.y) for place in path]).T


def _path_layers(plane: PlaneView, domain: tuple[float, float]) -> list[alt.Chart]:
    """Single runs, the median path with its marks, and the landmarks: squares, or a diamond where paths should lead."""
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
    looks = {mark.name: (style.RED, "diamond") if mark.target else (style.BLUE, "square") for mark in plane.landmarks}
    names, hues, shapes = list(looks), [hue for hue, _ in looks.values()], [shape for _, shape in looks.values()]
    colour = alt.Color("what:N", scale=alt.Scale(domain=names, range=hues), legend=None)
    shape = alt.Shape("what:N", scale=alt.Scale(domain=names, range=shapes), legend=None)
    spots = base.transform_filter("datum.kind == 'landmark'")
    marks = spots.mark_point(filled=True, size=110, opacity=1, stroke="white", strokeWidth=1)
    name = {"dx": -9, "dy": -11, "align": "right", "fontSize": 11}
    casing = spots.mark_text(stroke="white", strokeWidth=3, strokeJoin="round", **name)
    return [
        runs.encode(detail=alt.Detail("seed:N"), order=order), median.encode(order=order),
        dots.encode(tooltip=alt.Tooltip("step:Q", title="step")), marks.encode(color=colour, shape=shape),
        casing.encode(text=alt.Text("what:N")), spots.mark_text(**name).encode(text=alt.Text("what:N"), color=colour),
    ]  # fmt: skip
