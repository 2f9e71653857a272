"""The detector `bends`: from the evaluations of diffusion runs to how their held-out class was learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, OutcomeKind
from swingby.model.experiment import Column
from swingby_analysis.signals import noise
from swingby_analysis.signals.final_stretch import arrival_times, arrived_at

from .bend import bend
from .descent import Descents, descents, error_of
from .detectability import bend_threshold, rise_threshold
from .path import CURVES, JUDGES, LEARNED, Judge, Path, path_of
from .speed import slowdown, speeds

ORDERS = ("color first", "tie", "size first", "neither")
SIDES = ("color", "neither", "size")
LAWS = ("exponential", "either", "power law", "neither")
"""The values of each category, as legends list them."""
SUFFIX: Mapping[Judge, str] = {"measured": "", "trained": "_by_trained"}
"""Of the outcomes by a judge."""
FEWEST = 3
"""Evaluations below which nothing is told of a path."""
Told = dict[str, Any]

BOTH: dict[str, Column] = {
    "learning_order": Column(
        pa.string(),
        "which concept of the held-out class is learned first, by t(0.9); tie: within one evaluation",
        order=ORDERS,
    ),
    "color_first": Column(
        pa.bool_(), "color is learned before size; null where neither is learned, false for a tie"
    ),
    "t_color": Column(pa.float64(), "start of the final stretch with color right to 0.9, else infinite", "step"),
    "t_size": Column(pa.float64(), "start of the final stretch with size right to 0.9, else infinite", "step"),
    "learned": Column(
        pa.bool_(), "both concepts of the held-out class are right to 0.9 in the run's last evaluation"
    ),
    "mse_final": Column(
        pa.float64(),
        "concept-space MSE in the run's last evaluation, the mean over both concepts of the squared distance to 1; "
        "null where no circle is found there in half of the images",
    ),
    "mse_descents": Column(pa.int64(), "drops of the concept-space MSE by more than its threshold"),
    "non_monotone": Column(pa.bool_(), "two such drops or more"),
    "transient_memorization": Column(
        pa.bool_(),
        "non-monotone, and over a rise the point nears a trained class's corner by more than its threshold while the "
        "diffusion loss does not rise; null where it nears one and the loss is not known",
    ),
    "mse_threshold": Column(
        pa.float64(),
        "the rise of the concept-space MSE that would count, were one to halfway to a trained class's corner laid over "
        "these evaluations; what is lower could not be seen",
    ),
    "mse_bump": Column(
        pa.float64(), "largest rise of the concept-space MSE between two descents; 0 if none", absent="bump"
    ),
    "bump_start": Column(pa.int64(), "step of the trough before that rise", "step"),
    "bump_peak": Column(pa.int64(), "step of its peak", "step"),
    "bump_end": Column(pa.int64(), "first evaluation back at the trough's level (else the lowest after)", "step"),
    "bend": Column(
        pa.float64(),
        "largest signed distance from the straight way between the first evaluation and the target; positive toward "
        "the corner with the right color and the wrong size, negative toward that with the right size",
    ),
    "bend_step": Column(pa.int64(), "where that is", "step"),
    "bend_threshold": Column(
        pa.float64(),
        "the least height of a bend over the whole way that would count, were it laid over these evaluations; infinite "
        "where none is on the way",
    ),
    "bend_toward": Column(pa.string(), "the side of a bend beyond its threshold; else neither", order=SIDES),
    "transient_bend": Column(
        pa.bool_(),
        "the path leaves the straight way by more than its threshold, and comes back to half of it or less; null where "
        "it leaves and does not seem to come back, but a return by half could not have been seen",
    ),
    "return_threshold": Column(pa.float64(), "the least return from the largest distance that counts"),
    "speed_rate": Column(pa.float64(), "slope of log speed against step, from the fastest evaluation on", "1/step"),
    "speed_rate_r2": Column(pa.float64(), "R^2 of that fit (exponential slow-down)"),
    "speed_power": Column(pa.float64(), "slope of log speed against log step over the same evaluations"),
    "speed_power_r2": Column(pa.float64(), "R^2 of that fit (slow-down by a power law)"),
    "slowdown": Column(
        pa.string(), "the law that fits the slowing speed better; either: R^2 within 0.1", order=LAWS
    ),
}  # fmt: skip

_KINDS: dict[str, OutcomeKind] = {
    "learning_order": "category",
    "color_first": "yes_no",
    "transient_bend": "yes_no",
    "bend_toward": "category",
    "transient_memorization": "yes_no",
    "non_monotone": "yes_no",
    "learned": "yes_no",
    "slowdown": "category",
    "bend": "number",
    "bend_threshold": "number",
    "mse_bump": "number",
    "mse_threshold": "number",
    "mse_final": "number",
    "t_color": "number",
    "t_size": "number",
}


def _by(judge: Judge, name: str, column: Column) -> Column:
    """The column of an outcome by one judge."""
    if judge == "measured":
        return column
    title = f"{name.replace('_', ' ')} by the trained judge"
    return replace(column, meaning=f"by the trained judge: {column.meaning}", title=title)


OUTCOMES: dict[str, Column] = {
    name + SUFFIX[judge]: _by(judge, name, column) for judge in JUDGES for name, column in BOTH.items()
}


class Bends(Detector):
    """Order, descents, bumps, bends and slow-down of the first held-out class in concept space, by either judge.

    A path's thresholds are 1 % of the MSE's unit (0.1 of its distance) or eight times its noise, whichever is more:
    the noise of the images, known from their spread and number, or of the records around their neighbours. Runs
    without a held-out class, or with fewer than three evaluations that a judge could place, give nulls.
    """

    name: ClassVar[str] = "bends"
    version: ClassVar[str] = "2"
    experiments: ClassVar[tuple[str, ...]] = ("diffusion",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {
        name + SUFFIX[judge]: kind for judge in JUDGES for name, kind in _KINDS.items()
    }
    needs: ClassVar[tuple[str, ...]] = ("trained", "judged", "judged_trained", "loss_diffusion", *CURVES)

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        told = [_told(row) for row in table.to_pylist()]
        columns = {name: pa.array([row.get(name) for row in told], column.type) for name, column in OUTCOMES.items()}
        return pa.table({"cell_id": table["cell_id"].cast(pa.string()), **columns})


def _told(row: Mapping[str, Any]) -> Told:
    found: Told = {}
    for judge in JUDGES:
        path = path_of(row, judge)
        if path is not None and len(path.steps) >= FEWEST:
            found |= {name + SUFFIX[judge]: value for name, value in measured(path, _losses(row)).items()}
    return found


def _losses(row: Mapping[str, Any]) -> np.ndarray | None:
    """The diffusion term of the training loss at every evaluation, NaN where there is none; None if not recorded.

    The whole bound would hide any rise: its reconstruction term falls by thousands of bits while gamma_0 is learned.
    """
    given = row.get("loss_diffusion")
    return None if given is None else np.array(given, dtype=np.float64)


def measured(path: Path, loss: np.ndarray | None = None) -> Told:
    """Every outcome of one path.

    Args:
        loss: the diffusion term of the training loss at the run's evaluations, of which the path's are `path.record`.
    """
    told: Told = _order(path) | {"mse_final": float(error_of(path.progress)[-1]) if path.ended else None}
    told |= _descent(path, descents(path), loss)
    told |= _bend(path)
    return told | _slowdown(path)


def _order(path: Path) -> Told:
    # What cannot be placed at the run's end is not right there, whatever it was before.
    at = arrived_at(path.progress[None], LEARNED) if path.ended else np.full((1, 2), len(path.steps))
    times, (color, size) = arrival_times(at, path.steps)[0].tolist(), at[0].tolist()
    never = len(path.steps)
    if color == size == never:
        which = "neither"
    elif color < never and size < never and abs(color - size) <= 1:
        which = "tie"
    else:
        which = "color first" if color < size else "size first"
    return {
        "learning_order": which,
        "color_first": None if which == "neither" else which == "color first",
        "t_color": times[0],
        "t_size": times[1],
        "learned": max(color, size) < never,
    }


def _descent(path: Path, found: Descents, loss: np.ndarray | None) -> Told:
    top = found.tallest
    told: Told = {"mse_descents": found.drops, "non_monotone": found.drops >= 2}
    told["transient_memorization"] = _memorizes(path, found, loss)
    told["mse_threshold"] = rise_threshold(path)
    told["mse_bump"] = 0.0 if top is None else top.height
    if top is not None:
        places = {"bump_start": top.start, "bump_peak": top.peak, "bump_end": top.end}
        told |= {name: int(path.steps[at]) for name, at in places.items()}
    return told


def _memorizes(path: Path, found: Descents, loss: np.ndarray | None) -> bool | None:
    """Whether some rise nears a trained class's corner without unlearning; None where that hangs on an unknown loss."""
    unlearns = [_unlearns(path, rise.start, rise.peak, loss) for rise in found.rises if rise.nears]
    return True if False in unlearns else None if None in unlearns else False


def _unlearns(path: Path, start: int, peak: int, loss: np.ndarray | None) -> bool | None:
    """Whether the diffusion loss rises by more than 1 % of its range over the run and 8 sd of itself, start to peak.

    A step too large makes bumps too, and they are not memorization. None where fewer than FEWEST losses are known.
    """
    known = np.zeros(0, dtype=np.int64) if loss is None else np.flatnonzero(np.isfinite(loss))
    if loss is None or len(known) < FEWEST:
        return None
    values = loss[known]
    sd = noise.local_sd(values[None], known.astype(np.float64))[0]
    k, j = (int(np.abs(known - path.record[at]).argmin()) for at in (start, peak))
    allowed = max(0.01 * float(values.max() - values.min()), 8 * float(max(sd[k], sd[j])))
    return bool(values[j] - values[k] > allowed)


def _bend(path: Path) -> Told:
    found = bend(path)
    if found is None:
        return {}
    side = "neither" if not found.beyond else "color" if found.size > 0 else "size"
    return {
        "bend": found.size,
        "bend_step": int(path.steps[found.record]),
        "bend_threshold": bend_threshold(path),
        "bend_toward": side,
        "transient_bend": found.back,
        "return_threshold": found.least,
    }


def _slowdown(path: Path) -> Told:
    found = slowdown(speeds(path))
    if found is None:
        return {}
    return {
        "speed_rate": found.exponential.slope,
        "speed_rate_r2": found.exponential.r2,
        "speed_power": found.power.slope,
        "speed_power_r2": found.power.r2,
        "slowdown": found.law,
    }
