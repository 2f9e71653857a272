"""The detector `bends`: how the held-out class of a diffusion run was learned, from the evaluations of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column
from swingby_analysis.signals import noise
from swingby_analysis.signals.final_stretch import arrival_times, arrived_at

from .bend import bend
from .descent import Rise, descents, error_of
from .detectability import bend_threshold, rise_threshold
from .path import CURVES, JUDGES, LEARNED, Judge, Path, path_of
from .speed import slowdown, speeds

ORDERS = ("color first", "tie", "size first", "neither")
SIDES = ("color", "neither", "size")
LAWS = ("exponential", "either", "power law", "neither")
"""The values of each category, as legends list them."""
SUFFIX: Mapping[Judge, str] = {"measured": "", "trained": "_by_trained"}
"""Suffix of the outcomes by a judge."""
FEWEST = 3
"""The least number of evaluations from which a path has outcomes."""
Outcomes = dict[str, Any]

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
    "non_monotone": Column(pa.bool_(), "two drops of the concept-space MSE or more"),
    "transient_memorization": Column(
        pa.bool_(),
        "non-monotone, and over a rise of the MSE the point moves nearer to the corner of a trained class by more than "
        "its threshold while the diffusion loss does not rise; null where it does so and the loss is not known",
    ),
    "mse_threshold": Column(
        pa.float64(),
        "the least rise of the concept-space MSE that would count, were a move to halfway between the class and a "
        "trained one laid over these evaluations; lower rises could not be seen",
    ),
    "mse_bump": Column(
        pa.float64(), "largest rise of the concept-space MSE between two descents; 0 if none", absent="bump"
    ),
    "bump_start": Column(pa.int64(), "step of the trough before that rise", "step"),
    "bump_peak": Column(pa.int64(), "step of its peak", "step"),
    "bump_end": Column(
        pa.int64(), "step of the first evaluation back at the level of the trough, else of the lowest after it", "step"
    ),
    "bend": Column(
        pa.float64(),
        "largest signed distance from the straight way between the first evaluation and the target; positive toward "
        "the corner with the right color and the wrong size, negative toward that with the right size",
    ),
    "bend_step": Column(pa.int64(), "step of the evaluation at that distance", "step"),
    "bend_threshold": Column(
        pa.float64(),
        "the least height of a bend over the whole way that would count, were it laid over these evaluations; infinite "
        "where no evaluation is on the way",
    ),
    "bend_toward": Column(pa.string(), "the side of a bend that exceeds its threshold; else neither", order=SIDES),
    "transient_bend": Column(
        pa.bool_(),
        "the path leaves the straight way by more than its threshold, and comes back to half of its largest distance "
        "or less; null where it leaves and does not seem to come back, but a return by half could not have been seen",
    ),
    "return_threshold": Column(pa.float64(), "the least return from the largest distance that counts"),
    "speed_rate": Column(pa.float64(), "slope of log speed against step, from the fastest evaluation on", "1/step"),
    "speed_rate_r2": Column(pa.float64(), "R^2 of this fit, an exponential slow-down"),
    "speed_power": Column(pa.float64(), "slope of log speed against log step over the same evaluations"),
    "speed_power_r2": Column(pa.float64(), "R^2 of this fit, a slow-down by a power law"),
    "slowdown": Column(
        pa.string(),
        "the law that fits the falling speed better; either: R^2 that differ by less than 0.1; neither: both are below "
        "0.5",
        order=LAWS,
    ),
}  # fmt: skip

DRAWN = (
    "learning_order", "color_first", "transient_bend", "bend_toward", "transient_memorization", "non_monotone",
    "learned", "slowdown", "bend", "bend_threshold", "mse_bump", "mse_threshold", "mse_final", "t_color", "t_size",
)  # fmt: skip
"""The outcomes by a judge that are drawn."""


OUTCOMES: dict[str, Column] = BOTH | {
    name + SUFFIX["trained"]: replace(
        column,
        meaning=f"by the trained judge: {column.meaning}",
        title=f"{name.replace('_', ' ')} by the trained judge",
    )
    for name, column in BOTH.items()
}


class Bends(Detector):
    """Order, descents, bumps, bends and slow-down of the first held-out class in concept space, by either judge.

    The thresholds of a path are 1 % of the unit of the MSE (0.1 of the unit of distance) or eight times its noise,
    whichever is larger. Its noise is that of the images, from their spread and number, or that of the records around
    their neighbours. Runs without a held-out class, or with fewer than three evaluations that a judge could place, give
    nulls.
    """

    name: ClassVar[str] = "bends"
    version: ClassVar[str] = "2"
    experiments: ClassVar[tuple[str, ...]] = ("diffusion",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    kinds = drawn_as(OUTCOMES, *(name + suffix for suffix in SUFFIX.values() for name in DRAWN))
    needs: ClassVar[tuple[str, ...]] = ("trained", "judged", "judged_trained", "loss_diffusion", *CURVES)

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        rows: list[Outcomes] = []
        for row in table.to_pylist():
            # The diffusion term alone: the reconstruction term falls by thousands of bits while gamma_0 is learned, and
            # would hide any rise.
            losses = row.get("loss_diffusion")
            loss = None if losses is None else np.array(losses, dtype=np.float64)
            rows.append({})
            for judge in JUDGES:
                path = path_of(row, judge)
                if path is not None and len(path.steps) >= FEWEST:
                    rows[-1] |= {name + SUFFIX[judge]: value for name, value in measured(path, loss).items()}
        return self.table(table["cell_id"], rows)


def measured(path: Path, loss: np.ndarray | None = None) -> Outcomes:
    """Every outcome of one path.

    Args:
        loss: the diffusion term of the training loss at the evaluations of the run, of which those of the path have the
            numbers `path.record`; NaN where there is none. None if it is not recorded.
    """
    descended, bent, slowed = descents(path), bend(path), slowdown(speeds(path))
    outcomes = _order(path) | {
        "mse_final": float(error_of(path.progress)[-1]) if path.ended else None,
        "mse_descents": descended.drops,
        "non_monotone": descended.drops >= 2,
        "transient_memorization": _memorizes(path, descended.rises, loss),
        "mse_threshold": rise_threshold(path),
        "mse_bump": 0.0,
    }
    if (top := descended.tallest) is not None:
        places = {"bump_start": top.start, "bump_peak": top.peak, "bump_end": top.end}
        outcomes |= {"mse_bump": top.height, **{name: int(path.steps[at]) for name, at in places.items()}}
    if bent is not None:
        outcomes |= {
            "bend": bent.size,
            "bend_step": int(path.steps[bent.record]),
            "bend_threshold": bend_threshold(path),
            "bend_toward": "neither" if not bent.beyond else "color" if bent.size > 0 else "size",
            "transient_bend": bent.back,
            "return_threshold": bent.least,
        }
    if slowed is not None:
        outcomes |= {
            "speed_rate": slowed.exponential.slope,
            "speed_rate_r2": slowed.exponential.r2,
            "speed_power": slowed.power.slope,
            "speed_power_r2": slowed.power.r2,
            "slowdown": slowed.law,
        }
    return outcomes


def _order(path: Path) -> Outcomes:
    # A concept that cannot be placed at the end of the run is not right there, whatever it was before.
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


def _memorizes(path: Path, rises: Sequence[Rise], loss: np.ndarray | None) -> bool | None:
    """Whether the path nears a trained class's corner over some rise, and the loss does not rise with it.

    A step too large makes bumps too, and they are not memorization: the loss then rises from the start of the bump to
    its peak by more than 1 % of its range over the run and 8 sd of itself. None where the path nears a corner and fewer
    than FEWEST losses are known.
    """
    near = [rise for rise in rises if rise.nears]
    known = np.zeros(0, dtype=np.int64) if loss is None else np.flatnonzero(np.isfinite(loss))
    if not near:
        return False
    if loss is None or len(known) < FEWEST:
        return None
    values = loss[known]
    sd = noise.local_sd(values[None], known.astype(np.float64))[0]
    for rise in near:
        k, j = (int(np.abs(known - path.record[at]).argmin()) for at in (rise.start, rise.peak))
        if values[j] - values[k] <= max(0.01 * float(values.max() - values.min()), 8 * float(max(sd[k], sd[j]))):
            return True
    return False
