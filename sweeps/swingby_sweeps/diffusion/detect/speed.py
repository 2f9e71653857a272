"""The learning speed |dC/dt| of a path, and whether it slows down exponentially or as a power of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .path import Floats, Path

CLEAR = 2.0
"""Standard deviations of its own noise that a move between two records must exceed to count."""
SURE = 10.0
"""Ratio of a speed to its noise beyond which its weight grows no more: such speeds scatter for other reasons."""
FEWEST = 8
"""The least number of speeds that laws are fitted to."""
GOOD = 0.5
"""The least R^2 at which a law is named."""
APART = 0.1
"""Difference of R^2 below which the laws cannot be told apart."""
LAWS = ("exponential", "power law", "either", "neither")


class Speeds(NamedTuple):
    """Speeds between neighbouring records.

    Attributes:
        step: in the middle between the two records.
        speed: |dC/dt| in 1/step.
        ratio: of the speed to the sd of its noise.
    """

    step: Floats
    speed: Floats
    ratio: Floats

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Whether each speed exceeds its noise by enough to count."""
        return self.ratio > CLEAR


class Fit(NamedTuple):
    """A least-squares line: value at 0, slope, R^2."""

    start: float
    slope: float
    r2: float


class Slowdown(NamedTuple):
    """Both laws, fitted from the fastest record on to `n` speeds: log speed against step, and against log step."""

    first: float
    last: float
    n: int
    exponential: Fit
    power: Fit

    @property
    def law(self) -> str:
        """The law that fits better, one of LAWS."""
        decays = [fit.r2 if fit.slope < 0 else -np.inf for fit in (self.exponential, self.power)]
        if max(decays) < GOOD:
            return "neither"
        if abs(decays[0] - decays[1]) < APART:
            return "either"
        return LAWS[0] if decays[0] > decays[1] else LAWS[1]


def speeds(path: Path) -> Speeds:
    """Finite differences of a path, per training step ([S] G), with the noise of `Path.scatter`.

    The error over images is left out: images begin from the same noise at every evaluation, and a lasting error moves
    no point.
    """
    noise = np.sqrt((path.scatter[1:] ** 2 + path.scatter[:-1] ** 2).sum(axis=1))
    return speeds_of(path.steps[:-1], path.steps[1:], np.diff(path.place, axis=0), noise)


def speeds_of(start: Floats, end: Floats, moves: Floats, noise: Floats) -> Speeds:
    """Speeds of moves (N, 2) between steps `start` and `end`, (N,) each; `noise` (N,) is the sd of their lengths."""
    moved = np.linalg.norm(moves, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(moved > 0, moved / noise, 0.0)
    return Speeds((start + end) / 2, moved / (end - start), ratio)


def slowdown(curve: Speeds) -> Slowdown | None:
    """Both fits, over the clear speeds from the fastest up to the first two in a row that are not; None if too few.

    Later speeds exceed their noise by chance, and would make every slow-down look like a power law.
    """
    if not curve.clear.any():
        return None
    fastest = int(np.where(curve.clear, curve.speed, -np.inf).argmax())
    lost = np.flatnonzero(~curve.clear[fastest:-1] & ~curve.clear[fastest + 1 :])
    end = fastest + int(lost[0]) if len(lost) else len(curve.clear)
    at = np.arange(len(curve.step))
    kept = np.flatnonzero(curve.clear & (at >= fastest) & (at < end) & (curve.step > 0))
    if len(kept) < FEWEST:
        return None
    step, log = curve.step[kept], np.log(curve.speed[kept])
    weight = np.minimum(curve.ratio[kept], SURE) ** 2  # of a logarithm: one over its variance
    fits = (line(x, log, weight) for x in (step, np.log(step)))
    return Slowdown(float(step[0]), float(step[-1]), len(kept), *fits)


def line(x: Floats, y: Floats, weight: Floats) -> Fit:
    """The weighted least-squares line through (x, y); R^2, weighted too, is 0 where y does not vary."""
    share = weight / weight.sum()
    dx, dy = x - share @ x, y - share @ y
    slope = float((share * dx) @ dy / ((share * dx) @ dx))
    total = float((share * dy) @ dy)
    r2 = 1 - float(share @ (dy - slope * dx) ** 2) / total if total > 0 else 0.0
    return Fit(float(share @ y - slope * (share @ x)), slope, r2)
