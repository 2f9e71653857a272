"""The learning speed |dC/dt| of a path, and whether it slows down exponentially or as a power of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .path import Floats, Path

CLEAR = 2.0
"""A displacement between two records counts where it exceeds so many standard deviations of its own noise."""
SURE = 10.0
"""Speeds that exceed their noise by more than this weigh no more: what they scatter by then is no noise."""
FEWEST = 8
"""Speeds from which a slow-down can be told."""
GOOD = 0.5
"""The least R^2 of a law that is named."""
APART = 0.1
"""Two R^2 nearer than this do not tell the laws apart."""
LAWS = ("exponential", "power law", "either", "neither")


class Speeds(NamedTuple):
    """Speeds between neighbouring records: the step in the middle, |dC/dt| in 1/step, and over its noise's sd."""

    step: Floats
    speed: Floats
    ratio: Floats

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Which exceed their noise by enough to be told from it."""
        return self.ratio > CLEAR


class Line(NamedTuple):
    """A least-squares line: value at 0, slope, R^2."""

    start: float
    slope: float
    r2: float


class Slowdown(NamedTuple):
    """Both laws, fitted from the fastest record on to `n` speeds: log speed against step, and against log step."""

    first: float
    last: float
    n: int
    exponential: Line
    power: Line

    @property
    def law(self) -> str:
        """The law that fits better, one of LAWS."""
        decays = [line.r2 if line.slope < 0 else -np.inf for line in (self.exponential, self.power)]
        if max(decays) < GOOD:
            return "neither"
        if abs(decays[0] - decays[1]) < APART:
            return "either"
        return LAWS[0] if decays[0] > decays[1] else LAWS[1]


def speeds(path: Path) -> Speeds:
    """Finite differences of a path, per training step ([S] G); their noise is what its records scatter by.

    An image begins from the same noise at every evaluation, so that what it errs by for good moves no point.
    """
    noise = np.sqrt((path.scatter[1:] ** 2 + path.scatter[:-1] ** 2).sum(axis=1))
    return speeds_of(path.steps[:-1], path.steps[1:], np.diff(path.place, axis=0), noise)


def speeds_of(start: Floats, end: Floats, moves: Floats, noise: Floats) -> Speeds:
    """Speeds of given moves (N, 2) from step to step, (N,) each, whose length errs by `noise`, (N,)."""
    moved = np.linalg.norm(moves, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(moved > 0, moved / noise, 0.0)
    return Speeds((start + end) / 2, moved / (end - start), ratio)


def slowdown(found: Speeds) -> Slowdown | None:
    """Both fits over the clear speeds from the fastest on, up to where two in a row are not; None for too few.

    What stands out of the noise later does so by chance, and would make every slow-down look like a power law.
    """
    if not found.clear.any():
        return None
    fastest = int(np.where(found.clear, found.speed, -np.inf).argmax())
    lost = np.flatnonzero(~found.clear[fastest:-1] & ~found.clear[fastest + 1 :])
    end = fastest + int(lost[0]) if len(lost) else len(found.clear)
    at = np.arange(len(found.step))
    kept = np.flatnonzero(found.clear & (at >= fastest) & (at < end) & (found.step > 0))
    if len(kept) < FEWEST:
        return None
    step, log = found.step[kept], np.log(found.speed[kept])
    weight = np.minimum(found.ratio[kept], SURE) ** 2  # of a logarithm: one over its variance
    fits = (line(x, log, weight) for x in (step, np.log(step)))
    return Slowdown(float(step[0]), float(step[-1]), len(kept), *fits)


def line(x: Floats, y: Floats, weight: Floats) -> Line:
    """The weighted least-squares line through (x, y); R^2, weighted too, is 0 where y does not vary."""
    share = weight / weight.sum()
    dx, dy = x - share @ x, y - share @ y
    slope = float((share * dx) @ dy / ((share * dx) @ dx))
    total = float((share * dy) @ dy)
    r2 = 1 - float(share @ (dy - slope * dx) ** 2) / total if total > 0 else 0.0
    return Line(float(share @ y - slope * (share @ x)), slope, r2)
