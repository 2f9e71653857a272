"""Main effects: which share of an outcome's variance over the points of a grid each axis explains by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 400
WORK = 40_000_000
"""Numbers that are drawn in all resamples together, at most."""
FEWEST = 100
"""Resamples at least."""
CONFIDENCE = 0.95


class Effect(NamedTuple):
    """A share of the variance over the points, and its bootstrap interval; NaN where there is a single seed."""

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


def main_effects(places: NDArray[np.int64], values: Floats, common: bool, seed: int = 0) -> Effects | None:
    """The main effects of the axes of a grid on an outcome; None where it does not vary over the points.

    The sum of squares between the values of an axis, less what chance adds to it, over that of all points: of an
    additive function without noise its exact share, of noise 0 on average (an estimate can lie below 0). On a grid
    that is not whole the axes go together, and each is given what they have in common.

    Args:
        places: index on each axis, (points, axes).
        values: (points, seeds), NaN where it is not known; yes and no as 1 and 0. Points without any are left out.
        common: whether a seed has the same draws at every point; seeds are then resampled for all points together.
        seed: of the resamples.
    """
    known = np.isfinite(values).any(axis=1)
    places, values = places[known], values[known]
    if len(values) < 2:
        return None
    found = _shares(places, values, common, 1.0)
    if found is None:
        return None
    axes, seeds = places.shape[1], values.shape[1]
    draws = _resampled(places, values, common, seed) if seeds > 1 else np.empty((0, axes + 1))
    if len(draws):
        ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
        low, high = np.clip(np.quantile(draws, ends, axis=0), -1.0, 1.0)
    else:
        low = high = np.full(axes + 1, np.nan)
    effects = [Effect(*map(float, row)) for row in zip(found[0], low, high, strict=True)]
    whole = len(np.unique(places, axis=0)) == np.prod([len(np.unique(column)) for column in places.T])
    return Effects(tuple(effects[:-1]), effects[-1], found[1], len(values), bool(whole))


def _resampled(places: NDArray[np.int64], values: Floats, common: bool, seed: int) -> Floats:
    """The shares in each resample of the seeds, (resamples, axes + 1)."""
    points, seeds = values.shape
    draws = np.random.Generator(np.random.Philox(key=[seed, seeds]))
    count = max(FEWEST, min(RESAMPLES, WORK // values.size))
    rows = []
    for _ in range(count):
        if common:
            drawn = values[:, draws.integers(0, seeds, seeds)]
        else:
            drawn = np.take_along_axis(values, draws.integers(0, seeds, (points, seeds)), axis=1)
        # A resample has the noise of the seeds twice: theirs, and that of having drawn them.
        one = _shares(places, drawn, common, 1.0 + seeds / (seeds - 1))
        if one is not None:
            rows.append(one[0])
    return np.array(rows).reshape(-1, places.shape[1] + 1)


def _shares(places: NDArray[np.int64], values: Floats, common: bool, times: float) -> tuple[Floats, float] | None:
    """The share of each axis and of their interactions, (axes + 1,), and of chance; None where nothing varies.

    Args:
        times: how often the noise of the seeds is in the means of the points.
    """
    known = np.isfinite(values)
    kept = known.any(axis=1)
    places, values, known = places[kept], values[kept], known[kept]
    if len(values) < 2:  # a resample of seeds may hold none of those that have a value
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
    spread = total - (times - 1.0) * noise * (len(means) - 1)
    spread = max(spread, total / times)  # of noise alone this is what is left of the total on average
    shares = [
        (square - times * noise * free_levels) / spread for square, free_levels in zip(between, levels, strict=True)
    ]
    chance = min(1.0, noise * (len(means) - 1) / spread)
    return np.array([*shares, 1.0 - chance - sum(shares)]), chance
