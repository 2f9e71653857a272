"""The detector `unconstrained_fate`: what becomes of unconstrained features, and when they have collapsed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector
from swingby_sweeps.dynamics.metrics import COLLAPSED

from .. import measures, theory
from ..params import UnconstrainedParams

Array = np.ndarray
NC1, NC2, NC3 = (COLLAPSED[name] for name in ("nc1", "nc2", "nc3"))
"""Values of the three below which features have collapsed."""
DEAD = 0.01
"""Share of sqrt(m) below which a mode is dead, or has not begun."""
MOVED = 0.01
"""Share of sqrt(m) by which no mode may move in the last half of the run."""
RISES, VANISHED = 1.01, 1e-12
"""A dead mode rises if it gains this factor in the last half of the run, unless it is below VANISHED sqrt(m)."""
FATES = ("collapsed", "partial", "low_rank", "constant", "unresolved", "diverged")
_NUMBER = pa.float64()
_READ = ("classes", "points_per_class", "imbalance", "width", "decay_w", "decay_h")


class UnconstrainedFate(RowDetector):
    """The end of a run beside the global minimum, and the time of collapse beside the law of small starts."""

    name: ClassVar[str] = "unconstrained_fate"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("unconstrained",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "time_per_step", "strongest", "weakest", "nc1", "nc2", "nc3", "predicted_nc1",
        "predicted_nc2", "final_strengths", "unbalance", "final_nc3_printed", *_READ,
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fate": Column(
            pa.string(),
            f"collapsed: NC1 < {NC1}, NC2 < {NC2} and NC3 < {NC3} at the end; unresolved: the largest or the smallest "
            f"of the C singular values moved by more than {MOVED} sqrt(m) in the last half of the run, or all are "
            f"below {DEAD} sqrt(m) and the largest rises; constant: all are; low_rank: some are; partial: none is, and "
            "the features have not collapsed",
            order=FATES,
        ),
        "predicted_fate": Column(
            pa.string(),
            "of the global minimum: constant, low_rank, collapsed, or partial, where classes of unequal size are no "
            "simplex; null without decay, and where the width cuts the rank",
            order=FATES,
            title="fate of the minimum",
        ),
        "rank": Column(pa.int64(), f"singular values of W H above {DEAD} sqrt(m) at the end; null where unresolved"),
        "predicted_rank": Column(pa.int64(), "singular values sqrt(m_c) - N sqrt(l_W l_H) above 0, at most the width"),
        "off_end": Column(
            _NUMBER,
            "largest distance of a singular value at the end from sqrt(m_c) - N sqrt(l_W l_H), else 0, over sqrt(m); "
            "null where unresolved",
        ),
        "decay_ratio": Column(
            _NUMBER, "N sqrt(l_W l_H) over sqrt(m) of the largest class; nothing is learned from 1 on"
        ),
        "collapse_time": Column(
            _NUMBER,
            "flow time from which on NC1, NC2 and NC3 stay below their thresholds, between records on a line of the "
            "logarithm; null unless collapsed, or where they are below from the start",
            "flow time",
            title="time of collapse",
        ),
        "collapse_decades": Column(
            _NUMBER,
            "log10 of collapse_time over N/sqrt(m), in which a small start grows by e",
            title="log10 of the time",
        ),
        "predicted_collapse_time": Column(
            _NUMBER, "this time by the closed form of small starts, in which NC3 = 0", "flow time"
        ),
        "off_balance": Column(
            _NUMBER,
            "largest distance of |W^T W - H H^T| over its start from exp(-2 l t); null where l_W and l_H differ",
        ),
        "off_printed_nc3": Column(
            _NUMBER, "distance of NC3 with the mean of W kept, as (D.8) prints it, from sqrt(2 - 2 sqrt((C - 1)/C))"
        ),
    }
    kinds = drawn_as(
        outcomes, "fate", "predicted_fate", "rank", "off_end", "collapse_time", "collapse_decades",
        "predicted_collapse_time",
    )  # fmt: skip

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        outcomes: dict[str, Any] = {}
        p = None
        if all(row[name] is not None for name in _READ if name != "decay_h"):
            p = UnconstrainedParams(**{name: row[name] for name in _READ})
            outcomes |= _minimum(p)
        if row["status"] == "diverged":
            return {**outcomes, "fate": "diverged"}
        if p is None or any(not row[name] for name in ("step", "strongest", "weakest", "nc1", "nc2", "nc3")):
            return outcomes
        step, strongest, weakest = (np.array(row[name], dtype=float) for name in ("step", "strongest", "weakest"))
        margin = _margin(row["nc1"], row["nc2"], row["nc3"])
        if not len(step) == len(strongest) == len(weakest) == len(margin):
            raise ValueError(f"cell {row['cell_id']}: curves of unequal length")
        root = float(np.sqrt(p.sizes[0]))
        fate = _fate(margin[-1], *_last_half(step, strongest / root, weakest / root))
        outcomes["fate"] = fate
        if fate != "unresolved" and row["final_strengths"]:
            strengths = np.array(row["final_strengths"], dtype=float)
            ends = theory.end_strengths(p.sizes, *p.decays, p.width)
            outcomes["rank"] = int((strengths >= DEAD * root).sum())
            outcomes["off_end"] = float(np.abs(strengths - ends).max() / root)
        if row["time_per_step"] is None:
            return outcomes
        t = step * row["time_per_step"]
        if row["unbalance"] and row["unbalance"][0] and p.decays[0] == p.decays[1]:
            off = np.array(row["unbalance"], dtype=float) / row["unbalance"][0] - np.exp(-2 * p.decay_w * t)
            outcomes["off_balance"] = float(np.abs(off).max())
        if fate == "collapsed":
            if row["final_nc3_printed"] is not None:
                outcomes["off_printed_nc3"] = abs(row["final_nc3_printed"] - float(theory.printed_nc3(p.classes)))
            outcomes["collapse_time"] = when = _stays_below(t, margin)
            if when is not None:
                outcomes["collapse_decades"] = math.log10(when * root / p.total)
            if row["predicted_nc1"] and row["predicted_nc2"]:
                law = _margin(row["predicted_nc1"], row["predicted_nc2"], [0.0] * len(t))
                outcomes["predicted_collapse_time"] = _stays_below(t, law)
        return outcomes


def _minimum(p: UnconstrainedParams) -> dict[str, Any]:
    """What the global minimum says."""
    l_w, l_h = p.decays
    outcomes: dict[str, Any] = {
        "decay_ratio": float(theory.threshold(p.total, l_w, l_h)) / p.sizes[0] ** 0.5,
        "predicted_rank": int((theory.end_strengths(p.sizes, l_w, l_h, p.width) > 0).sum()),
    }
    if l_w > 0 and l_h > 0:
        rank = outcomes["predicted_rank"]
        if 0 < rank < p.classes:
            outcomes["predicted_fate"] = "low_rank" if rank < p.width else None
        elif rank == 0:
            outcomes["predicted_fate"] = "constant"
        else:
            W, means = theory.end_state(p.sizes, l_w, l_h, p.width)
            simplex = measures.gram_collapse(means @ means.T) < NC2 and measures.alignment(W, means) < NC3
            outcomes["predicted_fate"] = "collapsed" if simplex else "partial"
    return outcomes


def _margin(nc1: Any, nc2: Any, nc3: Any) -> Array:
    """The largest of the three in units of its threshold, (T,); infinite where one is null."""
    curves = [np.array(curve, dtype=float) / at for curve, at in ((nc1, NC1), (nc2, NC2), (nc3, NC3))]
    return np.max([np.where(np.isnan(curve), np.inf, curve) for curve in curves], axis=0)


def _last_half(step: Array, strongest: Array, weakest: Array) -> tuple[float, float, float, float]:
    """The two at the end, how far either moved since half of the run, and the factor that the first gained."""
    half = int(np.searchsorted(step, step[-1] / 2))
    moved = max(abs(float(curve[-1] - curve[half])) for curve in (strongest, weakest))
    return float(strongest[-1]), float(weakest[-1]), moved, float(strongest[-1] / max(strongest[half], 1e-300))


def _fate(margin: float, strongest: float, weakest: float, moved: float, gain: float) -> str:
    dead = strongest < DEAD
    if margin < 1 and not dead:
        return "collapsed"
    if moved > MOVED or (dead and gain > RISES and strongest > VANISHED):
        return "unresolved"
    return "constant" if dead else "low_rank" if weakest < DEAD else "partial"


def _stays_below(t: Array, margin: Array) -> float | None:
    """From when on a curve stays below 1; None where it does from its first record on, or does not at its last."""
    above = np.flatnonzero(~(margin < 1))
    if not len(above) or above[-1] == len(t) - 1:
        return None
    i = int(above[-1])
    with np.errstate(divide="ignore"):
        high, low = np.log(margin[i]), np.log(margin[i + 1])
    if not np.isfinite(high) or not np.isfinite(low):
        return float(t[i + 1])
    return float(t[i] + (t[i + 1] - t[i]) * high / (high - low))
