"""From a row a cell to a row a point, in the shape that the charts take."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from scipy.special import ndtri

from swingby_analysis.charts.summaries import BAND, LINE, Corner, Fitted, MostCommon, Share, Spread, Surface
from swingby_analysis.grid import Grid
from swingby_analysis.signals.contour import contour, rows
from swingby_analysis.stats import shares

SURE = 1.959963984540054
"""Standard deviations from the level beyond which 95 % of the doubt about a side is gone."""
CERTAIN = 8.0
"""Standard deviations beyond which no more are told apart."""


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

    def samples(self, outcome: str) -> Mapping[int, Sequence[float]]:
        """The numbers of the seeds at every point that has some; infinite ones count, NaN does not."""
        known = self.cells.select("point", pl.col(outcome).cast(pl.Float64).fill_nan(None)).drop_nulls()
        return dict(known.group_by("point").agg(pl.col(outcome)).sort("point").iter_rows())

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

    @cached_property
    def spent(self) -> Mapping[int, int]:
        """How many finished cells each point has that has one."""
        return dict(self.cells.group_by("point").len().sort("point").iter_rows())

    @property
    def trained(self) -> Collection[int]:
        """The points with a finished cell."""
        return self.spent.keys()

    def seeds(self, outcome: str | None = None) -> tuple[int, int]:
        """The least and the largest number of finished runs at a point, of those whose outcome is known."""
        known = self.cells if outcome is None else self.cells.filter(pl.col(outcome).is_not_null())
        counts = known.group_by("point").len()["len"].to_list()
        return (min(counts), max(counts)) if counts else (0, 0)


def boundary(
    grid: Grid, shares: Sequence[Share], trained: Collection[int] | None = None, level: float = 0.5
) -> Surface | None:
    """The surface fitted to the shares of all points, with its line at a level and the band around it.

    It is smooth along every axis of numbers but the one that the diagram has panels for; along any other axis a value
    says nothing of the next. None where no panel has enough results, and where the fit fails.

    Args:
        trained: points with a finished cell. One of them without a share gave no answer, and the surface leaves it out;
            all others it has. None: it has the points with a share.
    """
    # Needed for shares alone, and slow to import.
    from swingby.select.boundary.space import Space

    if grid.sweep is None:
        return None
    groups = [[axis.name for axis, group in zip(grid.sweep.axes, grid.sweep.groups, strict=True) if group == number]
              for number in sorted(set(grid.sweep.groups))]  # fmt: skip
    values = {
        axis.name: [axis.values[indices[number]] for indices in grid.sweep.places.values()]
        for number, axis in enumerate(grid.sweep.axes)
    }
    space = Space.of(groups, values, {grid.facet} if grid.facet else ())
    counted = {share.point: (share.k, share.n) for share in shares}
    counts = tuple(counted.get(point, (0, 0)) for point in grid.places)
    table = _fit(space.shape, space.panel.tobytes(), space.place.tobytes(), counts, level)
    if table is None:
        return None
    silent = set(grid.places if trained is None else trained) - set(counted)
    rows = ({**row, "point": point} for point, row in zip(grid.places, table.to_pylist(), strict=True))
    return surface_of(grid, (row for row in rows if row["point"] not in silent), level)


def surface_of(grid: Grid, fits: Iterable[Mapping[str, Any]], level: float) -> Surface | None:
    """The surface of fitted shares, rows as `share_fit` has them; None where there are none."""
    at, doubt = dict[int, Fitted](), dict[int, float]()
    for row in fits:
        if row["verdict"] is not None:
            point = row["point"]
            at[point] = Fitted(row["mean"], row["low"], row["high"], row["verdict"], level)
            doubt[point] = float(np.clip(ndtri(row["above"]), -CERTAIN, CERTAIN))
    return Surface(at, _corners(grid, doubt), level) if at else None


@lru_cache(maxsize=64)
def _fit(
    shape: tuple[int, ...], panel: bytes, place: bytes, counts: Sequence[tuple[int, int]], level: float
) -> pa.Table | None:
    """The fit of counts at the points of a space; None where it fails. Several figures may be of the same counts."""
    from swingby.select.boundary.share_fit import share_fit
    from swingby.select.boundary.space import Space
    from swingby.select.boundary.verdicts import Goal

    k, n = np.array(counts, np.int64).T
    try:
        return share_fit(
            Space(shape, np.frombuffer(panel, np.int64), np.frombuffer(place, np.int64), 1), Goal(level), k, n
        )
    except (ArithmeticError, ValueError):  # no surface is worth the rest of a report
        return None


def _corners(grid: Grid, doubt: Mapping[int, float]) -> list[Corner]:
    """The lines of a surface in every panel, straight on the axes as drawn; none along a single parameter.

    The outermost tiles end half a step beyond their points; the lines go on to there.

    Args:
        doubt: point -> the standard deviations by which its share exceeds the level.
    """
    if grid.y is None:
        return []
    x, y = ([axis.ruler(at) for at in (axis.edges[0], *axis.positions, axis.edges[-1])] for axis in (grid.x, grid.y))
    values = np.full((len(grid.facets), len(y) - 2, len(x) - 2), np.nan)
    for point, number in doubt.items():
        i, j, facet = grid.places[point]
        values[facet, j, i] = number
    corners = list[Corner]()
    for label, panel in zip(grid.facets, values, strict=True):
        for part, level in ((BAND, -SURE), (BAND, SURE), (LINE, 0.0)):
            first = corners[-1].line + 1 if corners else 0
            for line, order, across, up in rows(contour(x, y, np.pad(panel, 1, "edge"), level)):
                corners.append(Corner(label, part, first + line, order, grid.x.unruler(across), grid.y.unruler(up)))
    return corners
