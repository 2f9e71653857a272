"""Layerwise linear models: cells a second of the engines beside a plain loop over cells, in turn in one process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from swingby_sweeps.layerwise import theory
from swingby_sweeps.layerwise.nets import Nets
from tests.benchmarks.tables import RATES, Benchmark, Case, alone, rates


def modes_by_scipy(cell: Any) -> Any:
    """Five modes of two layers by an integrator of scipy's."""
    p, times = cell.params, np.linspace(0, cell.params.time, 200)
    E = p.moments

    def slope(_: float, w: np.ndarray) -> np.ndarray:
        a, b = w.reshape(2, -1)
        pull = E * (p.target - a * b)
        return np.concatenate([pull * b, pull * a])

    return solve_ivp(slope, (0, p.time), np.full(2 * len(E), p.start), "RK45", times, rtol=1e-9, atol=1e-12)


def parity_by_scipy(cell: Any) -> Any:
    """The parity net by an integrator of scipy's."""
    p, times = cell.params, np.linspace(0, cell.params.time, 200)

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        x, y_, z = np.exp(2 * y[:3])
        return np.array(theory.parity_growth(x, y_, z, y[3], p.target))

    start = np.append(np.full(3, np.log(p.start)), 0.0)
    return solve_ivp(slope, (0, p.time), start, "RK45", times, rtol=1e-9, atol=1e-12)


def net_by_runge_kutta(cell: Any) -> Any:
    """The weights of one net by 1,500 classical Runge-Kutta steps, and 200 singular value decompositions."""
    p, nets = cell.params, Nets.drawn([cell])
    W = [nets.W1[0], nets.W2[0]]
    correlation, h = nets.correlation[0], p.time / 1500

    def slope(W: list[np.ndarray]) -> list[np.ndarray]:
        G = correlation - W[0] @ W[1]
        return [G @ W[1].T, W[0].T @ G]

    found = []
    for step in range(1500):
        k1 = slope(W)
        k2 = slope([w + h / 2 * k for w, k in zip(W, k1, strict=True)])
        k3 = slope([w + h / 2 * k for w, k in zip(W, k2, strict=True)])
        k4 = slope([w + h * k for w, k in zip(W, k3, strict=True)])
        W = [w + h / 6 * (a + 2 * b + 2 * c + d) for w, a, b, c, d in zip(W, k1, k2, k3, k4, strict=True)]
        if step % 8 == 0:
            found.append(np.linalg.svd(W[0] @ W[1], compute_uv=False))
    return found


NET = {"training_steps": 400, "lr": 0.05}
CLOSED = {**NET, "init": "balanced", "drive": "closed_form"}
PARITY = {"system": "parity3", "drive": "flow", "target": 5.0, "lr": 0.02, "training_steps": 800}
CASES = (
    Case("modes, closed form, two layers", "modes", {"lr": 0.2}, 1024, modes_by_scipy, 3),
    Case("modes, closed form, four layers", "modes", {"layers": 4, "lr": 5.0, "start": 0.1}, 128, modes_by_scipy, 3),
    Case("modes, flow, two layers", "modes", {"lr": 0.2, "drive": "flow"}, 1024, modes_by_scipy, 3),
    Case("modes, parity net, flow", "modes", PARITY, 1024, parity_by_scipy, 3),
    Case("linear_net 8, 20, 3, flow", "linear_net", {**NET, "drive": "flow"}, 512, net_by_runge_kutta, 3),
    Case("linear_net 8, 20, 3, closed form", "linear_net", CLOSED, 512, net_by_runge_kutta, 3),
)
TABLES = (
    Benchmark(
        "Layerwise linear models: cells a second by CPU time of one thread, beside a plain loop",
        RATES,
        partial(rates, CASES),
    ),
)

if __name__ == "__main__":
    alone(TABLES)
