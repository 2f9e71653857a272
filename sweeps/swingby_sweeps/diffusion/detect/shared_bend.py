"""The bend that seeds share: placed on the mean path of all seeds but one, measured on the one left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swingby_analysis.stats.seeds import FEW, t_interval

from .bend import SHORTEST, away
from .path import Floats

CONFIDENCE, STRICT = 0.95, 0.99


class SharedBend(NamedTuple):
    """The test for a bend over seeds.

    Attributes:
        n: seeds that could be measured.
        size: mean signed distance of the seeds left out; positive on the side of the corner with the right color.
        low, high: its 95 % t-interval.
        found: whether that interval lies on one side of 0.
        sure: whether the 99 % interval does too.
        back: how much of it is gone at the last evaluation: the distance at the bend minus that at the end, either
            counted toward the side where the other seeds' mean is. Negative where the path goes on leaving.
        back_low, back_high: its 95 % t-interval.
        returns: whether the bend is found and the interval of `back` lies above 0.
        weak: 5 seeds or fewer, at which the test has little power: not found then says little.
        step: median over the seeds of where the bend was looked for.
    """

    n: int
    size: float
    low: float
    high: float
    found: bool
    sure: bool
    back: float
    back_low: float
    back_high: float
    returns: bool
    weak: bool
    step: float

    @property
    def side(self) -> str:
        """Where the path bends to: color, size, or neither where that is not established."""
        return "neither" if not self.found else "color" if self.size > 0 else "size"


def shared_bend(steps: Floats, progress: Floats) -> SharedBend | None:
    """Whether the seeds' paths bend to the same side at the same time; None where fewer than two can be measured.

    For every seed in turn: of the evaluations at which it has a place and half of the others have one, the first is
    where the straight way to (1, 1) starts; on the others' mean path the one farthest from its straight way is
    taken, and the seed's own signed distance from its own straight way measured there. It is as often positive as
    negative if there is no bend. A seed that starts within `SHORTEST` of the target has no way to bend from.

    The rotations share their seeds, and so mostly their place: of straight ways with noise, white or AR(1) of 0.7,
    `found` is true in 7 to 17 % of samples of 3 to 8 seeds (30 % of 20 seeds) instead of 5 %; `sure` in 5 % or less
    of 3 to 5 seeds (8 % of 10, 14 % of 20); `back` lies above 0 in 4 to 12 %.

    Args:
        steps: (T,).
        progress: from the wrong value (0) to the right one (1) of either concept, (S, T, 2); NaN where not known.
    """
    found = [one for k in range(len(progress)) if (one := _left_out(progress, k)) is not None]
    if len(found) < 2:
        return None
    size, back = (np.array([getattr(one, name) for one in found]) for name in ("size", "back"))
    low, high = t_interval(size, CONFIDENCE)
    strict_low, strict_high = t_interval(size, STRICT)
    back_low, back_high = t_interval(back, CONFIDENCE)
    is_found = low > 0 or high < 0
    return SharedBend(
        len(found), float(size.mean()), low, high, is_found, strict_low > 0 or strict_high < 0,
        float(back.mean()), back_low, back_high, is_found and back_low > 0, len(found) <= FEW,
        float(np.median(steps[[one.at for one in found]])),
    )  # fmt: skip


class _Measured(NamedTuple):
    """What one seed shows where the others have their bend, which is at evaluation `at`."""

    at: int
    size: float
    back: float


def _left_out(progress: Floats, k: int) -> _Measured | None:
    own, others = progress[k], np.delete(progress, k, axis=0)
    known = np.isfinite(others[..., 0])
    common = np.flatnonzero(np.isfinite(own[:, 0]) & (known.sum(axis=0) >= max(1, len(others) / 2)))
    if len(common) < 2:
        return None
    mean = np.nanmean(others[:, common], axis=0)
    if min(np.linalg.norm(1 - path[0]) for path in (mean, own[common])) < SHORTEST:
        return None
    theirs, mine = away(mean), away(own[common])
    at = int(np.abs(theirs).argmax())
    left = np.sign(theirs[at]) * mine[at] - np.sign(theirs[-1]) * mine[-1]
    return _Measured(int(common[at]), float(mine[at]), float(left))


def bridged(values: Floats) -> Floats:
    """Gaps between known evaluations of every seed as the line through their ends, (S, T, ...); the ends stay open."""
    flat = values.reshape(len(values), values.shape[1], -1).copy()
    at = np.arange(values.shape[1])
    for seed in flat:
        known = np.isfinite(seed).all(axis=1)
        if known.any():
            for curve in seed.T:
                curve[:] = np.interp(at, at[known], curve[known], left=np.nan, right=np.nan)
    return flat.reshape(values.shape)
