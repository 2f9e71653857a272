"""Detectors of the wide scalar net on made-up rows, whose every number is known, and lines of theory beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from swingby_sweeps.scalar import theory_lines
from swingby_sweeps.scalar.wide import theory
from swingby_sweeps.scalar.wide.detect.regime import WideRegime
from swingby_sweeps.scalar.wide.detect.theorem import Theorem1
from tests.support import cells
from tests.support.grids import grid


def told(detector: Any, **values: Any) -> dict[str, Any]:
    """What a detector says of a flow that settled at S = 1 from Sigma_0 = 1 and S_0 = 0, unless values say otherwise.

    `rho` sets the target, and with it the end of the flow; `loss` the peak of the loss over its start.
    """
    rho, s0, loss = (values.pop(name, default) for name, default in (("rho", 1.0), ("s0", 0.0), ("loss", 1.0)))
    root = float(theory.root(1 + s0, 1 - s0, rho))
    row = {
        "cell_id": "x", "status": "ok", "drive": "flow", "target": rho, "second_moment": 1.0, "loss_factor": 1.0,
        "normaliser": 1.0, "start_overlap": s0, "start_sum": 1.0, "time_per_step": 0.5, "final_theta": rho,
        "final_loss": 0.0, "final_aligned": root + rho, "final_opposed": root - rho,
        "peak_loss": loss * (rho - s0) ** 2 / 2, **values,
    }  # fmt: skip
    return cells.detected(detector, row)


@pytest.mark.parametrize(
    ("ratio", "regime"), [(1.09, "lazy"), (1.11, "crossover"), (1.99, "crossover"), (2.01, "rich"), (50.0, "rich")]
)
def test_a_kernel_that_grows_is_lazy_up_to_1_1_and_rich_from_2_on(ratio: float, regime: str) -> None:
    """From S_0 = 0, K_inf / K_0 = sqrt(1 + rho^2); what is measured at the end is what is predicted of the start."""
    found = told(WideRegime(), rho=math.sqrt(ratio**2 - 1))
    assert (found["regime"], found["predicted_regime"]) == (regime, regime)
    assert found["kernel_ratio"] == pytest.approx(ratio)
    assert found["predicted_kernel_ratio"] == pytest.approx(ratio)
    assert found["gamma_end"] == pytest.approx(found["predicted_gamma_end"])
    assert found["descent"] is found["predicted_descent"] is None


@pytest.mark.parametrize(("ratio", "regime"), [(1 / 1.09, "lazy"), (1 / 1.11, "crossover"), (1 / 2.01, "rich")])
def test_a_kernel_that_shrinks_counts_as_one_that_grows(ratio: float, regime: str) -> None:
    """From an aligned start towards a small target the kernel falls, by the same factors."""
    found = told(WideRegime(), rho=1e-3, s0=math.sqrt(1 + 1e-6 - ratio**2))
    assert (found["regime"], found["predicted_regime"]) == (regime, regime)


def test_ends_that_are_no_regime_have_names() -> None:
    """A saddle, a run that ends before it settled, and one that diverged; the last two have no kernel ratio."""
    saddle = told(WideRegime(), s0=-1.0, final_theta=0.0, final_aligned=0.0, final_opposed=1e-9)
    assert (saddle["regime"], saddle["predicted_regime"], saddle["settled"]) == ("saddle", "saddle", False)
    assert saddle["predicted_gamma_end"] is None
    short = told(WideRegime(), final_theta=1 - 1.1e-3)
    assert (short["regime"], short["settled"], short["kernel_ratio"]) == ("unresolved", False, None)
    assert told(WideRegime(), final_theta=1 - 0.9e-3)["settled"] is True
    gone = told(WideRegime(), status="diverged", drive="gd")
    assert (gone["regime"], gone["descent"], gone["kernel_ratio"]) == ("diverged", "diverged", None)


@pytest.mark.parametrize(
    ("values", "fate"),
    [
        ({"loss": 1.00009}, "monotone"),
        ({"loss": 1.00011}, "catapult"),
        ({"loss": 30.0}, "catapult"),
        ({"loss": 30.0, "final_theta": 1.2}, "unresolved"),
        ({"status": "diverged"}, "diverged"),
    ],
)
def test_descent_is_a_catapult_as_soon_as_its_loss_rises(values: dict[str, Any], fate: str) -> None:
    """A loss 0.01 % above its start makes a catapult of a run that settles, and of no other."""
    assert told(WideRegime(), drive="gd", **values)["descent"] == fate


@pytest.mark.parametrize(
    ("at_start", "rho", "fate"),
    [
        (1.9, 0.1, "monotone"),
        (2.1, 0.1, "catapult"),
        (3.9, 0.1, "catapult"),
        (4.1, 0.1, "diverged"),
        (1.9, 0.5, "catapult"),
        (1.1, 2.0, "diverged"),
    ],
)
def test_the_fate_of_descent_is_predicted_by_three_curvatures(at_start: float, rho: float, fate: str) -> None:
    """lr c E K at the start (2 K_0 Sigma_0 / Z here), at the end of the flow, and at the flattest solution."""
    found = told(WideRegime(), drive="gd", rho=rho, time_per_step=at_start / 2)
    assert found["step_at_start"] == pytest.approx(at_start)
    assert found["step_at_end"] == pytest.approx(at_start * math.hypot(1, rho))
    assert found["step_at_flattest"] == pytest.approx(at_start * rho)
    assert found["predicted_descent"] == fate


@pytest.mark.parametrize("c", [1.0, 2.0])
def test_theorem_1_is_told_from_its_printed_form(c: float) -> None:
    """A curve by the theorem is off by nothing, and off as printed unless c = 2; one that is shifted is off by that."""
    steps, rho, s0 = np.arange(0, 40), 0.8, 0.3
    x = 2 * float(theory.root(1.3, 0.7, rho)) * c * 0.1 * steps
    curve = theory.theta(1.3, 0.7, rho, x)
    row = {"step": steps.tolist(), "rho": rho, "s0": s0, "time_per_step": 0.1, "loss_factor": c}
    found = told(Theorem1(), theta=curve.tolist(), **row)
    assert found["off_theorem"] < 1e-14
    assert (found["off_printed"] < 1e-14) == (c == 2)
    assert found["steepest_step"] == pytest.approx(0.2 * c * math.sqrt(1 - s0**2 + rho**2))
    assert told(Theorem1(), theta=(curve + 0.05).tolist(), **row)["off_theorem"] == pytest.approx(0.1)


def test_theorem_1_is_silent_where_there_is_no_way_to_go() -> None:
    """A target at the start, a run that diverged, and curves that are not there: null."""
    row = {"step": [0, 1], "theta": [0.0, 0.5]}
    assert told(Theorem1(), **row)["off_theorem"] is not None
    assert told(Theorem1(), **row, rho=0.3, s0=0.3)["off_theorem"] is None
    assert told(Theorem1(), **row, status="diverged")["off_theorem"] is None
    assert told(Theorem1(), step=None, theta=None)["off_theorem"] is None


def test_lines_of_regimes_have_the_ratio_that_they_name() -> None:
    """Over rho and s0: K_inf / K_0 is 1.1, 2, or one over these; at the expected Sigma_0 of a width it is 2."""
    lines = theory_lines.regimes({"common": {}}, grid(("x", np.geomspace(0.01, 100, 9)), ("y", np.linspace(-1, 1, 9))))
    named = {"K_inf = 1.1 K_0": 1.1, "K_inf = 2 K_0": 2, "K_inf = K_0 / 1.1": 1 / 1.1, "K_inf = K_0 / 2": 0.5}
    assert {line.label for line in lines} == set(named)
    for line in lines:
        ratio = np.sqrt(1 - np.square(line.y) + np.square(line.x))
        assert ratio == pytest.approx(np.full(len(line.x), named[line.label]), rel=1e-9)
    resolved = {"common": {"target": 2.0, "width": 100}, "axes": []}
    (line,) = theory_lines.typical_regimes(
        resolved, grid(("x", np.geomspace(1e-3, 10, 9)), ("y", np.linspace(0, 1, 9)))
    )
    size = np.square(line.x) * 100.0 ** (1 - np.array(line.y))
    assert theory.kernel_ratio(2.0 / size, 0.0) == pytest.approx(np.full(len(size), 2.0))


def test_lines_of_steps_are_where_predictions_change() -> None:
    """Across each line of the diagram of steps a curvature passes 2 or 4."""
    lines = theory_lines.steps({"common": {}}, grid(("x", np.geomspace(0.1, 10, 9)), ("y", np.geomspace(0.05, 20, 9))))
    assert len(lines) == 5
    for line in lines:
        step, rho = np.array(line.x), np.array(line.y)
        curvature = step
        if "end" in line.label:
            curvature = step * theory.kernel_ratio(rho, 0.0)
        if "flattest" in line.label:
            curvature = step * theory.flattest(rho)
        assert np.ptp(curvature) < 1e-9
        assert curvature[0] == pytest.approx(2) or curvature[0] == pytest.approx(4)
