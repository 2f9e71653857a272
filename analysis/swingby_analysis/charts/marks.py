"""Marks at equal times along a path: dots and arrowheads, none that touch, none for mere jitter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from swingby_analysis.charts.paths import Floats
from swingby_analysis.charts.plane_lines import Name
from swingby_analysis.charts.planes import Mark
from swingby_analysis.charts.trajectory import Place, moves_until

LONGEST = 0.3
"""No two marks next to each other in time have more of a path between them than this (in units of mu)."""
APART = 0.07
"""Marks of a line lie at least this far apart, 12 px or more; those in between are left out."""
MOST = 5000
"""A path has at most this many intervals, before marks are left out."""
STRAIGHT = 0.5
"""An arrowhead needs a way of at least this share of the length of the path around it: else it is noise or a cusp."""
RECORDS = 3
"""So many recorded steps to either side tell where a path heads."""


def interval(paths: Sequence[Sequence[Place]]) -> float:
    """One interval of steps for the marks of several lines: the middle one of those that suit each of them."""
    every = sorted(_suits(path) for path in paths if len(path) > 1)
    return every[(len(every) - 1) // 2] if every else 1.0


def _suits(path: Sequence[Place]) -> float:
    """The largest of 1, 2, 5, 10, ... steps in which the path never goes further than LONGEST."""
    step, at = _arrays(path)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(at, axis=0), axis=1))])
    span = moves_until(path)
    found = 1.0
    for every in (k * 10.0**power for power in range(9) for k in (1, 2, 5)):
        times = np.arange(0, span + every, every)
        far = np.diff(np.interp(times, step, length)).max() > LONGEST if every <= span else True
        if far and span / every <= MOST:
            break
        found = every
    return found


def dots(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """Marks at multiples of `every` from step 0 on until the path rests, those left out that lie too near to others."""
    if len(path) < 2:
        return []
    step, at = _arrays(path)
    times = every * np.arange(int(min(moves_until(path) // every, MOST)) + 1)
    places = np.stack([np.interp(times, step, along) for along in at.T], axis=1)
    kept = [0]
    for k in range(1, len(places)):
        if np.linalg.norm(places[kept] - places[k], axis=1).min() >= APART:
            kept.append(k)
    return [Mark(name.panel, "dot", name.line, float(times[k]), *places[k].round(4).tolist()) for k in kept]


def arrows(name: Name, path: Sequence[Place], every: float) -> list[Mark]:
    """The same marks, each pointing to where the path goes on; none at step 0, nor where it has no direction."""
    return [
        mark._replace(kind="arrow", angle=angle)
        for mark in dots(name, path, every)[1:]
        if (angle := _heading(path, mark.step, every / 8)) is not None
    ]


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
