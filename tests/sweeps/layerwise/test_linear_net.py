"""Laws of `linear_net`: closed form, flow and an independent integrator agree; the law of times; the kernel's end."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from swingby.model.experiment import Recording
from swingby_sweeps.layerwise import net_theory
from swingby_sweeps.layerwise.nets import Nets
from tests.support import cells

CURVES = ("strength", "loss", "singular_values", "effective_rank", "kernel_distance")


cell = partial(cells.cell, "linear_net")


def rows(seeds: int = 2, points: int = 60, **values: Any) -> list[dict[str, Any]]:
    """The rows of one point, with the drift."""
    return cells.trained([cell(seed, **values) for seed in range(seeds)], Recording(points=points, also=("drift",)))


def integrated(nets: Nets, times: np.ndarray) -> np.ndarray:
    """W_1 W_2 of the first cell at some times, by an integrator of scipy's, (T, d, c)."""
    (d, p), c, moments = nets.W1.shape[1:], nets.W2.shape[2], nets.moments[0][:, None]

    def field(_: float, y: np.ndarray) -> np.ndarray:
        W1, W2 = y[: d * p].reshape(d, p), y[d * p :].reshape(p, c)
        G = nets.correlation[0] - moments * (W1 @ W2)
        return np.concatenate([(G @ W2.T).ravel(), (W1.T @ G).ravel()])

    y0 = np.concatenate([nets.W1[0].ravel(), nets.W2[0].ravel()])
    y = solve_ivp(field, (0, times[-1]), y0, "DOP853", times, rtol=1e-11, atol=1e-13).y.T
    return y[:, : d * p].reshape(-1, d, p) @ y[:, d * p :].reshape(-1, p, c)


@pytest.mark.parametrize(
    "values",
    [
        {"init": "balanced", "drive": "closed_form"},
        {"init": "lambda", "drive": "closed_form", "imbalance": 0.7, "d": 3, "c": 3, "width": 3, "sigma": 0.1},
        {"init": "lambda", "drive": "closed_form", "imbalance": -0.7, "d": 3, "c": 3, "width": 3, "sigma": 0.1},
        {"init": "normal", "drive": "flow", "input_spectrum": 0.2, "sigma": 0.05},
    ],
    ids=["balanced", "lambda", "minus-lambda", "coloured"],
)
def test_every_drive_is_the_flow(values: dict[str, Any]) -> None:
    """Singular values and strengths at all records are those of an independent integrator, and of the drive `flow`."""
    values = {**values, "lr": 0.05, "training_steps": 300}
    nets, (row, *_) = Nets.drawn([cell(0, **values)]), rows(**values)
    F = integrated(nets, np.array(row["step"]) * 0.05)
    np.testing.assert_allclose(row["singular_values"], np.linalg.svd(F)[1], atol=1e-8)
    full = np.einsum("dm,de,em->m", nets.U[0], nets.target[0], nets.V[0])
    np.testing.assert_allclose(row["strength"], np.einsum("dm,tde,em->tm", nets.U[0], F, nets.V[0]) / full, atol=1e-8)
    (flown, *_) = rows(**{**values, "drive": "flow"})
    for name in CURVES:
        np.testing.assert_allclose(row[name], flown[name], atol=1e-8)


def test_the_kernel_distance_is_that_of_the_kernels() -> None:
    """1 - cos of the kernels on all pairs of inputs and outputs, made entry by entry, at the first and last record."""
    values = {"init": "normal", "drive": "gd", "input_spectrum": 0.3, "sigma": 0.4, "d": 3, "c": 2, "width": 4}
    values |= {"rho": (2.0, 1.0), "lr": 1e-9, "training_steps": 1}
    nets = Nets.drawn([cell(0, **values)])
    roots = np.diag(np.sqrt(nets.moments[0]))

    def kernel(W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
        return np.kron(roots @ W1 @ W1.T @ roots, np.eye(2)) + np.kron(roots @ roots, W2.T @ W2)

    from swingby_sweeps.dynamics.nets import LinearNet as SharedNet
    from swingby_sweeps.dynamics.shapes import NetShape
    from swingby_sweeps.layerwise.observer import Observer, torch

    moved = [nets.W1[0] + 0.3, nets.W2[0] - 0.2]
    one, other = kernel(nets.W1[0], nets.W2[0]), kernel(*moved)
    cosine = (one * other).sum() / np.linalg.norm(one) / np.linalg.norm(other)
    weights = [torch.as_tensor(moved[0][None]), torch.as_tensor(np.ascontiguousarray(moved[1].T[None]))]
    net = SharedNet(NetShape("linear", 3, 2, (4,)), weights, torch.as_tensor(nets.target))
    assert Observer(nets, ())(net, np.array([True]))["kernel_distance"][0] == pytest.approx(1 - cosine, rel=1e-10)


def test_descent_nears_the_flow_with_its_step() -> None:
    """Full-batch descent in steps a quarter as long is a quarter as far from the flow."""
    errors = []
    for finer in (1, 4):
        values = {"lr": 0.01 / finer, "training_steps": 400 * finer, "sigma": 0.1}
        flown, descended = rows(drive="flow", **values), rows(drive="gd", **values)
        errors.append(np.abs(np.array(flown[0]["strength"][-1]) - descended[0]["strength"][-1]).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_the_flow_conserves_the_difference_of_the_layers() -> None:
    """W_1^T W_1 - W_2 W_2^T stays, to the error of the integration."""
    for row in rows(drive="flow", lr=0.1, training_steps=200, sigma=0.1):
        assert max(row["drift"]) < 1e-7


def test_the_law_of_times() -> None:
    """From sigma 1e-4 each mode reaches 1/2 within 1e-3 of the law with Gram-Schmidt; by the naive one it is late."""
    values = {"drive": "flow", "width": 3, "sigma": 1e-4, "lr": 0.01, "training_steps": 2500}
    late = []
    for row in rows(8, points=2501, **values):
        r, t = np.array(row["strength"]), np.array(row["step"]) * 0.01
        rho = np.array([3.0, 2.0, 1.0])
        law = net_theory.time_to(0.5, rho, np.array(row["alignment"]))
        naive = net_theory.time_to(0.5, rho, np.array(row["alignment_alone"]))
        at = np.array([np.interp(0.5, r[:, mode], t) if r[-1, mode] > 0.5 else np.nan for mode in range(3)])
        told = law < 20
        np.testing.assert_allclose(at[told], law[told], rtol=1e-3)
        late.append(law / naive)
    assert np.all(np.array(late) >= 1)
    assert 1.03 < np.median(np.array(late)[:, 2]) < 1.25


def test_a_net_that_is_too_narrow_loses_modes() -> None:
    """Two hidden units learn two of three modes; theory gives the third no time."""
    for row in rows(4, drive="flow", width=2, lr=0.1, training_steps=300):
        assert (np.array(row["strength"][-1]) > 0.5).tolist() == [True, True, False]
        assert row["alignment"][2] == 0
        assert net_theory.time_to(0.5, 1.0, row["alignment"][2]) == np.inf


def test_balanced_square_nets_stall_where_the_determinant_has_the_wrong_sign() -> None:
    """A balanced flow keeps the sign of det W_1 W_2; where the target has the other one the last mode has no time."""
    found = set()
    for seed in range(12):
        values = {"init": "balanced", "d": 3, "c": 3, "width": 3, "drive": "closed_form", "sigma": 0.1}
        nets = Nets.drawn([cell(seed, **values)])
        opposed = np.linalg.det(nets.W1[0] @ nets.W2[0]) * np.linalg.det(nets.target[0]) < 0
        left, _ = net_theory.alignment(nets.W1, nets.W2, nets.U, nets.V)
        assert (left[0] > 0).tolist() == [True, True, not opposed]
        found.add(bool(opposed))
    assert found == {True, False}


@pytest.mark.parametrize("rho", [(2.0,), (2.0, 0.5), (1.0, 1.0, 1.0)])
def test_the_end_of_the_kernel(rho: tuple[float, ...]) -> None:
    """From a vanishing start the kernel ends where `kernel_distance` says; only rho / lambda and the size matter."""
    ends = []
    for scale in (1.0, 0.1):
        values = {"init": "lambda", "drive": "closed_form", "d": 3, "c": 3, "width": 3, "sigma": 1e-5}
        values |= {"rho": tuple(scale * r for r in rho), "imbalance": 0.7 * scale, "lr": 0.5 / scale}
        (row,) = rows(1, **values, training_steps=80)
        ends.append(row["kernel_distance"][-1])
        expected = net_theory.kernel_distance(np.array(values["rho"]), 0.7 * scale, 3)
        assert row["kernel_distance"][-1] == pytest.approx(expected, abs=1e-6)
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
