"""Runs in a plane as the rows of a chart: bands, thin lines, thick ones, and marks at equal times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analysis.charts.planes import Corner, Mark, Row
from analysis.charts.trajectory import Place, even_time, plane_range, time_marks
from analysis.drawings.paths import Floats, Runs, corners
from analysis.drawings.regions import central, region

MOST_SEEDS = 40
"""At most this many seeds are drawn as thin lines."""
MARKS = 14
"""About how many marks a line gets at equal times."""
MOST_MARKS = 60
"""No line gets more marks than this, however long others of the same panel move."""

WIDEST = -0.45, 1.45
"""No panel in units of mu shows more than this; lines that leave it are cut off at its edge."""


class Name(NamedTuple):
    """Where a line stands: its panel's key, and what the legend calls it."""

    panel: str
    line: str


def drawn(runs: Runs) -> list[int]:
    """The seeds that are drawn as thin lines: all, or the first MOST_SEEDS."""
    return runs.moving[:MOST_SEEDS]


def line(name: Name, path: Floats, kind: str = "line", run: int = 0) -> list[Corner]:
    """One path (T, 2) by its corners; nothing for fewer than two places."""
    if len(path) < 2:
        return []
    return [Corner(*name[:1], kind, name.line, run, int(k), *_place(path[k])) for k in corners(path)]


def thin(name: Name, runs: Runs) -> list[Corner]:
    """The single seeds."""
    return [row for seed in drawn(runs) for row in line(name, runs.of(seed), "run", seed)]


def band(name: Name, runs: Runs) -> list[Corner]:
    """The region of the central half of the seeds; none of fewer than three."""
    paths = [runs.of(seed) for seed in runs.moving]
    if len(paths) < 3:
        return []
    outline = region([paths[i] for i in central(paths)])
    return [Corner(name.panel, "region", name.line, 0, k, *_place(at)) for k, at in enumerate(outline)]


def places(path: Floats, step: Floats) -> list[Place]:
    """A path (T', 2) with its steps, the first T' of `step`."""
    return [Place("", None, float(t), *_place(at)) for t, at in zip(step, path, strict=False)]


def interval(paths: Sequence[Sequence[Place]]) -> float:
    """One interval of steps for the marks of several lines: that of their middle one, by how long they move."""
    every = sorted(even_time(path, MARKS) for path in paths if len(path) > 1)
    return every[len(every) // 2] if every else 1.0


def dots(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """Marks at steps 0, every, 2 every, ... until the path rests."""
    at = time_marks(path, every)[:MOST_MARKS] if len(path) > 1 else []
    return [Mark(name.panel, "dot", name.line, mark.step, mark.x, mark.y) for mark in at]


def arrows(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """The same marks, each pointing to where the path goes on; the first, where nothing has moved yet, left out."""
    return [
        mark._replace(kind="arrow", angle=angle)
        for mark in dots(name, path, every)[1:]
        if (angle := _heading(path, mark.step, every / 8)) is not None
    ]


def _heading(path: Sequence[Place], step: float, reach: float) -> float | None:
    """Degrees clockwise from up, of the way from `reach` before a step to `reach` after it."""
    steps = [place.step for place in path]
    (x0, x1), (y0, y1) = (
        np.interp([step - reach, step + reach], steps, along).tolist()
        for along in ([place.x for place in path], [place.y for place in path])
    )
    return math.degrees(math.atan2(x1 - x0, y1 - y0)) if math.hypot(x1 - x0, y1 - y0) > 0 else None


def shown_range(rows: Sequence[Row]) -> tuple[float, float]:
    """One range for both axes of every panel, in units of mu: bands and thick lines fit in, within WIDEST."""
    fitted = [row for row in rows if isinstance(row, Corner) and row.kind != "run"]
    low, high = plane_range(value for row in fitted for value in (row.x, row.y))
    return max(low, WIDEST[0]), min(high, WIDEST[1])


def _place(at: Floats) -> Iterator[float]:
    # Four digits behind the point are a fortieth of a pixel.
    return (round(float(value), 4) for value in at)
