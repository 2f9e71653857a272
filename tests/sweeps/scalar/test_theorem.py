"""Theorem 1 of [T] 6.3: against differential equations of all weights, descent on all weights, and its own laws."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.scalar.wide import engine, kernels, theory
from tests.support import cells

sizes = st.floats(-6, 3).map(lambda power: 10.0**power)
targets = st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-3, 3)).map(lambda pair: pair[0] * 10.0 ** pair[1])
alignments = st.floats(-0.999, 0.999)
times = st.floats(0, 60)


def cell(seed: int = 0, **values: Any) -> Cell:
    """A cell of the experiment."""
    return cells.cell("wide_scalar", seed, **values)


def row(seed: int = 0, **values: Any) -> cells.Row:
    """The result of one cell."""
    return cells.trained([cell(seed, **values)], Recording(points=50, also=("modes",)))[0]


def test_the_compiled_closed_form_is_the_formula() -> None:
    """Exponentials that are carried from step to step lose nothing: from tiny and from huge starts, to 2e-14."""
    draws = np.random.default_rng(0)
    for _ in range(100):
        (A, B), S = 10 ** draws.uniform(-12, 6, 2), draws.choice([-1, 1]) * 10 ** draws.uniform(-6, 6)
        steps, q = np.arange(draws.integers(70, 700)), theory.root(A, B, S)
        rate, states = float(10 ** draws.uniform(-2, 2) / len(steps) / (2 * q)), np.empty((len(steps), 2))
        far = kernels.closed(A, B, S, rate, steps, states)
        first, second = theory.modes(A, B, S, 2 * q * rate * steps)
        np.testing.assert_allclose(states, np.stack([first, second], 1), rtol=2e-14)
        linear = theory.theta_linear(A, B, S, rate * (A + B) * steps)
        assert far == pytest.approx(np.abs((first - second) / 2 - linear).max(), abs=2e-14 * max(A, B, abs(S)))


@pytest.mark.parametrize("seed", range(12))
def test_the_closed_form_solves_the_flow_of_all_weights(seed: int) -> None:
    """Theta, Sigma and a_j b_j from random weights, of both signs of S, are those of an ODE solver on 2p weights."""
    draws = np.random.default_rng(seed)
    p, Z, S, E, c = 6, 10 ** draws.uniform(-1, 1), draws.normal() * 10 ** draws.uniform(-1, 1), 0.7, 1.3
    values = {"width": p, "divisor": Z, "target": S, "second_moment": E, "loss_factor": c, "sd_a": 0.3, "sd_b": 0.5}
    made = row(seed, training_steps=20, lr=0.4, lr_unit="end", **values)
    a, b = engine.drawn_weights(cell(seed, **values))

    def slope(_: float, w: np.ndarray) -> np.ndarray:
        a, b = w[:p], w[p:]
        return -c * E * (a @ b / Z - S) / Z * np.concatenate([b, a])

    at = np.array(made["step"]) * made["time_per_step"]
    solved = solve_ivp(slope, (0, at[-1]), np.concatenate([a, b]), "DOP853", at, rtol=1e-12, atol=1e-14).y.T
    products = solved[:, :p] * solved[:, p:] / Z
    scale = max(abs(S), made["start_sum"])
    np.testing.assert_allclose(made["theta"], products.sum(1), atol=2e-10 * scale)
    np.testing.assert_allclose(made["mode"], products, atol=2e-10 * scale)
    aligned = (solved**2).sum(1) / (2 * Z) + np.sign(S) * products.sum(1)
    np.testing.assert_allclose(made["aligned"], aligned, rtol=1e-8, atol=2e-10 * scale)


@settings(max_examples=60, deadline=None)
@given(A=sizes, B=sizes, S=targets, x=times)
def test_theta_stays_between_start_and_target_and_gamma_moves_one_way(A: float, B: float, S: float, x: float) -> None:
    """Sigma^2 - theta^2 = A B is kept, theta lies between S_0 and S, gamma goes monotonically to (6.14)."""
    aligned, opposed = theory.modes(A, B, S, x)
    later, _ = theory.modes(A, B, S, x + 1)
    assert aligned * opposed == pytest.approx(A * B, rel=1e-9)
    start, theta = (A - B) / 2, float(theory.theta(A, B, S, x))
    room = 1e-12 * (A + B + abs(S))
    assert min(start, S) - room <= theta <= max(start, S) + room
    assert (later - aligned) * np.sign(S - start) >= -1e-9 * aligned
    if S > 0:
        assert theory.gamma_end(A, B, S) >= S / ((A + B) / 2) * (1 - 1e-12)
    end, _ = theory.modes(A, B, S, 800.0)
    assert end / A == pytest.approx(float(theory.gamma_end(A, B, S)), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(s0=alignments, rho=targets, size=sizes, x=times)
def test_only_ratios_matter_and_signs_can_be_swapped(s0: float, rho: float, size: float, x: float) -> None:
    """Theta/Sigma_0 hangs on rho, s0 and x alone; (a, S) -> (-a, -S) swaps A and B and the sign of theta."""
    A, B = 1 + s0, 1 - s0
    one = float(theory.theta(A, B, rho, x))
    scale = max(1, abs(rho))
    assert float(theory.theta(size * A, size * B, size * rho, x)) / size == pytest.approx(one, abs=1e-11 * scale)
    assert float(theory.theta(B, A, -rho, x)) == pytest.approx(-one, abs=1e-11 * scale)
    ratio = float(theory.root(A, B, rho)) / 1.0
    assert float(theory.kernel_ratio(rho, s0)) == pytest.approx(ratio, rel=1e-9)


def test_the_printed_form_cancels_where_this_one_does_not() -> None:
    """From Sigma_0 = 1e-12, beside (6.12) with 60 digits: as printed it keeps four digits of gamma, this form all."""
    A, B, S = 1e-12, 1.5e-12, 1.0
    q = math.sqrt(S * S + A * B)
    with decimal.localcontext(prec=60):
        exact_A, exact_B, exact_S = (decimal.Decimal(value) for value in (A, B, S))
        exact_q = (exact_S**2 + exact_A * exact_B).sqrt()
        for x in (0.0, 1e-3, 5.0, 25.0, 60.0):
            e = (-decimal.Decimal(x)).exp()
            above = exact_B + exact_S + exact_q + (exact_q - exact_B - exact_S) * e
            gamma = float(above / (exact_A - exact_S + exact_q + (exact_q - exact_A + exact_S) * e))
            assert float(theory.modes(A, B, S, x)[0]) / A == pytest.approx(gamma, rel=1e-12)
        e = math.exp(-x)
        printed = (B + S + q + (q - B - S) * e) / (A - S + q + (q - A + S) * e)
        assert abs(printed / gamma - 1) > 1e-5


@pytest.mark.parametrize(("init", "mirrored"), [("normal", False), ("normal", True), ("signs", False), ("signs", True)])
def test_the_map_of_two_numbers_is_descent_on_all_weights(init: str, mirrored: bool) -> None:
    """Theta by the map, and by the numbers theta and K, is that of descent on every weight, through a catapult."""
    values = {"init": init, "mirrored": mirrored, "width": 50, "divisor_power": 0.5, "target": 0.8}
    made = row(3, drive="gd", lr=2.6, lr_unit="start", training_steps=40, **values)
    a, b = engine.drawn_weights(cell(3, drive="gd", **values))
    Z, lr, S = made["normaliser"], made["time_per_step"], 0.8
    theta, K = a @ b / Z, (a @ a + b @ b) / Z**2
    if mirrored:
        assert abs(theta) < 1e-15
    by_weights, by_numbers = [], []
    for _ in made["step"]:
        by_weights.append(a @ b / Z)
        by_numbers.append(theta)
        g = theta - S
        theta, K = theta - lr * g * K + (lr * g / Z) ** 2 * theta, K - 4 * lr * g * theta / Z**2 + (lr * g / Z) ** 2 * K
        g = (a @ b / Z - S) / Z
        a, b = a - lr * g * b, b - lr * g * a
    assert made["peak_loss"] > 1.5 * made["loss"][0]
    np.testing.assert_allclose(made["theta"], by_weights, atol=1e-11)
    np.testing.assert_allclose(made["theta"], by_numbers, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lr", [0.1, 1.0, 1.9])
def test_below_the_edge_of_stability_the_map_is_descent_to_rounding(seed: int, lr: float) -> None:
    """Below lr E K = 2 nothing grows, so that theta by the map is that of descent on every weight to 1e-14."""
    values = {"init": "normal", "width": 50, "divisor_power": 0.5, "target": 0.2}
    made = row(seed, drive="gd", lr=lr, lr_unit="start", training_steps=40, **values)
    a, b = engine.drawn_weights(cell(seed, drive="gd", **values))
    Z, rate, theta = made["normaliser"], made["time_per_step"], list[float]()
    assert rate * 2 * max(made["start_sum"], math.hypot(made["start_sum"], 0.2)) / Z < 2
    for _ in range(41):
        theta.append(a @ b / Z)
        g = (a @ b / Z - 0.2) / Z
        a, b = a - rate * g * b, b - rate * g * a
    np.testing.assert_allclose(made["theta"], np.array(theta)[made["step"]], rtol=0, atol=1e-14)


@settings(max_examples=25, deadline=None)
@given(s0=alignments, rho=targets)
def test_the_integrated_flow_is_the_closed_form(s0: float, rho: float) -> None:
    """By either drive, theta and both sums of modes, at every record."""
    values = {"init": "pairs", "start_alignment": s0, "target": rho, "lr": 0.3, "lr_unit": "end", "training_steps": 150}
    one, other = (row(drive=drive, **values) for drive in ("closed_form", "flow"))
    for name in ("theta", "aligned", "opposed", "loss"):
        assert one[name] == pytest.approx(other[name], rel=1e-7, abs=1e-8 * max(1, abs(rho)))
    assert one["nonlinearity"] == pytest.approx(other["nonlinearity"], abs=1e-7)


def test_starts_that_never_move_towards_the_target() -> None:
    """All opposed, A = 0 < S: a saddle by every drive. A target of 0 from an aligned start: theta falls as 1/t."""
    for drive in ("closed_form", "flow", "gd"):
        made = row(drive=drive, init="pairs", start_alignment=-1.0, target=2.0, training_steps=3000, lr=0.01)
        assert abs(made["theta"][-1]) < 1e-9
        assert made["aligned"] == [0.0] * len(made["step"])
        made = row(drive=drive, init="pairs", start_alignment=1.0, target=0.0, training_steps=1000, lr=1e-3)
        assert made["theta"][-1] == pytest.approx(1 / (1 + 2 * 1.0), rel=2e-3 if drive == "gd" else 1e-9)


def test_divergence_is_kept_up_to_the_last_sound_record() -> None:
    """Beyond lr c E K_0 = 4 descent diverges, and says when."""
    made = row(drive="gd", init="pairs", target=0.5, lr=5.0, lr_unit="start", training_steps=1000)
    assert made["status"] == "diverged"
    assert "1e+06" in made["message"]
    assert made["to_step"] == made["step"][-1] < 1000
    assert len(made["theta"]) == len(made["step"])
