"""`python -m tests.benchmarks.scalar`: scalar nets beside plain loops, in cells a second of CPU time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from swingby.model.cell import Cell
from swingby_sweeps.scalar.sparse import engine as sparse
from swingby_sweeps.scalar.sparse.params import SparseParams
from swingby_sweeps.scalar.wide import descent, kernels
from swingby_sweeps.scalar.wide import engine as wide
from swingby_sweeps.scalar.wide.params import WideParams
from tests.benchmarks.tables import RATES, Benchmark, Case, alone, rates, seconds

_WIDE: Mapping[str, Any] = {"init": "pairs", "target": 3.0, "lr_unit": "end", "training_steps": 199}
_DESCENT: Mapping[str, Any] = {"drive": "gd", "divisor_power": 0.5, "training_steps": 2000, "lr_unit": "end"}
_SPARSE: Mapping[str, Any] = {"alpha": 1.0, "decay": 0.002}


def _theta_by_ode(cell: Cell) -> object:
    """Theta at every step by scipy, from A and B."""
    p = cell.params
    assert isinstance(p, WideParams)
    A, B = wide.starts([cell])[0]
    lr = wide.time_per_step([cell], wide.starts([cell]))[0]
    rate = p.loss_factor * p.second_moment * lr / p.normaliser

    def slope(_: float, state: np.ndarray) -> list[float]:
        pull = 2 * p.target - state[0] + state[1]
        return [pull * state[0], -pull * state[1]]

    at = rate * np.arange(p.training_steps + 1)
    return solve_ivp(slope, (0, at[-1]), [A, B], "DOP853", at, rtol=1e-9, atol=1e-12).y


def _descent_on_weights(cell: Cell) -> object:
    """Gradient descent on 2p weights in numpy."""
    p = cell.params
    assert isinstance(p, WideParams)
    a, b = wide.drawn_weights(cell)
    lr, Z = wide.time_per_step([cell], wide.starts([cell]))[0], p.normaliser
    for _ in range(p.training_steps):
        g = p.loss_factor * p.second_moment * (a @ b / Z - p.target) / Z
        a, b = a - lr * g * b, b - lr * g * a
    return a, b


def _descent_on_diagonal(cell: Cell) -> object:
    """Gradient descent on a and b in numpy, to the end of the run."""
    p, (X, _, y) = cell.params, sparse.task(cell)
    assert isinstance(p, SparseParams)
    n, a, b, t = len(y), np.full(X.shape[1], p.alpha), np.zeros(X.shape[1]), 0.0
    H = np.linalg.eigvalsh(X @ X.T)[-1] / n
    while t < p.flow_time:
        h = min(p.step_factor / (H * (a * a + b * b).max()), 0.05 / p.decay)
        g = X.T @ (X @ (a * b) - y) / n
        a, b = a - h * (g * b + p.decay * a), b - h * (g * a + p.decay * b)
        t += h
    return a * b


CASES = (
    Case("Theorem 1, 200 points", "wide_scalar", _WIDE, 4000, _theta_by_ode, 20),
    Case("its flow, 200 points", "wide_scalar", {**_WIDE, "drive": "flow"}, 4000, _theta_by_ode, 20),
    Case("descent, p = 100, 2000 steps", "wide_scalar", _DESCENT, 4000, _descent_on_weights, 20),
    Case("diagonal net, flow", "sparse_diagonal", _SPARSE, 40, _descent_on_diagonal),
    Case("diagonal net, descent", "sparse_diagonal", {**_SPARSE, "drive": "gd"}, 10, _descent_on_diagonal),
)


def kernels_alone(quick: bool = False) -> list[tuple[str, ...]]:
    """Both kernels of the wide net, without parameters, draws, curves and rows: least of five turns (one with `quick`).

    Descent is that of the diagram of lr E K_0 and S / Sigma_0, recorded at its start and its end: a cell takes steps
    until it has diverged or theta is S to rounding.
    """
    side, rows = (20 if quick else 100), []
    unit, S = (grid.ravel() for grid in np.meshgrid(np.linspace(0.05, 5, side), np.logspace(-2, 2, side)))
    cells, sums = len(S), np.ones((len(S), 2))
    far, q = 1e6 * np.maximum(S, 1), np.hypot(S, 1)
    cases = (
        ("Theorem 1, 200 points", 0, 0.1 / (2 * q), np.arange(200)),
        ("descent, two records, to the end", 2, unit / 2, np.array([0, 20_000])),
    )
    for name, drive, unit_rates, steps in cases:
        states, seen, took = np.empty((cells, len(steps), 2)), np.zeros((cells, 3)), list[float]()
        for _ in range(2 if quick else 6):
            if drive == 2:
                run = partial(descent.descend, sums, S, unit_rates, far, steps, states, seen)
            else:
                run = partial(kernels.train, drive, sums, S, unit_rates, steps, states, seen)
            took.append(seconds(run))
        taken = cells * 200 if drive == 0 else sum(map(_steps_of_descent, S.tolist(), unit_rates.tolist()))
        least = min(took[1:])
        each = f"{1e9 * least / taken:.1f}"
        rows.append((name, f"{cells:,}", f"{taken / cells:,.0f}", each, f"{cells / least:,.3g}"))
    return rows


def _steps_of_descent(S: float, rate: float) -> int:
    """Steps that descent from A = B = 1 takes until it has diverged or theta is S to rounding, 20,000 at most."""
    A = B = 1.0
    for step in range(20_000):
        off = (A - B) / 2 - S
        if not descent.ROUNDING * (A + B) < abs(off) <= 2e6 * max(S, 1):
            return step
        A, B = A * (1 - rate * off) ** 2, B * (1 + rate * off) ** 2
    return 20_000


TABLES = (
    Benchmark("Scalar nets beside plain loops, whole rows with their curves: CPU time", RATES, partial(rates, CASES)),
    Benchmark(
        "Kernels of the wide net alone: CPU time",
        ("kernel", "cells", "steps a cell", "ns a step", "cells/s"),
        kernels_alone,
    ),
)

if __name__ == "__main__":
    alone(TABLES)
