"""When concepts arrive at 0.9: as theory predicts it from a start, as records show it, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import theory

Array = np.ndarray
LEVEL = 0.9
TENTH = 0.1
"""The distance from a prediction, relative to it, up to which a time or rate is near it."""
_GRID = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 2000)])
"""Times at which Theorem 4.1 is evaluated before a crossing is found exactly, as shares of the latest time."""


@dataclass(frozen=True)
class Arrivals:
    """Predicted times at which the s concepts reach 0.9, in steps; infinite for never.

    Attributes:
        alone: by growth alone.
        delay: what all else adds: suppression by entries learned before, or (one layer, also negative) the start.
        times: alone + delay.
    """

    alone: Array
    delay: Array
    times: Array

    @property
    def order(self) -> list[int]:
        """Concepts, counted from 0, by time; equal ones by number."""
        return np.argsort(self.times, kind="stable").tolist()


def symmetric(W0: Array, a: Array, time_per_step: float, rank: int | None = None) -> Arrivals:
    """First times at which w_pp reaches 0.9 (`theory.majors`); the time of eq 4.3 is 2 x steps x time_per_step."""
    majors, unit = theory.majors(W0, a, LEVEL, rank), 2 * time_per_step
    return Arrivals(majors.alone / unit, majors.delay / unit, majors.times / unit)


def one_layer(W0: Array, a: Array, mu: Array, time_per_step: float) -> Arrivals:
    """Starts of the final stretches of r_k = f_k / mu_k >= 0.9 on Theorem 4.1's trajectory; growth alone: log 10 / a_k.

    W0 is (s, s) or larger. A concept with mu_k = 0 has no r_k, and one with a_k = 0 does not move: both never arrive.
    """
    with np.errstate(divide="ignore"):
        alone = np.where((a > 0) & (mu > 0), np.log(1 / (1 - LEVEL)) / a, np.inf)
    times = np.array([_final_stretch(k, W0, a, mu) if np.isfinite(alone[k]) else np.inf for k in range(len(a))])
    with np.errstate(invalid="ignore"):
        delay = np.where(np.isinf(alone), 0.0, times - alone)
    return Arrivals(alone / time_per_step, delay / time_per_step, times / time_per_step)


def _final_stretch(k: int, W0: Array, a: Array, mu: Array) -> float:
    """The last time at which Theorem 4.1's r_k rises through 0.9, 0 if it is never below."""
    weights = W0[k, : len(a)] * mu / mu[k]
    weights[k] -= 1

    def missing(time: Array | float) -> Array:
        """What r_k lacks of LEVEL at these times: 0.9 - r_k."""
        return LEVEL - 1 - np.exp(-np.multiply.outer(time, a)) @ weights

    # Beyond `end` the sum of all decaying terms is below 0.1; a direction without signal must have no weight.
    moving = weights != 0
    slowest, size = a[moving].min(initial=a[k]), np.abs(weights).sum()
    if slowest <= 0:
        return np.inf
    end = np.log(max(size / (1 - LEVEL), 1.0)) / slowest
    grid = _GRID * end
    below = np.flatnonzero(missing(grid) > 0)
    if not len(below):
        return 0.0
    from scipy.optimize import root_scalar

    last = int(below[-1])
    # With equal a_p the grid ends at the root itself, and rounding decides on which side.
    if last + 1 == len(grid) or float(missing(grid[last + 1])) >= 0:
        return float(grid[min(last + 1, len(grid) - 1)])
    return float(root_scalar(lambda time: float(missing(time)), bracket=(grid[last], grid[last + 1])).root)


def first_crossing(steps: Array, w: Array) -> Array:
    """First step at which each column of w, (T, s), reaches 0.9; infinite if it never does.

    Between two records the logit is a straight line in steps, as it is for a major entry on its own.
    """
    reached = w >= LEVEL
    at = np.where(reached.any(axis=0), reached.argmax(axis=0), len(steps))
    return _between(steps, w, at, lambda x: np.log(x / (1 - x)))


def final_crossing(steps: Array, r: Array) -> Array:
    """Step at which the final stretch of each column of r, (T, s), at 0.9 or above starts; infinite if it ends below.

    Between two records log(1 - r) is a straight line in steps, as it is for growth alone.
    """
    below = ~(r >= LEVEL)
    at = np.where(below.any(axis=0), len(steps) - below[::-1].argmax(axis=0), 0)
    return _between(steps, r, at, lambda x: np.log(1 - x))


def _between(steps: Array, values: Array, at: Array, straighten: Callable[[Array], Array]) -> Array:
    """Steps of the crossings, (s,), between records `at` - 1 and `at`, (s,) (T: there is none).

    `straighten` maps values to a scale on which they are a straight line in steps.
    """
    crossings = np.full(values.shape[1], np.inf)
    for column, record in enumerate(at):
        if record == 0:
            crossings[column] = steps[0]
        elif record < len(steps):
            low, high = values[record - 1, column], values[record, column]
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = straighten(np.array([low, LEVEL, high]))
            if not np.isfinite(ends).all():  # outside of (0, 1): a straight line of the values themselves
                ends = np.array([low, LEVEL, high])
            share = (ends[1] - ends[0]) / (ends[2] - ends[0]) if np.isfinite(low) else 1.0
            crossings[column] = steps[record - 1] + share * (steps[record] - steps[record - 1])
    return crossings


def order_right(predicted: Array, measured: Array) -> bool | None:
    """Whether concepts arrive in the predicted order; None if that is open.

    A pair is open if its predicted or measured times are equal, or if neither concept has arrived. One pair in the
    wrong order makes the order wrong; else one open pair leaves it open.
    """
    pairs: list[bool | None] = []
    for i in range(len(predicted)):
        for j in range(i + 1, len(predicted)):
            never = np.isinf(measured[i]) and np.isinf(measured[j])
            equal = predicted[i] == predicted[j] or abs(predicted[i] - predicted[j]) <= 1e-9 * predicted[i]
            known = not (never or equal or measured[i] == measured[j])
            pairs.append(bool((predicted[i] < predicted[j]) == (measured[i] < measured[j])) if known else None)
    if False in pairs:
        return False
    return None if None in pairs or not pairs else True


def ratios(predicted: Array, measured: Array, end: float | Array) -> Array:
    """measured / predicted of each concept, (s,); NaN where the two cannot be compared.

    The ratio is infinite for a concept that should have arrived by the last step, `end`, and has not; it is 0 for one
    that has arrived and never should. It is NaN for a concept that is predicted after `end`, or never, and has not
    arrived, and for one that is predicted and measured at step 0.
    """
    open_ = (np.isinf(measured) & (predicted > end)) | ((predicted == 0) & (measured == 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(open_, np.nan, measured / predicted)


def near(ratio: Array) -> Array:
    """Whether measurements over predictions lie within 10 % of 1."""
    return np.abs(ratio - 1) <= TENTH


def within_tenth(ratio: Array) -> float | None:
    """The share of the comparable times that lie within 10 % of the prediction; None if there is none."""
    compared = ratio[~np.isnan(ratio)]
    return float(np.mean(near(compared))) if len(compared) else None
