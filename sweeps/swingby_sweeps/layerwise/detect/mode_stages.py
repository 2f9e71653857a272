"""The detector `mode_stages`: when each mode emerges and saturates, how far consecutive modes overlap, and theory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector
from swingby_sweeps.dynamics.overlap import WITHIN, stages

from .. import theory
from . import times
from .times import EMERGED, FULL, Outcomes, finite, known

Array = np.ndarray
LIST, TIME = pa.list_(pa.float64()), "time of the flow"
NEEDS = ("status", "system", "target", "step", "lr", "strength", "start_weights")


class ModeStages(RowDetector):
    """Times, overlaps and stages of `modes`, beside what closed forms say of the cell's own start.

    Modes are taken in the order of falling E_i, those of the parity net as alpha, beta, gamma. Times that lie beyond
    the run are null, and so are outcomes that hang on them. Theory is silent on the parity net, on modes that start
    above a level, and on more than two layers of unequal weights. Overlaps of modes that are not logistic are null
    where records lie too far apart; a time that lies between two such records is told by them to their distance, and is
    not held against theory. A run that diverged has a fate, and no times.
    """

    name: ClassVar[str] = "mode_stages"
    version: ClassVar[str] = "4"
    experiments: ClassVar[tuple[str, ...]] = ("modes",)
    needs: ClassVar[tuple[str, ...]] = (*NEEDS, "layers", "moment", "second_moments", "alpha", "start")
    required = NEEDS
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fate": Column(
            pa.string(),
            "saturated: every mode at 95 % of its target; unfinished: some have emerged (5 %); waiting: none has",
            order=("saturated", "unfinished", "waiting", "diverged"),
        ),
        "emergent_time": Column(LIST, "first time at which a mode is at 5 % of its target", TIME),
        "half_time": Column(LIST, "first time at which a mode is at 50 %", TIME),
        "saturation_time": Column(
            LIST, "time of a mode from 5 % to 95 %; null where records lie too far apart to tell it", TIME
        ),
        "predicted_emergent_time": Column(LIST, "emergent_time in closed form, (3.12)", TIME),
        "predicted_half_time": Column(LIST, "half_time in closed form", TIME),
        "predicted_saturation_time": Column(LIST, "saturation_time in closed form, (3.12)", TIME),
        "delay": Column(LIST, "share of the time to 95 % that a mode is below 5 %"),
        "law_error": Column(
            pa.float64(),
            "largest relative difference between the times to 5, 50 and 95 % and closed forms, over modes; null where "
            "records lie too far apart to tell any",
        ),
        "in_order": Column(
            pa.bool_(),
            "modes are half learned in the order of E_i; null where two are equal; of the parity net: alpha, beta, "
            "gamma",
        ),
        "pair_overlaps": Column(LIST, "eps* of consecutive modes: strength of the later one when both add to 1"),
        "predicted_pair_overlaps": Column(LIST, "eps* in closed form"),
        "overlap": Column(pa.float64(), "eps* of the first two modes", title="overlap of the first two modes"),
        "predicted_overlap": Column(pa.float64(), "eps* of the first two modes in closed form"),
        "printed_overlap": Column(
            pa.float64(), "eps of (3.13) as printed, of the first two modes; null but for two layers"
        ),
        "stages": Column(pa.int64(), "pairs with eps* of at most 0.05, from the first pair on without a gap"),
        "predicted_stages": Column(pa.int64(), "stages in closed form"),
        "expected_stages": Column(
            pa.float64(),
            "(alpha + 1)/2 ln c / ln 19 - 1/2, c = S / start^2 - 1: about the number of stages, by its whole part, of "
            "two equal layers where E_i falls as i^-(alpha + 1); null elsewhere",
        ),
        "stage_like": Column(pa.bool_(), "the first two modes overlap by 0.05 at most", title="stage-like training"),
    }
    kinds = drawn_as(
        outcomes, "fate", "law_error", "in_order", "overlap", "predicted_overlap", "stages", "predicted_stages",
        "expected_stages", "stage_like",
    )  # fmt: skip

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        if row["status"] != "ok":
            return {"fate": "diverged"} if row["status"] == "diverged" else {}
        r, t = np.array(row["strength"], dtype=float), np.array(row["step"]) * row["lr"]
        diagonal = row["system"] == "diagonal"
        if diagonal and (row["moment"] is None or row["layers"] is None):
            return {}
        E = np.array(row["moment"] if diagonal else [np.nan] * 3, dtype=float)
        order = np.argsort(-E, kind="stable") if diagonal else np.arange(3)
        r, E = r[:, order], E[order]
        w = np.array(row["start_weights"], dtype=float).reshape(len(E), row["layers"])[order] if diagonal else None
        measured, resolved = _times(t, r, w)
        logistic = diagonal and row["layers"] == 2
        overlaps = np.array([times.overlap(one, other, logistic) for one, other in pairwise(r.T)])
        fates = ("saturated", "unfinished", "waiting")
        outcomes: Outcomes = {
            "fate": fates[0 if np.isfinite(measured[2]).all() else 1 if np.isfinite(measured[0]).any() else 2],
            "in_order": None if len(E) < 2 or bool(np.any(np.diff(E) == 0)) else times.in_order(measured[1]),
            **_time_columns(measured, resolved),
            **_pairs(overlaps),
        }
        with np.errstate(divide="ignore", invalid="ignore"):
            outcomes["delay"] = finite(measured[0] / measured[2])
        if w is not None:
            outcomes |= _predicted(np.where(resolved, measured, np.nan), E, row["target"], w)
            if row["layers"] == 2:
                outcomes |= _of_two_layers(row, E, w)
        return outcomes


def _of_two_layers(row: Row, E: Array, w: Array) -> Outcomes:
    """What [T] prints for the first two modes, and the estimate of the number of stages."""
    outcomes: Outcomes = {}
    if len(E) > 1:
        c = row["target"] / w[0].prod() - 1
        with np.errstate(divide="ignore"):
            outcomes["printed_overlap"] = float(theory.printed_overlap(E[0], E[1], c))
    if row["second_moments"] is None and row["alpha"] is not None and row["start"] is not None:
        outcomes["expected_stages"] = float(theory.pairs_expected(row["alpha"], row["target"] / row["start"] ** 2 - 1))
    return outcomes


def _times(t: Array, r: Array, w: Array | None) -> tuple[Array, Array]:
    """When each mode is at the three levels, and whether records tell it: (3, K) each; w None: of the parity net."""
    if w is None:
        at = np.array([[times.passing(t, curve, level) for curve in r.T] for level in (EMERGED, 0.5, FULL)])
        return at, np.full(at.shape, True)
    pairs = [
        [
            times.mode_passing(t, curve, level, len(layers), np.ptp(layers) == 0)
            for curve, layers in zip(r.T, w, strict=True)
        ]
        for level in (EMERGED, 0.5, FULL)
    ]
    return np.array([[at for at, _ in row] for row in pairs]), np.array(
        [[resolved for _, resolved in row] for row in pairs]
    )


def _time_columns(at: Array, resolved: Array | None = None, prefix: str = "") -> Outcomes:
    """The columns of times at the three levels, (3, K); no saturation time where one of its ends is not told."""
    with np.errstate(invalid="ignore"):
        between = at[2] - at[0] if resolved is None else np.where(resolved[0] & resolved[2], at[2] - at[0], np.nan)
        values = {"emergent_time": at[0], "half_time": at[1], "saturation_time": between}
    return {prefix + name: finite(value) for name, value in values.items()}


def _pairs(overlaps: Array, prefix: str = "") -> Outcomes:
    """The columns of overlaps, (K - 1,)."""
    if not len(overlaps):
        return {f"{prefix}pair_overlaps": []}
    first = None if np.isnan(overlaps[0]) else float(overlaps[0])
    outcomes: Outcomes = {
        f"{prefix}pair_overlaps": known(overlaps),
        f"{prefix}overlap": first,
        f"{prefix}stages": stages(overlaps),
    }
    return outcomes if prefix else {**outcomes, "stage_like": None if first is None else first <= WITHIN}


def _predicted(measured: Array, E: Array, S: float, w: Array) -> Outcomes:
    with np.errstate(invalid="ignore", divide="ignore"):
        at = np.array(
            [theory.mode_time(np.array([EMERGED, 0.5, FULL]), e, S, weights) for e, weights in zip(E, w, strict=True)]
        ).T
        at = np.where(at > 0, at, np.nan)
        errors = np.abs(measured / at - 1)[np.isfinite(measured) & np.isfinite(at)]
        pairs = range(len(E) - 1)
        overlaps = np.array([theory.mode_overlap(E[i : i + 2], S, w[i : i + 2]) for i in pairs])
    return {
        **_time_columns(at, prefix="predicted_"),
        **_pairs(overlaps, "predicted_"),
        "law_error": float(errors.max()) if len(errors) else None,
    }
