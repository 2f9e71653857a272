"""Times at which strengths pass a level, overlaps of two of them, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from .. import theory

Array = np.ndarray
Outcomes = dict[str, Any]
EMERGED, FULL = 0.05, 0.95
"""Strengths from which on a mode has emerged, and is saturated ([T] Fig 3.4)."""
COARSE = 1.5
"""The most that logit(r) may move between two records for an overlap between them to be told to about 0.01."""
ROUNDED = 1e-10
"""A strength that is nearer to 1 has lost the digits that say how long ago it came there."""


def passing(t: Array, r: Array, level: float) -> float:
    """The first time at which r (T,) is at `level` or above; infinite if never, 0 if from the start.

    Between records r is taken to be logistic in time, which is exact for two equal layers.
    """
    above = np.flatnonzero(r >= level)
    if not len(above):
        return np.inf
    place = int(above[0])
    if place == 0:
        return 0.0
    ends = r[[place - 1, place]]
    if ends[0] > 0 and ends[1] < 1:
        ends, level = logit(ends), logit(level)
    return float(t[place - 1] + (t[place] - t[place - 1]) * (level - ends[0]) / (ends[1] - ends[0]))


def mode_passing(t: Array, r: Array, level: float, layers: int, equal: bool) -> tuple[float, bool]:
    """`passing` of a mode of so many layers, and whether records tell this time or only that it lies between two.

    Between records r is taken to run as a mode of `equal` weights does, which is exact for one: of other modes, and of
    those that are full at the next record, a time is told where logit(r) moves by `COARSE` at most.
    """
    above = np.flatnonzero(r >= level)
    if not len(above) or above[0] == 0:
        return passing(t, r, level), True
    before, after = (float(value) for value in r[above[0] - 1 : above[0] + 1])
    fine = before > 0 and after < 1 and bool(logit(after) - logit(before) <= COARSE)
    resolved = fine or (equal and (before > 0 or layers == 1) and after < 1 - ROUNDED)
    if not resolved:
        return passing(t, r, level), False
    start, end = t[above[0] - 1], t[above[0]]
    at, whole = theory.time_to(np.array([level, after]), 1.0, 1.0, before ** (1 / layers), layers)
    return float(start + (end - start) * at / whole), True


def overlap(r1: Array, r2: Array, logistic: bool) -> float:
    """The strength r2 of the later of two modes at the moment of r1 + r2 = 1; NaN if it cannot be told.

    It lies outside the run, or between two records over which a mode that is not `logistic` in time moves too far.
    """
    with np.errstate(divide="ignore"):
        x, y = (logit(np.clip(r, 0, 1 - 1e-16)) for r in (r1, r2))
        above = np.flatnonzero(x + y >= 0)
    if not len(above) or above[0] == 0:
        return np.nan
    place = int(above[0])
    moved = max(abs(curve[place] - curve[place - 1]) for curve in (x, y))
    if not moved < (np.inf if logistic else COARSE):
        return np.nan
    share = -(x + y)[place - 1] / ((x + y)[place] - (x + y)[place - 1])
    return float(expit(y[place - 1] + share * (y[place] - y[place - 1])))


def in_order(times: Array) -> bool | None:
    """Whether times ascend; infinite: not yet. None where two are still to come, and nothing speaks against."""
    if bool(np.any(times[1:] < np.maximum.accumulate(times[:-1]))):
        return False
    return None if np.isinf(times).sum() > 1 else True


def known(values: Array) -> list[float | None]:
    """Numbers as a list, NaN as null."""
    return [None if np.isnan(value) else float(value) for value in values]


def finite(values: Array) -> list[float | None]:
    """Numbers as a list, what is not finite as null."""
    return [float(value) if np.isfinite(value) else None for value in values]
