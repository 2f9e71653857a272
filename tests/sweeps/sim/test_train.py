"""Laws of training in steps: a batch is nothing but plain loops side by side, and linear nets need moments only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.engine import Ready, build
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start, draw_layers, full_layers
from swingby_sweeps.sim.params import SimParams

SIM = Sim()
SMALL: dict[str, Any] = {
    "dtype": "float64",
    "d": 5,
    "n": 40,
    "epochs": 4,
    "batch_size": 16,
    "width": 6,
    "sigma": (0.3, 0.2),
}
MODELS = [
    {"model": "linear", "layers": 1},
    {"model": "linear", "layers": 2},
    {"model": "linear", "layers": 4},
    {"model": "relu", "layers": 1},
    {"model": "relu", "layers": 2},
    {"model": "relu", "layers": 3},
    {"model": "one_layer", "layers": 1},
    {"model": "symmetric", "drive": "sgd", "init_gain": 0.5},
]


def run(*cells: Cell, **recording: Any) -> list[dict[str, Any]]:
    """The rows of one batch."""
    (table,) = SIM.run(Batch(cells, Recording(**recording)))
    return table.to_pylist()


def cell(seed: int = 0, preset: str = "paper", **values: Any) -> Cell:
    return Sim.point(preset, **{**SMALL, **values}).cell(seed)


class Symmetric(torch.nn.Module):
    """f(x) = U U^T x, written as in the paper."""

    def __init__(self, U: torch.Tensor) -> None:
        super().__init__()
        self.U = torch.nn.Parameter(U)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.U @ self.U.T)


def plain_net(item: Cell) -> torch.nn.Module:
    """The net of a cell, as anyone would write it: in the original coordinates, one cell, autograd."""
    p, layers = item.params, draw_layers(item)
    assert isinstance(p, SimParams)
    if p.model == "symmetric":
        return Symmetric(torch.as_tensor(layers[0][0]))
    modules: list[torch.nn.Module] = []
    for weight, bias in layers:
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=torch.float64)
        linear.weight.data = torch.as_tensor(weight)
        if bias is not None:
            linear.bias.data = torch.as_tensor(bias)
        modules += [linear, torch.nn.ReLU()] if p.model == "relu" else [linear]
    return torch.nn.Sequential(*(modules[:-1] if p.model == "relu" else modules))


def plain_loss(reduction: str) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    if reduction == "mean":
        return torch.nn.MSELoss()
    factor = {"half_sum": 0.5, "quarter_sum": 0.25}[reduction]
    return lambda out, x: factor * ((out - x) ** 2).sum(1).mean()


def plain_loop(item: Cell, feed: str = "batches") -> dict[str, np.ndarray]:
    """Curves at every step of a plain torch loop over one cell."""
    p = item.params
    assert isinstance(p, SimParams)
    E = task.random_rotation(item)[:, : p.s]
    points, net = torch.as_tensor(task.draw_points(item) @ E.T), plain_net(item)
    x_hat = torch.as_tensor(task.test_point(p) @ E.T)[None]
    order, loss = task.order(item), plain_loss(p.reduction)
    optimiser = torch.optim.SGD(net.parameters(), lr=p.lr)
    curves: dict[str, list[Any]] = {"output": [], "ood_loss": [], "train_loss": [], "jacobian": []}

    def look() -> None:
        with torch.no_grad():
            out = net(x_hat)
            curves["output"].append(out[0].numpy() @ E)
            curves["ood_loss"].append(0.5 * float(((out - x_hat) ** 2).sum()))
            curves["train_loss"].append(0.5 * float(((net(points) - points) ** 2).sum(1).mean()))
        J = torch.autograd.functional.jacobian(net, x_hat[0])
        assert isinstance(J, torch.Tensor)
        curves["jacobian"].append((E.T @ J.detach().numpy() @ E).ravel())

    look()
    for _ in range(p.epochs if feed == "batches" else p.gd_steps):
        shuffled = points[torch.as_tensor(order.next_epoch())] if feed == "batches" else points
        for x in shuffled.split(p.batch_size if feed == "batches" else len(points)):
            optimiser.zero_grad()
            loss(net(x), x).backward()
            optimiser.step()
            look()
    return {name: np.array(values) for name, values in curves.items()}


def assert_same_curves(row: dict[str, Any], other: dict[str, Any], names: list[str]) -> None:
    """Equal within 1e-9 of the value plus 1e-12 of L_ref."""
    for name in names:
        np.testing.assert_allclose(np.array(row[name]), np.array(other[name]), rtol=1e-9, atol=1e-12 * row["l_ref"])


@pytest.mark.parametrize("reduction", ["half_sum", "mean", "quarter_sum"])
@pytest.mark.parametrize(("model", "bias"), [*((model, False) for model in MODELS), *((m, True) for m in MODELS[:-1])])
def test_a_batch_is_plain_loops_side_by_side(model: dict[str, Any], reduction: str, bias: bool) -> None:
    """Training a batch equals a plain nn.Sequential and torch.optim.SGD on the cell's streams, in original coordinates.

    Cells of the batch differ in seed, lr, mu and rotation; the last mini-batch of an epoch is smaller than the others.
    """
    varied = [{}, {"lr": 0.03, "mu": (2.0, 1.0)}, {"rotate": False, "zero_cluster": False}]
    cells = [cell(seed, **model, reduction=reduction, bias=bias, **extra) for seed, extra in enumerate(varied)]
    rows = run(*cells, steps="every", also=("jacobian",))
    assert [row["status"] for row in rows] == ["ok"] * 3
    for item, row in zip(cells, rows, strict=True):
        assert_same_curves(row, plain_loop(item), ["ood_loss", "train_loss", "output", "jacobian"])


@pytest.mark.parametrize("model", MODELS[1:6:3], ids=str)
def test_each_epoch_can_have_its_own_order(model: dict[str, Any]) -> None:
    """`shuffle: every_epoch` draws one more permutation an epoch from the same stream; `once` draws one."""
    item = cell(**model, shuffle="every_epoch", zero_cluster=True)
    (row,) = run(item, steps="every")
    assert_same_curves(row, plain_loop(item), ["ood_loss", "train_loss", "output"])
    (once,) = run(cell(**model, zero_cluster=True), steps="every")
    first = SimParams.model_validate(item.params.model_dump()).steps_per_epoch + 1
    assert once["ood_loss"][:first] == row["ood_loss"][:first]
    assert once["ood_loss"][first:] != row["ood_loss"][first:]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("model", [*MODELS[:3], MODELS[6]], ids=str)
def test_descent_on_moments_is_full_batch_descent_on_points(model: dict[str, Any], bias: bool) -> None:
    """For a net linear in x, descent on the moments of the points (mean included with bias) is that on the points."""
    item = cell(**model, bias=bias, drive="gd", gd_steps=30)
    (row,) = run(item, steps="every")
    assert_same_curves(row, plain_loop(item, feed="points"), ["ood_loss", "train_loss", "output"])


def test_the_symmetric_model_on_moments() -> None:
    """Full-batch descent on U by moments is that on the points, for d' above, at and below d."""
    for width in (3, 5, 8):
        item = cell(model="symmetric", drive="gd", moments="sample", gd_steps=30, width=width, init_gain=0.5)
        (row,) = run(item, steps="every")
        assert_same_curves(row, plain_loop(item, feed="points"), ["ood_loss", "train_loss", "output"])


def test_the_models_share_their_special_cases() -> None:
    """A relu or linear net of one layer is one_layer; their curves are the same."""
    rows = [run(cell(model=model, layers=1, bias=True), steps="every")[0] for model in ("one_layer", "linear", "relu")]
    for other in rows[1:]:
        assert_same_curves(rows[0], other, ["ood_loss", "train_loss", "output"])


shapes = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["linear", "relu", "symmetric", "one_layer"]),
        "s": st.integers(1, 3),
        "extra": st.integers(0, 3),
        "layers": st.integers(1, 4),
        "width": st.integers(1, 20),
        "bias": st.booleans(),
        "seed": st.integers(0, 10**6),
        "cells": st.integers(1, 3),
    }
)


@settings(max_examples=60, deadline=None)
@given(shapes)
def test_backpropagation_by_hand_is_autograd(shape: dict[str, Any]) -> None:
    """`push` adds the gradient of L (eq 2.1) to what is there, whatever the model, depth, width and number of cells."""
    model, s = shape["model"], shape["s"]
    values = {
        "model": model,
        "s": s,
        "d": s + shape["extra"],
        "layers": 1 if model == "one_layer" else shape["layers"],
        "width": shape["width"],
        "bias": shape["bias"] and model != "symmetric",
        "drive": "sgd",
        "n": 7,
        "dtype": "float64",
    }
    cells = [Sim.point(**values).cell(shape["seed"] + k) for k in range(shape["cells"])]
    ready = [Ready(item) for item in cells]
    p = ready[0].params
    starts = zip(*(Start.of(item).parameters for item in cells), strict=True)
    stacked = [torch.as_tensor(np.stack(parts)) for parts in starts]
    net, into = build(p, stacked), [torch.ones_like(part) for part in stacked]
    points = torch.as_tensor(np.stack([task.with_constant(r.points, p.bias) for r in ready if r.points is not None]))
    scale = torch.full((len(cells), 1, 1), 0.5, dtype=torch.float64)
    if model == "relu":
        net.push((points, scale / points.shape[1]), into)
    else:
        net.push(scale * torch.as_tensor(np.stack([r.moments for r in ready])), into)
    for place, item in enumerate(cells):
        E = task.random_rotation(item)[:, :s]
        plain, x = plain_net(item), torch.as_tensor(task.draw_points(item) @ E.T)
        (0.5 * ((plain(x) - x) ** 2).sum(1).mean()).backward()
        # A gradient is a difference of weights: it is brought to the original coordinates as one.
        start = Start.of(item)
        ahead = [part + (found[place].numpy() - 1) for part, found in zip(start.parameters, into, strict=True)]
        pairs = zip(full_layers(start, ahead), start.layers, strict=True)
        found = [a - b for new, old in pairs for a, b in zip(new, old, strict=True) if a is not None and b is not None]
        wanted = [0.5 * parameter.grad.numpy() for parameter in plain.parameters() if parameter.grad is not None]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_an_epoch_of_the_paper_has_118_steps() -> None:
    """15,000 points in mini-batches of 128 are 118 steps, the last of 24 points, over 40 epochs ([S] F.1)."""
    p = Sim.point("authors").params
    assert isinstance(p, SimParams)
    assert (p.points, p.steps_per_epoch, p.total_steps) == (15_000, 118, 4720)


def test_the_time_of_a_step_is_lr_times_the_reduction() -> None:
    """Halving L, or taking the mean over d coordinates, is a change of lr and nothing else."""
    base = run(cell(lr=0.1), steps="every")[0]
    for reduction, lr in (("mean", 0.1 * 5 / 2), ("quarter_sum", 0.2)):
        other = run(cell(lr=lr, reduction=reduction), steps="every")[0]
        assert other["time_per_step"] == pytest.approx(base["time_per_step"], rel=1e-15)
        assert_same_curves(base, other, ["ood_loss", "train_loss", "output"])


def test_single_precision_is_close_to_double() -> None:
    """float32 starts from the same draws as float64 and stays within 1e-4 of it over a short run."""
    rows = [run(cell(dtype=dtype), steps="every")[0] for dtype in ("float32", "float64")]
    np.testing.assert_allclose(rows[0]["ood_loss"], rows[1]["ood_loss"], rtol=1e-4)


def test_replay_is_the_same_run_with_its_weights() -> None:
    """A replay records every step of the stored curve, and its weights, in a plain net, give the recorded output."""
    for values in (
        {"model": "relu", "bias": True},
        {"layers": 3},
        {"model": "one_layer"},
        {"drive": "flow", "layers": 3},
    ):
        item = cell(**{"gd_steps": 20, **values})
        stored = run(item, points=8)[0]
        (table,) = SIM.replay(item)
        (row,) = table.to_pylist()
        at = np.isin(row["step"], stored["step"])
        np.testing.assert_allclose(np.array(row["ood_loss"])[at], stored["ood_loss"], rtol=1e-7)
        assert row["weights_step"] == row["step"] == list(range(len(row["step"])))
        assert isinstance(item.params, SimParams)
        E, net = task.random_rotation(item)[:, :2], plain_net(item)
        torch.nn.utils.vector_to_parameters(torch.tensor(row["weights"][-1], dtype=torch.float64), net.parameters())
        with torch.no_grad():
            out = net(torch.as_tensor(E @ task.test_point(item.params))[None])[0].numpy()
        np.testing.assert_allclose(out @ E, row["output"][-1], rtol=1e-10)


def test_asked_recordings_are_what_they_say() -> None:
    """Hierarchy node 0 is the origin, the last is x^, node 2^p is centre p + 1; a centre's output gives its loss."""
    (row,) = run(cell(model="relu", rotate=False, d=2, s=2), also=("hierarchy", "centres"))
    losses, outputs = np.array(row["hierarchy_loss"]), np.array(row["centre_output"]).reshape(-1, 2, 2)
    assert np.all(losses[:, 0] == 0)
    np.testing.assert_allclose(losses[:, 3], row["ood_loss"], rtol=1e-12)
    for p in range(2):
        np.testing.assert_allclose(losses[:, 2**p], 0.5 * ((outputs[:, p] - np.diag([1.0, 2.0])[p]) ** 2).sum(1))


def test_epochs_are_recorded_at_their_start() -> None:
    """`steps: epoch` records the first step of each epoch and the last; a run without epochs refuses it clearly."""
    (row,) = run(cell(), steps="epoch")
    assert row["step"] == [0, 5, 10, 15, 20]
    with pytest.raises(SwingbyError, match="allowed here: log, sqrt, every"):
        run(cell(drive="gd"), steps="epoch")


def test_a_run_leaves_torch_as_it_was() -> None:
    """The number of torch threads and the treatment of denormal numbers are restored."""
    before = torch.get_num_threads()
    run(cell())
    assert torch.get_num_threads() == before
    tiny = torch.tensor([1e-310], dtype=torch.float64)
    assert float(tiny + tiny) > 0
