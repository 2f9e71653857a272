"""Compiled steps of sixteen denoisers take those of torch, and a cell knows no company."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numba import njit

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.kernels import LANES
from swingby_sweeps.dynamics.kernels.vector import memory
from swingby_sweeps.memorization import engine, kernels
from swingby_sweeps.memorization.denoisers import Denoisers
from tests.support import cells

SMALL = {"d": 3, "training_steps": 40, "samples": 16, "test_points": 4, "sampler_steps": 6, "width": 5, "blocks": 2}


@njit
def gradient(numbers: Any, X: Any, T: Any, sizes: Any, work: Any, into: Any) -> None:
    """The gradient of half the squared errors, of one group."""
    kernels.forward(memory(numbers), memory(X), 0, sizes, memory(work), len(X), memory(T), 0)
    kernels.backward(memory(numbers), memory(X), 0, sizes, memory(work), len(X), memory(into))


def weights(numbers: torch.Tensor, sizes: kernels.Sizes) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Weight and offset of each layer of one net, in the order of its numbers."""
    w, at = sizes.width, 0
    for fan_in, fan_out in [(sizes.inputs, w), *[(w, w)] * (2 * sizes.blocks), (w, sizes.outputs)]:
        yield (
            numbers[at : at + fan_in * fan_out].reshape(fan_out, fan_in),
            numbers[at + fan_in * fan_out : at + (fan_in + 1) * fan_out],
        )
        at += (fan_in + 1) * fan_out
    assert at == sizes.numbers == len(numbers)


def net(numbers: torch.Tensor, sizes: kernels.Sizes, x: torch.Tensor) -> torch.Tensor:
    """The net as it is defined."""
    (first, a), *blocks, (last, b) = weights(numbers, sizes)
    h = x @ first.T + a
    for (inner, v), (outer, u) in zip(blocks[::2], blocks[1::2], strict=True):
        h = h + torch.relu(h @ inner.T + v) @ outer.T + u
    return h @ last.T + b


@pytest.mark.parametrize("sizes", [(8, 16, 2, 8), (10, 7, 1, 3), (7, 5, 3, 2)], ids=str)
def test_the_gradient_is_that_of_torch(sizes: tuple[int, int, int, int]) -> None:
    """In every lane, for odd widths too: equal to rounding."""
    shape, random, rows = kernels.Sizes(*sizes), np.random.default_rng(0), 8
    numbers = 0.3 * random.normal(size=(shape.numbers, LANES))
    x, target = random.normal(size=(rows, shape.inputs, LANES)), random.normal(size=(rows, shape.outputs, LANES))
    found = np.zeros_like(numbers)
    gradient(numbers, x, target, shape, kernels.room(shape, rows, np.float64), found)
    for lane in range(LANES):
        theta = torch.tensor(numbers[:, lane].copy(), requires_grad=True)
        off = net(theta, shape, torch.tensor(x[:, :, lane].copy())) - torch.tensor(target[:, :, lane].copy())
        (0.5 * off.square().sum()).backward()
        assert theta.grad is not None
        slope = theta.grad.numpy()
        assert np.abs(found[:, lane] - slope).max() <= 1e-13 * np.abs(slope).max()


@pytest.mark.parametrize(
    "changes",
    [{}, {"optimizer": "sgd", "momentum": 0.9, "lr": 0.05, "weight_decay": 0.1}, {"condition": "random", "labels": 3}],
    ids=["adam", "momentum and decay", "random conditions"],
)
def test_steps_are_those_of_torch(changes: dict[str, Any]) -> None:
    """Whole training, from the drawn batches on: the same numbers as a plain loop of torch in double precision."""
    cell = cells.cell("memorization_mixture", 2, preset="tiny", **{**SMALL, "points": 5, "batch_size": 8, **changes})
    nets = Denoisers([cell])
    p, theta = cell.params, torch.tensor(nets.numbers_of(0), requires_grad=True)
    optimizer: Any = torch.optim.SGD([theta], p.lr, p.momentum)
    if p.optimizer == "adam":
        optimizer = torch.optim.Adam([theta], p.lr)
    draws, order = cell.stream("noise"), cell.stream("passes")
    chosen = np.concatenate([order.permutation(p.points) for _ in range(20)])
    for step in range(10):
        of = chosen[8 * step : 8 * step + 8]
        drawn = draws.normal(size=(8, p.d + 1))
        c, clean = p.noise_mean + p.noise_spread * drawn[:, :1], nets.points[0][of]
        ratio = np.exp(c)
        noisy = clean + p.scale * ratio * drawn[:, 1:]
        told = np.eye(p.conditions)[nets.labels[0][of]] if p.conditions else np.zeros((8, 0))
        wave = [c, np.sin(c), np.cos(c), np.sin(2 * c), np.cos(2 * c)]
        x = np.hstack([noisy / (p.scale * np.sqrt(1 + ratio**2)), *wave, told])
        target = (clean - noisy / (1 + ratio**2)) / (p.scale * ratio / np.sqrt(1 + ratio**2))
        optimizer.zero_grad()
        (net(theta, nets.sizes, torch.tensor(x)) - torch.tensor(target)).square().mean().backward()
        with torch.no_grad():
            decay = p.lr * p.weight_decay * theta
        optimizer.step()
        with torch.no_grad():
            theta -= decay
    nets.advance(10)
    assert np.allclose(nets.numbers_of(0), theta.detach().numpy(), rtol=1e-4, atol=2e-5)


def test_samples_are_asked_of_the_running_mean() -> None:
    """From the start on, step by step: average x mean + (1 - average) x net; without an average the net itself."""
    several = [
        cells.cell("memorization_mixture", 0, preset="tiny", **SMALL, points=4, average=average) for average in (0.9, 0)
    ]
    nets = Denoisers(several)
    mean, x = nets.numbers_of(0), np.random.default_rng(0).normal(size=(2, 4, 3))
    for step in range(1, 9):
        nets.advance(step)
        mean = 0.9 * mean + 0.1 * nets.numbers_of(0)
    of_means = nets.denoised(x, np.ones(4), np.zeros((2, 0), np.int64))
    for cell, numbers in enumerate((mean, nets.numbers_of(1))):
        rows = np.hstack([x[cell] / (several[cell].params.scale * np.sqrt(2)), np.tile([0.0, 0, 1, 0, 1], (4, 1))])
        out = net(torch.tensor(numbers), nets.sizes, torch.tensor(rows)).numpy()
        expected = x[cell] / 2 + several[cell].params.scale / np.sqrt(2) * out
        assert np.allclose(of_means[cell], expected, rtol=1e-4, atol=1e-5)


def test_a_cell_knows_no_company() -> None:
    """Twenty cells of unequal data, rates and averages, which fill more than a vector: each as if it were alone."""
    several = [
        cells.cell(
            "memorization_mixture", seed, preset="tiny", **SMALL, points=3 + seed % 4, lr=1e-3 * (1 + seed % 3),
            average=0.9 * (seed % 2), rare=0.3,
        )
        for seed in range(20)
    ]  # fmt: skip
    together = engine.train(several, Recording(points=4))
    for place in (0, 7, 15, 16, 19):
        alone = engine.train(several[place : place + 1], Recording(points=4))
        for name, column in alone.items():
            assert together[name][place].as_py() == column[0].as_py(), name


def test_a_net_that_is_lost_keeps_what_it_was() -> None:
    """A rate far too large: the records up to the last finite net are kept, and its neighbour goes on to the end."""
    wild, calm = (
        cells.cell(
            "memorization_mixture", 0, preset="tiny", **SMALL, points=4, optimizer="sgd", lr=lr, momentum=0.0
        )
        for lr in (1e6, 1e-3)
    )  # fmt: skip
    columns = engine.train([wild, calm], Recording(points=6))
    assert columns["status"].to_pylist() == ["diverged", "ok"]
    lengths = [len(steps) for steps in columns["step"].to_pylist()]
    assert 1 <= lengths[0] < lengths[1]
    assert [len(of) for of in columns["memorized"].to_pylist()] == lengths
