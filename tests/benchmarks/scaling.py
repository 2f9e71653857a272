"""`python -m tests.benchmarks.scaling`: curves of the multilinear model beside a sum over every skill, in turn."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from swingby.model.cell import Cell
from swingby_sweeps.scaling.losses import curves
from swingby_sweeps.scaling.params import ScalingParams
from tests.benchmarks.tables import Benchmark, alone, seconds
from tests.support import cells

COLUMNS = ("curve, 100 points", "engine, ms a cell", "cells/s", "plain sum, ms a cell", "ratio", "largest difference")
_CURVES: Mapping[str, dict[str, Any]] = {
    "time, 10^5 skills": {"bottleneck": "time", "skills": 100_000},
    "time, infinitely many skills": {"bottleneck": "time", "skills": None},
    "data in the mean, 10^5 skills": {"bottleneck": "data", "skills": 100_000, "drawn": False},
    "data drawn, 10^5 skills": {"bottleneck": "data", "skills": 100_000, "largest": 1e5},
    "width, 10^5 skills": {"bottleneck": "width", "skills": 100_000, "largest": 1e4},
    "compute at the best width, 10^5 skills": {"bottleneck": "compute", "skills": 100_000},
    "all limited, 10^4 samples": {"bottleneck": "all", "data": 10_000, "width": 300},
}


def table(quick: bool) -> list[tuple[str, ...]]:
    """A row a kind of curve: medians of CPU time of this process, the two in turn."""
    rows = []
    for name, values in _CURVES.items():
        cell = cells.cell("multilinear", 0, **values)
        p = cell.params
        assert isinstance(p, ScalingParams)
        loop = _PLAIN.get(p.bottleneck) if p.skills is not None else None
        ours, plain = list[float](), list[float]()
        for _ in range(1 if quick else 5):
            ours.append(seconds(lambda cell=cell: curves(cell)))
            if loop is not None:
                plain.append(seconds(lambda loop=loop, cell=cell: loop(cell)))
        own = statistics.median(ours)
        beside = statistics.median(plain) if plain else None
        rows.append(
            (
                name,
                f"{1000 * own:.2f}",
                f"{1 / own:,.0f}",
                "-" if beside is None else f"{1000 * beside:.1f}",
                "-" if beside is None else f"{beside / own:.1f}",
                "-" if loop is None or p.sampled else f"{np.abs(curves(cell)['loss'] / loop(cell) - 1).max():.0e}",
            )
        )
    return rows


def _frequencies(p: ScalingParams) -> np.ndarray:
    weight = np.arange(1.0, (p.skills or 1) + 1) ** -(p.alpha + 1)
    return weight / weight.sum()


def _time(cell: Cell) -> np.ndarray:
    """The loss over time, a sum over every skill at each point ([T] 4.17)."""
    p = cell.params
    assert isinstance(p, ScalingParams)
    f, c = _frequencies(p), p.s / p.r0 - 1
    times = np.geomspace(p.smallest, p.largest, p.points)
    with np.errstate(over="ignore"):
        return np.array([p.s**2 / 2 * (f / (1 + np.exp(2 * p.lr * p.s * f * t) / c) ** 2).sum() for t in times])


def _data(cell: Cell) -> np.ndarray:
    """The loss over data: a draw of every sample by `numpy.random.Generator.choice`, or the sum of [T] 4.29."""
    p = cell.params
    assert isinstance(p, ScalingParams)
    f, sizes = _frequencies(p), np.rint(np.geomspace(p.smallest, p.largest, p.points)).astype(int)
    unit = (p.s - p.r0) ** 2 / 2
    if not p.drawn:
        return np.array([unit * (f * (1 - f) ** size).sum() for size in sizes])
    samples = cell.stream("data").choice(len(f), sizes[-1], p=f)
    seen, losses = np.zeros(len(f), bool), []
    for before, size in zip([0, *sizes[:-1]], sizes, strict=True):
        seen[samples[before:size]] = True
        losses.append(unit * f[~seen].sum())
    return np.array(losses)


def _width(cell: Cell) -> np.ndarray:
    """The loss over the width, a sum over every skill at each point ([T] 4.35)."""
    p = cell.params
    assert isinstance(p, ScalingParams)
    f = _frequencies(p)
    return np.array([p.s**2 / 2 * f[int(n) :].sum() for n in np.rint(np.geomspace(p.smallest, p.largest, p.points))])


_PLAIN: Mapping[str, Callable[[Cell], np.ndarray]] = {"time": _time, "data": _data, "width": _width}


TABLES = (
    Benchmark(
        "Curves of the multilinear model beside a plain sum over every skill, CPU time in turn: medians", COLUMNS, table
    ),
)

if __name__ == "__main__":
    alone(TABLES)
