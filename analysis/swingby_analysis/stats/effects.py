"""Main effects: which share of an outcome's variance over the points of a grid each axis explains by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]
CONFIDENCE = 0.95


class Effect(NamedTuple):
    """A share of the variance over the points, and its jackknife interval; NaN where there is a single seed."""

    share: float
    low: float
    high: float


class Effects(NamedTuple):
    """How the variance of an outcome over the points of a grid comes about.

    Attributes:
        axes: the main effect of each axis, in their order.
        rest: what the axes do not explain one by one: their interactions.
        noise: the share that is chance, since a point has few seeds.
        points: how many points the variance is over.
        whole: whether every combination of the axes' values is among them.
    """

    axes: tuple[Effect, ...]
    rest: Effect
    noise: float
    points: int
    whole: bool


def main_effects(places: NDArray[np.int64], values: Floats, common: bool) -> Effects | None:
    """The main effects of the axes of a grid on an outcome; None where it does not vary over the points.

    The sum of squares between the values of an axis, less what chance adds to it, over that of all points: of an
    additive function without noise its exact share, of noise 0 on average (an estimate can lie below 0). On a grid
    that is not whole the axes go together, and each is given what they have in common. Intervals are Student's, with
    the error of the jackknife (Efron and Stein 1981): the estimates with each seed left out. They are wide where seeds
    are few.

    Args:
        places: index on each axis, (points, axes).
        values: (points, seeds), NaN where it is not known; yes and no as 1 and 0. Points without any are left out.
        common: whether a seed has the same draws at every point, so that its effect on all points alike is no noise.
    """
    known = np.isfinite(values).any(axis=1)
    places, values = places[known], values[known]
    if len(values) < 2:
        return None
    shares = _shares(places, values, common)
    if shares is None:
        return None
    seeds = values.shape[1]
    without = [_shares(places, np.delete(values, seed, axis=1), common) for seed in range(seeds)] if seeds > 1 else []
    left = np.array([one[0] for one in without if one is not None]).reshape(-1, len(shares[0]))
    if len(left) > 1:
        error = np.sqrt((len(left) - 1) * left.var(axis=0))
        reach = float(stdtrit(len(left) - 1, (1 + CONFIDENCE) / 2)) * error
    else:
        reach = np.full(len(shares[0]), np.nan)
    effects = [Effect(*map(float, row)) for row in zip(shares[0], shares[0] - reach, shares[0] + reach, strict=True)]
    whole = len(np.unique(places, axis=0)) == np.prod([len(np.unique(column)) for column in places.T])
    return Effects(tuple(effects[:-1]), effects[-1], shares[1], len(values), bool(whole))


def _shares(places: NDArray[np.int64], values: Floats, common: bool) -> tuple[Floats, float] | None:
    """The share of each axis and of their interactions, (axes + 1,), and of chance; None where nothing varies."""
    known = np.isfinite(values)
    kept = known.any(axis=1)
    places, values, known = places[kept], values[kept], known[kept]
    if len(values) < 2:  # of the seeds that are left none may have a value
        return None
    counts, filled = known.sum(axis=1), np.where(known, values, 0.0)
    means = filled.sum(axis=1) / counts
    middle = means.mean()
    total = float(((means - middle) ** 2).sum())
    scale = float(np.abs(means).max())
    if total <= (1e-12 * scale) ** 2 * len(means):
        return None
    rests = np.where(known, values - means[:, None], 0.0)
    if common:  # what a seed adds to all points alike moves no point against another
        present = np.maximum(known.sum(axis=0), 1)
        rests = np.where(known, rests - rests.sum(axis=0) / present, 0.0)
    free = counts - 1
    noise = float((rests**2).sum()) / max(int(free.sum()), 1) * float((1 / counts).mean())
    if common and len(means) > 1:
        noise *= len(means) / (len(means) - 1)
    between, levels = [], []
    for column in places.T:
        _, group, sizes = np.unique(column, return_inverse=True, return_counts=True)
        by_level = np.bincount(group, means) / sizes
        between.append(float((sizes * (by_level - middle) ** 2).sum()))
        levels.append(len(sizes) - 1)
    shares = [(square - noise * free_levels) / total for square, free_levels in zip(between, levels, strict=True)]
    chance = min(1.0, noise * (len(means) - 1) / total)
    return np.array([*shares, 1.0 - chance - sum(shares)]), chance
