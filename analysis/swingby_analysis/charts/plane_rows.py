"""Paths in a plane as the rows of a chart: bands, thin lines and thick ones, and marks at equal times along them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from swingby_analysis.charts.paths import Floats, Runs, central, corners, region
from swingby_analysis.charts.planes import Corner, Mark, Row
from swingby_analysis.charts.trajectories import Place, moves_until, plane_range

MOST_SEEDS = 40
"""At most this many seeds are drawn as thin lines."""
WIDEST = -0.45, 1.45
"""No panel shows more than this; lines that leave it are cut off at its edge."""
LONGEST = 0.3
"""No two marks next to each other in time have more of a path between them than this (in the unit of the paths)."""
APART = 0.07
"""Marks of a line lie at least this far apart, 12 px or more; those in between are left out."""
MOST_MARKS = 5000
"""A path has at most this many intervals, before marks are left out."""
STRAIGHT = 0.5
"""An arrowhead needs a way of at least this share of the length of the path around it: else it is noise or a cusp."""
RECORDS = 3
"""So many recorded steps to either side tell where a path heads."""


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


def shown_range(rows: Sequence[Row]) -> tuple[float, float]:
    """One range for both axes of every panel: bands and thick lines fit in, within WIDEST."""
    fitted = [row for row in rows if isinstance(row, Corner) and row.kind != "run"]
    low, high = plane_range(value for row in fitted for value in (row.x, row.y))
    return max(low, WIDEST[0]), min(high, WIDEST[1])


def interval(paths: Sequence[Sequence[Place]]) -> float:
    """One interval of steps for the marks of several lines: the middle one of those that suit each of them."""
    every = sorted(_suits(path) for path in paths if len(path) > 1)
    return every[(len(every) - 1) // 2] if every else 1.0


def dots(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """Marks at multiples of `every` from step 0 on until the path rests, those left out that lie too near to others."""
    if len(path) < 2:
        return []
    step, at = _arrays(path)
    times = every * np.arange(int(min(moves_until(path) // every, MOST_MARKS)) + 1)
    places = np.stack([np.interp(times, step, along) for along in at.T], axis=1)
    kept = [0]
    for k in range(1, len(places)):
        if np.linalg.norm(places[kept] - places[k], axis=1).min() >= APART:
            kept.append(k)
    return [Mark(name.panel, "dot", name.line, float(times[k]), *places[k].round(4).tolist()) for k in kept]


def arrows(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """The marks of `dots` as arrows to where the path goes on; none at step 0, nor where it has no direction."""
    return [
        mark._replace(kind="arrow", angle=angle)
        for mark in dots(name, path, every)[1:]
        if (angle := _heading(path, mark.step, every / 8)) is not None
    ]


def _place(at: Floats) -> Iterator[float]:
    # Four digits behind the point are a fortieth of a pixel.
    return (round(float(value), 4) for value in at)


def _suits(path: Sequence[Place]) -> float:
    """The largest of 1, 2, 5, 10, ... steps in which the path never goes further than LONGEST."""
    step, at = _arrays(path)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(at, axis=0), axis=1))])
    span = moves_until(path)
    suited = 1.0
    for every in (k * 10.0**power for power in range(9) for k in (1, 2, 5)):
        times = np.arange(0, span + every, every)
        far = np.diff(np.interp(times, step, length)).max() > LONGEST if every <= span else True
        if far and span / every <= MOST_MARKS:
            break
        suited = every
    return suited


def _heading(path: Sequence[Place], step: float, reach: float) -> float | None:
    """Degrees clockwise from up, of the way from `reach` before a step, or RECORDS records, to as much after it."""
    steps, at = _arrays(path)
    k = int(np.searchsorted(steps, step))
    low = min(step - reach, steps[max(k - RECORDS, 0)])
    high = max(step + reach, steps[min(k + RECORDS - 1, len(steps) - 1)])
    times = np.array([low, *steps[(steps > low) & (steps < high)], high])
    there = np.stack([np.interp(times, steps, along) for along in at.T], axis=1)
    dx, dy = (there[-1] - there[0]).tolist()
    length = float(np.linalg.norm(np.diff(there, axis=0), axis=1).sum())
    return math.degrees(math.atan2(dx, dy)) if length > 0 and math.hypot(dx, dy) >= STRAIGHT * length else None


def _arrays(path: Sequence[Place]) -> tuple[Floats, Floats]:
    """Steps (T,) and places (T, 2)."""
    return np.array([place.step for place in path]), np.array([(place.x, place.y) for place in path])
