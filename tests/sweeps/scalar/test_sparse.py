"""The diagonal net: its flow and descent against solvers of all weights, its laws, and the fates that are told."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.integrate import solve_ivp

from swingby.model.experiment import Recording
from swingby_sweeps.scalar.sparse import engine, kernels, theory
from swingby_sweeps.scalar.sparse.detect.generalization import Generalization
from tests.support import cells

SMALL = {"dimension": 30, "points": 18, "nonzeros": 2}


cell = partial(cells.cell, "sparse_diagonal", **SMALL)


def row(**values: Any) -> cells.Row:
    """The result of one cell, with theta."""
    return cells.trained([cell(**values)], Recording("every", also=("theta",)))[0]


@pytest.mark.parametrize(("alpha", "decay"), [(0.2, 0.05), (2.0, 0.05), (1.0, 0.5)])
def test_the_dual_flow_is_that_of_all_weights(alpha: float, decay: float) -> None:
    """Theta at every stop is that of an ODE solver on a and b, and a^2 - b^2 decays alike in every coordinate."""
    values = {"alpha": alpha, "decay": decay, "duration": 8.0, "training_steps": 40}
    made, (X, _, y) = row(**values), engine.task(cell(**values))
    n, d = X.shape

    def slope(_: float, state: np.ndarray) -> np.ndarray:
        a, b = state[:d], state[d:]
        g = X.T @ (X @ (a * b) - y) / n
        return -np.concatenate([g * b + decay * a, g * a + decay * b])

    start = np.append(np.full(d, alpha), np.zeros(d))
    solved = solve_ivp(slope, (0, made["flow_time"]), start, "LSODA", made["at_time"], rtol=1e-9, atol=1e-12).y
    a, b = solved[:d], solved[d:]
    np.testing.assert_allclose(made["theta"], (a * b).T, atol=2e-4)
    law = theory.imbalance(alpha, decay, np.array(made["at_time"]))
    np.testing.assert_allclose(a**2 - b**2, np.broadcast_to(law, (d, len(law))), rtol=1e-5, atol=1e-8)


def test_descent_nears_the_flow_and_the_law_of_imbalance_as_steps_shrink() -> None:
    """Both errors fall with the step, with exponent one."""
    values = {"alpha": 1.0, "decay": 0.05, "duration": 8.0, "training_steps": 40}
    flow = np.array(row(**values)["theta"])
    found = [row(drive="gd", step_factor=share, **values) for share in (0.4, 0.1)]
    off = [np.abs(np.array(made["theta"]) - flow).max() for made in found]
    assert off[1] < 0.4 * off[0] < 0.02
    assert found[1]["imbalance_off"] < 0.35 * found[0]["imbalance_off"]
    assert found[1]["test_time"] == pytest.approx(row(**values)["test_time"], rel=0.01)


def test_without_decay_the_end_hangs_on_alpha_alone() -> None:
    """The flow ends at the interpolator of c = alpha^2: it generalizes where alpha^2 <= C*, and not above."""
    X, w, y = engine.task(cell())
    critical = row(decay=0.0, duration=5e4, duration_unit="absolute")["critical"]
    theta = np.empty(len(w))
    assert kernels.interpolate(X, y, critical, np.zeros(len(y)), theta)
    assert np.abs(X @ theta - y).max() < 1e-6
    assert ((theta - w) ** 2).sum() == pytest.approx(theory.TESTED, rel=1e-3)
    for factor in (0.8, 1.2):
        alpha = factor * math.sqrt(critical)
        made = row(decay=0.0, duration=5e4, duration_unit="absolute", alpha=alpha)
        assert (made["final_test_error"] <= theory.TESTED) == (factor < 1)
        kernels.interpolate(X, y, alpha**2, np.zeros(len(y)), theta)
        np.testing.assert_allclose(made["theta"][-1], theta, atol=1e-3)


def test_the_test_time_is_predicted_without_a_fit() -> None:
    """ln(alpha^2/C*)/(2 decay), C* of the task: nearer as the decay falls, whatever alpha."""
    for alpha in (1.0, 5.0):
        off = []
        for decay in (0.02, 0.002):
            made = row(alpha=alpha, decay=decay, duration=14.0)
            off.append(made["test_time"] / float(theory.test_time(alpha, decay, made["critical"])) - 1)
        assert 0 < off[1] < 0.2 * off[0] < 0.02


def test_the_recovery_threshold_has_its_known_values() -> None:
    """Donoho and Tanner's weak threshold: at n/d = 1/2 it is k/n = .3847; the tail integral is right."""
    assert theory.points_needed(0.5 * 0.3847) == pytest.approx(0.5, abs=2e-3)
    assert theory.points_needed(1.0) == 1.0
    assert theory.points_needed(1e-6) < 1e-3
    needed = [theory.points_needed(share) for share in (0.01, 0.1, 0.3, 0.9)]
    assert needed == sorted(needed)

    def density(u: float) -> float:
        return (u - 0.7) ** 2 * math.sqrt(2 / math.pi) * math.exp(-u * u / 2)

    beyond = math.erfc(0.7 / math.sqrt(2))
    by_parts = (1 + 0.49) * beyond - 0.7 * math.sqrt(2 / math.pi) * math.exp(-0.49 / 2)
    assert integrate.quad(density, 0.7, np.inf)[0] == pytest.approx(by_parts, rel=1e-9)


def test_first_times_lie_between_stops() -> None:
    """Straight in the logs; none where the level is never reached, or held from the start."""
    times = np.array([0.0, 1.0, 10.0, 100.0])
    assert engine.first_time(times, np.array([1.0, 1.0, 0.1, 0.001]), 0.01) == pytest.approx(10**1.5)
    assert engine.first_time(times, np.array([1.0, 1.0, 0.1, 0.05]), 0.01) is None
    assert engine.first_time(times, np.array([1.0, 0.1, 0.1, 0.05]), 0.1) == pytest.approx(1.0)


FATES = [
    ({}, "grokked"),
    ({"test_time": 2.0}, "prompt"),
    ({"test_time": 0.5}, "prompt"),
    ({"test_time": None, "final_test_error": 0.5, "late_test_error": 0.505}, "memorised"),
    ({"test_time": None, "final_test_error": 0.4, "late_test_error": 0.5}, "unresolved"),
    ({"train_time": None, "decay": 0.1, "test_time": None}, "shrunk"),
    ({"train_time": None, "decay": 0.0, "test_time": None}, "unresolved"),
    ({"status": "diverged"}, "diverged"),
    ({"status": None, "final_test_error": None}, None),
]


@pytest.mark.parametrize(("values", "fate"), FATES)
def test_every_fate_has_its_name(values: dict[str, Any], fate: str | None) -> None:
    """On made-up rows, and what is predicted beside it."""
    whole = {
        "cell_id": "c", "status": "ok", "alpha": 1.0, "decay": 0.01, "dimension": 100, "points": 50, "nonzeros": 3,
        "train_time": 1.0, "test_time": 160.0, "final_train_error": 1e-3, "final_test_error": 1e-3,
        "late_test_error": 1e-3, "critical": 0.04,
    }  # fmt: skip
    found = cells.detected(Generalization(), {**whole, **values})
    assert found["fate"] == fate
    if not values:
        assert found["delay"] == 160.0
        assert found["predicted_test_time"] == pytest.approx(math.log(25) / 0.02)
        assert found["predicted_fate"] == "grokked"
        assert found["enough_points"]
