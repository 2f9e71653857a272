"""The detector `regimes` on curves whose outcome is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.model.experiment import Recording
from swingby_sweeps.grokking.detect.regimes import REGIMES, Regimes

STEPS = Recording(points=80).at(8000)
"""Recorded steps of two an epoch."""


def arrives(at: float, end: float, low: float = 0.1) -> np.ndarray:
    """An accuracy that goes from `low` to `end` as a logistic function of the log of the step, through the middle at
    `at` steps."""
    return low + (end - low) / (1 + (at / np.maximum(STEPS, 0.1)) ** 6)


def outcomes(train: np.ndarray, test: np.ndarray, **columns: Any) -> dict[str, Any]:
    steps = len(train)
    curves = {name: [np.linspace(0.6, 0.05, steps)] for name in ("kappa", "d_eff", "feature_change", "weight_norm")}
    row = {
        "cell_id": ["a"],
        "status": ["ok"],
        "step": [STEPS[:steps]],
        "steps_per_epoch": [2],
        "target_scale": [3.0],
        "weight_scale": [5.0],
        "output_scale": [0.1],
        "train_accuracy": [train],
        "test_accuracy": [test],
        **curves,
        **columns,
    }
    return Regimes().detect(pa.table(row)).to_pylist()[0]


@pytest.mark.parametrize(
    ("train", "test", "expected"),
    [
        (arrives(200, 1.0), arrives(2000, 0.95), "grokked"),
        (arrives(200, 1.0), arrives(2000, 0.95, 0.85), "delayed"),
        (arrives(200, 1.0), arrives(220, 0.95), "prompt"),
        (arrives(200, 1.0), arrives(200, 0.6), "memorised"),
        (arrives(200, 1.0), arrives(7000, 0.95), "unresolved"),
        (arrives(200, 0.85), arrives(200, 0.85), "untrained"),
    ],
)
def test_each_outcome_is_told(train: np.ndarray, test: np.ndarray, expected: str) -> None:
    """A curve of each kind has its name; a delay is a number only where the run generalises."""
    row = outcomes(train, test)
    assert expected in REGIMES
    assert row["generalization"] == expected
    assert (row["delay"] is not None) == (expected in ("prompt", "delayed", "grokked"))
    assert row["grokked"] == {"unresolved": None, "untrained": None}.get(expected, expected == "grokked")


@pytest.mark.parametrize("factor", [1, 2, 5, 10])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_delays_are_told_to_the_spacing_of_the_records(factor: float, noise: float) -> None:
    """Of curves of one form the later by a factor has this delay: to the spacing of records, and with noise of one
    percent to a quarter."""
    ratios = []
    for seed in range(20):
        jitter = noise * np.random.default_rng(seed).normal(size=(2, len(STEPS)))
        row = outcomes(arrives(150, 1.0) + jitter[0], arrives(150 * factor, 0.95) + jitter[1])
        assert row["delay"] is not None
        ratios.append(row["delay"] / factor)
        assert row["delay_resolution"] < 1.12
    low, high = np.quantile(ratios, [0.1, 0.9])
    slack = 1.12 if noise == 0 else 1.25
    assert 1 / slack <= low <= high <= slack


def test_times_are_in_epochs() -> None:
    """Epochs are steps over the steps in one of them."""
    row = outcomes(arrives(200, 1.0), arrives(2000, 0.95))
    first = STEPS[np.argmax(arrives(200, 1.0) >= 0.95 * arrives(200, 1.0)[-1])]
    assert row["train_epoch"] == first / 2
    assert row["target_ratio"] == pytest.approx(6)
    assert row["accuracy_gap"] == pytest.approx(0.95 - arrives(2000, 0.95)[first == STEPS][0], abs=0.01)


def test_features_are_read_at_the_end() -> None:
    """kappa at the end decides whether features collapsed; what was not recorded is null, and no is not said of it."""
    row = outcomes(arrives(200, 1.0), arrives(220, 0.95))
    assert row["final_kappa"] == pytest.approx(0.05)
    assert row["collapsed"]
    assert row["start_d_eff"] == pytest.approx(0.6)
    assert row["final_kappa"] < row["kappa_at_train_epoch"] < 0.6
    nulls = pa.nulls(1, pa.list_(pa.float64()))
    row = outcomes(arrives(200, 1.0), arrives(220, 0.95), kappa=nulls)
    assert row["collapsed"] is None
    assert row["generalization"] == "prompt"


def test_a_divergence_is_one() -> None:
    """A run that diverged has this outcome and no times, however its curves look."""
    row = outcomes(arrives(200, 1.0), arrives(220, 0.95), status=["diverged"])
    assert row["generalization"] == "diverged"
    assert row["train_epoch"] is row["delay"] is row["collapsed"] is None
