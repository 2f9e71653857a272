"""Runs in a plane as the rows of a chart: bands, thin lines, thick ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from swingby_analysis.charts.paths import Floats, Runs, corners
from swingby_analysis.charts.planes import Corner, Row
from swingby_analysis.charts.regions import central, region
from swingby_analysis.charts.trajectory import Place, plane_range

MOST_SEEDS = 40
"""At most this many seeds are drawn as thin lines."""
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


def shown_range(rows: Sequence[Row]) -> tuple[float, float]:
    """One range for both axes of every panel, in units of mu: bands and thick lines fit in, within WIDEST."""
    fitted = [row for row in rows if isinstance(row, Corner) and row.kind != "run"]
    low, high = plane_range(value for row in fitted for value in (row.x, row.y))
    return max(low, WIDEST[0]), min(high, WIDEST[1])


def _place(at: Floats) -> Iterator[float]:
    # Four digits behind the point are a fortieth of a pixel.
    return (round(float(value), 4) for value in at)
