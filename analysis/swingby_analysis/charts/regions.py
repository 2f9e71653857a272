"""The band over seeds in a plane: the region that the paths of the most central share of the seeds run through."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from swingby_analysis.charts.paths import Floats, corners
from swingby_analysis.signals.contour import contour

SHARE = 0.5
"""The share of the seeds that a band holds, whole paths of them."""
GAP = 0.16
"""Two paths with less than this between them (in units of mu) are drawn as one region."""
BOUNDS = -1.0, 2.0
"""No panel shows more than this of either coordinate; what lies beyond is not drawn."""
FAR = -4.0, 5.0
"""Where paths that leave for good are held, so that they can be compared with others."""
STEP = 0.01
"""The places that stand for a path when its region is sought lie this near to each other (in units of mu)."""
PIECES = 32
"""Into so many equal pieces a path is cut when its distance from others is sought."""
CELLS = 140
"""Cells of the raster along the longer side of a region."""


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
    there = np.array([cdist(own, joined).min(axis=0).reshape(len(paths), -1).mean(axis=1) for own in places])
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
