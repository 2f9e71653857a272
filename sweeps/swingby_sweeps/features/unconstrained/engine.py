"""Trains a batch of unconstrained features by the compiled kernels, and measures what was recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import STUCK, Columns, cut_short, finished, lists, offsets_of, rows_of
from swingby_sweeps.dynamics.dormand_prince import TABLEAU

from . import kernels, measures, theory
from .params import DIVERGED_AT, UnconstrainedParams

Array = np.ndarray
RTOL = 1e-8
"""Relative tolerance of a step of the flow."""
BLOCK = 64
"""Cells whose states are held at once."""


def start(cell: Cell[UnconstrainedParams]) -> tuple[Array, Array]:
    """W (C, p) and H (p, C + r) at the start, H in the rotated points of `kernels`.

    Of the points' N columns of normal numbers, the rotation leaves C + (N - C) such columns; the last N - C enter
    everything by their p x p Gram matrix alone, and are replaced by its triangular factor, drawn as Bartlett (1933)
    does: roots of chi-squared numbers on the diagonal, normal ones below.
    """
    p = cell.params
    C, width, r = p.classes, p.width, p.spread
    root = float(p.points_per_class) ** 0.25
    if p.init == "aligned":
        aligned = p.start * root * np.eye(C, width)
        return aligned, np.hstack([aligned.T, np.zeros((width, r))])
    draws, size = cell.stream("init"), p.start / np.sqrt(width)
    W, M = draws.normal(size=(C, width)) * size * root, draws.normal(size=(width, C)) * size / root
    rest = p.total - C
    within = draws.normal(size=(width, r))
    if rest >= width:
        within = np.tril(within, -1) + np.diag(np.sqrt(draws.chisquare(rest - np.arange(width))))
    return W, np.hstack([M, within * size / root])


def train(cells: Sequence[Cell[UnconstrainedParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    steps = recording.at(cells[0].params.training_steps)
    parts = [_block(cells[first : first + BLOCK], steps) for first in range(0, len(cells), BLOCK)]
    return {name: pa.concat_arrays([part[name] for part in parts]) for name in parts[0]}


def _block(cells: Sequence[Cell[UnconstrainedParams]], steps: Array) -> Columns:
    params = [cell.params for cell in cells]
    p = params[0]
    starts = [start(cell) for cell in cells]
    flat = np.array([np.concatenate([W.ravel(), H.ravel()]) for W, H in starts])
    sizes = np.array([one.sizes for one in params])
    s, N = np.sqrt(sizes), sizes.sum(1)
    decays = np.array([one.decays for one in params])
    per_step = np.array([one.time_per_step for one in params])
    states, lengths = np.full((len(cells), len(steps), flat.shape[1]), np.nan), np.zeros(len(cells), dtype=np.int64)
    if p.drive == "flow":
        times = np.outer(per_step, steps)
        kernels.flow(flat, p.classes, p.width, s, N, decays, times, RTOL, TABLEAU, states, lengths)
    else:
        Y = s[:, :, None] * np.eye(p.classes, p.classes + p.spread)
        residuals = [np.linalg.norm(W @ H - y) for (W, H), y in zip(starts, Y, strict=True)]
        limits = DIVERGED_AT * np.maximum(np.sqrt(N), residuals)
        rates = np.array([(one.time_per_step * (1 - one.momentum), one.momentum) for one in params])
        kernels.descend(flat, p.classes, p.width, s, N, decays, rates, limits, steps, states, lengths)
    measured = [_measured(states[i, : lengths[i]], starts[i], params[i], steps) for i in range(len(cells))]
    return _columns(cells, steps, lengths, measured)


def _measured(states: Array, first: tuple[Array, Array], p: UnconstrainedParams, steps: Array) -> dict[str, Array]:
    """The curves of one cell, (T,) each, and its strengths (T, C)."""
    split = p.classes * p.width
    W = states[:, :split].reshape(-1, p.classes, p.width)
    H = states[:, split:].reshape(len(states), p.width, -1)
    curves = dict(measures.measure(W, H, p.sizes, *p.decays))
    lawless = np.full(len(states), np.nan)
    curves["predicted_nc1"] = curves["predicted_nc2"] = lawless
    if p.decays[0] == p.decays[1] and p.width >= p.classes:
        (W0, H0), t = first, steps[: len(states)] * p.time_per_step
        K = (W0 + H0[:, : p.classes].T) / 2
        P, KH = theory.small_start(K, H0[:, p.classes :], np.sqrt(p.sizes), p.total, p.decay_w, t)
        curves["predicted_nc1"], curves["predicted_nc2"] = measures.predicted(P, KH, p.sizes)
    return curves


def _columns(
    cells: Sequence[Cell[UnconstrainedParams]], steps: Array, lengths: Array, measured: Sequence[dict[str, Array]]
) -> Columns:
    params = [cell.params for cell in cells]
    ended = cut_short(f"|W H - Y| not finite or above {DIVERGED_AT:g} max(|Y|, its start)", steps, lengths)
    if params[0].drive == "flow":
        ended = dict.fromkeys(ended, f"{STUCK}, or more than {kernels.MOST_STEPS:,} of them")
    columns = finished(cells, steps, lengths, ended) | {
        "points_total": pa.array([p.total for p in params]),
        "smallest_class": pa.array([float(p.sizes[-1]) for p in params]),
        "time_per_step": pa.array([p.time_per_step for p in params]),
    }
    for name in measured[0]:
        values = np.concatenate([one[name] for one in measured])
        flat = rows_of(values) if values.ndim > 1 else pa.array(values, mask=~np.isfinite(values))
        columns[name] = lists(offsets_of(lengths), flat)
    return columns
