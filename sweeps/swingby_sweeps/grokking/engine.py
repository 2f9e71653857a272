"""Trains one cell: Adam on mini-batches, recorded at chosen steps.

Cells are trained one after another. Stacked in one array they take as long, since matrix products are most of the
work, and less of them fits into a cache; alone, a cell has the same numbers in any company to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.adam import Adam
from swingby_sweeps.dynamics.columns import Trained, lost
from swingby_sweeps.dynamics.metrics import as_columns, measures

from . import theory
from .data import Points, accuracy, drawn
from .net import Net, start
from .params import MlpParams

Array = np.ndarray
LIMIT = 1e6
"""A loss above this many times the mean square of the target, and of the start's outputs, is a divergence."""


class Observer:
    """Curves of one cell: what is recorded of its net, from a given start on."""

    def __init__(self, p: MlpParams, net: Net, train: Points, test: Points, features: bool = False) -> None:
        """`features`: whether the metrics of the last hidden layer are among the curves."""
        self._p, self._net, self._sets = p, net, (train, test)
        self._x = [torch.tensor(points.x, dtype=net.trained.dtype) for points in self._sets]
        self._features = features
        phi, f = zip(*(net.outputs(x) for x in self._x), strict=True)
        self._phi0, self._norm0 = _float64(phi[0]), self._norm()
        starts = [_float64(outputs) for outputs in f]
        self.offsets = starts if p.subtract_start else [np.zeros_like(outputs) for outputs in starts]
        self.limit = LIMIT * float((train.y**2).mean() + (starts[0] ** 2).mean())

    def values(self) -> dict[str, float]:
        """The value of each curve now."""
        (phi, f), (phi_test, f_test) = ((_float64(h), _float64(f)) for h, f in map(self._net.outputs, self._x))
        functions = [outputs - offset for outputs, offset in zip((f, f_test), self.offsets, strict=True)]
        columns = dict[str, float]()
        for name, points, outputs in zip(("train", "test"), self._sets, functions, strict=True):
            columns[f"{name}_accuracy"] = accuracy(self._p, outputs, points.digits)
            columns[f"{name}_loss"] = float(((outputs - points.y) ** 2).mean())
        if not (math.isfinite(columns["train_loss"]) and np.isfinite(phi).all()):
            return {**columns, "train_loss": math.inf}
        if self._features:
            columns |= self._metrics("train", phi, functions[0]) | self._metrics("test", phi_test, functions[1])
        return {
            **columns,
            "weight_norm": self._norm() / self._norm0,
            "feature_change": float(np.linalg.norm(phi - self._phi0) / np.linalg.norm(self._phi0)),
            "kappa": theory.kappa(phi, functions[0]),
            "d_eff": theory.effective_dimension_without_constant(theory.intensities(phi)),
        }

    def _metrics(self, sample: str, phi: Array, f: Array) -> dict[str, float]:
        """Metrics of the features phi (n, p) with outputs f (n, C) at training or test points, nan where there is none.

        A net of one output has numbers as targets, and no classes.
        """
        points, classes = self._sets[sample == "test"], self._p.target == "classes"
        labels, weights = (points.digits, _float64(self._net.matrices[-1].t())) if classes else (points.y, None)
        metrics = measures(
            phi[None], f[None], labels[None], weights if weights is None else weights[None],
            spectrum=False, collapse=sample == "train", strict=False,
        )[0]  # fmt: skip
        columns = as_columns(metrics, sample, spectrum=False)
        prefix = "train_" if sample == "train" else ""
        # Targets are scaled here.
        spread = float(points.y.var(0).sum())
        columns[f"{prefix}output_variance"] = float(f.var(0).sum()) / spread if spread > 0 else None
        return {name: math.nan if value is None else value for name, value in columns.items()}

    def _norm(self) -> float:
        return math.sqrt(sum(float((_float64(matrix) ** 2).sum()) for matrix in self._net.matrices))


def train(cell: Cell[MlpParams], recording: Recording) -> Trained:
    """One cell to its end, or to the first recorded step at which it has diverged."""
    p = cell.params
    dtype = getattr(torch, p.dtype)
    points, test = drawn(cell)
    net = Net(p, start(cell).astype(p.dtype))
    observer = Observer(p, net, points, test, "features" in recording.also)
    x = torch.tensor(points.x, dtype=dtype)
    y = torch.tensor(points.y + observer.offsets[0], dtype=dtype)
    batches, gradient = _batches(cell, p, x, y), net.gradient.numpy()
    steps, diverged = recording.at(p.total_steps, p.steps_per_epoch), None
    adam, taken, rows = Adam(net.trained.numpy(), p.l2), 0, list[dict[str, float]]()
    for step in steps.tolist():
        for now in range(taken, step):
            net.descend(*next(batches))
            adam.step(gradient, _rate(p, now))
        row = observer.values()
        if not row["train_loss"] <= observer.limit:
            diverged = lost(f"loss not finite or above {LIMIT:g} (E[y^2] + E[f_0^2])", steps, len(rows), len(rows))
            break
        rows.append(row)
        taken = step
    curves = {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}
    scalars = {"steps_per_epoch": p.steps_per_epoch, "test_points": len(test.x)}
    return Trained({"step": steps[: len(rows)], **curves}, scalars, diverged)


def _rate(p: MlpParams, step: int) -> float:
    """The learning rate of a step."""
    return p.lr if p.schedule == "constant" else p.lr * 0.5 * (1 + math.cos(math.pi * step / p.total_steps))


def _batches(cell: Cell, p: MlpParams, x: Tensor, y: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Mini-batches without an end, in a new order each epoch; the whole training set where it fits into one."""
    if p.steps_per_epoch == 1:
        while True:
            yield x, y
    order = cell.stream("order")
    while True:
        index = torch.from_numpy(order.permutation(p.points))
        xs, ys = x[index], y[index]
        for low in range(0, p.points, p.batch_size):
            yield xs[low : low + p.batch_size], ys[low : low + p.batch_size]


def _float64(tensor: Any) -> Array:
    return tensor.double().numpy()
