"""The net of `mlp_regimes` and Adam beside torch's own, and laws of training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.adam import Adam
from swingby_sweeps.grokking.data import drawn
from swingby_sweeps.grokking.net import Net, start
from swingby_sweeps.grokking.params import MlpParams
from tests.support import cells

SMALL = {"width": 12, "points": 40, "batch_size": 16, "epochs": 20, "dtype": "float64"}


def cell(seed: int = 1000, preset: str = "cheap", **values: Any) -> Cell[MlpParams]:
    return cells.cell("mlp_regimes", seed, preset, **{**SMALL, **values})


def trained(of: Cell) -> cells.Row:
    return cells.trained([of], Recording(points=12))[0]


@pytest.mark.parametrize("trained_layers", ["all", "last"])
def test_the_gradient_is_that_of_autograd(trained_layers: str) -> None:
    """The gradient written out, with scaled outputs, is that of the loss as torch differentiates it."""
    of = cell(layers=3, output_scale=0.3, trained=trained_layers)
    p, weights = of.params, start(of)
    points, _ = drawn(of)
    net, x, y = Net(p, weights), torch.tensor(points.x), torch.tensor(points.y)
    net.descend(x, y)
    leaves = [part.clone().requires_grad_() for part in torch.tensor(weights).split(sizes(p))]
    h = x
    for layer, (matrix, bias) in enumerate(zip(leaves[::2], leaves[1::2], strict=True)):
        h = h @ matrix.view(p.layer_shapes[layer]) + bias
        h = torch.tanh(h) if layer < p.layers - 1 else p.output_scale * h
    ((h - y) ** 2).mean().backward()
    slopes = torch.cat([leaf.grad for leaf in leaves if leaf.grad is not None])
    assert torch.allclose(net.gradient, slopes[-len(net.gradient) :], rtol=1e-10, atol=1e-14)
    assert torch.allclose(net.outputs(x)[1], h, rtol=1e-12)


def sizes(p: MlpParams) -> list[int]:
    return [size for fan_in, fan_out in p.layer_shapes for size in (fan_in * fan_out, fan_out)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adam_is_that_of_torch(dtype: str) -> None:
    """Thirty steps on random gradients, with L2, end where those of `torch.optim.Adam` end."""
    draws = np.random.default_rng(0)
    weights = draws.normal(size=50).astype(dtype)
    theirs = torch.tensor(weights).requires_grad_()
    adam, optimizer = Adam(weights, 0.01), torch.optim.Adam([theirs], lr=1e-2, weight_decay=0.01)
    for _ in range(30):
        gradient = draws.normal(size=50).astype(dtype)
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
        adam.step(gradient, 1e-2)
    assert np.allclose(weights, theirs.detach().numpy(), rtol=1e-5 if dtype == "float32" else 1e-12)


def test_a_run_is_a_loop_of_torch() -> None:
    """A whole run, mini-batches and a falling learning rate included, is the plain loop on the same draws."""
    of = cell(schedule="cosine", l2=0.01)
    p, (points, test) = of.params, drawn(of)
    leaves = [part.clone().requires_grad_() for part in torch.tensor(start(of)).split(sizes(p))]
    optimizer = torch.optim.Adam(leaves, lr=p.lr, weight_decay=p.l2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, p.total_steps)
    order = of.stream("order")

    def outputs(x: torch.Tensor) -> torch.Tensor:
        for layer, shape in enumerate(p.layer_shapes):
            x = x @ leaves[2 * layer].view(shape) + leaves[2 * layer + 1]
            x = torch.tanh(x) if layer < p.layers - 1 else x
        return x

    for _ in range(p.epochs):
        index = order.permutation(p.points)
        for low in range(0, p.points, p.batch_size):
            some = index[low : low + p.batch_size]
            optimizer.zero_grad()
            ((outputs(torch.tensor(points.x[some])) - torch.tensor(points.y[some])) ** 2).mean().backward()
            optimizer.step()
            schedule.step()
    expected = ((outputs(torch.tensor(test.x)) - torch.tensor(test.y)) ** 2).mean().item()
    assert trained(of)["test_loss"][-1] == pytest.approx(expected, rel=1e-8)


def test_a_smaller_output_is_a_larger_target_and_more_decay() -> None:
    """Output c, target S and L2 train as output 1, target S/c and L2/c^2 do: c^2 in the gradient is nothing to Adam."""
    one = trained(cell(output_scale=0.1, target_scale=3.0, l2=1e-3))
    other = trained(cell(output_scale=1.0, target_scale=30.0, l2=1e-1))
    assert one["test_accuracy"] == other["test_accuracy"]
    assert np.allclose(one["weight_norm"], other["weight_norm"], rtol=1e-4)
    assert np.allclose(100 * np.array(one["test_loss"]), other["test_loss"], rtol=1e-3)


def test_the_last_layer_alone_keeps_the_features() -> None:
    """Where the last layer trains alone, features stay to the bit, and the loss falls."""
    row = trained(cell(trained="last", subtract_start=True))
    assert max(row["feature_change"]) == 0
    assert row["train_loss"][-1] < row["train_loss"][0]
    assert row["kappa"][0] is None  # f - f_0 is 0 at the start


def test_an_output_that_is_subtracted_starts_at_zero() -> None:
    """With `subtract_start` the first loss is the mean square of the target, whatever the weights are."""
    row = trained(cell(subtract_start=True, target_scale=2.0, weight_scale=7.0))
    assert row["train_loss"][0] == pytest.approx(4 / 10)


def test_a_run_without_bounds_is_diverged() -> None:
    """A learning rate far too large ends a run as diverged, and what was recorded before is kept."""
    row = trained(cell(lr=1e6, output_scale=1e3))
    assert row["status"] == "diverged"
    assert "recorded steps kept" in row["message"]
    assert row["to_step"] == row["step"][-1]


def test_random_labels_give_chance_accuracy() -> None:
    """A net that fits labels which are all random is right on test points as often as one class in ten."""
    rows = [
        trained(
            cell(seed, "collapse", random_labels=1.0, points=60, width=48, batch_size=60, epochs=300, l2=0, lr=5e-3)
        )
        for seed in range(1000, 1004)
    ]
    assert min(row["train_accuracy"][-1] for row in rows) > 0.9
    assert np.mean([row["test_accuracy"][-1] for row in rows]) == pytest.approx(0.1, abs=0.04)
