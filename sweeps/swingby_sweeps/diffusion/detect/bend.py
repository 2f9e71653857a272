"""The bend of a path: how far it leaves the straight way to its target, to which side, and whether it comes back.

The bend that seeds share is placed on the mean path of all seeds but one, and measured on the one left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swingby_analysis.stats.seeds import FEW, t_interval

from .descent import FACTOR
from .path import Floats, Path

FLOOR = 0.1
"""The least distance from the straight way that counts; half a side of it squared is half of 1 %."""
SHORTEST = 0.25
"""A path that starts nearer to its target than this has no way to bend from."""
CONFIDENCE, STRICT = 0.95, 0.99
"""Levels of the t-intervals over seeds."""


class Bend(NamedTuple):
    """The place at which a path is farthest from the straight way.

    Attributes:
        size: signed distance there; positive on the side of the corner with the right color and the wrong size.
        record: number of that record of the path.
        beyond: whether the distance exceeds the threshold.
        least: the threshold there or at the end, whichever is larger: a smaller return does not count.
        back: whether the path comes back afterwards, by more than `least` and to half the distance or less; None where
            it does not and a return by half could not have been seen.
    """

    size: float
    record: int
    beyond: bool
    least: float
    back: bool | None


def bend(path: Path) -> Bend | None:
    """The bend of a path; None where it has fewer than two records, or starts too near to its target."""
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

    The noise of the first record tilts the line: it counts for less the nearer a place is to the target.
    """
    progress, part = path.progress, parts(path.progress)
    normal = axes(progress[0])[1]
    variance, first = (path.noise**2) @ normal**2, float((path.noise[0] ** 2) @ normal**2)
    return away(progress), np.sqrt(variance + (1 - part) ** 2 * first)


def parts(progress: Floats) -> Floats:
    """The part of the straight way to (1, 1) that lies behind each of places (T, 2): 0 to 1, (T,)."""
    start = progress[0]
    return np.clip((progress - start) @ axes(start)[0] / np.linalg.norm(1 - start), 0, 1)


def away(progress: Floats) -> Floats:
    """Signed distance of places (T, 2) from the line through the first of them and (1, 1), (T,)."""
    return (progress - progress[0]) @ axes(progress[0])[1]


def axes(start: Floats) -> tuple[Floats, Floats]:
    """Unit vectors along the straight way from a start to (1, 1), and across it toward the side of color."""
    along = (1 - start) / np.linalg.norm(1 - start)
    return along, np.array([along[1], -along[0]])


class SharedBend(NamedTuple):
    """The result of the test for a bend that seeds share.

    Attributes:
        n: seeds that could be measured.
        size: mean signed distance of the seeds left out; positive on the side of the corner with the right color.
        low, high: its 95 % t-interval.
        significant: whether that interval lies on one side of 0.
        sure: whether the 99 % interval does too.
        back: mean over the seeds left out of the distance at the bend minus that at the last evaluation, each counted
            toward the side where the mean of the other seeds is. Negative where the path goes on leaving.
        back_low, back_high: its 95 % t-interval.
        returns: whether the bend is significant and the interval of `back` lies above 0.
        weak: whether there are 5 seeds or fewer: the test then has little power.
        step: median over the seeds of the step at which the distance was measured.
    """

    n: int
    size: float
    low: float
    high: float
    significant: bool
    sure: bool
    back: float
    back_low: float
    back_high: float
    returns: bool
    weak: bool
    step: float

    @property
    def side(self) -> str:
        """The side to which the path bends: color, size, or neither where that is not established."""
        return "neither" if not self.significant else "color" if self.size > 0 else "size"


def shared_bend(steps: Floats, progress: Floats) -> SharedBend | None:
    """Whether the seeds' paths bend to the same side at the same time; None where fewer than two can be measured.

    Each seed is left out in turn. Of the evaluations at which it and half of the others have a place, the first is the
    start of the straight ways to (1, 1). The mean path of the others is farthest from its own straight way at one of
    them, and there the signed distance of the seed left out from its own straight way is measured. Without a bend it is
    as often positive as negative. A seed that starts within `SHORTEST` of the target has no way to bend from.

    The rotations share most of their seeds, and so mostly measure at one place: of straight ways with noise, white or
    AR(1) of 0.7, `significant` is true in 7 to 17 % of samples of 3 to 8 seeds (30 % of 20 seeds) instead of 5 %;
    `sure` in 5 % or less of 3 to 5 seeds (8 % of 10, 14 % of 20); `back` lies above 0 in 4 to 12 %.

    Args:
        steps: (T,).
        progress: from the wrong value (0) to the right one (1) of either concept, (S, T, 2); NaN where unknown.
    """
    measured: list[tuple[int, float, float]] = []
    for k, seed_path in enumerate(progress):
        others = np.delete(progress, k, axis=0)
        known = np.isfinite(others[..., 0])
        common = np.flatnonzero(np.isfinite(seed_path[:, 0]) & (known.sum(axis=0) >= max(1, len(others) / 2)))
        if len(common) < 2:
            continue
        mean = np.nanmean(others[:, common], axis=0)
        if min(np.linalg.norm(1 - path[0]) for path in (mean, seed_path[common])) < SHORTEST:
            continue
        theirs, mine = away(mean), away(seed_path[common])
        at = int(np.abs(theirs).argmax())
        back = np.sign(theirs[at]) * mine[at] - np.sign(theirs[-1]) * mine[-1]
        measured.append((int(common[at]), float(mine[at]), float(back)))
    if len(measured) < 2:
        return None
    at, size, back = (np.array(values) for values in zip(*measured, strict=True))
    low, high = t_interval(size, CONFIDENCE)
    strict_low, strict_high = t_interval(size, STRICT)
    back_low, back_high = t_interval(back, CONFIDENCE)
    significant = low > 0 or high < 0
    return SharedBend(
        len(measured), float(size.mean()), low, high, significant, strict_low > 0 or strict_high < 0,
        float(back.mean()), back_low, back_high, significant and back_low > 0, len(measured) <= FEW,
        float(np.median(steps[at])),
    )  # fmt: skip


def bridged(values: Floats) -> Floats:
    """Values (S, T, ...) with the gaps of every seed filled by straight lines, from its first value to its last."""
    flat = values.reshape(len(values), values.shape[1], -1).copy()
    at = np.arange(values.shape[1])
    for seed in flat:
        known = np.isfinite(seed).all(axis=1)
        if known.any():
            for curve in seed.T:
                curve[:] = np.interp(at, at[known], curve[known], left=np.nan, right=np.nan)
    return flat.reshape(values.shape)
