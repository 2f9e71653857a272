"""The detector `regimes`: when training and test accuracy arrive, how a run generalises, and with which features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector
from swingby_sweeps.dynamics.metrics import MINIMUM

from .. import theory

ARRIVED = 0.95
"""Share of its final value at which an accuracy has arrived."""
TRAINED = 0.9
"""Final training accuracy below which a run is untrained."""
STILL_RISING = 0.02
"""Rise of the test accuracy over the last fifth of the run above which its end is not yet told."""
LATE = 0.2
GENERALIZES = 0.85
"""Final test accuracy below which a run has memorised."""
GAP, DELAY = 0.2, 3.0
"""What the test accuracy gains after the training accuracy has arrived, and its lag, from which a run groks."""
COLLAPSED = MINIMUM
"""kappa below which features are in the minimum feature regime ([T] Definition 2)."""
REGIMES = ("prompt", "delayed", "grokked", "memorised", "unresolved", "untrained", "diverged")


class Regimes(RowDetector):
    """Times at which accuracies arrive, in epochs; what they say of the run; features at its end."""

    name: ClassVar[str] = "regimes"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("mlp_regimes",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "steps_per_epoch", "train_accuracy", "test_accuracy", "kappa", "d_eff", "feature_change",
        "weight_norm", "target_scale", "weight_scale", "output_scale",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "generalization": Column(
            pa.string(),
            f"the first that applies: diverged; untrained: final training accuracy below {TRAINED}; unresolved: the "
            f"test accuracy rose by more than {STILL_RISING} over the last fifth of the run; memorised: final test "
            f"accuracy below generalizes_at; grokked: delay of {DELAY:g} or more and gap of {GAP} or more; delayed: "
            f"delay of {DELAY:g} or more; prompt",
            order=REGIMES,
        ),
        "grokked": Column(pa.bool_(), "generalization is grokked; null where it is unresolved, untrained or diverged"),
        "train_epoch": Column(
            pa.float64(), f"first recorded epoch with {ARRIVED} of the run's final training accuracy", "epochs"
        ),
        "test_epoch": Column(
            pa.float64(), f"first recorded epoch with {ARRIVED} of the run's final test accuracy", "epochs"
        ),
        "delay": Column(
            pa.float64(),
            "test_epoch over train_epoch; null where nothing generalises: memorised, unresolved, untrained, diverged",
            title="delay of the test accuracy",
        ),
        "delay_resolution": Column(
            pa.float64(), "factor between the record at train_epoch and the one before: finer delays cannot be told"
        ),
        "accuracy_gap": Column(pa.float64(), "final test accuracy less that at train_epoch"),
        "final_train_accuracy": Column(pa.float64(), "training accuracy at the end"),
        "final_test_accuracy": Column(pa.float64(), "test accuracy at the end"),
        "generalizes_at": Column(pa.float64(), "final test accuracy below which a run has memorised"),
        "final_kappa": Column(pa.float64(), "kappa of the features at the end ([T] Definition 2)", title="kappa"),
        "collapsed": Column(pa.bool_(), f"final_kappa is below {COLLAPSED}: the minimum feature regime"),
        "final_d_eff": Column(
            pa.float64(), "effective dimension of the features at the end ([T] eq 2.6)", title="effective dimension"
        ),
        "start_d_eff": Column(pa.float64(), "effective dimension of the features at the start"),
        "final_feature_change": Column(
            pa.float64(), "||Phi - Phi_0|| / ||Phi_0|| at the end: 0 where it is lazy", title="change of the features"
        ),
        "kappa_at_train_epoch": Column(pa.float64(), "kappa when the training accuracy has arrived"),
        "final_weight_norm": Column(pa.float64(), "norm of the weight matrices at the end over that at the start"),
        "target_ratio": Column(
            pa.float64(),
            "target scale / (output scale x weight scale): the target over the output of the start, which stands for "
            "the lower bound of gamma_+ ([T] 6.3.1)",
        ),
    }
    kinds = drawn_as(
        outcomes, "generalization", "grokked", "delay", "accuracy_gap", "final_train_accuracy", "final_test_accuracy",
        "final_kappa", "collapsed", "final_d_eff", "final_feature_change",
    )  # fmt: skip
    compared: ClassVar[Mapping[str, str]] = {"collapsed": f"final_kappa < {COLLAPSED}"}

    def outcomes_of(self, row: Row) -> Row:
        """The outcomes of one run."""
        outcomes: dict[str, Any] = {"generalizes_at": GENERALIZES}
        scales = [row[f"{name}_scale"] for name in ("target", "weight", "output")]
        if None not in scales:
            outcomes["target_ratio"] = theory.target_ratio(*scales)
        if row["status"] == "diverged":
            return {**outcomes, "generalization": "diverged"}
        outcomes |= _features(row)
        if any(not row[name] for name in ("step", "steps_per_epoch", "train_accuracy", "test_accuracy")):
            return outcomes
        step = np.array(row["step"], dtype=float)
        train, test = (np.array(row[f"{name}_accuracy"], dtype=float) for name in ("train", "test"))
        first, second = (int(np.argmax(curve >= ARRIVED * curve[-1])) for curve in (train, test))
        epoch = step / row["steps_per_epoch"]
        outcomes |= {
            "train_epoch": float(epoch[first]),
            "test_epoch": float(epoch[second]),
            "final_train_accuracy": float(train[-1]),
            "final_test_accuracy": float(test[-1]),
            "accuracy_gap": (gap := float(test[-1] - test[first])),
            "delay_resolution": float(step[first] / step[first - 1]) if first > 1 else None,
        }
        if row["kappa"] and len(row["kappa"]) == len(step):
            outcomes["kappa_at_train_epoch"] = row["kappa"][first]
        # The test accuracy where the last fifth begins, between records on a straight line.
        rise = test[-1] - np.interp((1 - LATE) * step[-1], step, test)
        delay = float(epoch[second] / epoch[first]) if epoch[first] > 0 else None
        kind = _kind(float(train[-1]), float(rise), float(test[-1]), gap, delay)
        generalizes = kind in ("prompt", "delayed", "grokked")
        return {
            **outcomes,
            "generalization": kind,
            "grokked": kind == "grokked" if generalizes or kind == "memorised" else None,
            "delay": delay if generalizes else None,
        }


def _kind(train: float, rise: float, test: float, gap: float, delay: float | None) -> str:
    if train < TRAINED:
        return "untrained"
    if rise > STILL_RISING:
        return "unresolved"
    if test < GENERALIZES:
        return "memorised"
    if delay is None or delay < DELAY:
        return "prompt"
    return "grokked" if gap >= GAP else "delayed"


def _features(row: Row) -> dict[str, Any]:
    """Features at the start and at the end, as far as they were recorded."""
    outcomes: dict[str, Any] = {
        f"final_{name}": row[name][-1] for name in ("kappa", "d_eff", "feature_change", "weight_norm") if row[name]
    }
    if outcomes.get("final_kappa") is not None:
        outcomes["collapsed"] = outcomes["final_kappa"] < COLLAPSED
    if row["d_eff"]:
        outcomes["start_d_eff"] = row["d_eff"][0]
    return outcomes
