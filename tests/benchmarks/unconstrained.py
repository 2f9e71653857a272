"""`python -m tests.benchmarks.unconstrained`: unconstrained features beside plain loops, in cells a second."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.metrics import measure
from swingby_sweeps.features.unconstrained import engine
from swingby_sweeps.features.unconstrained.params import UnconstrainedParams
from tests.benchmarks.tables import RATES, Benchmark, Case, alone, rates

POINTS = 60


def _points(cell: Cell) -> tuple[UnconstrainedParams, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Parameters, labels, Y, and W and every point's features at the start."""
    p = cell.params
    assert isinstance(p, UnconstrainedParams)
    labels, draws = np.repeat(np.arange(p.classes), p.sizes.astype(int)), np.random.default_rng(cell.seed)
    W, _ = engine.start(cell)
    H = draws.normal(size=(p.width, p.total)) * p.start / np.sqrt(p.width) / p.points_per_class**0.25
    return p, labels, np.eye(p.classes)[labels].T, W, H


def _descent(cell: Cell) -> object:
    """Gradient descent on W and on the features of every point in numpy; the library's metrics at 60 records."""
    p, labels, Y, W, H = _points(cell)
    at, found = set(Recording(points=POINTS).at(p.training_steps).tolist()), []
    for step in range(p.training_steps + 1):
        E = (W @ H - Y) / p.total
        if step in at:
            found.append(measure(H.T, (W @ H).T, labels, W, spectrum=False))
        W, H = (
            W - p.time_per_step * (E @ H.T + p.decays[0] * W),
            H - p.time_per_step * (W.T @ E + p.decays[1] * H),
        )
    return found


def _flow(cell: Cell) -> object:
    """The flow of W and of the features of every point by scipy, with the same metrics."""
    p, labels, Y, W, H = _points(cell)
    split = W.size

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        W, H = y[:split].reshape(p.classes, -1), y[split:].reshape(p.width, -1)
        E = (W @ H - Y) / p.total
        return -np.concatenate([(E @ H.T + p.decays[0] * W).ravel(), (W.T @ E + p.decays[1] * H).ravel()])

    at = Recording(points=POINTS).at(p.training_steps) * p.time_per_step
    start = np.concatenate([W.ravel(), H.ravel()])
    states = solve_ivp(slope, (0, at[-1]), start, "DOP853", at, rtol=1e-8, atol=1e-10).y.T
    pairs = [(y[:split].reshape(p.classes, -1), y[split:].reshape(p.width, -1)) for y in states]
    return [measure(H.T, (W @ H).T, labels, W, spectrum=False) for W, H in pairs]


CASES = (
    Case("flow, 400 points, width 16", "unconstrained", {}, 400, _flow, 2),
    Case("descent, 400 points, width 16", "unconstrained", {"drive": "gd"}, 400, _descent, 2),
    Case("descent, 4000 points, width 16", "unconstrained", {"drive": "gd", "points_per_class": 1000}, 400, _descent),
    Case("flow, 400 points, width 64", "unconstrained", {"width": 64}, 60, _flow),
)
TABLES = (
    Benchmark(
        "Unconstrained features beside plain loops over every point, whole rows with their metrics: CPU time",
        RATES,
        lambda quick: rates(CASES, quick, POINTS),
    ),
)

if __name__ == "__main__":
    alone(TABLES)
