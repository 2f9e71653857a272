"""Laws of `modes`: closed forms are what the flow does, times invert curves, and (C.9) has the gradient of theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby.model.experiment import Recording
from swingby_sweeps.layerwise import modes_engine, theory
from tests.support import cells


def rows(seeds: int = 1, points: int = 60, **values: Any) -> list[dict[str, Any]]:
    """The rows of one point, with the weights at every recorded step."""
    batch = [cells.cell("modes", seed, **values) for seed in range(seeds)]
    return cells.trained(batch, Recording(points=points, also=("weights",)))


def flow(w: np.ndarray, E: float, S: float, times: np.ndarray) -> np.ndarray:
    """u(t) of one mode of weights w by an integrator of scipy's."""

    def field(_: float, w: np.ndarray) -> np.ndarray:
        others = np.array([np.prod(np.delete(w, layer)) for layer in range(len(w))])
        return E * (S - np.prod(w)) * others

    found = solve_ivp(field, (0, times[-1]), w, "DOP853", times, rtol=1e-12, atol=1e-14)
    return found.y.prod(0)


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_the_closed_form_is_the_flow(layers: int) -> None:
    """Every recorded strength of every mode is that of the integrated gradient flow, to 1e-9."""
    values: dict[str, Any] = {
        "layers": layers,
        "modes": 3,
        "target": 1.7,
        "start": 0.3,
        "lr": 0.4,
        "training_steps": 800,
    }
    (row,) = rows(**values)
    for mode, moment in enumerate(row["moment"]):
        times = np.array(row["step"]) * 0.4
        exact = flow(np.full(layers, 0.3), moment, 1.7, times) / 1.7
        np.testing.assert_allclose([r[mode] for r in row["strength"]], exact, rtol=1e-9, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(a=st.floats(1e-4, 3), b=st.floats(1e-4, 3), S=st.floats(0.1, 20), E=st.floats(0.1, 5), r=st.floats(0.01, 0.99))
def test_two_layers_from_any_start(a: float, b: float, S: float, E: float, r: float) -> None:
    """Two unequal weights follow the closed form, and the time to a strength inverts it."""
    times = np.linspace(0, 3 / (E * S), 7)
    np.testing.assert_allclose(theory.two_layers(times, E, S, a, b), flow(np.array([a, b]), E, S, times), rtol=1e-7)
    if a * b / S < r:
        t = theory.two_layers_time_to(r, E, S, a, b)
        assert theory.two_layers(t, E, S, a, b) / S == pytest.approx(r, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(L=st.integers(3, 10), a0=st.floats(0.02, 0.8), S=st.floats(1, 20), r=st.floats(0.55, 0.999))
def test_the_time_of_a_deep_mode_inverts_its_curve(L: int, a0: float, S: float, r: float) -> None:
    """The hypergeometric form of the time, and the curve by quadrature and Newton's method, agree."""
    t = theory.time_to(r, 1.0, S, a0, L)
    (u,) = theory.deep(np.array([t]), 1.0, S, a0, L)
    assert theory.time_to(u / S, 1.0, S, a0, L) == pytest.approx(t, rel=1e-11)


def test_flow_and_descent_keep_their_promises() -> None:
    """The flow is the closed form and conserves the imbalance; descent nears it with its step."""
    values: dict[str, Any] = {
        "modes": 2,
        "start": 0.2,
        "spread": 0.3,
        "imbalance": 0.02,
        "training_steps": 500,
        "lr": 0.1,
    }
    closed, flown = (rows(3, **values, drive=drive) for drive in ("closed_form", "flow"))
    for one, other in zip(closed, flown, strict=True):
        np.testing.assert_allclose(one["strength"], other["strength"], rtol=1e-7)
        w = np.array(other["weights"]).reshape(-1, 2, 2)
        np.testing.assert_allclose(w[..., 1] ** 2 - w[..., 0] ** 2, np.diff(w[0] ** 2).T.repeat(len(w), 0), rtol=1e-6)
    errors = []
    for finer in (4, 16):
        steps = {**values, "lr": 0.1 / finer, "training_steps": 500 * finer, "drive": "gd"}
        ends = [np.array(row["strength"])[-1] for row in rows(3, **steps)]
        errors.append(np.abs(ends - np.array([row["strength"][-1] for row in closed])).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_the_overlap_is_where_the_strengths_add_to_one() -> None:
    """eps* of theory is what the curves of two modes show, for two layers in closed form and for any number."""
    E, S = np.array([1.0, 0.4]), 2.0
    c = S / 0.1**2 - 1
    for L in (1, 2, 3, 6):
        level = theory.mode_overlap(E, S, np.full((2, L), 0.1))
        at = theory.time_to(level, E[1], S, 0.1, L)
        assert theory.time_to(1 - level, E[0], S, 0.1, L) == pytest.approx(at, rel=1e-9)
        if L == 2:
            assert level == pytest.approx(theory.overlap(E[0], E[1], c, c), rel=1e-10)
    assert np.isnan(theory.mode_overlap(E, S, np.array([[0.1, 0.1, 0.1], [0.1, 0.1, 0.2]])))
    assert not 0 < theory.printed_overlap(E[0], E[1], c) < 1


@given(x=st.floats(0.05, 0.9), alpha=st.floats(0.5, 5), k=st.integers(1, 9), S=st.floats(0.1, 10))
def test_starts_of_an_overlap_and_of_a_number_of_pairs_have_them(x: float, alpha: float, k: int, S: float) -> None:
    """From these starts `overlap` is at its level, and `pairs_expected` is k."""
    c = S / theory.start_of_overlap(x, S) ** 2 - 1
    assert theory.overlap(1.0, x, c, c) == pytest.approx(theory.WITHIN, rel=1e-9)
    c = S / theory.start_of_pairs(k, alpha, S) ** 2 - 1
    assert theory.pairs_expected(alpha, c) == pytest.approx(k, rel=1e-9)


def test_the_parity_net_has_the_gradient_of_theory() -> None:
    """`theory.parity_growth` is minus the gradient of the mean loss of (C.9); the net can be right."""
    S, X = 5.0, modes_engine.BITS

    def loss(state: np.ndarray) -> float:
        x, y, z, c = state
        W = np.array([[-x, x, -x], [-y, y, -y], [z, -z, z]])
        f = np.array([-2 * x, y, z]) @ np.maximum(0, W @ X + np.array([[0], [y], [-z]])) + c
        return float(0.5 * ((f - S * modes_engine.PARITY) ** 2).mean())

    state = np.array([0.7, 0.4, 1.1, -0.3])
    steps = 1e-6 * np.eye(4)
    gradient = [(loss(state + step) - loss(state - step)) / 2e-6 for step in steps]
    x, y, z = state[:3] ** 2
    rates = np.array(theory.parity_growth(x, y, z, state[3], S))
    np.testing.assert_allclose(rates * np.append(state[:3], 1), -np.array(gradient), rtol=1e-6)
    right = np.array([*[np.sqrt(2 * S)] * 3, -S])
    assert loss(right) == pytest.approx(0, abs=1e-20)
    for growth in (theory.parity_growth, theory.printed_parity_growth):
        np.testing.assert_allclose(growth(2 * S, 2 * S, 2 * S, -S, S), 0, atol=1e-12)


def test_parity_modes_emerge_at_their_times() -> None:
    """From squares of 1e-4 at S = 5 they reach S after 3.05, 3.60 and 4.75; the ratios near 1 : 25/18 : 11/6."""
    (row,) = rows(system="parity3", drive="flow", target=5.0, start=0.01, lr=0.01, training_steps=700, points=701)
    r = np.array(row["strength"])
    times = [np.interp(0.5, r[:, mode], np.array(row["step"]) * 0.01) for mode in range(3)]
    np.testing.assert_allclose(times, [3.05, 3.60, 4.75], atol=0.01)
    off = []
    for start in (1e-4, 1e-16):
        (row,) = rows(system="parity3", drive="flow", start=start, lr=0.1, training_steps=2000, points=2001)
        r = np.array(row["strength"])
        found = np.array([np.interp(0.05, r[:, mode], np.array(row["step"]) * 0.1) for mode in range(3)])
        off.append(np.abs(found / found[0] - theory.PARITY_LIMITS).max())
    assert off[1] < 0.3 * off[0]
