"""The detector `clocks`: when the samples of a run are good, and when they are copies of training points.

It reads every experiment whose results have `memorized` and `null_memorized`. How far samples are from good is told by
`energy_distance`, in units of that of a Gaussian; of images by the share that a judge finds wrong, 1 - `both_right`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector, curve
from swingby.select.intervals import wilson

FRESH = 2048
"""Fresh points of which `null_memorized` is a share."""
LEVEL = 0.1
"""Share of copies among the samples from which a run memorizes."""
BAND = 0.1
"""Share of the way from the start to the best energy distance, or share of wrong images, that may be left where samples
are good."""
GOOD = 0.5
"""Best energy distance, over that of a Gaussian of the same mean and covariance, above which none is good."""
WRONG = 0.2
"""Least share of wrong images above which none is good."""
FATES = (
    "learns",
    "learns, then memorizes",
    "memorizes before it is good",
    "memorizes, never good",
    "never good",
    "diverged",
)


class Clocks(RowDetector):
    """Two times of a run of a diffusion model, and what they say of it ([B])."""

    name: ClassVar[str] = "clocks"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ("memorized", "null_memorized")
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "samples", "points", "batch_size", "memorized", "energy_distance", "test_loss",
        "null_memorized", "gaussian_distance", "generated_images", "both_right",
    )  # fmt: skip
    required: ClassVar[tuple[str, ...]] = ("status", "points", "batch_size")
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fate": Column(pa.string(), "what becomes of the run, by tau_gen and tau_mem", order=FATES),
        "memorizes": Column(pa.bool_(), "tau_mem lies within the run; null where it diverged before"),
        "tau_gen": Column(
            pa.float64(),
            f"first recorded step at which at most {BAND:g} of the way from the energy distance at the start to the "
            f"best one is left; null where the best one is more than {GOOD:g} gaussian_distance; of images, by the "
            f"share of wrong ones, and null where the least share is more than {WRONG:g}",
            "steps",
            title="time to good samples",
        ),
        "tau_mem": Column(
            pa.float64(),
            f"first recorded step from which a share of {LEVEL:g} or more of the samples are copies, by more than the "
            "95 % intervals of this share and of null_memorized",
            "steps",
            title="time to memorization",
        ),
        "tau_gap": Column(
            pa.float64(), "recorded step at which the test loss is least; null where that is the last one", "steps"
        ),
        "window": Column(pa.float64(), "tau_mem over tau_gen", title="memorization over learning time"),
        "tau_mem_epochs": Column(pa.float64(), "tau_mem in passes through the training set", "epochs"),
        "tau_mem_before": Column(pa.float64(), "the recorded step before tau_mem: no finer time can be told", "steps"),
        "best_energy_distance": Column(pa.float64(), "least energy distance of the run; null of images"),
        "least_memorized": Column(pa.float64(), "the least share of copies that would have counted as memorization"),
        "evaluations": Column(pa.int64(), "recorded steps at which samples were drawn"),
    }
    kinds = drawn_as(outcomes, "fate", "memorizes", "tau_gen", "tau_mem", "tau_mem_epochs", "window")

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        judged = _judged(row)
        if judged is None or any(not row[name] for name in ("step", "memorized", "test_loss")):
            return {"fate": "diverged"} if row["status"] == "diverged" else {}
        samples, error, most = judged
        step, copies = np.array(row["step"], dtype=float), curve(row["memorized"])
        least, best = _least(row["null_memorized"], samples), float(error.min())
        outcomes: dict[str, Any] = {"least_memorized": least, "evaluations": len(step)}
        if row["energy_distance"]:
            outcomes["best_energy_distance"] = best
        gen = int(np.argmax(error <= best + BAND * max(error[0] - best, 0))) if best <= most else None
        mem = int(np.argmax(copies >= least)) if (copies >= least).any() else None
        loss = curve(row["test_loss"])
        outcomes["tau_gen"] = None if gen is None else float(step[gen])
        if (gap := int(np.argmin(loss))) < len(step) - 1:
            outcomes["tau_gap"] = float(step[gap])
        if mem is not None:
            outcomes["tau_mem"] = float(step[mem])
            outcomes["tau_mem_epochs"] = float(step[mem]) * row["batch_size"] / row["points"]
            outcomes["tau_mem_before"] = float(step[mem - 1]) if mem else None
            outcomes["window"] = float(step[mem] / step[gen]) if gen else None
        ended = row["status"] != "diverged"
        outcomes["memorizes"] = mem is not None if ended or mem is not None else None
        outcomes["fate"] = _fate(gen, mem) if ended else "diverged"
        return outcomes


def _judged(row: Row) -> tuple[int, np.ndarray, float] | None:
    """How many samples an evaluation has, how far they are from good, and where the best of them are too far.

    None where a column that says so is null.
    """
    if row["null_memorized"] is None:
        return None
    if row["both_right"] and row["generated_images"]:
        return row["generated_images"], 1 - curve(row["both_right"]), WRONG
    if row["energy_distance"] and row["gaussian_distance"] is not None:
        return row["samples"], curve(row["energy_distance"]), GOOD * row["gaussian_distance"]
    return None


def _least(null: float, samples: int) -> float:
    """The least share of `samples` whose interval lies above that of `null`, and that is `LEVEL` or more."""
    _, most = wilson(round(null * FRESH), FRESH)
    counts = np.arange(samples + 1)
    low, _ = wilson(counts, np.full_like(counts, samples))
    above = counts[low > most]
    return max(LEVEL, float(above[0]) / samples) if len(above) else float("inf")


def _fate(gen: int | None, mem: int | None) -> str:
    if gen is None:
        return "never good" if mem is None else "memorizes, never good"
    if mem is None:
        return "learns"
    return "learns, then memorizes" if gen < mem else "memorizes before it is good"
