"""Detectability: the thresholds that a swing or bend would have to exceed, were it laid over the records of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .bend import aside, axes, parts
from .bend import thresholds as bend_thresholds
from .descent import FACTOR, FLOOR
from .path import Path, toward

HALFWAY = 0.5
"""Distance from the class's own corner to the middle between it and the corner of a trained class.

A move to this place is the least one that counts as a move back to a trained class; a run says that there was none only
if such a move could have been seen in it. The value was fixed before the thresholds of recorded runs were looked at."""
RISE, ASIDE = HALFWAY**2 / 2, HALFWAY / np.sqrt(2)
"""The concept-space MSE at that place, and its distance from the diagonal; claims ask for thresholds up to these."""
WIDTH = 1 / 12
"""Scale of the swing, a Gaussian in the root of the step, over the length of the run: it lasts about a sixth of it."""


def rise_threshold(path: Path) -> float:
    """The threshold of a rise to HALFWAY with that rise laid over the path; of both concepts, the higher one.

    The path alone is not enough: a swing that few evaluations see bends the curve between them, which counts as noise,
    so that the threshold is higher in a run with the swing than in one without.
    """
    root = np.sqrt(path.steps)
    middle = root[np.abs(root - (root[0] + root[-1]) / 2).argmin()]
    back = HALFWAY * np.exp(-(((root - middle) / (WIDTH * (root[-1] - root[0]))) ** 2))
    thresholds = []
    for concept in (0, 1):
        place = path.place.copy()
        place[:, concept] += np.where(path.target[concept] == 1, -back, back)
        # The sd of the MSE at HALFWAY in this concept, at the median noise of the path with the swing.
        variance = np.median(replace(path, place=place).noise, axis=0) ** 2
        sd = np.sqrt(HALFWAY**2 * variance[concept] + (variance**2 / 2).sum())
        thresholds.append(float(max(FLOOR, FACTOR * sd)))
    return max(thresholds)


def bend_threshold(path: Path) -> float:
    """The least height of a bend that some record would have shown, to the side where that height is larger.

    The bend laid over the path is largest at half of the straight way. Infinite where no record is on the way. A run
    whose concepts are learned quickly one after the other has few records on the way, and these have the most noise;
    its quiet records at the end say nothing about a bend.
    """
    progress = path.progress
    bent = np.sin(np.pi * parts(progress))
    way = ASIDE * bent[:, None] * axes(progress[0])[1]
    sides = [replace(path, place=toward(progress + turn, path.number)) for turn in (way, -way)]
    least = np.array([bend_thresholds(aside(side)[1]) for side in sides])
    return float(np.where(bent > 1e-9, least / np.maximum(bent, 1e-9), np.inf).min(axis=1).max())
