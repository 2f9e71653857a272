"""The tasks and the starts of a batch of linear nets, and their draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swingby.model.cell import Cell

from .params import LinearNetParams

Array = np.ndarray
Streams = Sequence[np.random.Generator]


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
    def drawn(cls, cells: Sequence[Cell[LinearNetParams]]) -> Nets:
        """The nets of the cells (streams `task` and `start`)."""
        params = [cell.params for cell in cells]
        moments, rho = (np.array([getattr(p, name) for p in params]) for name in ("input_moments", "rho"))
        tasks, modes = [cell.stream("task") for cell in cells], rho.shape[1]
        U, V = (_orthonormal(tasks, rows, modes) for rows in (params[0].d, params[0].c))
        return cls(moments, U, V, rho, *_start(params, [cell.stream("start") for cell in cells]))


def _normal(streams: Streams, *size: int) -> Array:
    """Normal numbers of each cell, (C, *size)."""
    return np.stack([stream.normal(size=size) for stream in streams])


def _orthonormal(streams: Streams, rows: int, columns: int) -> Array:
    """Random orthonormal columns, uniformly distributed: QR of normal numbers, R with a positive diagonal."""
    Q, R = np.linalg.qr(_normal(streams, rows, columns))
    return Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None]


def _start(params: Sequence[LinearNetParams], streams: Streams) -> tuple[Array, Array]:
    """W_1 (C, d, p) and W_2 (C, p, c) at the start."""
    p, sigma = params[0], np.array([q.sigma for q in params])[:, None, None]
    if p.init == "normal":
        return sigma * _normal(streams, p.d, p.width), sigma * _normal(streams, p.width, p.c)
    rank = min(p.d, p.width, p.c)
    left, middle, right = (_orthonormal(streams, rows, rank) for rows in (p.d, p.width, p.c))
    D, imbalance = sigma * np.abs(_normal(streams, 1, rank)), np.array([q.imbalance for q in params])[:, None, None]
    more = np.sqrt(D**2 + np.abs(imbalance)) if p.init == "lambda" else D
    first, second = np.where(imbalance > 0, D, more), np.where(imbalance > 0, more, D)
    return (left * first) @ middle.swapaxes(1, 2), (middle * second) @ right.swapaxes(1, 2)
