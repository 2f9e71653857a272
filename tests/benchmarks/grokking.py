"""`python -m tests.benchmarks.grokking`: nets on digits beside a plain loop of torch, in CPU time of one core."""

from __future__ import annotations

import time
from typing import Any

import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.grokking.data import drawn
from tests.benchmarks.tables import Benchmark, alone, run, seconds
from tests.support import cells

COLUMNS = (
    "preset",
    "points, width",
    "steps",
    "engine ms a step",
    "plain ms a step",
    "plain / engine",
    "engine s a cell",
)
REPEATS, EPOCHS = 5, 200


def table(quick: bool) -> list[tuple[str, ...]]:
    """A row a preset: the least time of a step over repeats in turn, recorded 80 times in a run as sweeps do."""
    rows = []
    for preset in ("cheap",) if quick else ("digits", "cheap", "collapse"):
        whole = cells.params("mlp_regimes", preset)
        cell = cells.cell("mlp_regimes", 0, preset, epochs=EPOCHS)
        turns = [(engine(cell), plain(cell)) for _ in range(1 if quick else REPEATS)]
        ours, theirs = (min(times) / cell.params.total_steps * 1e3 for times in zip(*turns, strict=True))
        sizes, cost = f"{whole.points}, {whole.width}", f"{ours * whole.total_steps / 1e3:.1f}"
        rows.append(
            (preset, sizes, str(whole.total_steps), f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}", cost)
        )
    return rows


def engine(cell: Cell) -> float:
    """CPU seconds of a run, as `mlp_regimes` trains it; it records 4 times, about as often a step as a long run."""
    return seconds(lambda: run([cell], Recording(points=4)))


def plain(cell: Cell) -> float:
    """CPU seconds of the steps alone as anyone would write them: modules, autograd, `torch.optim.Adam`."""
    p: Any = cell.params
    points, _ = drawn(cell)
    modules = list[torch.nn.Module]()
    for fan_in, fan_out in p.layer_shapes:
        modules += [torch.nn.Linear(fan_in, fan_out), torch.nn.Tanh()]
    net = torch.nn.Sequential(*modules[:-1])
    optimizer = torch.optim.Adam(net.parameters(), lr=p.lr, weight_decay=p.l2)
    x, y = (torch.tensor(values, dtype=torch.float32) for values in (points.x, points.y))
    began = time.process_time()
    with one_thread(), torch.enable_grad():
        for _ in range(p.epochs):
            order = torch.randperm(p.points)
            for low in range(0, p.points, p.batch_size):
                some = order[low : low + p.batch_size]
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(net(x[some]), y[some]).backward()
                optimizer.step()
    return time.process_time() - began


TABLES = (
    Benchmark("Nets on digits, batches of the preset, float32: CPU time of a step, least of several", COLUMNS, table),
)

if __name__ == "__main__":
    alone(TABLES)
