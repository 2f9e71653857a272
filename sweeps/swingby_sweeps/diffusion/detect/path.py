"""The path of one class through concept space over training, by one judge, with its standard error over images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals.noise import local_sd

Floats = NDArray[np.float64]
Judge = Literal["measured", "trained"]

CLASSES = ("red-big", "blue-big", "red-small", "blue-small")
"""As the experiment numbers them: number = blue + 2 x small."""
JUDGES: tuple[Judge, ...] = ("measured", "trained")
PREFIX: Mapping[Judge, str] = {"measured": "", "trained": "trained_"}
"""Prefix of the columns that hold the numbers of a judge."""
CURVES = ("step", "found", *(p + c for p in PREFIX.values() for c in ("color", "color_sd", "size", "size_sd")))
"""The columns that `path_of` reads, beside `trained`, `judged` and `judged_trained`."""
LEARNED = 0.9
"""Progress from which on a concept counts as learned."""
LEAST_FOUND = 0.5
"""Share of the images in which a circle must be found: without one there is neither color nor size to judge."""
LEAST_IMAGES = 2


@dataclass(frozen=True)
class Path:
    """Places of the images generated of one class, at T evaluations.

    Color is 0 for red and 1 for blue, size 0 for big and 1 for small.

    Attributes:
        number: of the class.
        trained: numbers of the classes trained on.
        steps: (T,), increasing: evaluations at which the judge could place the images.
        record: numbers of these among the evaluations of the run, int (T,).
        place: (T, 2), mean color and size over the images.
        error: (T, 2), standard error of `place` over the images.
        ended: whether the last place is that of the last evaluation of the run.
    """

    number: int
    trained: tuple[int, ...]
    steps: Floats
    record: NDArray[np.int64]
    place: Floats
    error: Floats
    ended: bool = True

    @cached_property
    def scatter(self) -> Floats:
        """Standard deviation of the records around the lines through their neighbours, (T, 2).

        It contains the movement of the weights between two evaluations, which the spread over images does not; it does
        not contain the error that all evaluations share because their images begin from the same noise.
        """
        return local_sd(np.ascontiguousarray(self.place.T), self.steps).T

    @cached_property
    def noise(self) -> Floats:
        """Standard deviation of `place`, (T, 2): the larger one of `error` and `scatter`."""
        return np.maximum(self.error, self.scatter)

    @property
    def target(self) -> Floats:
        """The corner of the class itself, (2,)."""
        return corner(self.number)

    @property
    def progress(self) -> Floats:
        """`place` turned so that (1, 1) is the corner of the class and 0 the wrong value of either concept, (T, 2)."""
        return toward(self.place, self.number)

    @property
    def centres(self) -> Floats:
        """Corners of the other trained classes, turned as `progress` is, (K, 2)."""
        others = [number for number in self.trained if number != self.number]
        return toward(np.array([corner(number) for number in others]).reshape(-1, 2), self.number)


def corner(number: int) -> Floats:
    """The corner of a class in concept space, (2,): its color and its size."""
    return np.array([number & 1, number >> 1], dtype=np.float64)


def toward(place: Floats, number: int) -> Floats:
    """Places (..., 2) turned so that either concept runs from its wrong value (0) to that of the class (1)."""
    target = corner(number)
    return np.where(target == 1, place, 1 - place)


def trained_of(text: str) -> tuple[int, ...]:
    """The numbers of the classes that the parameter `trained` lists."""
    names = {name.strip() for name in text.split(",")}
    return tuple(number for number, name in enumerate(CLASSES) if name in names)


def held_out(text: str) -> int | None:
    """The first class that is not trained on; None if all four are."""
    known = trained_of(text)
    return next((number for number in range(len(CLASSES)) if number not in known), None)


def path_of(row: Mapping[str, Any], judge: Judge = "measured", number: int | None = None) -> Path | None:
    """The path of a class in one run; None where the judge never placed its images, or there is no such class.

    An evaluation counts where both coordinates are finite, and a circle was found in at least half of the images and in
    two of them. This holds for either judge, since the trained one assigns classes to noise too. The standard error is
    that of a mean over the images; for the measured judge, over those with a circle.

    Args:
        row: `trained`, `judged`, `judged_trained` and the curves CURVES, each with four numbers an evaluation.
        number: of the class; None: the first held-out one.
    """
    known = trained_of(row["trained"])
    number = held_out(row["trained"]) if number is None else number
    names = [PREFIX[judge] + name for name in ("color", "size", "color_sd", "size_sd")]
    if number is None or row.get("step") is None or any(row.get(name) is None for name in names):
        return None
    steps = np.array(row["step"], dtype=np.float64)
    values = np.stack([_column(row[name], number, len(steps)) for name in names], axis=1)
    images = np.full(len(steps), float(row["judged_trained"] if number in known else row["judged"]))
    enough = np.ones(len(steps), dtype=bool)
    if row.get("found") is not None:
        share = np.nan_to_num(_column(row["found"], number, len(steps)))
        enough = (share >= LEAST_FOUND) & (images * share > LEAST_IMAGES - 0.5)
        images = images * share if judge == "measured" else images
    kept = np.flatnonzero(enough & np.isfinite(values[:, :2]).all(axis=1))
    if not len(kept):
        return None
    error = np.nan_to_num(values[kept, 2:], posinf=0) / np.sqrt(np.maximum(images[kept, None], 1))
    return Path(number, known, steps[kept], kept, values[kept, :2], error, bool(kept[-1] == len(steps) - 1))


def _column(entries: Any, number: int, times: int) -> Floats:
    """The numbers of one class in a curve, (times,); NaN for null, and at the end of a curve that is too short."""
    column = np.full(times, np.nan)
    for at, entry in enumerate(entries[:times]):
        if entry is not None and entry[number] is not None:
            column[at] = entry[number]
    return column
