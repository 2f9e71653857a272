"""The runs of a point over their seeds: places of the held-out class at common evaluations, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtri, stdtrit

from swingby_analysis.stats.seeds import Bump, bump_over_seeds

from .bend import SharedBend, bridged, shared_bend
from .descent import error_of
from .path import Floats, Judge, Path, path_of, toward
from .speed import Speeds, speeds_of

CONFIDENCE = 0.95


class Mean(NamedTuple):
    """A mean over seeds and half the width of its t-interval, each (T, ...), and the number of seeds in it, (T,)."""

    value: Floats
    half: Floats
    n: NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """The runs of one point by one judge; S seeds, T evaluations.

    Attributes:
        number: of the held-out class.
        trained: numbers of the classes trained on.
        seeds: the seeds whose path has two evaluations or more.
        paths: their paths, in that order, as recorded.
        steps: evaluations that some run has, (T,), without those at the start that a drawing leaves out.
        place: color and size, (S, T, 2), smoothed if asked; NaN where the judge could not place the images.
        error: standard error over the images of the places before any smoothing, (S, T, 2).
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
        """Evaluations at which half of the seeds or more have a place, cut where a seed enters or leaves.

        Within a stretch the mean moves only because its seeds do; from one stretch to the next its seeds change.
        """
        there = np.isfinite(self.whole[..., 0])
        at = np.flatnonzero(there.mean(axis=0) >= 0.5)
        cut = (there[:, at[1:]] != there[:, at[:-1]]).any(axis=0)
        return np.split(at, np.flatnonzero(cut) + 1) if len(at) else []

    @cached_property
    def mean(self) -> Mean:
        """Color and size over the seeds, gaps bridged, (T, 2); one seed's interval is that of its images."""
        mean = over_seeds(self.whole)
        if len(self.seeds) > 1:
            return mean
        return mean._replace(half=float(ndtri((1 + CONFIDENCE) / 2)) * self.error[0])

    @cached_property
    def errors(self) -> Floats:
        """Concept-space MSE of every seed, (S, T)."""
        return error_of(toward(self.place, self.number))

    @cached_property
    def speeds(self) -> Speeds:
        """How fast the mean over the seeds moves, between evaluations at which half of them have a place.

        A move is the mean over the seeds that have a place at both ends, half of them or more: a seed that enters or
        leaves moves nothing. Its noise is that of the records of these seeds.
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
        """`Path.scatter` of every seed, (S, T, 2); NaN where it has no place."""
        scatter = np.full(self.place.shape, np.nan)
        for seed, path in enumerate(self.paths):
            kept = np.isin(path.steps, self.steps)
            scatter[seed, np.searchsorted(self.steps, path.steps[kept])] = path.scatter[kept]
        return scatter

    def bump(self) -> Bump | None:
        """The leave-one-seed-out test of a rise in the concept-space MSE, at evaluations where every seed has a place.

        None with fewer than two seeds or three such evaluations, or where these are fewer than half: the others lie
        close together. Gaps are not bridged: the claim that uses this test was written before there were runs.
        """
        whole = np.isfinite(self.errors).all(axis=0)
        if len(self.seeds) < 2 or whole.sum() < max(3, whole.size / 2):
            return None
        return bump_over_seeds(self.steps[whole], self.errors[:, whole])

    def bend(self) -> SharedBend | None:
        """The leave-one-seed-out test of a bend, on paths whose gaps are bridged; None with too few seeds."""
        return shared_bend(self.steps, toward(self.whole, self.number))


def over_seeds(values: Floats) -> Mean:
    """Mean and t-interval of the finite values along the first axis; NaN where fewer than half of them are finite."""
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
    """The runs of each point that has some, of the first held-out class.

    Args:
        rows: those of diffusion/paths.sql.
        smoothing: standard deviation of a Gaussian over evaluations; 0: none.
        first: evaluations at the start that are left out, after smoothing.
    """
    by_point: dict[int, list[tuple[int, Path, Floats]]] = {}
    for row in rows:
        path = path_of(row, judge)
        if path is not None and len(path.steps) > 1:
            steps = np.array(row["step"], dtype=np.float64)
            by_point.setdefault(int(row["point"]), []).append((int(row["seed"]), path, steps))
    runs: dict[int, Runs] = {}
    for point, entries in by_point.items():
        seeds, paths, evaluated = zip(*entries, strict=True)
        steps = np.unique(np.concatenate(evaluated))
        place, error = np.full((2, len(paths), len(steps), 2), np.nan)
        for k, path in enumerate(paths):
            at = np.searchsorted(steps, path.steps)
            place[k, at], error[k, at] = path.place, path.error
            place[k] = np.where(np.isfinite(place[k]), smoothed(place[k], smoothing), np.nan)
        number, trained = paths[0].number, paths[0].trained
        runs[point] = Runs(number, trained, seeds, paths, steps[first:], place[:, first:], error[:, first:])
    return runs


def smoothed(values: Floats, width: float) -> Floats:
    """A curve (T, ...) after Gaussian smoothing over evaluations, as the authors of [S] draw Fig 6; it flattens bumps.

    NaN has no weight, and remains where no number is near.

    Args:
        values: (T, ...).
        width: standard deviation of the Gaussian, in evaluations whatever steps lie between them; 0: no smoothing.
    """
    if width == 0:
        return values
    known = np.isfinite(values)
    weight = gaussian_filter1d(known.astype(np.float64), width, axis=0, mode="nearest")
    total = gaussian_filter1d(np.where(known, values, 0.0), width, axis=0, mode="nearest")
    return np.where(weight > 1e-6, total / np.maximum(weight, 1e-6), np.nan)
