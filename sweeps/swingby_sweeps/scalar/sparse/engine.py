"""Trains a batch of diagonal nets by the compiled kernels, a cell at a time: each has a task of its own."""

from __future__ import annotations

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import STUCK, Trained

from . import kernels, theory
from .params import DECADES, SparseParams

Array = np.ndarray
TOO_MANY = f"descent needed more than {kernels.MOST_STEPS:,} steps; the flow takes few for any start and decay"


def task(cell: Cell[SparseParams]) -> tuple[Array, Array, Array]:
    """X (n, d), the target w (d,) with |w| = 1, and y = X w. The entries of w come first: columns of X are alike."""
    p = cell.params
    X = cell.stream("task").normal(size=(p.points, p.dimension))
    w = np.where(np.arange(p.dimension) < p.nonzeros, p.nonzeros**-0.5, 0.0)
    return X, w, X @ w


def stops(p: SparseParams) -> Array:
    """Flow times of all stops, (training_steps + 1,): 0, and then evenly spaced in log t up to the end of the run."""
    return np.append(0.0, p.flow_time * np.logspace(-DECADES, 0, p.training_steps))


def train(cell: Cell[SparseParams], recording: Recording) -> Trained:
    """One cell to its end, or to its first stop at which theta is not finite."""
    p = cell.params
    X, w, y = task(cell)
    times, off = stops(p), np.nan
    states = np.full((len(times), p.dimension), np.nan)
    if p.drive == "flow":
        count = kernels.flow(X, y, p.alpha, p.decay, times, states)
    else:
        smaller = X @ X.T if p.points < p.dimension else X.T @ X
        H = float(np.linalg.eigvalsh(smaller)[-1]) / p.points
        count, off = kernels.descend(X, y, p.alpha, p.decay, H, p.step_factor, times, states)
    train_error = ((states @ X.T - y) ** 2).sum(1) / (y @ y)
    test_error = ((states - w) ** 2).sum(1)
    diverged = np.flatnonzero(~np.isfinite(test_error))
    steps = recording.at(p.training_steps)
    kept = steps[: np.searchsorted(steps, diverged[0] if len(diverged) else len(times))]
    curves = {"step": kept, "at_time": times[kept], "train_error": train_error[kept], "test_error": test_error[kept]}
    if "theta" in recording.also:
        curves["theta"] = states[kept]
    scalars = {
        "flow_time": p.flow_time,
        "train_time": first_time(times, train_error, theory.TRAINED),
        "test_time": first_time(times, test_error, theory.TESTED),
        "final_train_error": float(train_error[-1]),
        "final_test_error": float(test_error[-1]),
        "late_test_error": float(test_error[np.searchsorted(times, 0.8 * p.flow_time)]),
        "critical": kernels.critical(X, y, w, theory.TESTED),
        "imbalance_off": off,
        "steps_taken": count,
    }
    if count < 0:
        return Trained(curves, scalars, failed=STUCK if p.drive == "flow" else TOO_MANY)
    return Trained(curves, scalars, f"theta not finite after step {kept[-1]}" if len(kept) < len(steps) else None)


def first_time(times: Array, values: Array, level: float) -> float | None:
    """When values first are at most `level`, straight in their logs between stops; None where they never are."""
    below = np.flatnonzero(values <= level)
    if len(below) == 0 or below[0] == 0:
        return None
    i = below[0]
    high, low = np.log(values[i - 1]), np.log(max(values[i], 1e-300))
    share = (high - np.log(level)) / (high - low)
    if i == 1:
        return float(share * times[1])
    return float(times[i - 1] ** (1 - share) * times[i] ** share)
