"""The detector `skill_stages`: are skills learned one after another, as [T] 4.2.4 assumes, and how fast (B.8)?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Array, Row, RowDetector, curve, known
from swingby_sweeps.dynamics.overlap import WITHIN, stages

from .. import theory
from .rows import PARAMETERS, REQUIRED, lag, pace

_NUMBERS = {
    "pair_overlap": "R_2/S at which R_1 + R_2 = S, between records; null where the curve does not show it",
    "predicted_overlap": "this overlap by theory",
    "growth_ratio": "median of dR_1/dT over 2 eta p_1 R_1 (S - R_1), the last form of [T] B.8, by differences",
    "printed_growth_ratio": "what the first form of B.8 as printed gives for this ratio, (1 - eta)/2",
    "change_times_k": "median of k dL/L as skill k is learned after all before it, from consecutive widths",
    "predicted_change_times_k": "this median by [T] 4.12, with the minus that it lacks",
}


class Stages(RowDetector):
    """Stage-like training and the rate of the first skill (over time), the change of the loss a skill (over width)."""

    name: ClassVar[str] = "skill_stages"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)
    needs: ClassVar[tuple[str, ...]] = ("x", "loss", "strength", *PARAMETERS)
    required = ("x", "loss", *REQUIRED)
    outcomes: ClassVar[Mapping[str, Column]] = {
        **{name: Column(pa.float64(), meaning) for name, meaning in _NUMBERS.items()},
        "stages": Column(
            pa.int64(),
            f"consecutive pairs from the first on with an overlap of at most {WITHIN}, of the nine recorded; null "
            "where the curve does not show an overlap that decides",
        ),
        "predicted_stages": Column(pa.int64(), "this number by theory, of all pairs"),
    }
    kinds = drawn_as(outcomes, *_NUMBERS, "stages", "predicted_stages")

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one curve."""
        if row["bottleneck"] == "width":
            return of_width(row)
        c = lag(row)
        if row["bottleneck"] != "time" or c == 0:
            return {}
        outcomes = {
            "predicted_stages": theory.stages(row["alpha"], c, WITHIN),
            "predicted_overlap": theory.overlap(row["alpha"], c, 1),
            "printed_growth_ratio": (1 - row["lr"]) / 2,
        }
        if row["strength"] is None:
            return outcomes
        ratio = np.array(row["strength"], dtype=np.float64) / row["s"]
        overlaps = [overlap(one, next_) for one, next_ in zip(ratio.T[:-1], ratio.T[1:], strict=True)]
        return known(
            **outcomes,
            pair_overlap=overlaps[0] if overlaps else None,
            stages=stages(overlaps),
            growth_ratio=growth(row, curve(row["x"]), ratio[:, 0]),
        )


def overlap(one: Array, after: Array) -> float:
    """R_(k+1)/S where R_k + R_(k+1) = S, linear between records; NaN where the records do not reach it."""
    total = one + after
    if total[0] >= 1 or total[-1] < 1:
        return math.nan
    place = int(np.argmax(total >= 1))
    share = (1 - total[place - 1]) / (total[place] - total[place - 1])
    return float(after[place - 1] + share * (after[place] - after[place - 1]))


def growth(row: Row, times: Array, ratio: Array) -> float:
    """The median of dR/dT over its law where R is between a tenth and nine tenths of S; NaN below eight records.

    Differences over few records would be of the curvature, not of the rate.
    """
    inside = (ratio > 0.1) & (ratio < 0.9)
    if inside.sum() < 8:
        return math.nan
    p = theory.frequency(row["alpha"], row["skills"], 1)
    rate = np.gradient(ratio, times)[inside]
    return float(np.median(rate / (pace(row) * p * ratio[inside] * (1 - ratio[inside]))))


def of_width(row: Row) -> dict[str, Any]:
    """k dL/L over consecutive widths k - 1 and k."""
    x, first = np.unique(curve(row["x"]), return_index=True)
    loss, next_to = curve(row["loss"])[first], np.flatnonzero(np.diff(x) == 1)
    if not len(next_to):
        return {}
    k = x[next_to + 1]
    predicted = [at * theory.change_per_skill(row["alpha"], at, row["skills"]) for at in k]
    return known(
        change_times_k=float(np.median(k * (loss[next_to + 1] / loss[next_to] - 1))),
        predicted_change_times_k=float(np.median(predicted)),
    )
