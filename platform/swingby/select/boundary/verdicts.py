"""What is known of each point: on which side of the level its share lies, or that it is near, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logit

from swingby.select.boundary.kernel import Indices, Numbers
from swingby.select.boundary.surface import Posterior

Verdict = Literal["above", "below", "near", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("above", "below", "near", "unknown")
ABOVE, BELOW, NEAR, UNKNOWN = range(4)


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be told of each point, and how surely.

    Attributes:
        share: the level, of which the line is drawn.
        within: how far from the level a share may lie that is called near.
        confidence: of each verdict.
        wrong: the wanted expected share of points that are told wrongly by more than `within`.
    """

    share: float = 0.5
    within: float = 0.1
    confidence: float = 0.95
    wrong: float = 0.01

    @property
    def levels(self) -> tuple[float, float, float]:
        """The level less `within`, the level, and the level plus `within`, in logits."""
        low, high = max(0.0, self.share - self.within), min(1.0, self.share + self.within)
        return float(logit(low)), float(logit(self.share)), float(logit(high))


@dataclass(frozen=True, slots=True)
class Estimates:
    """What labels say of some points.

    Attributes:
        mean, sd: of the logit of the share, (M,).
        share: mean of the share, (M,).
        low, high: ends of its interval at the goal's confidence, (M,).
        above: probability that the share exceeds the level, (M,).
        verdict: places in VERDICTS, (M,).
        wrong: probability that the likelier side is wrong by more than `within`, (M,).
    """

    mean: Numbers
    sd: Numbers
    share: Numbers
    low: Numbers
    high: Numbers
    above: Numbers
    verdict: Indices
    wrong: Numbers


def estimates(posterior: Posterior, goal: Goal) -> Estimates:
    """The estimates and the verdict at each point of a posterior."""
    low, level, high = goal.levels
    over_low, above, over_high = (posterior.above(each) for each in (low, level, high))
    doubt = (1 - goal.confidence) / 2
    verdict = np.full(len(above), UNKNOWN)
    verdict[over_low - over_high > goal.confidence] = NEAR
    verdict[above > 1 - doubt] = ABOVE
    verdict[above < doubt] = BELOW
    ends = posterior.interval(goal.confidence)
    wrong = np.where(above > 0.5, 1 - over_low, over_high)
    return Estimates(posterior.mean, np.sqrt(posterior.variance), posterior.share, *ends, above, verdict, wrong)
