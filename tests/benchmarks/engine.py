"""Engine against the plain loop, per run, in one process and one thread: medians, spread and ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from sweeps.sim.experiment import Sim
from swingby.experiment import Batch, Recording
from tests.benchmarks import plain

SIM = Sim()


@dataclass(frozen=True, slots=True)
class Shape:
    """What is timed: a name, the plain loop's arguments, the parameters of the cells, and how many share a batch."""

    name: str
    loop: dict[str, Any]
    cells: dict[str, Any]
    batch: int


SHAPES = (
    Shape("linear d=2 L=2 w=2", {"width": 2}, {"d": 2, "width": 2}, 512),
    Shape("linear d=2 L=2 w=64", {}, {"d": 2}, 256),
    Shape("linear d=3 L=4 w=3", {"d": 3, "layers": 4, "width": 3}, {"d": 3, "layers": 4, "width": 3}, 256),
    Shape("relu d=2 L=2 w=64", {"relu": True}, {"d": 2, "model": "relu"}, 64),
    Shape("linear d=64 L=2 w=64", {"d": 64}, {"d": 64}, 64),
    Shape("symmetric flow d=2", {"width": 2}, {"d": 2, "model": "symmetric", "gd_steps": 3160}, 512),
)


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Wall seconds of each repeat."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return times


def batch_of(shape: Shape) -> Batch:
    """The cells of one shape, seeds 0, 1, ..."""
    point = Sim.point("paper", **{"lr": 0.01, **shape.cells})
    return Batch(tuple(point.cells(range(shape.batch))), Recording())


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a shape: name, plain ms, engine ms (each median and range), ratio of medians."""
    torch.set_num_threads(1)
    rows = []
    for shape in SHAPES[:2] if quick else SHAPES:
        batch = batch_of(shape)
        list(SIM.run(Batch(batch.cells[:2], batch.recording)))  # both warm up: torch is slow at first
        plain.train(**{**shape.loop, "epochs": 1})
        loops, engines = [], []
        for _ in range(1 if quick else 3):  # alternated, so that a slow moment of the machine hits both
            loops += timed(lambda shape=shape: plain.train(**shape.loop), 1)
            engines += [t / shape.batch for t in timed(lambda batch=batch: list(SIM.run(batch)), 1)]
        ratio = statistics.median(loops) / statistics.median(engines)
        rows.append((shape.name, str(shape.batch), spread(loops), spread(engines), f"{ratio:.0f} x"))
    return rows


def spread(seconds: list[float]) -> str:
    """Median and range in milliseconds."""
    ms = [1000 * value for value in seconds]
    return f"{statistics.median(ms):.3g} ({min(ms):.3g} .. {max(ms):.3g})"
