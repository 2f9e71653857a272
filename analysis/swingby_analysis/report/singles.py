"""Single runs of every point, few and thinned enough to travel inside the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from swingby.store import Store
from swingby_analysis.charts.bands import ValueScale
from swingby_analysis.query import Query, ask
from swingby_analysis.report.curves import DECLARED, differences, packed_values
from swingby_analysis.report.shown import ShownCurve

STEPS = 40
"""About how many steps of a single run travel in the page."""
MOST = 10
"""Single runs that are drawn of a point."""
FEWEST = 5
"""Where fewer than these have room, only the first curve has single runs."""
ROOM = 400_000
"""Values of single runs in a page, at most; a point has two runs all the same."""
COARSENESS = 20
"""Thousandths of a decade, or units of a linear scale, to which the values of single runs are rounded."""


class Single(NamedTuple):
    """One run: its seed, its recorded steps, int (T,), and the values of each curve, by title: (T,), in its unit."""

    seed: int
    step: np.ndarray
    values: Mapping[str, np.ndarray]


def room_for(points: int, curves: int) -> tuple[int, int]:
    """How many runs a point has room for in a page, and of how many of the curves."""
    runs = ROOM // max(points * curves * STEPS, 1)
    if runs < FEWEST and curves > 1:
        curves, runs = 1, ROOM // max(points * STEPS, 1)
    return max(2, min(MOST, runs)), curves


def queries(head: tuple[str, str], shown: Sequence[ShownCurve], points: int) -> dict[str, Query]:
    """The query of the single runs of each curve that has room, by the curve's title; `head`: sweep and experiment."""
    runs, curves = room_for(points, len(shown))
    return {one.title: Query("singles", (*head, runs, STEPS, one.column, one.unit)) for one in shown[:curves]}


def read(store: Store, queries: Mapping[str, Query]) -> dict[int, list[Single]]:
    """The single runs of each point, in the order of their seeds."""
    run_of: dict[tuple[int, int], Single] = {}
    for title, query in queries.items():
        rows = ask(store, query)
        lengths = rows["step"].list.len()
        steps = rows["step"].explode(empty_as_null=False).to_numpy()
        values = rows["value"].explode(empty_as_null=False).cast(pl.Float64).to_numpy()  # NaN where the unit is 0
        ends = lengths.cum_sum().to_list()
        for point, seed, start, end in zip(
            rows["point"].to_list(), rows["seed"].to_list(), [0, *ends], ends, strict=False
        ):
            run = run_of.setdefault((point, seed), Single(seed, steps[start:end], {}))
            run_of[point, seed] = run._replace(values={**run.values, title: values[start:end]})
    by_point: dict[int, list[Single]] = {}
    for (point, _), run in run_of.items():
        by_point.setdefault(point, []).append(run)
    return by_point


def packed(singles: Mapping[int, Sequence[Single]], names: Sequence[str], scales: Mapping[str, ValueScale]) -> Any:
    """The runs as the page's script reads them: shared lists of steps; of each point its runs, a list a curve.

    Args:
        names: of the curves, in their order; a run has the first of them.
        scales: of each curve, by title; one without a scale is a declared one.
    """
    steps: dict[tuple[int, ...], int] = {}
    of_bytes: dict[bytes, int] = {}  # which are faster to compare

    def index(step: np.ndarray) -> int:
        key = step.tobytes()
        if key not in of_bytes:
            of_bytes[key] = steps.setdefault(tuple(differences(step)), len(steps))
        return of_bytes[key]

    every = [(str(point), run) for point, runs in singles.items() for run in runs]
    points: dict[str, list[Any]] = {str(point): [] for point in singles}
    lines: list[list[Any]] = [[index(run.step)] for _, run in every]
    for name in names:
        with_curve = [place for place, (_, run) in enumerate(every) if name in run.values]
        values = [every[place][1].values[name] for place in with_curve]
        for place, packed_line in zip(
            with_curve, packed_values(values, scales.get(name, DECLARED), COARSENESS), strict=True
        ):
            lines[place].append(packed_line)
    for (point, _), line in zip(every, lines, strict=True):
        points[point].append(line)
    return {"steps": [list(step) for step in steps], "coarseness": COARSENESS, "of": points}
