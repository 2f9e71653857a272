"""Detectors of `linear` on numbers made for the purpose, and on cells of the closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from swingby.model.detector import Detector
from swingby.model.experiment import Recording
from swingby_sweeps.linear.detect.learnability import LearnabilityGap
from swingby_sweeps.linear.detect.overfitting import Overfitting
from swingby_sweeps.linear.detect.phases import FittingPhases
from tests.support import cells

TAIL: dict[str, Any] = {"spectrum": "two_level", "d": 5, "n": 100, "p": 2000}


def said(detector: Detector, seed: int = 1000, made_up: dict[str, Any] | None = None, **values: Any) -> dict[str, Any]:
    """What a detector says of one cell, whose columns may be replaced."""
    cell = cells.cell("linear", seed, **values)
    (row,) = cells.trained([cell], Recording("every"))
    return cells.detected(detector, {**row, **cell.params.model_dump(), **(made_up or {})})


@pytest.mark.parametrize(
    ("train", "B", "V", "fit"),
    [
        (0.0, 0.0, 0.2, "benign"), (0.0, 0.05, 0.21, "tempered"), (0.0, 0.0, 2.1, "catastrophic"),
        (0.0, 0.06, 0.0, "partial"), (0.0, 0.51, 9.0, "malignant"), (2e-6, 0.0, 0.0, "underfit"),
    ],
)  # fmt: skip
def test_kinds_of_fit(train: float, B: float, V: float, fit: str) -> None:
    """The first kind that applies, at either side of each threshold."""
    ends = {"final_train_loss": train / 2, "label_power": 1.0, "signal_error": B, "noise_gain": V}
    assert said(Overfitting(), made_up=ends, n=8, p=20)["fit"] == fit


@pytest.mark.parametrize(("mode", "fit"), [(1, "benign"), (10, "malignant")])
def test_a_small_tail_is_benign_for_strong_modes_alone(mode: int, fit: str) -> None:
    """T = 1: the fit, measured and by theory."""
    found = said(Overfitting(), tail=1.0, mode=mode, **TAIL)
    assert (found["fit"], found["predicted_fit"]) == (fit, fit)
    assert found["test_error"] == pytest.approx(found["predicted_test_error"], rel=0.4, abs=0.02)


def test_every_way_to_fail_has_a_name() -> None:
    """A divergence, a rank lost in rounding, and a fit that leaves points unfitted."""
    assert said(Overfitting(), n=8, p=20, drive="descent", eta=1e3)["fit"] == "diverged"
    lost = {"spectrum": "explicit", "rho": [1.0, 1.0, 1e-40, 1e-40, 1e-40], "n": 4, "p": 5}
    assert said(Overfitting(), **lost)["fit"] == "unresolved"
    assert said(LearnabilityGap(), **lost)["gap"] is None
    assert said(Overfitting(), n=30, p=20)["fit"] == said(Overfitting(), n=30, p=20)["predicted_fit"] == "underfit"


def test_theory_says_nothing_of_a_fit_at_a_time() -> None:
    """Predictions are of unlimited time."""
    found = said(Overfitting(), n=8, p=20, stopped=True)
    assert found["predicted_fit"] is found["predicted_noise_gain"] is None
    assert found["fit"] is not None


@pytest.mark.parametrize(
    ("measured", "error", "fits"), [(0.51, 0.1, True), (0.6, 0.01, False), (0.6, 0.05, None), (0.6, None, None)]
)
def test_a_gap_is_told_by_its_error(measured: float, error: float | None, fits: bool | None) -> None:
    """Theory fits within .02, does not by three standard errors, and else it cannot be told."""
    made_up = {
        "listed_modes": [1, 7], "learnability": [1.0, 0.5], "sample_learnability": [1.0, measured],
        "learnability_error": [0.0, error], "target_ratio": [0.9, None],
    }  # fmt: skip
    found = said(LearnabilityGap(), made_up=made_up, n=8, p=20)
    assert (found["gap"], found["gap_mode"]) == (pytest.approx(measured - 0.5), 7)
    assert found["theory_fits"] is (True if fits and error is not None else fits)
    assert found["ratio_gap"] == pytest.approx(0.1)


def made_curves(signal_rate: float, noise_rate: float, per_decade: int = 10) -> dict[str, Any]:
    """Exponential curves over six decades."""
    t = np.geomspace(0.01, 1e4, 6 * per_decade)
    aligned = 1 - np.exp(-signal_rate * t)
    left = np.exp(-2 * noise_rate * t)
    return {
        "eta_t": t.tolist(), "aligned": aligned.tolist(), "noise_left": left.tolist(), "population": aligned.tolist(),
        "final_aligned": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rates", "state"),
    [((1.0, 0.01), "open"), ((1.0, 0.1), "narrow"), ((0.1, 1.0), "none"), ((1.0, 1e-6), "censored")],
)
def test_times_of_exponentials(rates: tuple[float, float], state: str) -> None:
    """Times are ln 10 and ln 2 over the rates, within what ten records a decade can show."""
    found = said(FittingPhases(), made_up=made_curves(*rates), n=8, p=20)
    assert found["window_state"] == state
    assert found["signal_time"] == pytest.approx(math.log(10) / rates[0], rel=0.01)
    if state != "censored":
        assert found["noise_time"] == pytest.approx(math.log(2) / rates[1], rel=0.01)
    assert found["population_gap"] == 0
    assert found["phase"] == ("signal" if state == "censored" else "both")


def test_a_signal_that_is_never_learned_has_no_time() -> None:
    """Where nothing of the target is aligned at unlimited time, no window is told, and nothing is divided by 0."""
    none = {**made_curves(1.0, 0.1), "final_aligned": 0.0}
    found = said(FittingPhases(), made_up={**none, "aligned": [0.0] * len(none["eta_t"])}, n=8, p=20)
    assert (found["signal_time"], found["fit_window"], found["window_state"]) == (None, None, "censored")


def test_phases_of_a_small_tail() -> None:
    """First nothing, then the signal, then both; times are those of theory within a factor of two."""
    ends = [said(FittingPhases(), end_time=at, stopped=True, tail=1.0, **TAIL)["phase"] for at in (0.1, 10.0, 1000.0)]
    assert ends == ["nothing", "signal", "both"]
    found = said(FittingPhases(), tail=1.0, **TAIL)
    for name in ("signal_time", "noise_time"):
        assert 0.5 < found[name] / found[f"predicted_{name}"] < 2
    assert found["window_state"] == "open"


def test_descent_has_no_logarithm_of_its_start() -> None:
    """Whole steps begin at time 0; a divergence has no times."""
    found = said(FittingPhases(), n=30, p=90, alpha=0.5, drive="descent", eta=0.1)
    assert found["signal_time"] is not None
    diverged = said(FittingPhases(), n=8, p=20, drive="descent", eta=1e3)
    assert (diverged["phase"], diverged["window_state"], diverged["fit_window"]) == ("diverged", "diverged", None)
