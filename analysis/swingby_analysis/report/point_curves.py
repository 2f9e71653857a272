"""The curves of every point, read from the store: all of a point at the same steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from swingby.store import Store
from swingby_analysis.query import Query, ask
from swingby_analysis.report.curves import PointCurves
from swingby_analysis.report.shown import ShownCurve

KEPT_STEPS = 60
"""About how many steps of each curve travel in the page."""
MOST_SEEDS = 100
"""Seeds of a point whose curves are read: more move a median or a decile by less than a line is wide."""
NOWHERE = 1e300
"""A value that is larger than all others, as the query of the curves has those that are not finite."""


def curves_at(
    store: Store,
    shown: Sequence[ShownCurve],
    queries: Mapping[str, Query],
    plane: tuple[int, int] | None,
    points: Collection[int] | None = None,
) -> dict[int, PointCurves]:
    """The curves of every point: those of all columns at the same steps, and its path where there is a plane.

    A curve that has fewer steps than another of its point is interpolated to those, as a line through its values is.

    Args:
        points: only these; None: all.
    """
    tables = {one.title: ask(store, queries[f"curve {one.column}"]) for one in shown}
    # A row each: median, low, high, and the quartiles.
    values = {title: table["value"].list.to_array(5).to_numpy() for title, table in tables.items()}
    rows = {title: _rows_of_points(table) for title, table in tables.items()}
    paths = []
    both = ask(store, queries["plane"]) if plane is not None else pl.DataFrame()
    for entry in plane or ():
        entries = both.filter(pl.col("entry") == entry)
        paths.append((entries["finite"].fill_null(np.nan).to_numpy(), _rows_of_points(entries)))
    steps = {title: table["step"].to_numpy() for title, table in tables.items()}
    runs = {title: table["runs"].to_numpy() for title, table in tables.items()}
    by_point = {}
    known_points = set().union(*rows.values())
    for point in sorted(known_points if points is None else known_points.intersection(points)):
        there = {title: of[point] for title, of in rows.items() if point in of}
        most = max(there, key=lambda title: there[title].stop - there[title].start)
        step = steps[most][there[most]]
        every = {}
        for title in tables:
            at = there.get(title, slice(0, 0))
            point_steps, known = steps[title][at], values[title][at].T
            if not len(point_steps):
                known = np.full((5, len(step)), NOWHERE)
            elif not np.array_equal(point_steps, step):
                known = np.array([np.interp(step, point_steps, row) for row in known])
            every[title] = known
        bands, quartiles = ({title: five[part] for title, five in every.items()} for part in (slice(3), slice(3, 5)))
        path = np.stack([entry[of[point]] for entry, of in paths]) if paths else None
        by_point[point] = PointCurves(step, bands, path, int(runs[most][there[most].start]), quartiles)
    return by_point


def _rows_of_points(table: pl.DataFrame) -> dict[int, slice]:
    """The rows of each point, in a table whose rows are in the order of the points."""
    points = table["point"].to_numpy()
    starts = np.flatnonzero(np.diff(points, prepend=points[:1] - 1)).tolist()
    return {int(points[start]): slice(start, stop) for start, stop in pairwise([*starts, len(points)])}
