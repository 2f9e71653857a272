"""The engines against the plain loop and against arithmetic, per run, in one process and one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.benchmarks import limits, plain
from tests.benchmarks.tables import Benchmark, alone

COLUMNS = (
    "shape",
    "cells",
    "plain loop, ms",
    "torch, ms",
    "compiled, ms",
    "ratio",
    "goal",
    "plain SGD at GEMM rate, ms",
    "own products, share",
)
STEPS = 3160
"""Steps of every run: 10,000 points, batches of 128, 40 epochs; as many of full-batch descent."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is timed.

    Attributes:
        name: of the row.
        cells: parameters of the cells; the plain loop takes the same.
        batch: cells that the compiled engine trains at once; torch trains as many as fit a second or so.
        torch: cells that the torch engine trains at once.
        goal: ratio to the plain loop, or share of the limit, that is wanted; as text.
    """

    name: str
    cells: dict[str, Any] = field(default_factory=dict)
    batch: int = 256
    torch: int = 64
    goal: str = ""


SHAPES = (
    Shape("linear d=2 L=2 w=2", {"d": 2, "width": 2}, 2048, 512, "700 x"),
    Shape("linear d=2 L=2 w=64", {"d": 2}, 1024, 256, "700 x"),
    Shape("linear d=3 L=4 w=3", {"d": 3, "layers": 4, "width": 3}, 1024, 256),
    Shape("linear d=64 L=1", {"d": 64, "model": "one_layer"}, 512, 64, "300 x"),
    Shape("linear d=64 L=2 w=64", {"d": 64}, 256, 64, "100 x"),
    Shape("linear d=64 L=4 w=64", {"d": 64, "layers": 4}, 128, 32, "60 x"),
    Shape("relu d=2 L=2 w=2", {"d": 2, "width": 2, "model": "relu"}, 256, 64, "700 x"),
    Shape("relu d=2 L=2 w=64", {"d": 2, "model": "relu"}, 32, 16),
    Shape("relu d=64 L=2 w=64", {"d": 64, "model": "relu"}, 16, 8, "85 %"),
    Shape("relu d=64 L=4 w=64", {"d": 64, "layers": 4, "model": "relu"}, 8, 4, "85 %"),
    Shape("gd, linear d=2 L=2 w=2", {"d": 2, "width": 2, "drive": "gd", "gd_steps": STEPS}, 2048, 512, "1,000 x"),
    Shape("gd, symmetric d=2", {"d": 2, "model": "symmetric", "drive": "gd", "gd_steps": STEPS}, 2048, 512, "1,000 x"),
    Shape("flow, linear d=2 L=2 w=2", {"d": 2, "width": 2, "drive": "flow", "gd_steps": STEPS}, 2048, 512, "1,000 x"),
    Shape("flow, symmetric d=2", {"d": 2, "model": "symmetric", "gd_steps": STEPS}, 2048, 512, "1,000 x"),
)
QUICK = (SHAPES[0], SHAPES[6], SHAPES[-1])


def timed(call: Callable[[], object]) -> float:
    """Wall seconds."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def batch_of(shape: Shape, cells: int) -> Batch:
    """The cells of one shape, seeds 0, 1, ..., each with draws of its own."""
    point = Sim.point("paper", **{"lr": 0.01, **shape.cells})
    return Batch(tuple(point.cells(range(cells))), Recording())


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a shape. The three are timed in turn, so that a slow moment of the machine hits all of them."""
    torch.set_num_threads(1)
    return [_row(shape, 1 if quick else 5, quick) for shape in (QUICK if quick else SHAPES)]


def _row(shape: Shape, repeats: int, quick: bool) -> tuple[str, ...]:
    counts = {"compiled": shape.batch // (16 if quick else 1), "torch": shape.torch // (16 if quick else 1)}
    batches = {engine: batch_of(shape, max(count, 2)) for engine, count in counts.items()}
    sims = {"compiled": Sim("compiled"), "torch": Sim("torch")}
    p = batches["compiled"].cells[0].params
    assert isinstance(p, SimParams)
    loop = plain.settings(p)
    for engine, sim in sims.items():  # all warm up: kernels are compiled, and torch is slow at first
        list(sim.run(batch_of(shape, 2)))
        assert sim.engine == engine
    plain.train(**{**loop, "epochs": 1})
    took: dict[str, list[float]] = {"plain": [], "compiled": [], "torch": [], "limit": [], "own": []}
    for turn in range(repeats):
        took["plain"].append(timed(lambda: plain.train(**loop)))
        for engine in ("compiled", "torch") if turn < 2 else ("compiled",):
            batch = batches[engine]
            took[engine].append(timed(lambda: list(sims[engine].run(batch))) / len(batch.cells))  # noqa: B023
        took["limit"].append(limits.plain_sgd(p))
        took["own"].append(limits.products(p) if p.model == "relu" else 0.0)
    middle = {name: statistics.median(values) for name, values in took.items()}
    return (
        shape.name,
        str(shape.batch),
        spread(took["plain"]),
        spread(took["torch"]),
        spread(took["compiled"]),
        f"{middle['plain'] / middle['compiled']:,.0f} x",
        shape.goal,
        f"{1000 * middle['limit']:.3g}",
        f"{middle['own'] / middle['compiled']:.0%}" if middle["own"] else "",
    )


def spread(seconds: list[float]) -> str:
    """Median and range in milliseconds."""
    ms = [1000 * value for value in seconds]
    return f"{statistics.median(ms):.3g} ({min(ms):.3g} .. {max(ms):.3g})"


TABLES = (
    Benchmark(
        "A run of 10,000 points, batch 128, 40 epochs, float32 (flow: float64): ms a run, median (least .. most)",
        COLUMNS,
        table,
    ),
)

if __name__ == "__main__":
    alone(TABLES)
