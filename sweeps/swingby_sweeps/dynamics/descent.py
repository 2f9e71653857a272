"""Gradient descent in steps: mini-batch SGD, and full-batch descent on the moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell
from swingby_sweeps.sim import task
from swingby_sweeps.sim.kernels.lanes import LANES, pack
from swingby_sweeps.sim.kernels.moments import Draws
from swingby_sweeps.sim.nets import Food, Net
from swingby_sweeps.sim.params import SimParams

Array = np.ndarray


class Feed(Protocol):
    """What each step trains on, scaled by minus the time of a step (eq 4.1): a step is `net.push(food, parameters)`."""

    def food(self, step: int) -> Food:
        """The food of step number `step` (from 0); asked in order."""
        ...

    def starve(self, cells: Tensor) -> None:
        """Scale the food of the cells of a mask (C,) by 0 from now on."""
        ...


class Descent:
    """Plain gradient descent; one step is one call of `push`."""

    def __init__(self, net: Net, feed: Feed) -> None:
        self.net, self.feed = net, feed

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        push, food, parameters = self.net.push, self.feed.food, self.net.parameters
        for step in range(start, stop):
            push(food(step), parameters)

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.net.zero(cells)
        self.feed.starve(cells)


def minus_rates(cells: Sequence[Cell]) -> Array:
    """Minus the time of a step, shape (C, 1, 1), float64."""
    return -np.array([_params(cell).time_per_step for cell in cells])[:, None, None]


class Foods:
    """What moment nets are trained on: the moments of a cell's mini-batches, or the same at every step.

    Attributes:
        batches: mini-batches in an epoch, 1 for full-batch descent.
        again: whether a new epoch brings new ones.
        whole: second moments of the whole training set, (C, k, k), float64: what the training loss is taken on.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        params = [_params(cell) for cell in cells]
        p = params[0]
        self._rates = minus_rates(cells)
        self._draws: Draws | None = None
        self._sums: Array | None = None
        self.again = p.drive == "sgd" and p.shuffle == "every_epoch"
        if p.drive == "sgd":
            self._draws = Draws(cells, p.batch_size)
            self._sums = self._draws.sums()
            self.batches, self.whole = self._draws.batches, self._draws.moments(self._sums.sum(1, keepdims=True))[:, 0]
        else:
            self.batches, self.whole = 1, whole_moments(cells)
        self._first = True

    def _next(self) -> Array:
        """The sums of the next epoch."""
        assert self._draws is not None
        assert self._sums is not None
        if not self._first and self.again:
            self._sums = self._draws.sums()
        self._first = False
        return self._sums

    def epoch(self) -> Array:
        """The scaled moments of every mini-batch of the next epoch: (batches, C, k, k), float64."""
        moments = self.whole[:, None] if self._draws is None else self._draws.moments(self._next())
        return np.ascontiguousarray((self._rates[:, None] * moments).swapaxes(0, 1))

    def side_by_side(self, dtype: np.dtype) -> Array:
        """The same, for packed nets: (G, batches, k k, LANES)."""
        if self._draws is not None:
            return self._draws.foods(self._next(), self._rates[:, 0, 0], dtype)
        C, k = self.whole.shape[:2]
        out = np.zeros((-(-C // LANES), 1, k * k, LANES), dtype)
        pack((self._rates * self.whole).reshape(C, -1).astype(dtype), out[:, 0], 0)
        return out

    def starve(self, cells: Tensor) -> None:
        """Scale the food of the cells of a mask (C,) by 0 from the next epoch on."""
        self._rates[cells.cpu().numpy()] = 0


def whole_moments(cells: Sequence[Cell]) -> Array:
    """E[x x^T] over each cell's training set, or of the population where it looks at no points: (C, k, k), float64."""
    params = [_params(cell) for cell in cells]
    drawn = np.array([p.drive == "sgd" or p.moments == "sample" for p in params])
    k = params[0].s + params[0].bias
    moments = np.empty((len(cells), k, k))
    for place in np.flatnonzero(~drawn):
        moments[place] = task.population_moments(params[place])
    if drawn.any():
        draws = Draws([cell for cell, own in zip(cells, drawn, strict=True) if own], None)
        moments[drawn] = draws.moments(draws.sums())[:, 0]
    for place, p in enumerate(params):
        if drawn[place] and p.moment_power != 1:
            moments[place] = np.linalg.matrix_power(moments[place], p.moment_power)
    return moments


class FeedMoments:
    """The moments that `Foods` has, one mini-batch a step, as torch tensors."""

    def __init__(self, foods: Foods, dtype: torch.dtype, device: torch.device) -> None:
        self._foods, self._to = foods, {"device": device, "dtype": dtype}
        self._epoch = -1
        self._now = torch.empty(0)

    def food(self, step: int) -> Tensor:
        """The moments of a step, scaled; (C, k, k)."""
        epoch, batch = divmod(step, self._foods.batches)
        if self._epoch < 0 or (epoch != self._epoch and self._foods.again):
            self._now = torch.as_tensor(self._foods.epoch()).to(**self._to)
        self._epoch = epoch
        return self._now[batch]

    def starve(self, cells: Tensor) -> None:
        """Scale the food of the cells of a mask (C,) by 0 from now on."""
        self._foods.starve(cells)
        if len(self._now):
            self._now[:, cells] = 0


class BatchPoints:
    """Mini-batch SGD of any net: shuffled points, (C, N, k), of which a mini-batch is a view."""

    def __init__(self, cells: Sequence[Cell], points: Tensor) -> None:
        self._p = _params(cells[0])
        self._points = points
        self._orders = [task.Order(cell) for cell in cells]
        self._shuffled = torch.empty_like(points)
        self._rates = torch.as_tensor(minus_rates(cells)).to(points.device, points.dtype)
        self._epoch = -1

    def food(self, step: int) -> tuple[Tensor, Tensor]:
        epoch, batch = divmod(step, self._p.steps_per_epoch)
        if epoch != self._epoch and (self._epoch < 0 or self._p.shuffle == "every_epoch"):
            for place, order in enumerate(self._orders):
                index = torch.as_tensor(order.next_epoch(), device=self._points.device)
                torch.index_select(self._points[place], 0, index, out=self._shuffled[place])
        self._epoch = epoch
        x = self._shuffled[:, batch * self._p.batch_size : (batch + 1) * self._p.batch_size]
        return x, self._rates / x.shape[1]

    def starve(self, cells: Tensor) -> None:
        self._rates[cells] = 0


def _params(cell: Cell) -> SimParams:
    assert isinstance(cell.params, SimParams)
    return cell.params
