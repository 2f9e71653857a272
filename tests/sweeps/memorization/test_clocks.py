"""The detector `clocks` on curves whose times are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby_sweeps.memorization.detect.clocks import Clocks
from tests.support.cells import detected

STEPS = [0, 10, 20, 50, 100, 200, 500, 1000]


def row(**changes: Any) -> dict[str, Any]:
    """A run that is good from step 50 on and copies from step 200 on."""
    usual = {
        "cell_id": "one", "status": "ok", "step": STEPS, "samples": 256, "points": 16, "batch_size": 32,
        "memorized": [0.0, 0.0, 0.0, 0.01, 0.05, 0.3, 0.6, 0.9],
        "energy_distance": [0.8, 0.5, 0.2, 0.05, 0.01, 0.02, 0.03, 0.04],
        "test_loss": [1.0, 0.9, 0.8, 0.7, 0.75, 0.9, 1.2, 1.5],
        "null_memorized": 0.0, "gaussian_distance": 0.2, "generated_images": None, "both_right": None,
    }  # fmt: skip
    return detected(Clocks(), {**usual, **changes})


def test_two_clocks() -> None:
    """Both times, their ratio, the passes, the gap, and what could have been seen."""
    found = row()
    assert found["fate"] == "learns, then memorizes"
    assert (found["tau_gen"], found["tau_mem"], found["tau_mem_before"], found["tau_gap"]) == (50, 200, 100, 50)
    assert (found["window"], found["tau_mem_epochs"], found["memorizes"]) == (4, 400, True)
    assert (found["evaluations"], found["least_memorized"]) == (8, pytest.approx(0.1))


@pytest.mark.parametrize(
    ("changes", "fate"),
    [
        ({"memorized": [0.0] * 8}, "learns"),
        ({"memorized": [0.0, 0.5, *[0.9] * 6]}, "memorizes before it is good"),
        ({"energy_distance": [0.8, *[0.3] * 7]}, "memorizes, never good"),
        ({"energy_distance": [0.8, *[0.3] * 7], "memorized": [0.0] * 8}, "never good"),
        ({"status": "diverged"}, "diverged"),
    ],
)
def test_fates(changes: dict[str, Any], fate: str) -> None:
    """Each category, by what was measured."""
    assert row(**changes)["fate"] == fate


def test_images_are_good_where_few_are_wrong() -> None:
    """Of images the share of wrong ones takes the place of the energy distance, and those compared that of samples,
    whatever `samples` are: a tenth of the way from the first share to the least is left, which is a fifth or less."""
    images = {"energy_distance": None, "gaussian_distance": None, "samples": [b""] * 8, "generated_images": 256}
    learned = row(**images, both_right=[0.0, 0.1, 0.5, 0.81, 0.9, 0.88, 0.9, 0.9])
    usual = row()
    assert (learned["tau_gen"], learned["best_energy_distance"]) == (50, None)
    assert {**learned, "best_energy_distance": 0.01} == usual
    few = row(**{**images, "generated_images": 16}, both_right=[0.0, *[0.8] * 7], null_memorized=0.1)
    assert (few["tau_gen"], few["fate"]) == (10, "learns, then memorizes")
    assert few["least_memorized"] == row(samples=16, null_memorized=0.1)["least_memorized"] > 0.25
    assert row(**images, both_right=[0.0, *[0.79] * 7])["fate"] == "memorizes, never good"


@pytest.mark.parametrize(("null", "samples"), [(0.0, 256), (0.11, 256), (0.11, 32), (0.3, 64), (0.0, 16)])
def test_the_least_share_is_told_from_that_of_fresh_points(null: float, samples: int) -> None:
    """A share one sample below it is not told from the null, or is below the level; the share itself is."""
    least = row(null_memorized=null, samples=samples)["least_memorized"]
    assert least >= 0.1
    assert least > null
    curve = np.full(8, least - 1 / samples)
    assert row(null_memorized=null, samples=samples, memorized=curve.tolist())["tau_mem"] is None
    curve[-1] = least
    assert row(null_memorized=null, samples=samples, memorized=curve.tolist())["tau_mem"] == STEPS[-1]
