"""The concept-space error over training: its noise, its descents, and the rises between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swingby_analysis.signals.extrema import zigzag

from .path import Floats, Path

FLOOR = 0.01
"""The least threshold: 1 % of the MSE of a point that is wrong in both concepts, and of the side of the square."""
FACTOR = 8.0
"""Standard deviations that a move must exceed to count: the factor for white noise; a test counts its false alarms."""


class Rise(NamedTuple):
    """A rise of the error between two descents.

    Attributes:
        start: number of the record at its trough.
        peak: number of the record at its peak.
        end: number of the first record after the peak that is back at the level of the start; of the lowest if none is.
        height: of the peak over the start.
        threshold: that the height exceeds.
        nearer: change from start to peak of the distance to the nearest corner of a trained class.
        near_threshold: by how much that distance must fall to count.
    """

    start: int
    peak: int
    end: int
    height: float
    threshold: float
    nearer: float
    near_threshold: float

    @property
    def nears(self) -> bool:
        """Whether the distance to the nearest trained class's corner falls by more than its threshold."""
        return self.nearer < -self.near_threshold


class Descents(NamedTuple):
    """The descents of an error: the number of drops beyond the threshold, and the rises between two of them."""

    drops: int
    rises: list[Rise]

    @property
    def tallest(self) -> Rise | None:
        """The highest rise."""
        return max(self.rises, key=lambda rise: rise.height, default=None)


def error_of(progress: Floats) -> Floats:
    """Concept-space MSE, (T,): the mean over both coordinates of the squared distance to the target (1, 1)."""
    return ((1 - progress) ** 2).mean(axis=-1)


def error_sd(path: Path) -> Floats:
    """Standard deviation of the MSE, (T,), if the noise of the path is normal."""
    variance = path.noise**2
    return np.sqrt(((1 - path.progress) ** 2 * variance + variance**2 / 2).sum(axis=1))


def descents(path: Path) -> Descents:
    """Drops and rises of the concept-space MSE of a path."""
    error = error_of(path.progress)
    scale = FACTOR * error_sd(path)
    turns = zigzag(error[None], scale[None], np.array([FLOOR]))
    at, sign = turns.at.tolist(), turns.sign.tolist()
    drops = sum(s > 0 for s in sign[:-1])
    distance, blur = nearest(path), FACTOR * path.noise.max(axis=1)  # a distance errs by no more than the worse of both
    rises = []
    for k in range(1, len(at) - 2):  # a trough after a drop, whose peak a drop follows
        if sign[k] < 0:
            start, peak = at[k], at[k + 1]
            after = error[peak:]
            level = np.flatnonzero(after <= error[start])
            rises.append(
                Rise(
                    start,
                    peak,
                    peak + int(level[0] if len(level) else after.argmin()),
                    float(error[peak] - error[start]),
                    float(max(FLOOR, scale[start], scale[peak])),
                    float(distance[peak] - distance[start]),
                    float(max(FLOOR, blur[start], blur[peak])),
                )
            )
    return Descents(drops, rises)


def nearest(path: Path) -> Floats:
    """Distance to the nearest corner of a trained class, (T,); NaN if there is none."""
    if not len(path.centres):
        return np.full(len(path.steps), np.nan)
    return np.linalg.norm(path.progress[:, None] - path.centres[None], axis=2).min(axis=1)
