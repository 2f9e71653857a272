"""Gradient descent in steps: mini-batch SGD, and full-batch descent on the moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sweeps.sim import task
from sweeps.sim.nets import Food, Net
from sweeps.sim.params import SimParams
from swingby.cells import Cell

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


def _rates(cells: Sequence[Cell]) -> Array:
    """Minus the time of a step, shape (C, 1, 1), float64."""
    return -np.array([_params(cell).time_per_step for cell in cells])[:, None, None]


class FixedMoments:
    """Full-batch descent: the same moments, (C, k, k), at every step."""

    def __init__(self, cells: Sequence[Cell], moments: Array, dtype: torch.dtype, device: str) -> None:
        self._food = torch.as_tensor(_rates(cells) * moments).to(device, dtype)

    def food(self, step: int) -> Tensor:
        return self._food

    def starve(self, cells: Tensor) -> None:
        self._food[cells] = 0


class BatchMoments:
    """Mini-batch SGD of a net linear in x: a mini-batch acts through its second moments, so only these are kept."""

    def __init__(self, cells: Sequence[Cell], points: Sequence[Array], dtype: torch.dtype, device: str) -> None:
        p = _params(cells[0])
        self._points, self._p = points, p
        self._orders = [task.Order(cell) for cell in cells]
        self._rates = _rates(cells)
        self._to = {"device": device, "dtype": dtype}
        self._epoch = -1
        self._foods: Tensor | None = None

    def food(self, step: int) -> Tensor:
        epoch, batch = divmod(step, self._p.steps_per_epoch)
        if epoch != self._epoch and (self._foods is None or self._p.shuffle == "every_epoch"):
            self._foods = self._load()
        self._epoch = epoch
        assert self._foods is not None
        return self._foods[batch]

    def _load(self) -> Tensor:
        """The scaled moments of every mini-batch of the next epoch, shape (batches, C, k, k)."""
        p, k = self._p, self._points[0].shape[1] + self._p.bias
        foods = np.empty((p.steps_per_epoch, len(self._points), k, k))
        for place, (points, order) in enumerate(zip(self._points, self._orders, strict=True)):
            shuffled = task.with_constant(points[order.next_epoch()], p.bias)
            foods[:, place] = self._rates[place] * task.batch_moments(shuffled, p.batch_size)
        return torch.as_tensor(foods).to(**self._to)

    def starve(self, cells: Tensor) -> None:
        self._rates[cells.cpu().numpy()] = 0
        if self._foods is not None:
            self._foods[:, cells] = 0


class BatchPoints:
    """Mini-batch SGD of any net: shuffled points, (C, N, k), of which a mini-batch is a view."""

    def __init__(self, cells: Sequence[Cell], points: Tensor) -> None:
        self._p = _params(cells[0])
        self._points = points
        self._orders = [task.Order(cell) for cell in cells]
        self._shuffled = torch.empty_like(points)
        self._rates = torch.as_tensor(_rates(cells)).to(points.device, points.dtype)
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
