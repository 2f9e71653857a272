"""`python -m tests.benchmarks features`: stacked nets beside a plain loop of torch and vmap(grad), in CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.func import functional_call, grad, vmap

from swingby.model.cell import Cell, Point
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.features.data import drawn
from swingby_sweeps.features.engine import Stack, together
from swingby_sweeps.features.params import FeaturesParams
from tests.benchmarks.tables import Benchmark, alone, run, seconds
from tests.sweeps.features import plain

COLUMNS = (
    "net",
    "cells in a stack",
    "stack, cells/s",
    "plain loop, cells/s",
    "vmap(grad), cells/s",
    "stack / plain",
    "ms a record",
)
STEPS = 3000
"""Steps of a cell, of 64 points."""
NETS: dict[str, dict[str, Any]] = {
    "32 units, 3 layers": {"width": 32, "layers": 3},
    "64 units, 4 layers": {},
    "64 units, 4 layers, batch norm": {"batch_norm": True},
    "128 units, 4 layers": {"width": 128},
    "convolutions": {"net": "cnn1d", "layers": 2},
}


def table(quick: bool) -> list[tuple[str, ...]]:
    """A row a net: cells a second at 3,000 steps, of the least time over repeats in turn; records apart."""
    rows = []
    for name, values in list(NETS.items())[: 1 if quick else None]:
        p = FeaturesParams.model_validate(values)
        count = together(p)
        cells = [Point("features", 1, p).cell(seed) for seed in range(count)]
        steps = 60 if quick else 300
        with one_thread():
            timed = [stacked(cells), looped(cells[0]), *([] if p.normed or p.net != "mlp" else [mapped(cells)])]
            took = [each(steps) for each in timed]
            for _ in range(1 if quick else 4):
                took = [min(before, each(steps)) for before, each in zip(took, timed, strict=True)]
        took[0] /= count
        rates = [steps / spent / STEPS for spent in took[:2]]
        mapped_rate = f"{count * steps / took[2] / STEPS:.1f}" if len(took) > 2 else ""
        ratio = f"{rates[0] / rates[1]:.1f}"
        rows.append((name, str(count), *(f"{r:.1f}" for r in rates), mapped_rate, ratio, f"{record(cells):.1f}"))
    return rows


def stacked(cells: list[Cell]) -> Callable[[int], float]:
    """CPU seconds of so many steps of a stack, as `features` trains it."""
    stack = Stack(cells, [drawn(cell) for cell in cells])
    return lambda steps: seconds(lambda: stack.advance(0, steps))


def looped(cell: Cell) -> Callable[[int], float]:
    """CPU seconds of so many steps of one cell by modules, autograd and `torch.optim.SGD`."""

    def run(steps: int) -> float:
        with torch.enable_grad():
            plain.trained(cell, 1)
            return seconds(lambda: plain.trained(cell, steps))

    return run


def mapped(cells: list[Cell]) -> Callable[[int], float]:
    """CPU seconds of so many steps of cells whose gradients are taken by torch.func, with the same SGD."""
    p: Any = cells[0].params
    nets, points = [plain.net(cell) for cell in cells], [drawn(cell)[0] for cell in cells]
    w = {name: torch.stack([dict(net.named_parameters())[name].detach() for net in nets]) for name, _ in
         nets[0].named_parameters()}  # fmt: skip
    x, y = (torch.stack([torch.tensor(getattr(of, name), dtype=torch.float32) for of in points]) for name in "xy")

    def loss(own: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((functional_call(nets[0], own, (x,)) - y) ** 2).sum(1).mean() / 2

    slopes = vmap(grad(loss))

    def run(steps: int) -> float:
        own, v = w, {name: torch.zeros_like(value) for name, value in w.items()}
        began = time.process_time()
        for _ in range(steps):
            some = torch.randint(p.n, (len(cells), p.batch, 1))
            g = slopes(own, *(values.gather(1, some.expand(-1, -1, values.shape[2])) for values in (x, y)))
            v = {name: p.momentum * v[name] + g[name] + p.weight_decay * own[name] for name in own}
            own = {name: own[name] - p.lr * v[name] for name in own}
        return time.process_time() - began

    return run


def record(cells: list[Cell]) -> float:
    """CPU milliseconds of one record of one cell, on test and training points."""
    p: Any = cells[0].params
    short = [Point("features", 1, p.model_copy(update={"epochs": 2})).cell(cell.seed) for cell in cells]
    many, few = (seconds(lambda points=points: run(short, Recording(points=points))) for points in (24, 4))
    return (many - few) / 20 / len(cells) * 1e3


TABLES = (
    Benchmark(
        "Stacked nets on digits, float32: cells of 3,000 steps a second by CPU time of one thread, without records",
        COLUMNS,
        table,
    ),
)

if __name__ == "__main__":
    alone(TABLES)
