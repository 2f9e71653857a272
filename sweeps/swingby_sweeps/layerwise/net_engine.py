"""Trains a batch of linear nets: in closed form, or by the shared nets of `dynamics` for flow and descent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Columns, finished, prefixes, rows_of
from swingby_sweeps.dynamics.descent import FullBatchMoments
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.nets import LinearNet, Net
from swingby_sweeps.dynamics.recorder import Recorder
from swingby_sweeps.dynamics.shapes import NetShape
from swingby_sweeps.dynamics.training import Stepper, Training, final_rows

from . import net_theory
from .nets import Nets
from .observer import Observer
from .params import DIVERGED_AT, LinearNetParams

Array = np.ndarray
LONGEST = 5.0
"""The most that a mode may grow in one step of the closed form, as a logarithm: longer stretches are cut."""
TOGETHER = 2048
"""States whose curves are computed at once: few calls, and arrays that stay in the cache."""


def train(cells: Sequence[Cell[LinearNetParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    params = [cell.params for cell in cells]
    p, nets, steps = params[0], Nets.drawn(cells), recording.at(params[0].training_steps)
    lr, rtol, imbalance = (np.array([getattr(q, name) for q in params]) for name in ("lr", "rtol", "imbalance"))
    if p.drive == "closed_form":
        curves = closed_form(nets, imbalance if p.init == "lambda" else np.zeros(len(cells)), lr, steps)
        lengths = np.full(len(cells), len(steps))
        columns = finished(cells, steps, lengths)
        columns |= {name: prefixes(lengths, values) for name, values in curves.items()}
    else:
        scale = (nets.rho**2 / nets.moments.min(1)[:, None]).sum(1) / 2
        recorder = Recorder(steps, Observer(nets, recording.also), ("loss",), DIVERGED_AT * scale)
        training = Training(*stepper_of(nets, p.drive, lr, rtol), recorder)
        training.run()
        columns = final_rows(training, cells, f"{DIVERGED_AT:g} of its scale")
    left, alone = net_theory.alignment(nets.W1, nets.W2, nets.U, nets.V)
    return columns | {"alignment": rows_of(left), "alignment_alone": rows_of(alone)}


def closed_form(nets: Nets, imbalance: Array, lr: Array, steps: Array) -> dict[str, Array]:
    """The curves of the flow of balanced nets on white inputs, by steps that are exact (`net_theory.riccati`).

    The state is a factor of Q Q^T in the eigenvectors of F, one row an eigenvector; W_1 and W_2 are known up to a
    rotation of the hidden layer, which nothing that is recorded sees. From one record to the next: at once from the
    start, a mode that has saturated would hide those that still grow.
    """
    rates, vectors = net_theory.riccati(nets.correlation, imbalance)
    (C, d), rank = nets.W1.shape[:2], min(*nets.W1.shape[1:], nets.W2.shape[2])
    Q = np.concatenate([nets.W1, nets.W2.swapaxes(1, 2)], axis=1)
    if Q.shape[2] > rank:  # balanced weights have so many directions of the hidden layer, and one column each will do
        left, sizes, _ = np.linalg.svd(Q, full_matrices=False)
        Q = left[:, :, :rank] * sizes[:, None, :rank]
    n, observer, group, parts = Q.shape[1], Observer(nets, ()), max(1, TOGETHER // C), list[dict[str, Array]]()
    F, state = torch.as_tensor(vectors), torch.as_tensor(vectors.swapaxes(1, 2) @ Q)
    for first in range(0, len(steps), group):
        states = list[torch.Tensor]()
        for place in range(first, min(first + group, len(steps))):
            if place:
                state = _advanced(state, rates, (steps[place] - steps[place - 1]) * lr)
            states.append(state)
        moved = (F @ torch.cat(states, 2)).numpy().reshape(C, n, len(states), rank).swapaxes(1, 2)
        parts.append(observer.curves(*(np.ascontiguousarray(part) for part in (moved[:, :, :d], moved[:, :, d:]))))
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def _advanced(state: torch.Tensor, rates: Array, times: Array) -> torch.Tensor:
    """The state (C, n, r) after the times (C,), in pieces over which no mode grows by more than LONGEST."""
    pieces = np.maximum(1, np.ceil(times * np.abs(rates).max(1) / LONGEST))
    for piece in range(int(pieces.max())):
        h = np.where(piece < pieces, times / pieces, 0.0)[:, None]
        grown = rates * h
        # M in the eigenvectors: (e^(2 mu h) - 1) / (2 mu), and h where mu is 0.
        M = torch.as_tensor(h * np.where(grown == 0, 1.0, np.expm1(2 * grown) / np.where(grown == 0, 1, 2 * grown)))
        N = torch.eye(state.shape[2], dtype=torch.float64) + state.mT @ (M[:, :, None] * state)
        moved = torch.as_tensor(np.exp(grown))[:, :, None] * state
        state = torch.linalg.solve_triangular(torch.linalg.cholesky(N), moved.mT, upper=False).mT.contiguous()
    return state


def stepper_of(nets: Nets, drive: str, lr: Array, rtol: Array) -> tuple[Net, Stepper]:
    """The nets of a batch, and what advances them by flow or by descent."""
    d, width, c = nets.W1.shape[1], *nets.W2.shape[1:]
    shape, target = NetShape("linear", d, c, (width,)), torch.as_tensor(nets.target)
    weights = [nets.W1, np.ascontiguousarray(nets.W2.swapaxes(1, 2))]
    moments = nets.moments[:, :, None] * np.eye(d)
    if drive == "gd":
        packed = LaneNet(shape, weights, np.dtype("float64"), target)
        return packed, LaneDescent(packed, FullBatchMoments(lr, moments), np.dtype("float64"))
    net = LinearNet(shape, [torch.as_tensor(part).clone() for part in weights], target)
    return net, FlowKernel(net, torch.as_tensor(moments), lr, rtol)
