"""The bend of a path: how far it leaves the straight way to its target, to which side, and whether it comes back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .descent import FACTOR
from .path import Floats, Path

FLOOR = 0.1
"""The least distance from the straight way that counts; half a side of it squared is half of 1 %."""
SHORTEST = 0.25
"""A path that starts nearer to its target than this has no way to bend from."""


class Bend(NamedTuple):
    """Where a path leaves the straight way most.

    Attributes:
        size: signed distance there; positive on the side of the corner with the right color and the wrong size.
        record: which record of the path that is.
        beyond: whether it is farther than the threshold.
        least: the threshold there or at the end, whichever is more: a smaller return does not count.
        back: whether it comes back afterwards: by more than that, and to half the distance or less; None where it was
            not seen to, and a return by half of it could not have been.
    """

    size: float
    record: int
    beyond: bool
    least: float
    back: bool | None


def bend(path: Path) -> Bend | None:
    """The bend of a path of two records or more; None where it starts too near to its target."""
    if len(path.steps) < 2 or np.linalg.norm(1 - path.progress[0]) < SHORTEST:
        return None
    distance, sd = aside(path)
    threshold = thresholds(sd)
    k = int(np.abs(distance).argmax())
    beyond = bool(abs(distance[k]) > threshold[k])
    returned, least = abs(distance[k]) - abs(distance[-1]), float(max(threshold[k], threshold[-1]))
    back = beyond and bool(returned > least and abs(distance[-1]) <= abs(distance[k]) / 2)
    blind = beyond and not back and abs(distance[k]) / 2 <= least
    return Bend(float(distance[k]), k, beyond, least, None if blind else back)


def thresholds(sd: Floats) -> Floats:
    """The least distances from the straight way that count, from their standard deviations."""
    return np.maximum(FLOOR, FACTOR * sd)


def aside(path: Path) -> tuple[Floats, Floats]:
    """Signed distance from the line through the first record and the target, and its sd, each (T,).

    The first record errs too: by less, the nearer a place is to the target.
    """
    progress, part = path.progress, parts(path.progress)
    normal = axes(progress[0])[1]
    own, first = (path.noise**2) @ normal**2, float((path.noise[0] ** 2) @ normal**2)
    return away(progress), np.sqrt(own + (1 - part) ** 2 * first)


def parts(progress: Floats) -> Floats:
    """How much of the straight way to (1, 1) places (T, 2) have behind them, 0 to 1, (T,)."""
    start = progress[0]
    return np.clip((progress - start) @ axes(start)[0] / np.linalg.norm(1 - start), 0, 1)


def away(progress: Floats) -> Floats:
    """Signed distance of places (T, 2) from the line through the first of them and (1, 1), (T,)."""
    return (progress - progress[0]) @ axes(progress[0])[1]


def axes(start: Floats) -> tuple[Floats, Floats]:
    """Unit vectors along the straight way from a start to (1, 1), and across it toward the side of color."""
    along = (1 - start) / np.linalg.norm(1 - start)
    return along, np.array([along[1], -along[0]])
