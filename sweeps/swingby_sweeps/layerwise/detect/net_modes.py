"""The detector `net_modes`: when a linear net learns each mode, in which order, its fate, and what theory says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector

from .. import net_theory
from . import times
from .times import Outcomes, finite, known

Array = np.ndarray
LIST, TIME = pa.list_(pa.float64()), "time of the flow"
NEEDS = (
    "status", "width", "d", "rho", "input_spectrum", "init", "imbalance", "training_steps", "lr", "step", "strength",
    "effective_rank", "kernel_distance", "alignment", "alignment_alone",
)  # fmt: skip
ENOUGH = 3.0
"""A run this many times as long as the law's time of a mode was long enough for it."""


class NetModes(RowDetector):
    """Times, order and fate of the modes of `linear_net`, beside the law with Gram-Schmidt and the naive one.

    Both laws speak of white inputs and of starts without imbalance (init normal or balanced); elsewhere they are null.
    A mode that is not half learned by the end has no time: null. A law's time is infinite where it says never.
    """

    name: ClassVar[str] = "net_modes"
    version: ClassVar[str] = "2"
    experiments: ClassVar[tuple[str, ...]] = ("linear_net",)
    needs: ClassVar[tuple[str, ...]] = NEEDS
    required = NEEDS
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fate": Column(
            pa.string(),
            "learned: every mode is half learned or more; structural: as many as there are hidden units, which are too "
            "few; stalled: fewer, although theory has no time for the missing ones or the run was three times as long; "
            "unfinished: else",
            order=("learned", "structural", "stalled", "unfinished", "diverged"),
        ),
        "mode_time": Column(LIST, "first time at which a mode is half learned", TIME),
        "law_time": Column(
            LIST, "this time from the start, by R_ii of the Gram-Schmidt process; infinite: never", TIME
        ),
        "naive_time": Column(LIST, "this time from the start, by |m_i| alone ([T] A.2.3)", TIME),
        "law_error": Column(
            pa.float64(), "largest relative error of law_time; infinite where a mode is missing that should be there"
        ),
        "naive_delay": Column(LIST, "mode_time over naive_time"),
        "decoupling_error": Column(
            pa.float64(), "largest |mode_time / naive_time - 1|", title="error of the naive times"
        ),
        "order_follows_rho": Column(
            pa.bool_(), "modes are half learned in the order of rho; null where rho are equal, or two are still to come"
        ),
        "rank": Column(pa.int64(), "modes that are half learned at the end", title="modes learned"),
        "structural": Column(pa.bool_(), "fewer hidden units than modes"),
        "final_effective_rank": Column(pa.float64(), "D_eff at the end"),
        "final_kernel_distance": Column(pa.float64(), "kernel_distance at the end", title="kernel distance"),
        "predicted_kernel_distance": Column(
            pa.float64(), "final_kernel_distance from a vanishing start; init lambda on white inputs only"
        ),
    }
    kinds = drawn_as(
        outcomes, "fate", "law_error", "decoupling_error", "order_follows_rho", "rank", "structural",
        "final_effective_rank", "final_kernel_distance", "predicted_kernel_distance",
    )  # fmt: skip

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        rho, width = np.array(row["rho"]), row["width"]
        white = row["input_spectrum"] == 1
        outcomes: Outcomes = {"structural": width < len(rho)}
        if white and row["init"] == "lambda" and row["imbalance"] != 0:
            outcomes["predicted_kernel_distance"] = float(net_theory.kernel_distance(rho, row["imbalance"], row["d"]))
        law = naive = np.full(len(rho), np.nan)
        if white and row["init"] != "lambda":
            starts = (np.array(row[name], dtype=float) for name in ("alignment", "alignment_alone"))
            law, naive = (net_theory.time_to(0.5, rho, start) for start in starts)
            outcomes |= {"law_time": known(law), "naive_time": known(naive)}
        if row["status"] != "ok":
            return {**outcomes, "fate": "diverged"} if row["status"] == "diverged" else outcomes
        r, t = np.array(row["strength"], dtype=float), np.array(row["step"]) * row["lr"]
        at = np.array([times.passing(t, curve, 0.5) for curve in r.T])
        rank = int((r[-1] >= 0.5).sum())
        return {
            **outcomes,
            "fate": _fate(r[-1], width, law, t[-1]),
            "mode_time": finite(at),
            "rank": rank,
            "order_follows_rho": _order(at, rho, width),
            "final_effective_rank": row["effective_rank"][-1],
            "final_kernel_distance": row["kernel_distance"][-1],
            **_errors(at, law, naive, t[-1]),
        }


def _order(at: Array, rho: Array, width: int) -> bool | None:
    """Whether modes of different rho come in its order; those beyond the width never do, and say nothing."""
    possible = at[: max(width, int(np.isfinite(at).sum()))]
    if len(at) < 2 or bool(np.any(np.diff(rho) == 0)):
        return None
    return False if times.in_order(at) is False else times.in_order(possible)


def _fate(r: Array, width: int, law: Array, end: float) -> str:
    missing = r < 0.5
    if not missing.any():
        return "learned"
    if missing.sum() == len(r) - width:
        return "structural"
    expected = law[missing & (np.isinf(law) | (np.arange(len(r)) < width))]
    with np.errstate(invalid="ignore"):
        return "stalled" if bool(np.all(np.isinf(expected) | (ENOUGH * expected <= end))) else "unfinished"


def _errors(at: Array, law: Array, naive: Array, end: float) -> Outcomes:
    """What is told of both laws; they are NaN where they do not speak."""
    if np.isnan(law).any():
        return {}
    with np.errstate(invalid="ignore"):
        off = np.abs(at / law - 1)
        missing = np.isinf(at) & (ENOUGH * law <= end)
        compared = np.isfinite(at) | missing
        delay = np.where(np.isfinite(at), at / naive, np.nan)
    reached = np.isfinite(at).any()
    return {
        "law_error": float(np.where(missing, np.inf, off)[compared].max()) if compared.any() else None,
        "naive_delay": known(delay),
        "decoupling_error": float(np.nanmax(np.abs(delay - 1))) if reached else None,
    }
