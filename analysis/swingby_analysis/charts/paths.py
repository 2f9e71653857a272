"""Paths over seeds: the runs of a point as arrays, their median, and the few corners that a drawn line needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CORNERS = 60
"""At most this many corners are kept of a path that is drawn."""
NEAR = 0.002
"""A corner is left out where the path without it stays this near (in units of mu: half a pixel)."""

LIMIT = 1e3
"""Outputs beyond this are held there: far outside every panel, and near enough to compute with."""


@dataclass(frozen=True)
class Runs:
    """What the seeds of one point did at their common recorded steps.

    Attributes:
        point: the point of the sweep.
        seeds: (R,).
        step: recorded steps, (T,), increasing from 0.
        values: (R, T, k); NaN from where a run left the finite numbers or ended.
    """

    point: int
    seeds: tuple[int, ...]
    step: Floats
    values: Floats

    def plane(self, first: int, second: int) -> Runs:
        """The same runs in the plane of two of their coordinates, counted from 0."""
        return replace(self, values=self.values[:, :, [first, second]])

    @cached_property
    def median(self) -> Floats:
        """(T', k): the median over the seeds, coordinate by coordinate, while at least half of them go on.

        A run that has ended counts no more.
        """
        going = np.isfinite(self.values).all(axis=2).sum(axis=0)
        last = int((2 * going >= len(self.seeds)).sum()) if len(self.seeds) else 0
        return np.nanmedian(self.values[:, :last], axis=0) if last else self.values[0, :0]

    def of(self, seed: int) -> Floats:
        """(T', k): the finite part of one seed's path."""
        path = self.values[self.seeds.index(seed)]
        return path[np.isfinite(path).all(axis=1)]

    @property
    def moving(self) -> list[int]:
        """Seeds with a path to draw: two places or more."""
        return [seed for seed in self.seeds if len(self.of(seed)) > 1]


def runs_of(table: pl.DataFrame, column: str, scaled: bool = True) -> dict[int, Runs]:
    """Every point's runs from a row a run: `point`, `seed`, `mu`, `step`, and `column`, a list a recorded step.

    Args:
        scaled: values are divided by mu, coordinate by coordinate (in turn, where there are more values than mu).
    """
    found = {}
    for (point,), rows in table.partition_by("point", as_dict=True, maintain_order=True).items():
        kept = rows.filter(pl.col(column).list.len() > 0)
        if kept.height:
            found[int(point)] = _runs(int(point), kept, column, scaled)
    return found


def _runs(point: int, rows: pl.DataFrame, column: str, scaled: bool) -> Runs:
    paths = [np.array(values, dtype=float) for values in rows[column].to_list()]
    steps = max(rows["step"].to_list(), key=len)
    values = np.full((len(paths), len(steps), paths[0].shape[1]), np.nan)
    for run, path in zip(values, paths, strict=True):
        run[: len(path)] = path
    if scaled:
        mu = np.array(rows["mu"].to_list(), dtype=float)
        mu = np.tile(np.where(mu == 0, np.nan, mu), values.shape[2] // mu.shape[1])
        values /= mu[:, None]
    ended = ~np.logical_and.accumulate(np.isfinite(values).all(axis=2), axis=1)
    values[ended] = np.nan
    return Runs(point, tuple(rows["seed"].to_list()), np.array(steps, dtype=float), values.clip(-LIMIT, LIMIT))


def corners(path: Floats, most: int = CORNERS) -> NDArray[np.int64]:
    """Which corners of a path (T, 2) are kept, so that it looks the same: both ends, and at most `most` in all.

    Douglas and Peucker's way: a piece is kept as a straight line where all of it lies near to that line; near is
    NEAR, or as much more as it takes.
    """
    near = NEAR
    while len(kept := _split(path, near)) > most:
        near *= 1.5
    return kept


def _split(path: Floats, near: float) -> NDArray[np.int64]:
    kept, open_pieces = {0, len(path) - 1}, [(0, len(path) - 1)]
    while open_pieces:
        a, b = open_pieces.pop()
        if b - a > 1:
            away = _distance(path[a + 1 : b], path[a], path[b])
            if away.max() > near:
                middle = a + 1 + int(away.argmax())
                kept.add(middle)
                open_pieces += [(a, middle), (middle, b)]
    return np.array(sorted(kept))


def _distance(points: Floats, a: Floats, b: Floats) -> Floats:
    """From points (N, 2) to the piece of a line between a and b."""
    along = b - a
    length = float(along @ along)
    w = np.clip((points - a) @ along / length, 0, 1) if length > 0 else np.zeros(len(points))
    return np.linalg.norm(points - a - w[:, None] * along, axis=1)
