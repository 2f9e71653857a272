"""What became of the runs of each point, and the runs that failed, by their reason and by what they have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from swingby_analysis.charts.states import BEYOND, DIVERGED, FAILED, State
from swingby_analysis.charts.summaries import BOUND, written
from swingby_analysis.grid import Grid, SweepGrid, plain, scalar
from swingby_analysis.report.phases import Phases
from swingby_analysis.report.prose import plural

MOST_VALUES = 3
"""Values of an axis that are written where failures have them in common."""
NUMBER = re.compile(r"[-+]?[0-9][0-9.,eE+-]*")


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


class Failure(NamedTuple):
    """Runs that failed for one reason: how many, where they are, and the reason with its place in the code."""

    cells: int
    where: str
    reason: str

    def __str__(self) -> str:
        return f"{plural(self.cells, 'cell')}{f' at {self.where}' if self.where else ''}: {self.reason}"


def ended(cells: pl.DataFrame) -> Mapping[int, Ended]:
    """What became of the runs of each point that has some; `cells` has a row for each, failed ones too."""
    of = [pl.col("status").eq(name).sum() for name in Ended._fields]
    counts = cells.group_by("point").agg(*(one.alias(name) for one, name in zip(of, Ended._fields, strict=True)))
    return {point: Ended(*row) for point, *row in counts.select("point", *Ended._fields).iter_rows()}


def failures(failed: pl.DataFrame, grid: SweepGrid) -> list[Failure]:
    """The failed cells by their reason, the most frequent first; reasons that differ in numbers only are one.

    Args:
        failed: a row a failed cell: point and message.
        grid: where the points stand.
    """
    kinds: dict[str, list[tuple[int, str]]] = {}
    for point, message in failed.select("point", "message").iter_rows():
        line = ((message or "").splitlines() or ["no message"])[0]
        kinds.setdefault(NUMBER.sub("#", line), []).append((point, line))
    groups = [
        Failure(len(cells), _common(grid, sorted({point for point, _ in cells})), _reason(cells[0][1]))
        for cells in kinds.values()
    ]
    return sorted(groups, key=lambda one: -one.cells)


def _reason(line: str) -> str:
    """A message with its place behind a comma: "KeyError: 'a', train.py line 8"."""
    return re.sub(r" \(([^(),]+), line (\d+)\)$", r", \1 line \2", line.rstrip("."))


def _common(grid: SweepGrid, points: Sequence[int]) -> str:
    """The values that these points have in common on axes that have others, too; else how many points they are."""
    parts = []
    for number, axis in enumerate(grid.axes):
        ranks = sorted({grid.places[point][number] for point in points})
        if len(ranks) <= min(MOST_VALUES, len(axis.values) - 1):
            values = [plain(scalar(axis.values[rank])) for rank in ranks]
            parts.append(f"{axis.name} = {' or '.join(values)}")
    whole = len(grid.places)
    return ", ".join(parts) or (f"{len(points):,} of {plural(whole, 'point')}" if len(points) < whole else "")


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
