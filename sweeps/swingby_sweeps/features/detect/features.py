"""The general detector `features`: the regime of a net's features, their collapse, and when they came and went.

It reads every experiment whose results have `kappa_cka`: the curves of `dynamics.metrics`, of a user's function as of
an experiment of this repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector
from swingby_sweeps.dynamics.metrics import COLLAPSED, CONTAINED, MINIMUM

Array = np.ndarray
REGIMES = ("minimum", "uneven", "extended", "rank_deficient", "unlearned", "constant", "diverged")
COLLAPSES = ("full", "partial", "none")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where outcomes of features change.

    Attributes:
        minimum: kappa below which features are in the minimum feature regime ([T] Definition 2, epsilon).
        contained: containment below which features are extended; it parts them from few strong features.
        constant: variance of the outputs, over that of the targets, below which a net has no function.
        learned: training accuracy below which a net is unlearned.
        late: share of the records, the last, whose spread about a line says how far kappa is told.
        least_late: number of these records at the least; with fewer records there is no spread.
        spreads: distance to `minimum`, in standard deviations about that line, from which a regime is certain.
        records: records in a row below `minimum` from which kappa has entered; fewer at the end of a run.
        window: neighbouring records whose medians are compared to tell a rise.
        leaves: rise of kappa above its least value from which features have left.
        collapsed: of each measure of neural collapse: the value below which it has collapsed.
    """

    minimum: float = MINIMUM
    contained: float = CONTAINED
    constant: float = 1e-3
    learned: float = 0.5
    late: float = 0.2
    least_late: int = 5
    spreads: float = 4.0
    records: int = 3
    window: int = 5
    leaves: float = 0.03
    collapsed: tuple[tuple[str, float], ...] = tuple(COLLAPSED.items())


_USUAL = Thresholds()
_BELOW = ", ".join(f"{name.upper()} < {value:g}" for name, value in _USUAL.collapsed)
_LAST = f"a straight line through the last {_USUAL.late:.0%} of the records (at least {_USUAL.least_late})"
_SHARE = (0.0, 1.0)


class Features(RowDetector):
    """Regime and collapse of the features at the end of a run, and when kappa fell and rose."""

    name: ClassVar[str] = "features"
    version: ClassVar[str] = "3"
    experiments: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("kappa_cka",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "output_variance",
        "train_accuracy", "nc1", "nc2", "nc3", "nc4",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "regime": Column(
            pa.string(),
            f"the first that applies at the end: diverged; constant: variance of the outputs below {_USUAL.constant:g} "
            f"of that of the targets; unlearned: training accuracy, where it is recorded, below {_USUAL.learned:g}; "
            "rank_deficient: the outputs span fewer dimensions than the targets (learned_rank below target_rank, where "
            "both are recorded), so that features may be the minimum of a function that has lost classes; "
            f"minimum: kappa below {_USUAL.minimum:g}; extended: containment below {_USUAL.contained:g}; uneven: "
            "features span what is learned, with unequal intensities",
            order=REGIMES,
        ),
        "minimum_features": Column(
            pa.bool_(), "regime is minimum; null unless it is minimum, uneven or extended", title="minimum features"
        ),
        "regime_certain": Column(
            pa.bool_(),
            f"kappa ends further than {_USUAL.spreads:g} times kappa_spread from {_USUAL.minimum:g}",
        ),
        "collapse": Column(
            pa.string(),
            f"neural collapse at the end, of the measures that are recorded: full: {_BELOW}; partial: some; none",
            order=COLLAPSES,
        ),
        "collapse_of": Column(pa.string(), "the measures of neural collapse that have collapsed, as in 'nc1, nc4'"),
        "enters": Column(
            pa.int64(),
            f"first recorded step from which kappa stays below {_USUAL.minimum:g} for {_USUAL.records} records or to "
            "the end; null: never",
            "steps",
        ),
        "leaves": Column(
            pa.bool_(),
            f"having entered, kappa ends above its least value since, both medians of {_USUAL.window} records, by more "
            f"than {_USUAL.leaves:g} and {_USUAL.spreads:g} times kappa_spread; null: never entered",
        ),
        "end_kappa": Column(pa.float64(), "kappa at the end", title="kappa", bounds=_SHARE),
        "least_kappa": Column(pa.float64(), "least kappa of all records", title="least kappa", bounds=_SHARE),
        "kappa_spread": Column(
            pa.float64(), f"noise of kappa: its standard deviation about {_LAST}; null: fewer records"
        ),
        "end_evenness": Column(pa.float64(), "evenness at the end", title="evenness", bounds=_SHARE),
        "end_containment": Column(pa.float64(), "containment at the end", title="containment", bounds=_SHARE),
    }
    kinds = drawn_as(
        outcomes, "regime", "minimum_features", "collapse", "leaves", "enters", "end_kappa", "end_evenness",
        "end_containment",
    )  # fmt: skip

    def __init__(self, thresholds: Thresholds = _USUAL) -> None:
        self.thresholds = thresholds

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        return outcomes(row, self.thresholds)


def outcomes(row: Row, limits: Thresholds = _USUAL) -> dict[str, Any]:
    """What one run's curves say; `row` has the columns that the detector needs."""
    if row["kappa_cka"] is None:
        return {}  # features were not asked for
    if row["status"] == "diverged":
        return {"regime": "diverged"}
    measured = _measured(row)
    if not measured:
        return {}
    end = {name: row[name][measured[-1]] if row[name] else None for name in Features.needs[2:]}
    regime = _regime(end, row["train_accuracy"], limits)
    return {
        "regime": regime,
        "minimum_features": regime == "minimum" if regime in REGIMES[:3] else None,
        "end_kappa": end["kappa_cka"],
        "end_evenness": end["evenness"],
        "end_containment": end["containment"],
        **_collapse(row, end, limits),
        **_times(row, measured, limits),
    }


def _measured(row: Row) -> list[int]:
    """The records at which features were measured: whatever they were, the learned space has a dimension there."""
    values = row["learned_rank"] or row["kappa_cka"]
    return [at for at, value in enumerate(values) if value is not None]


def _regime(end: Mapping[str, float | None], accuracies: Any, limits: Thresholds) -> str | None:
    variance, kappa, containment = end["output_variance"], end["kappa_cka"], end["containment"]
    if end["learned_rank"] == 0 or (variance is not None and variance < limits.constant):
        return "constant"
    known = [value for value in accuracies or () if value is not None]
    if known and known[-1] < limits.learned:
        return "unlearned"
    rank, target = end["learned_rank"], end["target_rank"]
    if rank is not None and target is not None and rank < target:
        return "rank_deficient"
    if kappa is None or containment is None:
        return None
    if kappa < limits.minimum:
        return "minimum"
    return "extended" if containment < limits.contained else "uneven"


def _collapse(row: Row, end: Mapping[str, float | None], limits: Thresholds) -> dict[str, str | None]:
    """Judged by the measures that some record has; null where NC1 or NC2 is none of them, or one is gone at the end."""
    limit = {name: most for name, most in limits.collapsed if any(value is not None for value in row[name] or ())}
    values = {name: end[name] for name in limit}
    if not {"nc1", "nc2"} <= limit.keys() or None in values.values():
        return {"collapse": None, "collapse_of": None}
    fallen = [name for name, value in values.items() if value is not None and value < limit[name]]
    kind = "full" if len(fallen) == len(limit) else "partial" if fallen else "none"
    return {"collapse": kind, "collapse_of": ", ".join(fallen)}


def _noise(late: Array, least: int) -> float | None:
    """The standard deviation of the last records about a line; a plain one would count a steady rise as noise, so that
    a net that is leaving would hide it."""
    if len(late) < least or not np.isfinite(late).all():
        return None
    line = np.polynomial.Polynomial.fit(np.arange(len(late)), late, 1)
    residuals = late - line(np.arange(len(late)))
    return float(np.sqrt((residuals**2).sum() / (len(late) - 2)))


def _times(row: Row, measured: list[int], limits: Thresholds) -> dict[str, Any]:
    """When kappa entered the minimum feature regime, whether it left, and how far it is told."""
    # Where a net has no function there is no kappa, and it is not below anything.
    kappa = np.array([row["kappa_cka"][at] for at in measured], dtype=float)
    spread = _noise(kappa[-max(limits.least_late, round(limits.late * len(kappa))) :], limits.least_late)
    below = np.append(kappa < limits.minimum, [True] * (limits.records - 1))  # to the end is long enough
    stays = np.convolve(below, np.ones(limits.records), "valid") == limits.records
    times: dict[str, Any] = {
        "least_kappa": float(np.nanmin(kappa)) if np.isfinite(kappa).any() else None,
        "kappa_spread": spread,
        "regime_certain": bool(abs(kappa[-1] - limits.minimum) > limits.spreads * spread)
        if spread is not None
        else None,
    }
    if stays.any():
        entered = int(np.argmax(stays))
        times["enters"] = row["step"][measured[entered]] if row["step"] else None
        if spread is not None:
            since = kappa[entered:]
            # The least of many records is low by their noise alone: medians of neighbours are compared.
            medians = np.nanmedian(np.lib.stride_tricks.sliding_window_view(since, min(limits.window, len(since))), -1)
            rise = medians[-1] - medians.min()
            times["leaves"] = bool(rise > max(limits.leaves, limits.spreads * spread))
    return times
