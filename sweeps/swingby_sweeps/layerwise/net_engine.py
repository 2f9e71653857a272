"""Trains a batch of linear nets: draws, closed form, and the shared nets of `dynamics` for flow and descent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Columns, rows_of
from swingby_sweeps.dynamics.descent import FullBatchMoments
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.nets import LinearNet, Net
from swingby_sweeps.dynamics.recorder import Recorder
from swingby_sweeps.dynamics.shapes import NetShape
from swingby_sweeps.dynamics.training import Stepper, Training, final_rows

from . import net_theory
from .params import LinearNetParams
from .rows import DIVERGED_AT

Array = np.ndarray
LONGEST = 5.0
"""The most that a mode may grow in one step of the closed form, as a logarithm: longer stretches are cut."""


@dataclass(frozen=True)
class Nets:
    """The tasks and the starts of C cells.

    Attributes:
        moments: second moments of the independent inputs, (C, d).
        U, V, rho: the correlation E[x f*^T] by its singular vectors, (C, d, m) and (C, c, m), and values, (C, m).
        W1, W2: initial weights, (C, d, p) and (C, p, c).
    """

    moments: Array
    U: Array
    V: Array
    rho: Array
    W1: Array
    W2: Array

    @property
    def correlation(self) -> Array:
        """E[x f*^T], (C, d, c)."""
        return (self.U * self.rho[:, None]) @ self.V.swapaxes(1, 2)

    @property
    def target(self) -> Array:
        """The map that f* applies to its input, C_xx^-1 C_xy, (C, d, c)."""
        return self.correlation / self.moments[:, :, None]

    @classmethod
    def drawn(cls, cells: Sequence[Cell]) -> Nets:
        """The nets of the cells (streams `task` and `start`)."""
        parts: list[list[Array]] = []
        for cell in cells:
            p, task = params_of(cell), cell.stream("task")
            U, V = (_orthonormal(task, rows, len(p.rho)) for rows in (p.d, p.c))
            parts.append([p.input_moments, U, V, np.array(p.rho), *_start(p, cell.stream("start"))])
        return cls(*map(np.stack, zip(*parts, strict=True)))


def params_of(cell: Cell) -> LinearNetParams:
    """The parameters of a cell."""
    assert isinstance(cell.params, LinearNetParams)
    return cell.params


def _orthonormal(stream: np.random.Generator, rows: int, columns: int) -> Array:
    """Random orthonormal columns, uniformly distributed: QR of normal numbers, R with a positive diagonal."""
    Q, R = np.linalg.qr(stream.normal(size=(rows, columns)))
    return Q * np.sign(np.diagonal(R))


def _start(p: LinearNetParams, stream: np.random.Generator) -> tuple[Array, Array]:
    """W_1 (d, p) and W_2 (p, c) at the start."""
    if p.init == "normal":
        return p.sigma * stream.normal(size=(p.d, p.width)), p.sigma * stream.normal(size=(p.width, p.c))
    rank = min(p.d, p.width, p.c)
    left, middle, right = (_orthonormal(stream, rows, rank) for rows in (p.d, p.width, p.c))
    D = p.sigma * np.abs(stream.normal(size=rank))
    more = np.sqrt(D**2 + abs(p.imbalance)) if p.init == "lambda" else D
    first, second = (D, more) if p.imbalance > 0 else (more, D)
    return (left * first) @ middle.T, (middle * second) @ right.T


class ClosedForm:
    """The flow of balanced nets on white inputs, exact between recorded steps (`net_theory.riccati`).

    The state is a factor of Q Q^T in the eigenvectors of F, one row an eigenvector; W_1 and W_2 are known up to a
    rotation of the hidden layer, which nothing that is recorded sees.
    """

    def __init__(self, nets: Nets, imbalance: Array, lr: Array) -> None:
        self.failed = torch.zeros(len(lr), dtype=torch.bool)
        self._lr, self._d = lr, nets.W1.shape[1]
        self._rates, vectors = net_theory.riccati(nets.correlation, imbalance)
        self._vectors = torch.as_tensor(vectors)
        Q = np.concatenate([nets.W1, nets.W2.swapaxes(1, 2)], axis=1)
        if Q.shape[2] > Q.shape[1]:  # fewer columns have the same Q Q^T
            Q = np.swapaxes(np.linalg.qr(Q.swapaxes(1, 2), mode="r"), 1, 2)
        self._state = self._vectors.mT @ torch.as_tensor(np.ascontiguousarray(Q))
        shape = NetShape("linear", self._d, Q.shape[1] - self._d, (Q.shape[2],))
        self.net = LinearNet(shape, self._parts(), torch.as_tensor(nets.target))

    def _parts(self) -> list[Tensor]:
        Q = self._vectors @ self._state
        return [Q[:, : self._d].contiguous(), Q[:, self._d :].contiguous()]

    def advance(self, start: int, stop: int) -> None:
        """Jump from the time of step `start` to that of step `stop`."""
        length = (stop - start) * self._lr
        pieces = np.maximum(1, np.ceil(length * np.abs(self._rates).max(1) / LONGEST))
        for piece in range(int(pieces.max())):
            grown = self._rates * np.where(piece < pieces, length / pieces, 0.0)[:, None]
            # M in the eigenvectors: (e^(2 mu h) - 1) / (2 mu), and h where mu is 0.
            h = np.where(piece < pieces, length / pieces, 0.0)[:, None]
            M = torch.as_tensor(h * np.where(grown == 0, 1.0, np.expm1(2 * grown) / np.where(grown == 0, 1, 2 * grown)))
            N = torch.eye(self._state.shape[2], dtype=torch.float64) + self._state.mT @ (M[:, :, None] * self._state)
            moved = torch.as_tensor(np.exp(grown))[:, :, None] * self._state
            self._state = torch.linalg.solve_triangular(torch.linalg.cholesky(N), moved.mT, upper=False).mT.contiguous()
        for parameter, part in zip(self.net.parameters, self._parts(), strict=True):
            parameter.copy_(part)

    def freeze(self, cells: Tensor) -> None:
        """Nothing: no flow diverges."""


class Observer:
    """Computes the curves of C nets from their weights, as a `dynamics.recorder.Observe`."""

    def __init__(self, nets: Nets, also: Sequence[str]) -> None:
        self._nets, self._drift = nets, "drift" in also
        self._full = np.einsum("cdm,cde,cem->cm", nets.U, nets.target, nets.V)
        self._roots = np.sqrt(nets.moments)[:, :, None]
        self._kernel = self._tangent(nets.W1, nets.W2.swapaxes(1, 2))
        self._difference = _difference(nets.W1, nets.W2.swapaxes(1, 2))

    def _tangent(self, W1: Array, V2: Array) -> tuple[Array, Array]:
        """Both parts of the tangent kernel A x I + C_xx x B over its norm: (C, d, d) and (C, c, c)."""
        weighted = self._roots * W1
        A, B = weighted @ weighted.swapaxes(1, 2), V2 @ V2.swapaxes(1, 2)
        norm = np.sqrt(self._inner(A, B))[:, None, None]
        return A / norm, B / norm

    def _inner(self, A: Array, B: Array) -> Array:
        """|A x I + C_xx x B|^2, (C,)."""
        moments = self._nets.moments
        crossed = np.einsum("cdd,cd->c", A, moments) * np.einsum("cee->c", B)
        return B.shape[1] * (A**2).sum((1, 2)) + 2 * crossed + (moments**2).sum(1) * (B**2).sum((1, 2))

    def __call__(self, net: Net, going: Array) -> dict[str, Array]:
        nets = self._nets
        W1, V2 = (parameter.numpy() for parameter in net.parameters)
        with np.errstate(over="ignore", invalid="ignore"):
            F = W1 @ V2.swapaxes(1, 2)
            fine: Array = np.all(np.isfinite(F), axis=(1, 2), keepdims=True)
            singular = np.linalg.svd(np.where(fine, F, 0), compute_uv=False)
            error = F - nets.target
            (A0, B0), (A, B) = self._kernel, self._tangent(W1, V2)
            curves = {
                "strength": np.einsum("cdm,cde,cem->cm", nets.U, F, nets.V) / self._full,
                "loss": 0.5 * (nets.moments[:, :, None] * error**2).sum((1, 2)),
                "singular_values": singular,
                "effective_rank": _effective(singular),
                # Half the squared distance of kernels of norm 1, which does not cancel where they are close.
                "kernel_distance": self._inner(A - A0, B - B0) / 2,
            }
            if self._drift:
                size = (W1**2).sum((1, 2)) + (V2**2).sum((1, 2))
                drift = np.sqrt(((_difference(W1, V2) - self._difference) ** 2).sum((1, 2)))
                curves["drift"] = drift / size
        return curves


def _difference(W1: Array, V2: Array) -> Array:
    """W_1^T W_1 - W_2 W_2^T, (C, p, p)."""
    return W1.swapaxes(1, 2) @ W1 - V2.swapaxes(1, 2) @ V2


def _effective(singular: Array) -> Array:
    """exp of the entropy of the singular values over their sum: (C, m) to (C,); 0 where all are 0."""
    total = singular.sum(1, keepdims=True)
    share = singular / np.where(total > 0, total, 1)
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(1)
    return np.where(total[:, 0] > 0, np.exp(entropy), 0.0)


def stepper_of(nets: Nets, drive: str, lr: Array, rtol: Array, imbalance: Array) -> tuple[Net, Stepper]:
    """The nets of a batch, and what advances them."""
    if drive == "closed_form":
        closed = ClosedForm(nets, imbalance, lr)
        return closed.net, closed
    d, width, c = nets.W1.shape[1], *nets.W2.shape[1:]
    shape, target = NetShape("linear", d, c, (width,)), torch.as_tensor(nets.target)
    weights = [nets.W1, np.ascontiguousarray(nets.W2.swapaxes(1, 2))]
    moments = nets.moments[:, :, None] * np.eye(d)
    if drive == "gd":
        packed = LaneNet(shape, weights, np.dtype("float64"), target)
        return packed, LaneDescent(packed, FullBatchMoments(lr, moments), np.dtype("float64"))
    net = LinearNet(shape, [torch.as_tensor(part).clone() for part in weights], target)
    return net, FlowKernel(net, torch.as_tensor(moments), lr, rtol)


def train(cells: Sequence[Cell], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    params = [params_of(cell) for cell in cells]
    p, nets = params[0], Nets.drawn(cells)
    lr, rtol, imbalance = (np.array([getattr(q, name) for q in params]) for name in ("lr", "rtol", "imbalance"))
    balance = imbalance if p.init == "lambda" else np.zeros(len(cells))
    drift = [name for name in recording.also if p.drive != "closed_form"]
    net, stepper = stepper_of(nets, p.drive, lr, rtol, balance)
    scale = (nets.rho**2 / nets.moments.min(1)[:, None]).sum(1) / 2
    recorder = Recorder(recording.at(p.training_steps), Observer(nets, drift), ("loss",), DIVERGED_AT * scale)
    training = Training(net, stepper, recorder)
    training.run()
    columns = final_rows(training, cells, f"{DIVERGED_AT:g} of its scale")
    left, lengths = net_theory.alignment(nets.W1, nets.W2, nets.U, nets.V)
    columns |= {"alignment": rows_of(left), "alignment_alone": rows_of(lengths)}
    return columns | {"final_loss": pa.array(recorder.final("loss"), pa.float64())}
