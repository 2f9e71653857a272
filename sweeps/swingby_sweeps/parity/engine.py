"""Trains the cells of a batch one after another by the compiled steps, and records them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Trained
from swingby_sweeps.dynamics.kernels.streams import STREAM, begin

from . import kernels, task, theory
from .params import DIVERGED_AT, ParityParams

Array = np.ndarray
CHECK = 500
"""Steps between two looks at the error on the whole training set, where that may end the training."""


class Net:
    """A net, its training points and what its strength is measured on.

    Attributes:
        theta: the parameters, as `kernels` orders them.
        points: skills and codes of the training set, (2, D); (2, 0) where every step has fresh points.
        batch, test: those of the last step, and those that its strength is measured on.
    """

    def __init__(self, cell: Cell[ParityParams]) -> None:
        p = self.p = cell.params
        self.masks = task.masks(p.skills, p.m)
        self.theta = p.sigma * cell.stream("init").normal(size=(p.skills + p.bits + 2) * p.width + 1)
        self.points = np.zeros((2, 0), dtype=np.int64)
        if p.samples is not None:
            draws = cell.stream("data").random((p.samples, 2)).T
            self.points = np.stack([task.chosen(draws[0], p.alpha, p.skills), task.codes(draws[1], p.bits)])
        self._order = np.arange(self.points.shape[1])
        drawn = cell.stream("test").random((p.skills, p.test_samples)).reshape(-1)
        self.test = np.stack([np.repeat(np.arange(p.skills), p.test_samples), task.codes(drawn, p.bits)])
        self._stream = np.zeros(STREAM, np.uint64)
        begin(np.frombuffer(cell.key("batches"), dtype="<u8").astype(np.uint64), self._stream)
        self._moments = np.zeros((2, len(self.theta) if p.optimizer == "adam" else 0))
        points = p.batch_size if p.samples is None else min(p.batch_size, p.samples)
        self.batch = np.zeros((2, points), dtype=np.int64)
        group, limit = kernels.group_of(p.bits, points), DIVERGED_AT * p.target**2
        self._setting = kernels.Setting(
            p.bits, group, p.target, p.loss_factor, p.l2, p.optimizer == "adam", limit
        )  # fmt: skip
        self._tables = kernels.room(p.skills, p.width, p.bits, group)
        self._cumulated = task.cumulated(p.alpha, p.skills)
        self.step = 0

    def advance(self, stop: int) -> bool:
        """Train up to step `stop`; False where the error leaves its bounds before: then no further step is taken."""
        taken = kernels.advance(
            self.theta, self._moments, self._stream, self._order, self.points, self.batch, self._cumulated,
            self.masks, rates(self.p, self.step, stop), self.step, self._setting, self._tables,
        )  # fmt: skip
        going = taken == stop - self.step
        self.step += taken
        return going

    def strengths(self) -> tuple[Array, Array]:
        """R_k/S of each skill, and its mean square error over S^2, on the test points; each (skills,)."""
        sums = kernels.strengths(self.theta, self.test, self.masks, self._setting, self._tables)
        return sums[:, 0] / sums[:, 2], sums[:, 1] / sums[:, 2]

    def train_error(self) -> float:
        """Mean square error over S^2 on the whole training set."""
        sums = kernels.strengths(self.theta, self.points, self.masks, self._setting, self._tables)
        return float(sums[:, 1].sum() / sums[:, 2].sum())


def rates(p: ParityParams, first: int, last: int) -> Array:
    """The learning rates of the steps first, ..., last - 1."""
    steps = np.arange(first, last)
    if p.schedule == "halved":
        return p.lr * 0.5 ** (steps // p.halve_every)
    if p.schedule == "cosine":
        return p.lr * (1 + np.cos(np.pi * steps / p.training_steps)) / 2
    return np.full(len(steps), p.lr)


def train(cell: Cell[ParityParams], recording: Recording) -> Trained:
    """One cell to its end."""
    p = cell.params
    net = Net(cell)
    steps = recording.at(p.training_steps).tolist()
    shares = theory.frequencies(p.alpha, p.skills)
    curves = dict[str, list[object]](step=[], strength=[], loss=[], train_loss=[])
    unit, stopped, going = p.loss_factor / 2 * p.target**2, None, True
    for stop in stops(p, steps):
        if going and stopped is None:
            going = net.advance(stop)
        if going and stopped is None and p.stop_at is not None and stop % CHECK == 0 and net.train_error() < p.stop_at:
            stopped = stop
        if going and stop == steps[len(curves["step"])]:
            strength, error = net.strengths()
            loss = float(unit * shares @ error)
            curves["step"].append(stop)
            curves["strength"].append(strength.tolist())
            curves["loss"].append(loss)
            curves["train_loss"].append(loss if p.samples is None else unit * net.train_error())
    message = f"the mean square error of a batch left {DIVERGED_AT:g} S^2 at step {net.step}"
    counts = np.bincount(net.points[0], minlength=p.skills).tolist() if p.samples is not None else None
    return Trained(curves, {"counts": counts, "stopped_step": stopped}, None if going else message)


def stops(p: ParityParams, steps: list[int]) -> Iterator[int]:
    """The steps at which training pauses, each once: those that are recorded, and those at which it may end."""
    checks = range(CHECK, p.training_steps, CHECK) if p.stop_at is not None else ()
    yield from sorted({*steps, *checks})
