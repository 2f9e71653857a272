"""The choice of points: those where a label is expected to take away most of the doubt about sides, over the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swingby.select.boundary.kernel import Indices, Numbers
from swingby.select.boundary.laplace import Fit

STEPS = 8
"""Greedy steps to a batch: after each, its points count as if their labels had come."""
ALIKE = 0.5
"""Posterior correlation with a point of the same step beyond which a point is passed over."""
ACTIVE = 1000
"""The most points whose doubt is weighed, and that can be chosen; of more, some are taken evenly."""
LEAST = 0.02
"""Least information of a label, p (1 - p): far from the level a label says little, but not nothing."""


@dataclass
class Doubt:
    """The joint posterior of f at the active points of one panel, for one goal; it shrinks as points are chosen.

    Attributes:
        mean: of f less the level, (M,).
        covariance: of f, (M, M).
        open: weight of each point in the doubt: 0 where its side is told, or where it gives no answers, (M,).
        information: of a label, p (1 - p), (M,).
    """

    mean: Numbers
    covariance: Numbers
    open: Numbers
    information: Numbers

    @classmethod
    def of(cls, fit: Fit, places: Indices, level: float, weight: Numbers, share: Numbers) -> Doubt:
        """The doubt at points given by flat indices."""
        mean, covariance = fit.covariance(places)
        return cls(mean - level, covariance, weight, np.maximum(share * (1 - share), LEAST))

    def scores(self) -> Numbers:
        """The fall of the doubt about sides, summed over the active points, if a label came at each point, (M,)."""
        variance = np.diag(self.covariance)
        # The density of f at the level, in standard deviations: a side is only in doubt where the level is near.
        doubt = self.open * np.exp(-0.5 * self.mean**2 / variance) / variance
        return doubt @ self.covariance**2 / (variance + 1 / self.information)

    def take(self, chosen: Indices, labels: Numbers) -> None:
        """Lets labels have come at some points: their values are open, but the variance falls."""
        if not len(chosen):
            return
        across = self.covariance[:, chosen]
        inner = across[chosen].copy()
        inner[np.diag_indices_from(inner)] += 1 / (self.information[chosen] * labels)
        self.covariance = self.covariance - across @ np.linalg.solve(inner, across.T)
        self.covariance[np.diag_indices_from(self.covariance)] = np.maximum(np.diag(self.covariance), 1e-9)

    def alike(self, point: int) -> np.ndarray:
        """Mask of the points whose correlation with one is above ALIKE."""
        variance = np.diag(self.covariance)
        return self.covariance[point] > ALIKE * np.sqrt(variance[point] * variance)


def choose(doubts: Sequence[Sequence[Doubt]], left: Sequence[Indices], odds: Sequence[Numbers], turn: Sequence[Indices],
           count: int) -> tuple[list[Indices], list[Numbers]]:  # fmt: skip
    """The points of one batch, a list of places among each panel's active points; a place comes again for each seed.
    And what further labels would be worth at each active point, once these have come.

    Args:
        doubts: of each panel, for each goal.
        left: cells that each active point of each panel can still get.
        odds: the chance that a cell there gives an answer.
        turn: the order of equally good points.
        count: how many cells.
    """
    taken: list[list[int]] = [[] for _ in doubts]
    left = [each.copy() for each in left]
    sizes = np.cumsum([0, *map(len, left)])
    rank, chosen = np.concatenate([np.zeros(0, np.int64), *turn]), 0
    while chosen < count:
        scores = np.concatenate([np.zeros(0), *_worth(doubts, left, odds)])
        # Rounded, so that the last bit of a sum decides nothing.
        scores = np.round(scores / max(float(scores.max(initial=0)), 1e-300), 9)
        want, passed = min(-(-count // STEPS), count - chosen), np.zeros(len(scores), bool)
        step: list[list[int]] = [[] for _ in doubts]
        for one in np.lexsort([rank, -scores]):
            if want == 0 or scores[one] <= 0:
                break
            if passed[one]:
                continue
            panel = int(np.searchsorted(sizes, one, side="right")) - 1
            place = int(one - sizes[panel])
            step[panel].append(place)
            want -= 1
            alike = np.logical_and.reduce([goal.alike(place) for goal in doubts[panel]])
            passed[sizes[panel] : sizes[panel + 1]] |= alike
        if not any(step):
            break
        for panel, places in enumerate(step):
            here = np.array(places, dtype=np.int64)
            for goal in doubts[panel]:
                goal.take(here, np.ones(len(here)))
            left[panel][here] -= 1
            taken[panel] += places
            chosen += len(places)
    return [np.array(places, dtype=np.int64) for places in taken], _worth(doubts, left, odds)


def _worth(doubts: Sequence[Sequence[Doubt]], left: Sequence[Indices], odds: Sequence[Numbers]) -> list[Numbers]:
    """The scores of each panel's active points, summed over the goals; 0 where no cell is left."""
    return [
        sum((one.scores() for one in goals), np.zeros(len(free))) * each * (free > 0)
        for goals, each, free in zip(doubts, odds, left, strict=True)
    ]
