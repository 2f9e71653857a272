"""The detector `overfitting`: what the fit to noisy points does to the function, measured and by theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector, known

from .. import theory

FITTED = 1e-6
"""Training error over the mean of y^2, below which the points count as fitted."""
MALIGNANT, PARTIAL = 0.5, 0.05
"""B above which the target is lost, or lost in part."""
BENIGN, TEMPERED = 0.2, 2.0
"""V up to which the noise does no harm, or bounded harm."""
FITS = ("benign", "tempered", "catastrophic", "partial", "malignant", "underfit")
_THEORY = ("e_0", "missed", "learned_modes", "target_power", "n", "sigma", "sigma_is", "stopped")
_MEASURED = ("final_test_loss", "final_train_loss", "signal_error", "noise_gain", "label_power", "full_rank", "ridge")
_NUMBERS = {
    "test_error": "E |f^ - f*|^2/|f*|^2 of the fit that is judged",
    "predicted_test_error": "this error in the mean over training sets, by theory; null of a fit at a time",
    "test_error_bias": "error over that of theory, less 1",
    "predicted_signal_error": "B by theory, E_0 sum (1 - L)^2 c^2/|f*|^2; null of a fit at a time",
    "predicted_noise_gain": "V by theory, E_0 - 1; null of a fit at a time",
    "exact_noise_gain": "n/(p - n - 1), V in the mean over samples of equal Gaussian features; null of others",
    "predicted_train_loss": "1/2 of the training error by theory; null of a fit at a time",
}


class Overfitting(RowDetector):
    """Benign, tempered, catastrophic or malignant; B and V as `linear` records them."""

    name: ClassVar[str] = "overfitting"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[str, ...]] = ("status", "features", "spectrum", "alpha", "p", *_THEORY, *_MEASURED)
    required = ("status", "features", "spectrum", "alpha", "p", "n", "sigma", "sigma_is", "stopped", "ridge")
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fit": Column(
            pa.string(),
            f"the first that applies: diverged; unresolved: the kernel's rank is lost in rounding; underfit: training "
            f"error above {FITTED:g} of mean y^2; malignant: B > {MALIGNANT:g}; partial: B > {PARTIAL:g}; benign: V up "
            f"to {BENIGN:g}; tempered: V up to {TEMPERED:g}; catastrophic",
            order=(*FITS, "unresolved", "diverged"),
            title="overfitting",
        ),
        "predicted_fit": Column(
            pa.string(),
            "the same from theory's numbers; null of a fit at a time",
            order=FITS,
            title="overfitting by theory",
        ),
        **{name: Column(pa.float64(), meaning) for name, meaning in _NUMBERS.items()},
    }
    kinds = drawn_as(outcomes, "fit", "predicted_fit", *_NUMBERS)

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one cell."""
        outcomes = predicted(row)
        if row["status"] == "diverged":
            return {**outcomes, "fit": "diverged"}
        if any(row[name] is None for name in (*_MEASURED, "target_power")):
            return outcomes
        error = 2 * row["final_test_loss"] / row["target_power"]
        by_theory = outcomes.get("predicted_test_error")
        bias = error / by_theory - 1 if by_theory else None
        lost = not (row["full_rank"] or row["stopped"] or row["ridge"] > 0)
        train = 2 * row["final_train_loss"] / row["label_power"]
        fit = "unresolved" if lost else fit_of(train, row["signal_error"], row["noise_gain"])
        return {**outcomes, **known(test_error=error, test_error_bias=bias, fit=fit)}


def fit_of(train: float, B: float, V: float) -> str:
    """The kind of fit by the training error over mean y^2, B and V."""
    if train > FITTED:
        return "underfit"
    if B > PARTIAL:
        return "malignant" if B > MALIGNANT else "partial"
    return "benign" if V <= BENIGN else "tempered" if V <= TEMPERED else "catastrophic"


def predicted(row: Row) -> dict[str, Any]:
    """What theory says of the fit of unlimited time."""
    if row["stopped"] or any(row[name] is None for name in _THEORY):
        return {}
    e0, missed, power = row["e_0"], row["missed"], row["target_power"]
    variance = theory.variance(row["sigma"], row["sigma_is"])
    train = theory.train_error(e0, missed, power, variance, 1 - row["learned_modes"] / row["n"])
    B, V, p = e0 * missed, e0 - 1, row["p"]
    equal = row["features"] == "gaussian" and row["spectrum"] == "power" and row["alpha"] == 0 and row["ridge"] == 0
    return known(
        exact_noise_gain=theory.isotropic_noise(row["n"], p) if equal and p > row["n"] + 1 else None,
        predicted_fit=fit_of(train / (power + variance), B, V),
        predicted_test_error=theory.excess(e0, missed, power, variance) / power,
        predicted_signal_error=B,
        predicted_noise_gain=V,
        predicted_train_loss=train / 2,
    )
