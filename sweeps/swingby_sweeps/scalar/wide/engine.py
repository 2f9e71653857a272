"""Trains a batch of wide scalar nets by the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import ROWS, STUCK, Columns, cut_short, finished, known, prefixes
from swingby_sweeps.dynamics.kernels.streams import keys

from . import kernels, theory
from .descent import descend
from .params import DIVERGED_AT, WideParams

Array = np.ndarray
DRIVES = ("closed_form", "flow", "gd")
KINDS = ("normal", "signs", "pairs")
CURVES = ("theta", "aligned", "opposed", "loss")
SHOWN = 40
"""Pairs of weights that are recorded on request."""


def starts(cells: Sequence[Cell[WideParams]]) -> Array:
    """A = Sigma_0 + S_0 and B = Sigma_0 - S_0 of each cell, (C, 2)."""
    params = [cell.params for cell in cells]
    kinds = np.array([KINDS.index(p.init) for p in params])
    sums = np.array([(p.start_size * (1 + p.start_alignment), p.start_size * (1 - p.start_alignment)) for p in params])
    mirrored, widths = np.array([p.mirrored for p in params]), np.array([p.width for p in params])
    drawn = kinds != KINDS.index("pairs")
    if drawn.any():
        sizes = np.array([(p.sd_a, p.sd_b) for p in params])
        kernels.starts(keys(cells, "weights"), kinds, mirrored, sizes, widths, sums)
        sums[drawn] /= np.array([p.normaliser for p in params])[drawn, None]
        alike = drawn & mirrored  # S_0 = 0 to the last bit
        sums[alike] = sums[alike].mean(1, keepdims=True)
    return sums


def time_per_step(cells: Sequence[Cell[WideParams]], sums: Array) -> Array:
    """Flow time in a step of each cell, (C,): lr in its unit; `sums` are those of `starts`."""
    params = [cell.params for cell in cells]
    lr, S = (np.array([getattr(p, name) for p in params]) for name in ("lr", "target"))
    units = np.array([p.lr_unit for p in params])
    A, B = sums.T
    size = np.where(units == "start", (A + B) / 2, theory.root(A, B, S))
    scale = np.array([p.normaliser / (p.loss_factor * p.second_moment) for p in params])
    with np.errstate(divide="ignore"):
        return np.where(units == "absolute", lr, lr * scale / (2 * size))


def train(cells: Sequence[Cell[WideParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    params = [cell.params for cell in cells]
    names = ("target", "second_moment", "loss_factor", "normaliser")
    S, E, c, Z = (np.array([getattr(p, name) for p in params]) for name in names)
    sums, steps = starts(cells), recording.at(params[0].training_steps)
    lr = time_per_step(cells, sums)
    start, size = (sums[:, 0] - sums[:, 1]) / 2, sums.mean(1)
    scale = np.maximum(np.maximum(np.abs(S), np.abs(start)), size)
    states, seen = np.full((len(cells), len(steps), 2), np.nan), np.zeros((len(cells), 3))
    rates = c * E * lr / Z
    if params[0].drive == "gd":
        descend(sums, S, rates, DIVERGED_AT * scale, steps, states, seen)
    else:
        kernels.train(DRIVES.index(params[0].drive), sums, S, rates, steps, states, seen)
    curves = np.empty((4, len(cells), len(steps)))
    kernels.curves(states, S, c * E / 2, curves)
    far, peak, lengths = seen[:, 0], seen[:, 1], seen[:, 2].astype(np.int64)
    stuck = far < 0
    lengths[stuck] = np.isfinite(states[stuck, :, 0]).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        nonlinearity = np.where(np.abs(S - start) > 0, far / np.abs(S - start), np.nan)
    scalars = {
        "nonlinearity": nonlinearity,
        "peak_loss": (c * E / 2) * peak**2,
        "normaliser": Z,
        "start_overlap": start,
        "start_sum": size,
        "time_per_step": lr,
    }
    beyond = f"|theta| not finite or above {DIVERGED_AT:g} max(|S|, |S_0|, Sigma_0)"
    failed = dict.fromkeys(np.flatnonzero(stuck).tolist(), STUCK)
    columns = finished(cells, steps, lengths, cut_short(beyond, steps, lengths), failed)
    columns |= {name: known(values) for name, values in scalars.items()}
    columns |= {name: prefixes(lengths, values) for name, values in zip(CURVES, curves, strict=True)}
    if "modes" in recording.also:
        columns |= _modes(cells, sums, states, lengths)
    return columns


def drawn_weights(cell: Cell[WideParams]) -> tuple[Array, Array]:
    """a(0) and b(0) of a cell, (p,) each; those of `pairs` are all alike."""
    p = cell.params
    a, b = np.empty(p.width), np.empty(p.width)
    if p.init == "pairs":
        plus, minus = np.sqrt(starts([cell])[0] * 2 * p.normaliser / p.width)
        a[:], b[:] = (plus + minus) / 2, (plus - minus) / 2
    else:
        kernels.weights(keys([cell], "weights")[0], KINDS.index(p.init), p.mirrored, np.array([p.sd_a, p.sd_b]), a, b)
    return a, b


def _modes(cells: Sequence[Cell[WideParams]], sums: Array, states: Array, lengths: Array) -> Columns:
    """a_j b_j / Z of the first pairs at every recorded step: (6.10) and (6.11) with gamma = A(t)/A(0).

    a b = ((a + b)^2 - (a - b)^2)/4, so that the signs of the factors of descent do not count.
    """
    curves: list[list[list[float]]] = []
    for cell, p, (A, B), state, length in zip(
        cells, [cell.params for cell in cells], sums, states, lengths, strict=True
    ):
        a, b = (layer[:SHOWN] for layer in drawn_weights(cell))
        plus, minus = (
            state[:length, 0] / A if A > 0 else np.ones(length),
            state[:length, 1] / B if B > 0 else np.ones(length),
        )
        products = (np.outer(plus, (a + b) ** 2) - np.outer(minus, (a - b) ** 2)) / (4 * p.normaliser)
        curves.append(products.tolist())
    return {"mode": pa.array(curves, ROWS)}
