"""What became of the runs of each point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from swingby_analysis.charts.states import BEYOND, DIVERGED, FAILED, State
from swingby_analysis.charts.summaries import BOUND, written
from swingby_analysis.grid import Grid
from swingby_analysis.report.phases import Phases


class Ended(NamedTuple):
    """How many runs of a point ended well, diverged, and failed with an error."""

    ok: int
    diverged: int
    failed: int

    @property
    def text(self) -> str:
        """The runs that did not end well, in words; "" where all did."""
        runs = sum(self)
        return "; ".join(
            f"{'all ' if count == runs else ''}{count:,} {'' if count == runs else f'of {runs:,} '}"
            f"run{'' if runs == 1 else 's'} {what}"
            for count, what in ((self.diverged, "diverged"), (self.failed, "failed"))
            if count
        )


def ended(cells: pl.DataFrame) -> Mapping[int, Ended]:
    """What became of the runs of each point that has some; `cells` has a row for each, failed ones too."""
    of = [pl.col("status").eq(name).sum() for name in Ended._fields]
    counts = cells.group_by("point").agg(*(one.alias(name) for one, name in zip(of, Ended._fields, strict=True)))
    return {point: Ended(*row) for point, *row in counts.select("point", *Ended._fields).iter_rows()}


def states(grid: Grid, ends: Mapping[int, Ended], values: Mapping[int, float]) -> list[State]:
    """The drawn points without a value that a map can show, each with the reason; those without any run are none.

    Args:
        ends: what became of the runs of a point.
        values: what the map shows of a point.
    """
    rows = []
    for point in grid.places:
        if abs(values.get(point, float("inf"))) < BOUND or point not in ends:
            continue
        end = ends[point]
        if not end.diverged and not end.failed:
            if point in values:
                rows.append(State(point, BEYOND, f"median {written(values[point])}"))
        elif point in values and end.ok > end.diverged:
            rows.append(State(point, BEYOND, end.text))
        else:
            rows.append(State(point, FAILED if end.failed >= end.diverged else DIVERGED, end.text))
    return rows


def values_of(phases: Phases, outcome: str, kind: str) -> Mapping[int, float]:
    """What the map of an outcome shows of each point, as numbers: 0 stands for any category."""
    if kind == "yes_no":
        return {one.point: one.share for one in phases.shares(outcome)}
    if kind == "category":
        return {one.point: 0.0 for one in phases.most_common(outcome)}
    return {one.point: one.median for one in phases.spreads(outcome)}
