"""From a row a cell to a row a point, in the shape that the charts take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

import numpy as np
import polars as pl

from swingby_analysis.charts.summaries import MostCommon, Segment, Share, Spread
from swingby_analysis.grid import Grid
from swingby_analysis.signals.contour import contour
from swingby_analysis.stats import shares

FINE = 20
"""Values from which on an axis is fine enough for neighbours to be taken together."""


class Phases:
    """The outcomes of one sweep over its seeds; each is counted once and kept.

    Args:
        cells: a row a finished cell, with `point` and a column an outcome (null where it is not known).
        orders: categorical outcome -> every possible value, in the order of the legend.
    """

    def __init__(self, cells: pl.DataFrame, orders: Mapping[str, Sequence[str]] | None = None) -> None:
        self.cells = cells
        self._orders = orders or {}
        self._shares: dict[str, list[Share]] = {}
        self._spreads: dict[str, list[Spread]] = {}

    def shares(self, outcome: str) -> list[Share]:
        """The share of the seeds with an outcome at every point with a seed of which it is known."""
        if outcome not in self._shares:
            table = shares.shares(self.cells, outcome).filter(pl.col("n") > 0)
            self._shares[outcome] = [Share(*row) for row in table.select(Share._fields).iter_rows()]
        return self._shares[outcome]

    def spreads(self, outcome: str) -> list[Spread]:
        """Median with its bootstrap interval, and quartiles, of a number over the seeds at every point that has it."""
        if outcome not in self._spreads:
            table = shares.medians(self.cells, outcome).filter(pl.col("n") > 0)
            self._spreads[outcome] = [Spread(*row) for row in table.select(Spread._fields).iter_rows()]
        return self._spreads[outcome]

    def most_common(self, outcome: str) -> list[MostCommon]:
        """The most common outcome at every point; of equally common ones the first of `categories`."""
        table = shares.categories(self.cells, outcome, order=self.categories(outcome))
        return [
            MostCommon(point, category, k, n, ", ".join(f"{entry['category']} {entry['k']}" for entry in counts))
            for point, category, k, n, counts in table.select("point", "category", "k", "n", "counts").iter_rows()
        ]

    def categories(self, outcome: str) -> list[str]:
        """Every possible value of a category in its fixed order; then any unexpected ones, by name."""
        known = list(self._orders.get(outcome, ()))
        return known + sorted(set(self.cells[outcome].drop_nulls().unique()) - set(known))

    def seeds(self, outcome: str | None = None) -> tuple[int, int]:
        """The least and the largest number of finished runs at a point, of those whose outcome is known."""
        known = self.cells if outcome is None else self.cells.filter(pl.col(outcome).is_not_null())
        counts = known.group_by("point").len()["len"].to_list()
        return (min(counts), max(counts)) if counts else (0, 0)


def boundary(grid: Grid, shares: Sequence[Share]) -> list[Segment]:
    """The contour at one half in every panel, straight on the axes as drawn; none along a single parameter."""
    if grid.y is None:
        return []
    x, y = ([axis.ruler(position) for position in axis.positions] for axis in (grid.x, grid.y))
    values = np.full((len(grid.facets), len(y), len(x)), np.nan)
    for share in shares:
        i, j, facet = grid.places[share.point]
        values[facet, j, i] = share.share
    pieces = []
    for label, panel in zip(grid.facets, values, strict=True):
        for line in contour(x, y, panel, 0.5):
            corners = [
                (grid.x.unruler(a), grid.y.unruler(b)) for a, b in zip(line.x.tolist(), line.y.tolist(), strict=True)
            ]
            pieces += [Segment(label, *start, *end) for start, end in pairwise(corners)]
    return pieces


def pooled(grid: Grid, shares: Sequence[Share]) -> list[Share]:
    """Each share over the seeds of its point and of those beside it, along axes of at least `FINE` values.

    The contour of the single shares would go around every tile that chance has lifted.
    """
    reach = [int(axis is not None and len(axis.values) >= FINE) for axis in (grid.x, grid.y)]
    at = {grid.places[share.point]: share for share in shares}
    together = []
    for share in shares:
        i, j, facet = grid.places[share.point]
        near = product(range(i - reach[0], i + reach[0] + 1), range(j - reach[1], j + reach[1] + 1))
        beside = [at[x, y, facet] for x, y in near if (x, y, facet) in at]
        k, n = sum(item.k for item in beside), sum(item.n for item in beside)
        together.append(share._replace(share=k / n))
    return together
