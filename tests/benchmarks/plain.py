"""The baseline of every benchmark: one SIM training as anyone would write it in plain torch, its data included."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import nn

from swingby_sweeps.sim.params import SimParams


def settings(p: SimParams) -> dict[str, Any]:
    """The loop's arguments for a net of this size; full-batch runs are set beside a loop of as many mini-batches."""
    return {
        "d": p.d,
        "layers": p.depth if p.depth > 1 or p.model == "one_layer" else 2,
        "width": p.width,
        "relu": p.model == "relu",
    }


def train(
    d: int = 2, layers: int = 2, width: int = 64, relu: bool = False, n: int = 5000, epochs: int = 40, seed: int = 0
) -> list[float]:
    """Two clusters of n points at e_1 and 2 e_2, mini-batch SGD on the identity; the OOD loss at 200 steps or so."""
    generator = torch.Generator().manual_seed(seed)
    mu = torch.tensor([1.0, 2.0])
    points = torch.zeros(2 * n, d)
    points[:, :2] = 0.05 * torch.randn(2 * n, 2, generator=generator)
    points[:n, 0] += mu[0]
    points[n:, 1] += mu[1]
    points = points[torch.randperm(2 * n, generator=generator)]
    test = torch.zeros(1, d)
    test[0, :2] = mu
    sizes = [d, *[width] * (layers - 1), d]
    modules: list[nn.Module] = []
    for i, o in itertools.pairwise(sizes):
        modules += [nn.Linear(i, o, bias=False), nn.ReLU()] if relu else [nn.Linear(i, o, bias=False)]
    net = nn.Sequential(*(modules[:-1] if relu else modules))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    steps = epochs * -(-2 * n // 128)
    every, step, curve = max(1, steps // 200), 0, []
    for _ in range(epochs):
        for batch in points.split(128):
            if step % every == 0:
                with torch.no_grad():
                    curve.append(float(((net(test) - test) ** 2).sum() / 2))
            optimiser.zero_grad()
            (((net(batch) - batch) ** 2).sum(1).mean() / 2).backward()
            optimiser.step()
            step += 1
    return curve
