"""From a row a cell to a row a point, in the shape that the charts take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from analysis import phase
from analysis.charts.grid import Grid
from analysis.charts.number_map import Spread
from analysis.charts.outcome_map import MostCommon
from analysis.charts.phase_diagram import Segment, Share
from analysis.contour import contour

ORDER: Mapping[str, Sequence[str]] = {
    "outcome": ("generalized", "plateau", "failed", "structural", "artefact", "diverged"),
}
"""Every value of a category, in the order of the legend, from the best news to the worst."""


def shares(cells: pl.DataFrame, outcome: str) -> list[Share]:
    """The share of the seeds with an outcome at every point where it could be told of some."""
    table = phase.shares(cells, outcome).filter(pl.col("n") > 0)
    return [Share(*row) for row in table.select(Share._fields).iter_rows()]


def most_common(cells: pl.DataFrame, outcome: str, order: Sequence[str]) -> list[MostCommon]:
    """The most common outcome at every point; of equally common ones the first in `order`."""
    table = phase.categories(cells, outcome, order=order)
    return [
        MostCommon(row["point"], row["category"], row["k"], row["n"], _counted(row["counts"]))
        for row in table.iter_rows(named=True)
    ]


def _counted(counts: Sequence[Mapping[str, object]]) -> str:
    return ", ".join(f"{entry['category']} {entry['k']}" for entry in counts)


def spreads(cells: pl.DataFrame, outcome: str) -> list[Spread]:
    """Median with its bootstrap interval, and quartiles, of a number over the seeds at every point that has it."""
    table = phase.medians(cells, outcome).filter(pl.col("n") > 0)
    return [Spread(*row) for row in table.select(Spread._fields).iter_rows()]


def categories(cells: pl.DataFrame, outcome: str) -> list[str]:
    """Every possible value of a category in its fixed order; where none is known, those that occur, by name."""
    known = list(ORDER.get(outcome, ()))
    return known + sorted(set(cells[outcome].drop_nulls().unique()) - set(known))


def boundary(grid: Grid, found: Sequence[Share]) -> list[Segment]:
    """The contour at one half in every panel, straight on the axes as they are drawn; none along a single parameter."""
    return [] if grid.y is None else [piece for facet in range(len(grid.facets)) for piece in _boundary(grid, found, facet)]


def _boundary(grid: Grid, found: Sequence[Share], facet: int) -> Iterator[Segment]:
    assert grid.y is not None
    values = np.full((len(grid.y.values), len(grid.x.values)), np.nan)
    for share in found:
        i, j, panel = grid.places[share.point]
        if panel == facet:
            values[j, i] = share.share
    x, y = ([axis.ruler(position) for position in axis.positions] for axis in (grid.x, grid.y))
    for line in contour(x, y, values, 0.5):
        corners = [(grid.x.unruler(a), grid.y.unruler(b)) for a, b in zip(line.x.tolist(), line.y.tolist(), strict=True)]
        for start, end in zip(corners, corners[1:], strict=False):
            yield Segment(grid.facets[facet], *start, *end)
