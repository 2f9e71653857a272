"""The detector `emergence` on made-up curves: what is read off them, every way to fail, and predictions beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby_sweeps.parity import theory
from swingby_sweeps.parity.calibration import CALIBRATED, crossing
from swingby_sweeps.parity.detect.emergence import Emergence
from tests.support.cells import detected

OWN = 2.0, 0.02, 5.0, theory.start_strength(0.01)
"""c, eta, S and R(0) of the rows."""


def told(**values: Any) -> dict[str, Any]:
    """What the detector says of one row: five skills by (5.2), recorded at 200 steps, unless values say otherwise."""
    steps, p = np.unique(np.geomspace(1, 20_001, 200).astype(int) - 1), theory.frequencies(0.6, 5)
    curves = theory.strength_in_time(steps[:, None], p, CALIBRATED[3].inverse_b2, *OWN)
    row = {
        "cell_id": "0", "status": "ok", "step": steps.tolist(), "strength": curves.tolist(),
        "train_loss": [25.0] * len(steps), "counts": None, "bottleneck": "time", "skills": 5, "m": 3, "bits": 16,
        "alpha": 0.6, "target": 5.0, "width": 100, "sigma": 0.01, "lr": 0.02, "loss_factor": 2.0, "optimizer": "sgd",
        "schedule": "constant", **values,
    }  # fmt: skip
    return detected(Emergence(), row)


def test_curves_by_5_2_are_read_as_5_2_predicts() -> None:
    """Of exact curves times, constants, delays and sharpness come back, but for the spacing of records."""
    found = told()
    assert found["emergence_times"] == pytest.approx(found["predicted_emergence_times"], rel=0.01)
    assert found["inverse_b2"] == pytest.approx([CALIBRATED[3].inverse_b2] * 5, rel=0.01)
    assert found["decouplings"] == pytest.approx([1] * 5, rel=0.01)
    assert found["decoupling"] == pytest.approx(1, rel=0.01)
    assert found["rise_ratio"] == pytest.approx(found["predicted_rise_ratio"], rel=0.02)
    assert (found["outcome"], found["skills_learned"], found["order_violated"]) == ("all learned", 5, False)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_growth_constant_comes_back(noise: float) -> None:
    """From dense records of exponential growth, with the noise of 2000 test points, g comes back within 7 %."""
    steps = np.arange(0, 2000, 5)
    g, draw = theory.growth_constant(3), np.random.default_rng(0)
    curve = np.minimum(1e-5 * np.exp(2 * 2 * 5 / g * 0.02 * steps), 1) * (1 + noise * draw.normal(size=len(steps)))
    found = told(skills=1, step=steps.tolist(), strength=curve[:, None].tolist())
    assert found["growth_constant"] == pytest.approx(g, rel=0.07)
    assert found["predicted_growth_constant"] == pytest.approx(g)


@pytest.mark.parametrize(
    ("final", "outcome", "violated"),
    [
        ([1, 0.9, 0.8, 0.7, 0.51], "all learned", False),
        ([1, 0.9, 0.4, 0.2, 0], "some learned", False),
        ([1, 0.1, 0.41, 0.2, 0], "some learned", True),
        ([1, 0.1, 0.39, 0.2, 0], "some learned", False),
        ([0.5, 0.3, 0.1, 0, 0], "none learned", False),
    ],
)
def test_ends_have_names(final: list[float], outcome: str, violated: bool) -> None:
    """What is learned at the end, and whether a rarer skill is ahead by more than .3."""
    found = told(step=[0, 100], strength=[[0.0] * 5, final], train_loss=[25.0, 1.0])
    assert (found["outcome"], found["order_violated"]) == (outcome, violated)
    assert found["final_strength"] == pytest.approx(final)


def test_what_is_not_reached_is_null() -> None:
    """A skill that never emerges has no time, no constant and no delay: censored, and not zero."""
    found = told(step=[0, 100], strength=[[0.0] * 5, [1, 0.6, 0.1, 0, 0]], train_loss=[25.0, 1.0])
    assert [time is None for time in found["emergence_times"]] == [False, False, True, True, True]
    assert [value is None for value in found["inverse_b2"]] == [False, False, True, True, True]
    assert told(step=[0, 100], strength=[[0.0] * 5, [0.1] * 5], train_loss=[1.0] * 2)["decoupling"] is None


def test_a_training_set_that_is_not_fitted_is_unfitted_whatever_was_learned() -> None:
    """Above 1e-3 S^2 the run is unfitted, below it counts; predictions need no more than the counts."""
    counts, base = [60, 40, 0, 0, 0], {"bottleneck": "data", "step": [0, 9], "strength": [[0.0] * 5, [1.0] * 5]}
    assert told(**base, counts=counts, train_loss=[25.0, 0.026])["outcome"] == "unfitted"
    found = told(**base, counts=counts, train_loss=[25.0, 0.024])
    assert found["outcome"] == "all learned"
    half = CALIBRATED[3].half_samples
    assert found["predicted_mean"][0] == pytest.approx(30 / half)
    assert found["predicted_printed"][0] == pytest.approx(1 - (1 - 0.75 * 60 / half) ** 0.5)
    assert found["predicted_emergence_times"] is None
    assert found["decoupling"] is None


def test_both_laws_of_data_meet_at_the_calibrated_half() -> None:
    """With the half samples each law of data predicts one half, and the law of the width with the half width."""
    for constants in CALIBRATED.values():
        assert theory.strength_in_data(constants.half_samples, constants.printed_d_c) == pytest.approx(0.5)
        assert theory.mean_strength_in_data(constants.half_samples, constants.d_c) == pytest.approx(0.5)
        assert theory.strength_in_width(1, constants.n_c / (2 * constants.half_width), 1)[0] == pytest.approx(1)


def test_divergence_keeps_what_came_before_and_says_no_end() -> None:
    """A run that diverged has times of skills that had emerged, and neither a final strength nor skills learned."""
    found = told(status="diverged")
    assert found["outcome"] == "diverged"
    assert found["emergence_times"][0] is not None
    assert found["final_strength"] is None
    assert found["skills_learned"] is None


def test_a_crossing_lies_between_its_points() -> None:
    """Linear between points; at the first point if it is above; None if the level is never reached."""
    assert crossing([0, 10], [0.0, 1.0], 0.5) == 5
    assert crossing([3, 10], [0.7, 1.0], 0.5) == 3
    assert crossing([0, 10], [0.0, 0.4], 0.5) is None


def test_what_was_not_calibrated_is_not_predicted() -> None:
    """Of inputs of other bits than those of the calibration, and of skills of five, no constant is used: null."""
    for other in ({"bits": 32}, {"m": 5, "bits": 32}, {"m": 5}):
        found = told(**other)
        assert found["predicted_emergence_times"] is None
        assert found["predicted_rise_ratio"] is not None
        data = told(**other, bottleneck="data", counts=[60, 40, 0, 0, 0])
        assert data["predicted_mean"] is data["predicted_printed"] is None
        assert told(**other, bottleneck="width")["predicted_width"] is None
