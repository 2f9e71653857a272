"""Computes a batch of `modes`: every mode of every cell is a row of its own, whatever drives it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Columns, cut_short, finished, prefixes, rows_of
from swingby_sweeps.dynamics.dormand_prince import TABLEAU

from . import kernels, theory
from .params import DIVERGED_AT, ModesParams

Array = np.ndarray
# The inputs of C.4 in the columns of its table, the parity of their bits with its sign, and the functions h_1, h_2, h_3
# of the three hidden units, so that f = -2 alpha^2 h_1 + beta^2 h_2 + gamma^2 h_3 + c.
BITS = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1]])
PARITY = 1 - 2 * (BITS.sum(0) % 2)
UNITS = np.maximum(0, np.array([[-1, 1, -1], [-1, 1, -1], [1, -1, 1]]) @ BITS + np.array([[0], [1], [-1]]))


def start_weights(cells: Sequence[Cell[ModesParams]]) -> Array:
    """The weights at the start (stream `start`): (C, K, L); of `parity3` alpha, beta, gamma, (C, 3, 1)."""
    weights = []
    for cell in cells:
        p = cell.params
        w = np.full((p.count, p.layers if p.system == "diagonal" else 1), p.start)
        if p.system == "diagonal" and p.imbalance:
            w[:, -1] = np.sqrt(p.start**2 + p.imbalance)
        if p.spread:
            w = w * np.exp(p.spread * cell.stream("start").normal(size=w.shape))
        weights.append(w)
    return np.stack(weights)


def train(cells: Sequence[Cell[ModesParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    params = [cell.params for cell in cells]
    p, steps, w0 = params[0], recording.at(params[0].training_steps), start_weights(cells)
    lr, S = (np.array([getattr(q, name) for q in params]) for name in ("lr", "target"))
    columns: Columns = {"start_weights": rows_of(w0.reshape(len(cells), -1))}
    rtol = np.array([q.rtol for q in params])
    if p.system == "diagonal":
        E = np.stack([q.moments for q in params])
        columns["moment"] = rows_of(E)
        weights, u = _diagonal(p, w0, E, S, lr, rtol, steps)
        strength = u / S[:, None, None]
        with np.errstate(over="ignore", invalid="ignore"):
            loss, size = 0.5 * (E[:, None] * (S[:, None, None] - u) ** 2).sum(2), np.abs(strength).max(2)
    else:
        weights = _parity(p, w0[..., 0], S, lr, rtol, steps)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = weights[..., :3] ** 2
            strength = squares / (theory.PARITY_TARGETS * S[:, None, None])
            f = (squares * [-2.0, 1.0, 1.0]) @ UNITS + weights[..., 3:]
            loss = 0.5 * ((f - S[:, None, None] * PARITY) ** 2).mean(2)
            size = np.abs(f).max(2) / S[:, None]
    curves = {"strength": strength, "loss": loss}
    if "weights" in recording.also and weights is not None:
        curves["weights"] = weights
    lengths = _lengths(size)
    beyond = f"a mode beyond {DIVERGED_AT:g} of its target"
    columns |= finished(cells, steps, lengths, cut_short(beyond, steps, lengths))
    return columns | {name: prefixes(lengths, values) for name, values in curves.items()}


def _lengths(size: Array) -> Array:
    """The recorded steps that are kept of each cell, (C,): those before its first size (C, T) that is no number or is
    beyond the bound; the start always, so that every cell has a curve."""
    beyond = ~(size <= DIVERGED_AT)
    beyond[:, 0] = False
    return np.where(np.any(beyond, axis=1), beyond.argmax(1), beyond.shape[1])


def _diagonal(
    p: ModesParams, w0: Array, E: Array, S: Array, lr: Array, rtol: Array, steps: Array
) -> tuple[Array | None, Array]:
    """Weights (C, T, K L), where they are computed, and products u (C, T, K)."""
    C, K, L = w0.shape
    if p.drive == "closed_form":
        t, at = lr[:, None, None] * steps[:, None], (slice(None), None)
        if L == 1:
            return None, theory.linear(t, E[at], S[:, None, None], w0[at][..., 0])
        if L == 2:
            return None, theory.two_layers(t, E[at], S[:, None, None], w0[at][..., 0], w0[at][..., 1])
        rows = [[theory.deep(t[c, :, 0], E[c, k], S[c], w0[c, k, 0], L) for k in range(K)] for c in range(C)]
        return None, np.array(rows).swapaxes(1, 2)
    s, h, allowed = (np.repeat(value, K) for value in (S, lr, rtol))
    history = _driven(p, w0.reshape(-1, L), E.reshape(-1), s, h, allowed, steps)
    weights = history.reshape(C, K, len(steps), L).swapaxes(1, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        return weights.reshape(C, len(steps), K * L), weights.prod(3)


def _parity(p: ModesParams, roots: Array, S: Array, lr: Array, rtol: Array, steps: Array) -> Array:
    """(alpha, beta, gamma, c) at every recorded step, (C, T, 4); c starts at 0."""
    state = np.column_stack([np.log(roots), np.zeros(len(roots))])
    history = _driven(p, state, np.ones(len(roots)), S, lr, rtol, steps)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([np.exp(history[..., :3]), history[..., 3:]], axis=2)


def _driven(p: ModesParams, rows: Array, E: Array, S: Array, lr: Array, rtol: Array, steps: Array) -> Array:
    """Rows (R, m) at every recorded step, (R, T, m), by descent or by flow."""
    history = np.empty((len(steps), *rows.shape))
    system = kernels.SYSTEMS[p.system]
    if p.drive == "gd":
        kernels.descend(system, rows, E, S, lr, steps, history)
    else:
        kernels.flow(system, rows, E, S, steps[:, None] * lr, rtol, TABLEAU, history)
    return history.swapaxes(0, 1)
