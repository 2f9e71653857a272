"""Laws of gradient flow and the closed form: Theorem 4.1, eq 4.3, what a flow conserves, growth rates at saddles."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.dynamics.flow import DormandPrince
from swingby_sweeps.sim import task
from swingby_sweeps.sim.engine import Ready, SimTraining, build
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start, draw_layers
from swingby_sweeps.sim.params import SimParams

SIM = Sim()
Array = np.ndarray


def run(*cells: Cell, **recording: Any) -> list[dict[str, Any]]:
    (table,) = SIM.run(Batch(cells, Recording(**{"points": 40, **recording})))
    return table.to_pylist()


def cell(seed: int = 0, preset: str = "paper", **values: Any) -> Cell:
    defaults = {"n": 50, "gd_steps": 400, "dtype": "float64"}
    return Sim.point(preset, **{**defaults, **values}).cell(seed)


def film(item: Cell) -> tuple[dict[str, Any], list[list[Array]]]:
    """A replayed row, and the weight matrices (original coordinates) at each of its steps."""
    (table,) = SIM.replay(item)
    (row,) = table.to_pylist()
    shapes = [part.shape for layer in draw_layers(item) for part in layer if part is not None]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = [np.split(np.array(flat), ends[:-1]) for flat in row["weights"]]
    return row, [[block.reshape(shape) for block, shape in zip(blocks, shapes, strict=True)] for blocks in parts]


def theorem_4_1(item: Cell, a: Array, steps: list[int]) -> Array:
    """f(x^)_k for k <= s by eq 4.2, entry by entry; W(0) in the coordinates of the clusters. Shape (T, s)."""
    p = item.params
    assert isinstance(p, SimParams)
    R = task.random_rotation(item)
    W0 = R.T @ draw_layers(item)[0][0] @ R
    times = np.array(steps) * p.time_per_step
    growth = [(1 - np.exp(-a[k] * times)) * p.mu[k] for k in range(p.s)]
    noise = [sum(np.exp(-a[i] * times) * W0[k, i] * p.mu[i] for i in range(p.s)) for k in range(p.s)]
    return np.array(growth).T + np.array(noise).T


one_layer = st.fixed_dictionaries(
    {
        "s": st.integers(1, 4),
        "extra": st.integers(0, 3),
        "lr": st.floats(0.01, 0.5),
        "reduction": st.sampled_from(["half_sum", "mean", "quarter_sum"]),
        "sigma_is": st.sampled_from(["sd", "variance"]),
        "zero_cluster": st.booleans(),
        "seed": st.integers(0, 1000),
    }
)


@settings(max_examples=15, deadline=None)
@given(one_layer)
def test_one_layer_flows_by_theorem_4_1(values: dict[str, Any]) -> None:
    """One layer follows eq 4.2 with the a_p of its own conventions: its flow to 1e-6, its closed form to rounding."""
    s, seed = values.pop("s"), values.pop("seed")
    values |= {"model": "one_layer", "s": s, "d": s + values.pop("extra"), "moments": "population"}
    for drive, rtol in (("flow", 1e-6), ("closed_form", 1e-12)):
        item = cell(seed, drive=drive, **values)
        (row,) = run(item)
        assert isinstance(item.params, SimParams)
        clusters = s + values["zero_cluster"]
        sigma = np.array(item.params.sigma)
        a = (sigma if values["sigma_is"] == "variance" else sigma**2) + np.array(item.params.mu) ** 2 / clusters
        np.testing.assert_allclose(row["a"], a, rtol=1e-14)
        expected = theorem_4_1(item, a, row["step"])
        np.testing.assert_allclose(row["output"], expected, rtol=rtol, atol=rtol * max(item.params.mu))


def test_the_closed_form_holds_for_sample_moments() -> None:
    """Where A is not diagonal, C.17 is the flow still: the closed form on drawn points equals their flow."""
    rows = [
        run(cell(model="one_layer", d=4, drive=drive, moments="sample"), also=("jacobian",))[0]
        for drive in ("flow", "closed_form")
    ]
    np.testing.assert_allclose(rows[0]["jacobian"], rows[1]["jacobian"], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(rows[0]["train_loss"], rows[1]["train_loss"], rtol=1e-6, atol=1e-8)


def test_small_steps_of_descent_approach_the_flow() -> None:
    """Gradient descent is the flow to first order: a tenth of the step leaves a tenth of the difference."""
    wide = {"d": 3, "width": 4, "layers": 3, "bias": True, "init": "normal"}
    (flow,) = run(cell(drive="flow", lr=0.05, gd_steps=50, **wide), steps="every")
    gaps = []
    for finer in (10, 100):
        (row,) = run(cell(drive="gd", lr=0.05 / finer, gd_steps=50 * finer, **wide), steps="every")
        gaps.append(np.abs(np.array(row["output"])[::finer] - np.array(flow["output"])).max())
        assert np.abs(np.array(row["output"])[-1] - np.array(row["output"])[0]).max() > 0.1, "the net has moved"
    assert gaps[1] < 0.02
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize("layers", [2, 4])
def test_a_linear_flow_conserves_the_balance_of_its_layers(layers: int) -> None:
    """W_(l+1)^T W_(l+1) - W_l W_l^T does not change along the flow of a linear net, with d > s and under rotation."""
    values = {"d": 4, "width": 5, "layers": layers, "init": "normal", "init_gain": 1.0, "drive": "flow", "lr": 0.1}
    _, weights = film(cell(**values, gd_steps=300))
    start, end = weights[0], weights[-1]
    assert np.abs(end[0] - start[0]).max() > 0.1, "the net has moved"
    for time in weights[::30]:
        for below, above, first_below, first_above in zip(time, time[1:], start, start[1:], strict=False):
            balance = above.T @ above - below @ below.T
            np.testing.assert_allclose(balance, first_above.T @ first_above - first_below @ first_below.T, atol=1e-7)


def eq_4_3(W: Array, a: Array) -> Array:
    """The right-hand side of eq 4.3, entry by entry."""
    d, slope = len(a), np.empty_like(W)
    for i in range(d):
        for j in range(d):
            growth = W[i, j] * (a[i] + a[j])
            other = W[j, j] * (3 * a[j] + a[i]) if i != j else 0.0
            suppression = 0.5 * W[i, j] * (W[i, i] * (3 * a[i] + a[j]) + other)
            rest = [k for k in range(d) if k not in (i, j)]
            noise = 0.5 * sum(W[k, i] * W[k, j] * (a[i] + a[j] + 2 * a[k]) for k in rest)
            slope[i, j] = growth - suppression - noise
    return slope


symmetric = st.fixed_dictionaries(
    {
        "s": st.integers(1, 4),
        "extra": st.integers(0, 2),
        "width": st.integers(1, 5),
        "power": st.sampled_from([1, 2]),
        "seed": st.integers(0, 1000),
    }
)


@settings(max_examples=25, deadline=None)
@given(symmetric)
def test_the_field_on_U_is_eq_4_3_on_W(values: dict[str, Any]) -> None:
    """U' = -grad L / 2 (quarter_sum) moves W = U U^T by eq 4.3; driven by A squared, by eq 4.3 with a_p squared."""
    s = values["s"]
    item = cell(
        values["seed"],
        model="symmetric",
        s=s,
        d=s + values["extra"],
        width=values["width"],
        init_gain=1.0,
        moment_power=values["power"],
    )
    ready = Ready(item)
    U = torch.as_tensor(Start.of(ready.cell).parameters[0])[None]
    slope = torch.zeros_like(U)
    build(ready.params, [U]).push(-0.5 * torch.as_tensor(ready.moments)[None], [slope])
    U0, U1 = U[0].numpy(), slope[0].numpy()
    a = np.zeros(ready.params.d)
    a[:s] = (np.array(ready.params.sigma) ** 2 + np.array(ready.params.mu) ** 2 / s) ** values["power"]
    np.testing.assert_allclose(U1 @ U0.T + U0 @ U1.T, eq_4_3(U0 @ U0.T, a), rtol=1e-9, atol=1e-12)


def test_the_symmetric_flow_keeps_time_by_eq_4_3() -> None:
    """With quarter_sum, recorded W moves as eq 4.3 says in the time lr x steps; with half_sum twice as fast."""
    for reduction, speed in (("quarter_sum", 1.0), ("half_sum", 2.0)):
        item = cell(model="symmetric", s=3, lr=0.002, gd_steps=200, init_gain=1.0, reduction=reduction)
        row, weights = film(item)
        W = np.array([U @ U.T for (U,) in weights])
        # Fourth-order central difference: error of order lr^4.
        slope = (W[:-4] - 8 * W[1:-3] + 8 * W[3:-1] - W[4:]) / (12 * 0.002)
        expected = np.array([speed * eq_4_3(w, np.array(row["a"])) for w in W[2:-2]])
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.array(row["jacobian"]), W.reshape(len(W), -1), rtol=1e-12, atol=1e-15)


def test_the_symmetric_flow_stays_symmetric_and_positive() -> None:
    """W stays symmetric and positive semidefinite along the flow, where d' < d keeps it singular too."""
    for width in (2, 3, 5):
        row, weights = film(cell(model="symmetric", s=3, width=width, init_gain=0.3, gd_steps=200, lr=0.05))
        for (U,) in weights[::10]:
            W = U @ U.T
            assert np.array_equal(W, W.T)
            spectrum = np.linalg.eigvalsh(W)
            assert spectrum[0] >= -1e-14 * spectrum[-1]
        J = np.array(row["jacobian"]).reshape(-1, 3, 3)
        np.testing.assert_allclose(J, J.transpose(0, 2, 1), rtol=0, atol=1e-15)
        assert row["rank0"] == min(width, 3)
        assert row["trace"] == pytest.approx(np.trace(J[-1]), rel=1e-12)
        assert (row["smallest_eigenvalue"] > 0.5) == (width >= 3)


def test_a_tighter_tolerance_is_a_smaller_error() -> None:
    """The flow's error against Theorem 4.1 stays below 10 rtol of the output, for rtol from 1e-4 to 1e-10."""
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        item = cell(model="one_layer", d=3, drive="flow", moments="population", rtol=rtol)
        (row,) = run(item)
        error = np.abs(np.array(row["output"]) - theorem_4_1(item, np.array(row["a"]), row["step"])).max()
        assert error < 10 * rtol


def test_the_integrator_lands_on_its_times() -> None:
    """Every cell arrives at its own time exactly, and one that has arrived is not touched by the rest."""
    y = torch.tensor([[1.0, 2.0], [0.5, 0.1], [3.0, 0.0]], dtype=torch.float64)
    rates = torch.tensor([[0.1], [5.0], [100.0]], dtype=torch.float64)
    tolerance = torch.full((3,), 1e-9, dtype=torch.float64)
    solver = DormandPrince(lambda y: -rates * y, y, tolerance, tolerance * 1e-3)
    solver.advance(torch.tensor([0.3, 0.3, 0.3], dtype=torch.float64))
    first = solver.y.clone()
    solver.advance(torch.tensor([0.3, 0.7, 1.1], dtype=torch.float64))
    assert solver.time.tolist() == [0.3, 0.7, 1.1]
    assert torch.equal(solver.y[0], first[0])
    exact = y * torch.exp(-rates * solver.time[:, None])
    torch.testing.assert_close(solver.y, exact, rtol=1e-6, atol=1e-10)


def test_a_flow_that_cannot_be_followed_is_told() -> None:
    """y' = y^2 blows up at t = 1: that cell is marked failed and stays there; its neighbour arrives."""
    y = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    tolerance = torch.full((2,), 1e-6, dtype=torch.float64)
    solver = DormandPrince(lambda y: y**2, y, tolerance, tolerance)
    solver.advance(torch.tensor([2.0, 2.0], dtype=torch.float64))
    assert solver.failed.tolist() == [True, False]
    assert float(solver.time[0]) == pytest.approx(1.0, abs=1e-4)
    assert torch.isfinite(solver.y).all()
    assert float(solver.y[1, 0]) == pytest.approx(-1 / 3, rel=1e-5)


def test_growth_rates_at_known_saddles() -> None:
    """At zero, two layers grow at max a, U at 2 max a, three layers not at all; with concept 2 learned, two at a_1."""
    zero2 = tuple((0.0,) * 2 for _ in range(4))
    learned = ((0.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.0, 1.0))
    cases: list[tuple[dict[str, Any], int, float]] = [
        ({"layers": 2, "width": 2, "init_weights": zero2}, 1, 1.0),
        ({"layers": 2, "width": 2, "init_weights": learned}, 0, 1.0),
        ({"layers": 3, "width": 2, "init_weights": (*zero2, *zero2[:2])}, 0, 0.0),
        ({"model": "symmetric", "width": 2, "init_weights": zero2[:2]}, 1, 2.0),
    ]
    for values, place, factor in cases:
        drive = {"drive": "flow", "moments": "population", "gd_steps": 1, "d": 2, "rotate": False, "init": "explicit"}
        (row,) = run(cell(**{**drive, **values}))
        assert row["gradient_norm"] == 0.0
        assert row["growth_rate"] == pytest.approx(factor * row["a"][place], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        {"model": "relu", "layers": 2, "bias": True},
        {"model": "relu", "layers": 3},
        {"model": "linear", "layers": 3, "bias": True},
        {"model": "linear", "layers": 2, "d": 2},
        {"model": "symmetric", "drive": "sgd", "init_gain": 0.4},
    ],
    ids=str,
)
def test_certificates_are_gradient_and_hessian_of_the_plain_net(values: dict[str, Any]) -> None:
    """Gradient norm and growth rate are those of L over all weights, on all points, in the original coordinates."""
    item = cell(**{"d": 3, "width": 3, "n": 20, "epochs": 1, "lr": 0.01, **values})
    (table,) = SIM.replay(item)
    (row,) = table.to_pylist()
    p = item.params
    assert isinstance(p, SimParams)
    E = task.random_rotation(item)[:, : p.s]
    points = torch.as_tensor(task.draw_points(item) @ E.T)
    shapes = [part.shape for layer in draw_layers(item) for part in layer if part is not None]

    def loss(theta: torch.Tensor) -> torch.Tensor:
        parts = theta.split([int(np.prod(shape)) for shape in shapes])
        weights = [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
        if p.model == "symmetric":
            return 0.5 * ((points @ weights[0] @ weights[0].T - points) ** 2).sum(1).mean()
        h, step = points, 1 + p.bias
        for layer in range(0, len(weights), step):
            h = torch.nn.functional.linear(h, weights[layer], weights[layer + 1] if p.bias else None)
            if p.model == "relu" and layer + step < len(weights):
                h = torch.relu(h)
        return 0.5 * ((h - points) ** 2).sum(1).mean()

    theta = torch.tensor(row["weights"][-1], dtype=torch.float64)
    slope, hessian = torch.autograd.functional.jacobian(loss, theta), torch.autograd.functional.hessian(loss, theta)
    assert isinstance(slope, torch.Tensor)
    assert isinstance(hessian, torch.Tensor)
    assert row["gradient_norm"] == pytest.approx(float(slope.norm()), rel=1e-8)
    assert row["growth_rate"] == pytest.approx(-float(torch.linalg.eigvalsh(hessian)[0]), rel=1e-7)


def test_a_narrow_symmetric_model_stays_stuck_with_a_certificate() -> None:
    """d' = 1 < s: the flow ends where the gradient vanishes and nothing grows, at a high OOD loss; d' = 2 does not."""
    (stuck,) = run(cell(model="symmetric", s=2, width=1, init_gain=0.3, gd_steps=5000))
    assert stuck["narrowest"] == stuck["rank0"] == 1
    assert stuck["final_ood_loss"] > 0.1 * stuck["l_ref"]
    assert stuck["gradient_norm"] < 1e-6
    assert stuck["growth_rate"] < 1e-6
    (free,) = run(cell(model="symmetric", s=2, width=2, init_gain=0.3, gd_steps=5000))
    assert free["final_ood_loss"] < 1e-6 * free["l_ref"]
    assert free["growth_rate"] is None


def test_cells_of_one_flow_do_not_share_their_steps() -> None:
    """A batch of flows at very different speeds and tolerances gives each cell what it has alone."""
    items = [
        cell(seed, d=3, width=4, drive="flow", lr=lr, rtol=rtol)
        for seed, (lr, rtol) in enumerate([(1e-3, 1e-10), (0.1, 1e-8), (2.0, 1e-6)])
    ]
    together = run(*items)
    for item, row in zip(items, together, strict=True):
        (alone,) = run(item)
        np.testing.assert_allclose(row["ood_loss"], alone["ood_loss"], rtol=1e-9, atol=1e-12 * row["l_ref"])


def test_training_is_deaf_to_its_audience() -> None:
    """What is recorded does not change a run under descent; under flow it changes it within the tolerance."""
    for drive, tolerance in (("gd", 0.0), ("flow", 1e-6)):
        item = cell(d=3, width=4, drive=drive)
        sparse, dense = (SimTraining([Ready(item)], Recording(points=points)) for points in (5, 300))
        sparse.run()
        dense.run()
        for a, b in zip(sparse.parameters, dense.parameters, strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
