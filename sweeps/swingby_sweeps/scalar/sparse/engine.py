"""Trains a batch of diagonal nets by the compiled kernels, a cell at a time: each has a task of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Columns, finished, prefixes

from . import kernels, theory
from .params import DECADES, SparseParams

Array = np.ndarray
FAILED = "the flow needed steps below the resolution of time"
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


def train(cells: Sequence[Cell[SparseParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    first = cells[0].params
    steps, results, thetas = recording.at(first.training_steps), [], []
    curves = np.full((3, len(cells), len(steps)), np.nan)
    lengths = np.zeros(len(cells), dtype=np.int64)
    for place, cell in enumerate(cells):
        result, at, states = _cell(cell)
        kept = int(np.searchsorted(~np.isfinite(at[2]), True)) if not np.isfinite(at[2]).all() else len(at[2])
        lengths[place] = np.searchsorted(steps, kept)
        curves[:, place] = at[:, steps]
        results.append(result)
        if "theta" in recording.also:
            thetas.append(states[steps[: lengths[place]]].tolist())
    messages = [result.pop("message") for result in results]
    failed, short = np.array([message is not None for message in messages]), lengths < len(steps)
    status = np.where(failed, "failed", np.where(short, "diverged", "ok"))
    said = [
        m or (f"theta not finite after step {steps[n - 1]}" if b else None)
        for m, n, b in zip(messages, lengths, short, strict=True)
    ]
    found = finished(cells, steps, lengths, status, said)
    for name, curve in zip(("at_time", "train_error", "test_error"), curves, strict=True):
        found[name] = prefixes(lengths, curve)
    found |= {name: pa.array([result[name] for result in results], from_pandas=True) for name in results[0]}
    if "theta" in recording.also:
        found["theta"] = pa.array(thetas, pa.list_(pa.list_(pa.float64())))
    return found


def _cell(cell: Cell[SparseParams]) -> tuple[dict[str, object], Array, Array]:
    """Scalars of a cell; times, train and test errors at all stops, (3, T); and theta there, (T, d)."""
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
    trained = ((states @ X.T - y) ** 2).sum(1) / (y @ y)
    tested = ((states - w) ** 2).sum(1)
    return (
        {
            "message": None if count >= 0 else FAILED if p.drive == "flow" else TOO_MANY,
            "flow_time": p.flow_time,
            "train_time": first_time(times, trained, theory.TRAINED),
            "test_time": first_time(times, tested, theory.TESTED),
            "final_train_error": float(trained[-1]),
            "final_test_error": float(tested[-1]),
            "late_test_error": float(tested[np.searchsorted(times, 0.8 * p.flow_time)]),
            "critical": kernels.critical(X, y, w, theory.TESTED),
            "imbalance_off": off,
            "steps_taken": count,
        },
        np.stack([times, trained, tested]),
        states,
    )


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
