"""The detector `emergence`: which skills a net learns, when, and what the extended multilinear model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector

from .. import theory
from ..calibration import calibrated, crossing

LEARNED = 0.5
"""R_k/S above which a skill is learned."""
AHEAD = 0.3
"""A rarer skill whose R/S is larger by more violates the order."""
FITTED = 1e-3
"""Mean square error on the training set over S^2 below which it is fitted."""
ORDER = ("all learned", "some learned", "none learned", "unfitted", "diverged")
FEWEST = 5
"""Records that a slope is fitted to, at least."""
Array = np.ndarray
_LIST = pa.list_(pa.float64())


class Emergence(RowDetector):
    """What became of each skill, beside (5.2), (5.5), its mean law and (5.9), calibrated on one skill.

    Predictions that need a calibration are null where none was made: it was for inputs of 16 bits.
    """

    name: ClassVar[str] = "emergence"
    version: ClassVar[str] = "2"
    experiments: ClassVar[tuple[str, ...]] = ("parity_net",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "strength", "train_loss", "counts", "bottleneck", "skills", "m", "bits", "alpha", "target",
        "width", "sigma", "lr", "loss_factor", "optimizer", "schedule",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "outcome": Column(
            pa.string(),
            "which skills have R_k/S above 1/2 at the end; unfitted: the training set is not fitted to 1e-3 S^2, "
            "whatever was learned; diverged: the error left its bounds",
            order=ORDER,
        ),
        "skills_learned": Column(pa.int64(), "number of skills with R_k/S above 1/2 at the end"),
        "share_learned": Column(pa.float64(), "skills with R_k/S above 1/2 at the end, over all skills"),
        "learns_all": Column(pa.bool_(), "every skill has R_k/S above 1/2 at the end"),
        "order_violated": Column(pa.bool_(), "at the end a rarer skill is ahead of a more frequent one by over .3"),
        "final_strength": Column(_LIST, "R_k/S of each skill at the end"),
        "emergence_times": Column(_LIST, "when R_k/S of each skill first reaches 1/2; null: never in the run", "steps"),
        "predicted_emergence_times": Column(
            _LIST, "this time by (5.2), calibrated on one skill; null where it is silent", "steps"
        ),
        "inverse_b2": Column(_LIST, "1/B^2 that (5.2) needs to meet the time of each skill; null: no such time"),
        "decouplings": Column(_LIST, "t_k p_k/(t_1 p_1) of each skill, 1 where skills do not meet; null: no such time"),
        "decoupling": Column(pa.float64(), "t_2 p_2/(t_1 p_1), the second skill's delay; null: not within the run"),
        "rise_ratio": Column(pa.float64(), "t(.95)/t(.05) of the first skill; null: it does not get there"),
        "growth_constant": Column(
            pa.float64(),
            "g of the first skill: 2 c S over the slope of ln R in the time of the flow, by least squares over R/S "
            "from .01 to .1; null with fewer than five records there",
        ),
        "predicted_growth_constant": Column(pa.float64(), "g of the single unit that grows fastest from a small start"),
        "predicted_rise_ratio": Column(pa.float64(), "this ratio by (5.2), in which no calibration enters"),
        "predicted_printed": Column(_LIST, "R_k/S by (5.5) as printed, from the skill's own samples; null without any"),
        "predicted_mean": Column(_LIST, "R_k/S by the mean of the model behind (5.5), min(1, d_k/D_c)"),
        "predicted_width": Column(_LIST, "R_k/S by (5.9); null where the width is not scarce"),
    }
    kinds = drawn_as(
        outcomes, "outcome", "skills_learned", "share_learned", "learns_all", "order_violated", "decoupling",
        "rise_ratio", "growth_constant",
    )  # fmt: skip

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        return {**_predicted(row), **_measured(row)}


def _predicted(row: Row) -> dict[str, Any]:
    """The columns that follow from parameters and the counts of the training set."""
    outcomes: dict[str, Any] = {}
    p, start = theory.frequencies(row["alpha"], row["skills"]), theory.start_strength(row["sigma"])
    constants = calibrated(row["m"], row["bits"])
    if _is_descent(row):
        outcomes["predicted_growth_constant"] = theory.growth_constant(row["m"])
        outcomes["predicted_rise_ratio"] = theory.sharpness(row["target"], start)
    if constants is None:
        return outcomes
    if _is_descent(row):
        arguments = row["loss_factor"], row["lr"], row["target"], start
        outcomes["predicted_emergence_times"] = theory.time_to(0.5, p, constants.inverse_b2, *arguments).tolist()
    if row["counts"] is not None:
        outcomes["predicted_printed"] = theory.strength_in_data(row["counts"], constants.printed_d_c).tolist()
        outcomes["predicted_mean"] = theory.mean_strength_in_data(row["counts"], constants.d_c).tolist()
    if row["bottleneck"] == "width":
        outcomes["predicted_width"] = theory.strength_in_width(row["width"], constants.n_c, row["skills"]).tolist()
    return outcomes


def _is_descent(row: Row) -> bool:
    """Whether (5.2) speaks of the training: gradient steps at one rate, on fresh points."""
    return row["bottleneck"] == "time" and row["optimizer"] == "sgd" and row["schedule"] == "constant"


def _measured(row: Row) -> dict[str, Any]:
    """The columns that are read off the curves."""
    if row["status"] not in ("ok", "diverged") or not row["strength"] or not row["step"]:
        return {}
    strength, steps = np.array(row["strength"], dtype=np.float64), row["step"]
    times = [crossing(steps, strength[:, k].tolist(), LEARNED) for k in range(row["skills"])]
    outcomes: dict[str, Any] = {"emergence_times": times}
    if _is_descent(row):
        p, start = theory.frequencies(row["alpha"], row["skills"]), theory.start_strength(row["sigma"])
        arguments = row["loss_factor"], row["lr"], row["target"], start
        waits = [None if t is None else t * share for t, share in zip(times, p.tolist(), strict=True)]
        outcomes["inverse_b2"] = [None if w is None else theory.inverse_b2(w, 1.0, *arguments) for w in waits]
        outcomes["decouplings"] = [None if w is None or not waits[0] else w / waits[0] for w in waits]
        outcomes["decoupling"] = outcomes["decouplings"][1] if len(waits) > 1 else None
        outcomes["growth_constant"] = _growth_constant(strength[:, 0], np.array(steps), p[0], row)
        early, late = (crossing(steps, strength[:, 0].tolist(), level) for level in (0.05, 0.95))
        outcomes["rise_ratio"] = late / early if early and late else None
    if row["status"] == "diverged":
        return {**outcomes, "outcome": "diverged"}
    final = strength[-1]
    learned = int((final > LEARNED).sum())
    outcomes |= {
        "skills_learned": learned,
        "share_learned": learned / row["skills"],
        "learns_all": learned == row["skills"],
        "order_violated": any(rarer > frequent + AHEAD for frequent, rarer in combinations(final, 2)),
        "final_strength": final.tolist(),
    }
    if row["counts"] is not None and row["train_loss"] is not None:
        unit = row["loss_factor"] / 2 * row["target"] ** 2
        if row["train_loss"][-1] >= FITTED * unit:
            return {**outcomes, "outcome": "unfitted"}
    outcomes["outcome"] = ORDER[0] if learned == row["skills"] else ORDER[1] if learned else ORDER[2]
    return outcomes


def _growth_constant(strength: Array, steps: Array, p: float, row: Row) -> float | None:
    """g from the growth of the first skill between a hundredth and a tenth of S."""
    reached = np.flatnonzero(strength >= 0.1)
    first = np.flatnonzero(strength[: reached[0]] < 0.01) if len(reached) else []
    rise = slice(first[-1] + 1, reached[0]) if len(first) else slice(0, 0)
    if rise.stop - rise.start < FEWEST:
        return None
    slope = np.polyfit(steps[rise] * row["lr"] * p, np.log(strength[rise]), 1)[0]
    return 2 * row["loss_factor"] * row["target"] / slope
