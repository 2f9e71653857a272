"""Paths over seeds: the runs of a point as arrays, their median, and the region of the most central ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from swingby_analysis.signals.contour import contour

Floats = NDArray[np.float64]

CORNERS = 60
"""At most this many corners are kept of a path that is drawn."""
NEAR = 0.002
"""A corner is left out where the path without it stays this near (in the unit of the path: half a pixel)."""

LIMIT = 1e3
"""Outputs beyond this are held there: far outside every panel, and near enough to compute with."""
SHARE = 0.5
"""The share of the seeds that a band holds, whole paths of them."""
GAP = 0.16
"""Two paths with less than this between them (in the unit of the paths) are drawn as one region."""
BOUNDS = -1.0, 2.0
"""No panel shows more than this of either coordinate; what lies beyond is not drawn."""
FAR = -4.0, 5.0
"""Where paths that leave for good are held, so that they can be compared with others."""
STEP = 0.01
"""The places that stand for a path when its region is sought lie this near to each other (in the unit of the paths)."""
PIECES = 32
"""Into so many equal pieces a path is cut when its distance from others is sought."""
CELLS = 140
"""Cells of the raster along the longer side of a region."""


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


def runs_of(table: pl.DataFrame, column: str, unit: str | None = None) -> dict[int, Runs]:
    """Every point's runs from a row a run: `point`, `seed`, `step`, and `column`, a list a recorded step.

    Args:
        unit: the column of vectors by which values are divided, coordinate by coordinate (in turn, where there are more
            values than units); an entry of 0 leaves no value. None: values as recorded.
    """
    by_point = {}
    recorded = table.filter(pl.col(column).list.len() > 0)
    for (point,), rows in recorded.partition_by("point", as_dict=True, maintain_order=True).items():
        paths = [np.array(values, dtype=float) for values in rows[column].to_list()]
        steps = max(rows["step"].to_list(), key=len)
        values = np.full((len(paths), len(steps), paths[0].shape[1]), np.nan)
        for run, path in zip(values, paths, strict=True):
            run[: len(path)] = path
        if unit is not None:
            units = np.array(rows[unit].to_list(), dtype=float)
            units = np.tile(np.where(units == 0, np.nan, units), values.shape[2] // units.shape[1])
            values /= units[:, None]
        ended = ~np.logical_and.accumulate(np.isfinite(values).all(axis=2), axis=1)
        values[ended] = np.nan
        seeds, step = tuple(rows["seed"].to_list()), np.array(steps, dtype=float)
        by_point[int(point)] = Runs(int(point), seeds, step, values.clip(-LIMIT, LIMIT))
    return by_point


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


def even(path: Floats, pieces: int | None = None) -> Floats:
    """(pieces + 1, k): places along a path (T, k) with equally much of its length between them, whatever its speed.

    Without `pieces`: as many as leave STEP between two. What lies beyond FAR is held there.
    """
    path = path.clip(*FAR)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0, length[-1], (pieces or math.ceil(length[-1] / STEP)) + 1)
    return np.stack([np.interp(at, length, along) for along in path.T], axis=1)


def distances(paths: Sequence[Floats]) -> Floats:
    """(R, R), symmetric: the mean distance of places along a path (T, k) to the nearest place of another, both ways.

    It asks where paths run and not when, since the same turn taken a little later is the same turn.
    """
    places = [even(path, PIECES) for path in paths]
    joined = np.concatenate(places)
    there = np.array([cdist(points, joined).min(axis=0).reshape(len(paths), -1).mean(axis=1) for points in places])
    return there + there.T


def by_depth(paths: Sequence[Floats]) -> list[int]:
    """The paths (T, k) in the order of their median distance to the others, the nearest first: the medoid leads.

    Two paths that are each other's median have exactly the same: there the mean distance decides, not who stands first.
    """
    away = np.sort(distances(paths), axis=1)  # sums of sorted numbers do not hang on the order of the paths either
    return np.lexsort((away.sum(axis=1), np.median(away, axis=1))).tolist()


def central(paths: Sequence[Floats], share: float = SHARE) -> list[int]:
    """Which paths are the most central: the first ceil(share R) by depth."""
    return by_depth(paths)[: math.ceil(share * len(paths))]


def region(paths: Sequence[Floats]) -> Floats:
    """The corners (N, 2) of the region that these paths run through, gaps below GAP between them filled.

    One closed line: rings around its pieces run one way, those around holes the other way, and between rings it goes
    back and forth on the same way, so that filling it fills the pieces and spares the holes.
    """
    places = np.concatenate([even(path) for path in paths])
    places = places[((places > BOUNDS[0] - GAP) & (places < BOUNDS[1] + GAP)).all(axis=1)]
    if not len(places):
        return np.zeros((0, 2))
    x, y, depth = _depth(places)
    rings = [np.stack([line.x, line.y], axis=1) for line in contour(x, y, depth, 0.0)]
    rings = sorted((ring for ring in rings if abs(_area(ring)) > GAP**2 / 20), key=lambda ring: -abs(_area(ring)))
    outline: list[Floats] = []
    for number, ring in enumerate(rings):
        hole = sum(_holds(other, ring[0]) for other in rings[:number]) % 2 == 1
        turned = ring if (_area(ring) > 0) != hole else ring[::-1]
        outline += [turned[corners(turned, most=150)], rings[0][:1]]
    return np.concatenate(outline) if outline else np.zeros((0, 2))


def _depth(places: Floats) -> tuple[Floats, Floats, Floats]:
    """A raster, and how far inside the region each of its places (Y, X) lies: dilated by half a gap, then eroded."""
    low, high = places.min(axis=0) - 1.5 * GAP, places.max(axis=0) + 1.5 * GAP
    cell = float((high - low).max()) / CELLS
    x, y = (np.arange(a, b + cell, cell) for a, b in zip(low, high, strict=True))
    raster = np.stack(np.meshgrid(x, y), axis=-1)
    away: NDArray[np.float64] = KDTree(places).query(raster.reshape(-1, 2))[0].reshape(raster.shape[:2])
    inside = np.asarray(distance_transform_edt(away <= GAP / 2)) * cell
    return x, y, inside - (GAP / 2 - 2 * cell)


def _area(ring: Floats) -> float:
    """Positive where the ring runs counter-clockwise."""
    x, y = ring.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def _holds(ring: Floats, place: Floats) -> bool:
    """Whether a place lies inside a ring: a ray from it crosses the ring an odd number of times."""
    (x, y), (x2, y2) = ring.T, np.roll(ring, -1, axis=0).T
    crossed = (y > place[1]) != (y2 > place[1])
    at = x + (place[1] - y) * (x2 - x) / np.where(y2 == y, 1.0, y2 - y)
    return bool((crossed & (at > place[0])).sum() % 2)
