"""`python -m tests.benchmarks.linear`: regression on fixed features in closed form beside a plain loop, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.blas import one_blas_thread
from swingby_sweeps.linear import features
from swingby_sweeps.linear.engine import fit
from swingby_sweeps.linear.params import LinearParams
from tests.benchmarks.tables import Benchmark, alone
from tests.support import cells

COLUMNS = ("cell, 60 times", "engine, ms a cell", "cells/s", "plain loop, ms a cell", "ratio", "largest difference")
_CELLS: Mapping[str, dict[str, Any]] = {
    "gaussian, n 100, p 2000": {},
    "fourier, n 100, p 2000": {"features": "fourier"},
    "gaussian, n 30, p 300": {"n": 30, "p": 300},
    "gaussian, n 500, p 2000": {"n": 500},
}


def table(quick: bool) -> list[tuple[str, ...]]:
    """A row a size: medians of CPU time of this process with one thread of BLAS, the two in turn."""
    rows = []
    with one_blas_thread():
        for name, values in _CELLS.items():
            ours, plain, away = list[float](), list[float](), 0.0
            for seed in range(2 if quick else 7):
                cell = cells.cell("linear", seed, **values)
                took, found = _took(lambda cell=cell: fit(cell, Recording("every")))
                ours.append(took)
                took, losses = _took(lambda cell=cell: _loop(cell))
                plain.append(took)
                away = max(away, float(np.abs(found.curves["test_loss"] / losses - 1).max()))
            own, beside = statistics.median(ours), statistics.median(plain)
            rows.append(
                (
                    name,
                    f"{1e3 * own:.1f}",
                    f"{1 / own:,.0f}",
                    f"{1e3 * beside:.0f}",
                    f"{beside / own:.1f}",
                    f"{away:.0e}",
                )
            )
    return rows


def _took(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _loop(cell: Cell) -> np.ndarray:
    """The test losses by a linear system for each time: f^ = K K^-1 (1 - e^(-K t/n)) y, with a matrix exponential."""
    from scipy.linalg import expm

    p = cell.params
    assert isinstance(p, LinearParams)
    E, rho, c = features.matrix(p, cell.stream("points")), features.intensities(p), features.target(p)
    y = E @ c + p.sigma * cell.stream("noise").standard_normal(p.n)
    K, losses = (E * rho) @ E.T, []
    for t in np.geomspace(p.end_time / 10**p.decades, p.end_time, p.points):
        fitted = rho * (E.T @ np.linalg.solve(K, y - expm(-K * t / p.n) @ y))
        losses.append(float(((fitted - c) ** 2).sum() / 2))
    return np.array(losses)


TABLES = (
    Benchmark(
        "Regression on fixed features beside a plain loop over the times, CPU time in turn: medians", COLUMNS, table
    ),
)

if __name__ == "__main__":
    alone(TABLES)
