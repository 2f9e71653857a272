"""Gradient flow of a batch of nets by an adaptive Runge-Kutta pair, and in closed form for one linear layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .dormand_prince import ERROR, GROW, SAFETY, SHRINK, STAGES
from .nets import Net

Array = np.ndarray
Field = Callable[[Tensor], Tensor]

MOST_STEPS = 1_000_000
"""Steps that a cell may try in one call before it counts as failed."""


class DormandPrince:
    """y' = field(y) for y of shape (C, P), each cell with its own adaptive step; lands exactly on the times asked for.

    A step is accepted if the root mean square over P of error / (atol + rtol max(|y|, |y_new|)) is at most 1. A cell
    that has arrived keeps its state to the last bit while others go on.

    Attributes:
        y: state, shape (C, P).
        failed: cells that needed a step below the resolution of time, or more than a million steps in one call; they
            stay where they were.
        unasked: steps that the next call tries before it asks whether all cells have arrived. To ask a GPU is to wait
            for it, and to try too many steps changes nothing.
    """

    def __init__(self, field: Field, y: Tensor, rtol: Tensor, atol: Tensor) -> None:
        self._field, self.y, self._rtol, self._atol = field, y, rtol[:, None], atol[:, None]
        self._slope = field(y)
        self.time = torch.zeros_like(rtol)
        # A first step from the sizes of y and y' (Hairer, Norsett & Wanner, II.4, the first half of their recipe).
        scale = self._atol + self._rtol * y.abs()
        step = 0.01 * self._norm(y, scale) / self._norm(self._slope, scale)
        # At rest, or at 0, the recipe gives no step. Any small one will do: its error says how long the next may be.
        self._step = torch.where(torch.isfinite(step) & (step > 0), step, torch.full_like(step, 1e-6))
        self.failed = torch.zeros_like(rtol, dtype=torch.bool)
        self.unasked = 0

    def _norm(self, v: Tensor, scale: Tensor) -> Tensor:
        return (v / scale).square().mean(1).sqrt()

    def advance(self, until: Tensor) -> None:
        """Integrate every cell to its time `until`, shape (C,)."""
        for tries in range(MOST_STEPS):
            going = (self.time < until) & ~self.failed
            if tries >= self.unasked and not bool(going.any()):
                self.unasked = max(tries - 1, 0) if self.y.is_cuda else 0
                return
            left = until - self.time
            last = self._step >= left
            h = torch.where(going, torch.where(last, left, self._step), torch.zeros_like(left))
            slopes, y = [self._slope], self.y
            for weights in STAGES:
                y = self.y + h[:, None] * sum(a * k for a, k in zip(weights, slopes, strict=True) if a)
                slopes.append(self._field(y))
            error = h[:, None] * sum(e * k for e, k in zip(ERROR, slopes, strict=True) if e)
            scale = self._atol + self._rtol * torch.maximum(self.y.abs(), y.abs())
            ratio = self._norm(error, scale)
            ratio = torch.where(torch.isfinite(ratio), ratio, torch.full_like(ratio, torch.inf))
            accepted = going & (ratio <= 1)
            self.y = torch.where(accepted[:, None], y, self.y)
            self._slope = torch.where(accepted[:, None], slopes[-1], self._slope)
            self.time = torch.where(accepted, torch.where(last, until, self.time + h), self.time)
            # The error of a step is of order h^5. A ratio below 1e-10 would be cut by GROW anyway, and 0 has no power.
            proposal = h * (SAFETY * ratio.clamp_min(1e-10) ** -0.2).clamp(SHRINK, GROW)
            # A step that was cut short to land on a time is no reason to shorten the next one.
            proposal = torch.where(accepted & last, torch.maximum(proposal, self._step), proposal)
            self._step = torch.where(going, proposal, self._step)
            # A step that is lost in the rounding of the time never arrives; 1e-300 stands for time 0.
            self.failed |= going & ~accepted & (self._step <= 1e-15 * self.time.clamp_min(1e-300))
        self.failed |= self.time < until


class Flow:
    """Gradient flow theta' = -grad L on a net's parameters (U for a symmetric net), in time steps x time_per_step.

    atol is 1e-3 rtol times the root mean square of the initial parameters: small initial weights keep their digits.

    Args:
        net: nets linear in x, at their start.
        moments: second moments of the training sets, (C, k, k).
        time_per_step: time of the flow in one step, (C,).
        rtol: relative error allowed in one adaptive step, (C,).
    """

    def __init__(self, net: Net, moments: Tensor, time_per_step: Array, rtol: Array) -> None:
        self.net, self._moments = net, -moments
        self._shapes = [parameter.shape for parameter in net.parameters]
        y = torch.cat([parameter.flatten(1) for parameter in net.parameters], dim=1)
        self._time_per_step = torch.as_tensor(time_per_step).to(y.device, y.dtype)
        allowed, size = torch.as_tensor(rtol).to(y.device, y.dtype), y.square().mean(1).sqrt()
        atol = 1e-3 * allowed * torch.where(size > 0, size, torch.ones_like(size))
        self._solver = DormandPrince(self._field, y, allowed, atol)
        self.failed = self._solver.failed

    def _load(self, y: Tensor) -> None:
        parts = y.split([shape[1:].numel() for shape in self._shapes], dim=1)
        for parameter, part, shape in zip(self.net.parameters, parts, self._shapes, strict=True):
            parameter.copy_(part.reshape(shape))

    def _field(self, y: Tensor) -> Tensor:
        self._load(y)
        slope = [torch.zeros_like(parameter) for parameter in self.net.parameters]
        self.net.push(self._moments, slope)
        return torch.cat([part.flatten(1) for part in slope], dim=1)

    def advance(self, start: int, stop: int) -> None:
        """Integrate to the time of step `stop`."""
        self._solver.advance(stop * self._time_per_step)
        self.failed = self._solver.failed
        self._load(self._solver.y)

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self._solver.y[cells] = 0
        self._solver.failed |= cells.to(self._solver.failed.device)
        self._moments[cells] = 0
        self.net.zero(cells)


class ClosedForm:
    """Gradient flow of one linear layer: F(t) = T - exp(-A t) (T - F(0)) for moments A and target T.

    The arguments are those of `Flow`, without an allowed error.
    """

    def __init__(self, net: Net, moments: Tensor, time_per_step: Array) -> None:
        self.net, self.failed = net, torch.zeros(net.cells, dtype=torch.bool)
        rates, self._axes = torch.linalg.eigh(moments)
        self._rates_per_step = rates * torch.as_tensor(time_per_step).to(rates.device, rates.dtype)[:, None]
        self._target = -net.minus_target()
        self._error = net.parameters[0] - self._target

    def advance(self, start: int, stop: int) -> None:
        """Jump to the time of step `stop`."""
        decay = torch.exp(-stop * self._rates_per_step)
        left = torch.bmm(self._axes * decay[:, None], self._axes.mT)
        self.net.parameters[0].copy_(self._target + torch.bmm(left, self._error))

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self._error[cells] = 0
        self.net.zero(cells)
