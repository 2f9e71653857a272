"""Trains a batch of wide scalar nets by the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.kernels.streams import keys

from .. import rows
from . import kernels, theory
from .params import DIVERGED_AT, WideParams

Array = np.ndarray
DRIVES = ("closed_form", "flow", "gd")
KINDS = ("normal", "signs", "pairs")
SHOWN = 40
"""Pairs of weights that are recorded on request."""


def params_of(cells: Sequence[Cell]) -> list[WideParams]:
    """The parameters of each cell."""
    return [cell.params for cell in cells if isinstance(cell.params, WideParams)]


def starts(cells: Sequence[Cell]) -> Array:
    """A = Sigma_0 + S_0 and B = Sigma_0 - S_0 of each cell, (C, 2)."""
    given = params_of(cells)
    kinds = np.array([KINDS.index(p.init) for p in given])
    sums = np.array([(p.start_size * (1 + p.start_alignment), p.start_size * (1 - p.start_alignment)) for p in given])
    mirrored, widths = np.array([p.mirrored for p in given]), np.array([p.width for p in given])
    drawn = kinds != KINDS.index("pairs")
    if drawn.any():
        sizes = np.array([(p.sd_a, p.sd_b) for p in given])
        kernels.starts(keys(cells, "weights"), kinds, mirrored, sizes, widths, sums)
        sums[drawn] /= np.array([p.normaliser for p in given])[drawn, None]
        alike = drawn & mirrored  # S_0 = 0 to the last bit
        sums[alike] = sums[alike].mean(1, keepdims=True)
    return sums


def time_per_step(p: WideParams, A: float, B: float) -> float:
    """Flow time in a step: lr in its unit."""
    if p.lr_unit == "absolute":
        return p.lr
    size = (
        (A + B) / 2 if p.lr_unit == "start" else float(theory.root(np.float64(A), np.float64(B), np.float64(p.target)))
    )
    return p.lr * p.normaliser / (2 * size * p.loss_factor * p.second_moment)


def train(cells: Sequence[Cell], recording: Recording) -> rows.Columns:
    """The columns of finished cells of one shape."""
    given = params_of(cells)
    S, E, c, Z = (
        np.array([getattr(p, name) for p in given]) for name in ("target", "second_moment", "loss_factor", "normaliser")
    )
    sums, steps = starts(cells), recording.at(given[0].training_steps)
    lr = np.array([time_per_step(p, A, B) for p, (A, B) in zip(given, sums.tolist(), strict=True)])
    start, size = (sums[:, 0] - sums[:, 1]) / 2, sums.mean(1)
    scale = np.maximum(np.maximum(np.abs(S), np.abs(start)), size)
    states, seen = np.full((len(cells), len(steps), 2), np.nan), np.zeros((len(cells), 3))
    rates = c * E * lr / Z
    kernels.train(DRIVES.index(given[0].drive), sums, S, rates, DIVERGED_AT * scale, steps, states, seen)
    far, peak, lengths = seen[:, 0], seen[:, 1], seen[:, 2].astype(np.int64)
    stuck, short = far < 0, lengths < len(steps)
    lengths[stuck] = np.isfinite(states[stuck, :, 0]).sum(1)
    status = np.where(stuck, "failed", np.where(short, "diverged", "ok"))
    messages = [_message(steps, int(lengths[i]), bool(stuck[i])) if status[i] != "ok" else None for i in range(len(S))]
    kept = np.arange(len(steps)) < lengths[:, None]
    last, cell = np.maximum(lengths - 1, 0), np.arange(len(cells))
    output = (states[:, :, 0] - states[:, :, 1]) / 2
    loss = (c * E / 2)[:, None] * (output - S[:, None]) ** 2
    toward = np.where((S >= 0)[:, None, None], states, states[:, :, ::-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "nonlinearity": np.where(np.abs(S - start) > 0, far / np.abs(S - start), np.nan),
            "peak_loss": (c * E / 2) * peak**2,
        }
    columns |= {
        "normaliser": Z,
        "start_overlap": start,
        "start_sum": size,
        "time_per_step": lr,
        "final_theta": output[cell, last],
        "final_loss": loss[cell, last],
        "final_aligned": toward[cell, last, 0],
        "final_opposed": toward[cell, last, 1],
    }
    found = rows.final_rows(cells, steps, lengths, messages, status)
    found |= {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    found |= {
        "theta": rows.lists(kept, output),
        "aligned": rows.lists(kept, toward[:, :, 0]),
        "opposed": rows.lists(kept, toward[:, :, 1]),
        "loss": rows.lists(kept, loss),
    }
    if "modes" in recording.also:
        found |= _modes(cells, sums, states, lengths)
    return found


def _message(steps: Array, length: int, stuck: bool) -> str:
    if stuck:
        return "the flow needed steps below the resolution of time"
    when = f"after step {steps[length - 1]}, at or before step {steps[length]}" if length else "at the start"
    return f"|theta| not finite or above {DIVERGED_AT:g} max(|S|, |S_0|, Sigma_0) {when}; {length} recorded steps kept"


def drawn_weights(cell: Cell) -> tuple[Array, Array]:
    """a(0) and b(0) of a cell, (p,) each; those of `pairs` are all alike."""
    (p,) = params_of([cell])
    a, b = np.empty(p.width), np.empty(p.width)
    if p.init == "pairs":
        plus, minus = np.sqrt(starts([cell])[0] * 2 * p.normaliser / p.width)
        a[:], b[:] = (plus + minus) / 2, (plus - minus) / 2
    else:
        kernels.weights(keys([cell], "weights")[0], KINDS.index(p.init), p.mirrored, np.array([p.sd_a, p.sd_b]), a, b)
    return a, b


def _modes(cells: Sequence[Cell], sums: Array, states: Array, lengths: Array) -> rows.Columns:
    """a_j b_j / Z of the first pairs at every recorded step: (6.10) and (6.11) with gamma = A(t)/A(0).

    a b = ((a + b)^2 - (a - b)^2)/4, so that the signs of the factors of descent do not count.
    """
    curves: list[list[list[float]]] = []
    for cell, p, (A, B), state, length in zip(cells, params_of(cells), sums, states, lengths, strict=True):
        a, b = (layer[:SHOWN] for layer in drawn_weights(cell))
        plus, minus = (
            state[:length, 0] / A if A > 0 else np.ones(length),
            state[:length, 1] / B if B > 0 else np.ones(length),
        )
        products = (np.outer(plus, (a + b) ** 2) - np.outer(minus, (a - b) ** 2)) / (4 * p.normaliser)
        curves.append(products.tolist())
    return {"mode": pa.array(curves, pa.list_(pa.list_(pa.float64())))}
