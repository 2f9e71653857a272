"""What could have been seen in a run: the thresholds that its records ask of a swing or bend that is laid over them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .bend import aside, axes, parts, thresholds
from .descent import FACTOR, FLOOR
from .path import Path, toward

HALFWAY = 0.5
"""From the class's own corner to that of a trained class: where an image is as much of the one class as of the other.

The least move that is one back to a trained class, and so what a run has to be able to show before it tells that there
was none. It was fixed before the thresholds of recorded runs were looked at."""
RISE, ASIDE = HALFWAY**2 / 2, HALFWAY / np.sqrt(2)
"""The concept-space MSE there, and its distance from the diagonal; claims ask for thresholds up to these."""
WIDTH = 1 / 12
"""The swing lasts about a sixth of the run: this is the scale of its Gaussian in the root of the step."""


def rise_threshold(path: Path) -> float:
    """The threshold of a rise to HALFWAY, where it is higher of both concepts, with that rise laid over the path.

    A straight curve alone does not tell: a swing that few evaluations see bends it between them, which counts as noise,
    so that the threshold of the run in which it happens is higher than that of the run in which it does not.
    """
    root = np.sqrt(path.steps)
    middle = root[np.abs(root - (root[0] + root[-1]) / 2).argmin()]
    back = HALFWAY * np.exp(-(((root - middle) / (WIDTH * (root[-1] - root[0]))) ** 2))
    return max(_threshold(path, back, concept) for concept in (0, 1))


def _threshold(path: Path, back: np.ndarray, concept: int) -> float:
    """That of the MSE at HALFWAY in one concept, at the median noise of the path with the swing."""
    place = path.place.copy()
    place[:, concept] += np.where(path.target[concept] == 1, -back, back)
    variance = np.median(replace(path, place=place).noise, axis=0) ** 2
    sd = np.sqrt(HALFWAY**2 * variance[concept] + (variance**2 / 2).sum())
    return float(max(FLOOR, FACTOR * sd))


def bend_threshold(path: Path) -> float:
    """The least height of a bend that some record would have shown, to the side where that is more.

    The bend is largest at half of the straight way. The path of a concept that swiftly follows the other has few
    records on its way, and they are those that err most: that it is still where it rests tells nothing of a bend.
    Infinite where no record is on the way.
    """
    progress = path.progress
    bent = np.sin(np.pi * parts(progress))
    way = ASIDE * bent[:, None] * axes(progress[0])[1]
    sides = [replace(path, place=toward(progress + turn, path.number)) for turn in (way, -way)]
    least = np.array([thresholds(aside(side)[1]) for side in sides])
    return float(np.where(bent > 1e-9, least / np.maximum(bent, 1e-9), np.inf).min(axis=1).max())
