"""Parity nets: CPU time of a step by added rows, beside the plain loop of torch, in one process and in turn."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import torch

from swingby.model.cell import Point
from swingby_sweeps.parity import presets, task, theory
from swingby_sweeps.parity.engine import Net
from swingby_sweeps.parity.params import ParityParams
from tests.benchmarks.tables import Benchmark, alone, seconds

COLUMNS = ("net", "rows added, ms a step", "plain loop, ms a step", "ratio", "cells/s")
SHAPES: Mapping[str, tuple[str, dict[str, Any], int]] = {
    "fast, width 100": ("fast", {"bottleneck": "time"}, 400),
    "fast, 1000 samples": ("fast", {"bottleneck": "data", "samples": 1000}, 400),
    "fast, width 10, Adam": ("fast", {"bottleneck": "width", "width": 10}, 400),
    "figures, width 1000": ("figures", {"bottleneck": "time"}, 6),
}
"""Preset, values and steps of a turn."""


def table(quick: bool) -> list[tuple[str, ...]]:
    """Each shape by both loops in turn, medians of the turns; cells/s are those of whole runs of the preset's steps."""
    rows = []
    for name, (preset, values, steps) in SHAPES.items():
        if quick and preset == "figures":
            continue
        p = ParityParams.model_validate({**getattr(presets, preset)(values), **values})
        net, plain = Net(Point("parity_net", 1, p).cell(0)), Plain(p)
        net.advance(2)
        plain.advance(2)
        took: tuple[list[float], list[float]] = ([], [])
        for _ in range(1 if quick else 5):
            took[0].append(seconds(lambda net=net, steps=steps: net.advance(net.step + steps)) / steps)
            took[1].append(seconds(lambda plain=plain, steps=steps: plain.advance(steps)) / steps)
        own, loop = (statistics.median(turns) for turns in took)
        cells = 1 / (own * p.training_steps)
        rows.append((name, f"{1e3 * own:.3f}", f"{1e3 * loop:.3f}", f"{loop / own:.1f}", f"{cells:.3g}"))
    return rows


class Plain:
    """The loop that anyone would write: dense inputs, autograd, torch's optimiser, float64, one thread."""

    def __init__(self, p: ParityParams) -> None:
        torch.set_num_threads(1)
        self.p, self._shares = p, torch.tensor(theory.frequencies(p.alpha, p.skills))
        self._masks = torch.tensor([[(mask >> bit) & 1 for bit in range(p.bits)] for mask in task.masks(p.skills, p.m)])
        sides = (p.skills + p.bits, p.width, 1)
        self._net = torch.nn.Sequential(
            torch.nn.Linear(*sides[:2]), torch.nn.ReLU(), torch.nn.Linear(*sides[1:])
        ).double()
        kind = torch.optim.SGD if p.optimizer == "sgd" else torch.optim.Adam
        self._optimizer = kind(self._net.parameters(), lr=p.lr, weight_decay=p.l2)
        self._set = None if p.samples is None else self._points(p.samples)

    def _points(self, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        k = torch.multinomial(self._shares, n, replacement=True)
        bits = torch.randint(0, 2, (n, self.p.bits))
        y = self.p.target * (1.0 - 2.0 * ((bits * self._masks[k]).sum(1) % 2))
        return torch.cat([torch.nn.functional.one_hot(k, self.p.skills), bits], 1).double(), y[:, None]

    def advance(self, steps: int) -> None:
        """Take that many steps."""
        for _ in range(steps):
            if self._set is None:
                x, y = self._points(self.p.batch_size)
            else:
                chosen = torch.randperm(len(self._set[0]))[: self.p.batch_size]
                x, y = self._set[0][chosen], self._set[1][chosen]
            self._optimizer.zero_grad()
            (self.p.loss_factor / 2 * (self._net(x) - y) ** 2).mean().backward()
            self._optimizer.step()


TABLES = (Benchmark("A ReLU net on multitask sparse parity, float64: CPU time of a step, median", COLUMNS, table),)

if __name__ == "__main__":
    alone(TABLES)
