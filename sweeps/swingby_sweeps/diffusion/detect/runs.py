"""The runs of a point over their seeds: where the held-out class lies at common evaluations, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from swingby_analysis.stats.seeds import Bump, bump_over_seeds

from .descent import error_of
from .path import Floats, Judge, Path, path_of, toward
from .shared_bend import SharedBend, bridged, shared_bend
from .smooth import smoothed
from .speed import Speeds, speeds_of

CONFIDENCE = 0.95


class Mean(NamedTuple):
    """A mean over seeds and half the width of its t-interval, each (T, ...), and the seeds it is over, (T,)."""

    value: Floats
    half: Floats
    n: NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """The runs of one point by one judge; S seeds, T evaluations.

    Attributes:
        number: of the held-out class.
        trained: numbers of the classes trained on.
        seeds: those whose path has two evaluations or more.
        paths: theirs, in that order, as recorded.
        steps: evaluations that some run has, (T,), the first ones left out that a drawing leaves out.
        place: color and size, (S, T, 2), smoothed if asked; NaN where the judge could not tell.
        error: standard error of `place` over the images, (S, T, 2); of smoothed ones as if they were not.
    """

    number: int
    trained: tuple[int, ...]
    seeds: tuple[int, ...]
    paths: tuple[Path, ...]
    steps: Floats
    place: Floats
    error: Floats

    @cached_property
    def whole(self) -> Floats:
        """`place`, each seed's gaps bridged by straight ways, (S, T, 2); NaN before its first and after its last."""
        return bridged(self.place)

    @cached_property
    def stretches(self) -> list[NDArray[np.int64]]:
        """Evaluations at which half of the seeds or more are on their way, cut where a seed enters or leaves.

        Between two of one stretch the mean moves as its seeds do; from one stretch to the next also because it is that
        of others.
        """
        there = np.isfinite(self.whole[..., 0])
        at = np.flatnonzero(there.mean(axis=0) >= 0.5)
        cut = (there[:, at[1:]] != there[:, at[:-1]]).any(axis=0)
        return np.split(at, np.flatnonzero(cut) + 1) if len(at) else []

    @cached_property
    def mean(self) -> Mean:
        """Color and size over the seeds, gaps bridged, (T, 2); one seed's interval is that of its images."""
        found = over_seeds(self.whole)
        if len(self.seeds) > 1:
            return found
        return found._replace(half=float(ndtri((1 + CONFIDENCE) / 2)) * self.error[0])

    @cached_property
    def errors(self) -> Floats:
        """Concept-space MSE of every seed, (S, T)."""
        return error_of(toward(self.place, self.number))

    @cached_property
    def speeds(self) -> Speeds:
        """How fast the mean over the seeds moves, between evaluations at which half of them have a place.

        A move is the mean of those of the seeds that have a place at both ends, half or more, so that none is made by
        a seed that enters or leaves; its noise is that of these seeds' own records.
        """
        seen = np.isfinite(self.place[..., 0])
        at = np.flatnonzero(2 * seen.sum(axis=0) >= len(self.seeds))
        start, end = at[:-1], at[1:]
        both = seen[:, start] & seen[:, end]
        enough = 2 * both.sum(axis=0) >= len(self.seeds)
        start, end, both = start[enough], end[enough], both[:, enough, None]
        count = both.sum(axis=0)
        moves = np.where(both, self.place[:, end] - self.place[:, start], 0.0).sum(axis=0) / count
        variance = np.where(both, self._scatter[:, end] ** 2 + self._scatter[:, start] ** 2, 0.0).sum(axis=0) / count**2
        return speeds_of(self.steps[start], self.steps[end], moves, np.sqrt(variance.sum(axis=1)))

    @cached_property
    def _scatter(self) -> Floats:
        """What the records of every seed scatter by, as recorded, (S, T, 2); NaN where it has none."""
        found = np.full(self.place.shape, np.nan)
        for seed, path in enumerate(self.paths):
            kept = np.isin(path.steps, self.steps)
            found[seed, np.searchsorted(self.steps, path.steps[kept])] = path.scatter[kept]
        return found

    def bump(self) -> Bump | None:
        """The leave-one-seed-out test of a rise in the concept-space MSE, where every seed has one; None if too few.

        Gaps are not bridged, as the claim on it was written before there were runs.
        """
        whole = np.isfinite(self.errors).all(axis=0)
        if len(self.seeds) < 2 or whole.sum() < 3:
            return None
        return bump_over_seeds(self.steps[whole], self.errors[:, whole])

    def bend(self) -> SharedBend | None:
        """The leave-one-seed-out test of a bend, gaps of a seed's path bridged; None if too few."""
        return shared_bend(self.steps, toward(self.whole, self.number))


def over_seeds(values: Floats) -> Mean:
    """Mean and t-interval along the first axis of what is finite; NaN where fewer than half of the seeds are."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    enough, n = count * 2 >= len(values), np.maximum(count, 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / n
    spread = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / np.maximum(n - 1, 1))
    with np.errstate(invalid="ignore"):
        half = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), (1 + CONFIDENCE) / 2) * spread / np.sqrt(n), np.nan)
    counts = count.reshape(count.shape[0], -1)[:, 0]
    return Mean(np.where(enough, mean, np.nan), np.where(enough, half, np.nan), counts)


def runs_of(
    rows: Iterable[Mapping[str, Any]], judge: Judge = "measured", smoothing: float = 0.0, first: int = 0
) -> dict[int, Runs]:
    """The runs of every point that has some, by the first held-out class.

    Args:
        rows: those of diffusion/paths.sql.
        smoothing: standard deviation of a Gaussian over evaluations; 0: none.
        first: evaluations at the start that are left out, after smoothing.
    """
    found: dict[int, list[tuple[int, Path, Floats]]] = {}
    for row in rows:
        path = path_of(row, judge)
        if path is not None and len(path.steps) > 1:
            steps = np.array(row["step"], dtype=np.float64)
            found.setdefault(int(row["point"]), []).append((int(row["seed"]), path, steps))
    return {point: _together(runs, smoothing, first) for point, runs in found.items()}


def _together(runs: list[tuple[int, Path, Floats]], smoothing: float, first: int) -> Runs:
    steps = np.unique(np.concatenate([own for _, _, own in runs]))
    place, error = np.full((2, len(runs), len(steps), 2), np.nan)
    for row, (_, path, _) in enumerate(runs):
        at = np.searchsorted(steps, path.steps)
        place[row, at], error[row, at] = path.place, path.error
        place[row] = np.where(np.isfinite(place[row]), smoothed(place[row], smoothing), np.nan)
    one = runs[0][1]
    seeds, paths = tuple(seed for seed, _, _ in runs), tuple(path for _, path, _ in runs)
    return Runs(one.number, one.trained, seeds, paths, steps[first:], place[:, first:], error[:, first:])
