"""A cell of `features` by modules and autograd of torch, one step after another, as anyone would write it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from swingby.model.cell import Cell
from swingby_sweeps.features.data import drawn
from swingby_sweeps.features.layers import layers
from swingby_sweeps.features.net import start
from swingby_sweeps.features.params import FeaturesParams

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "linear": nn.Identity}


class Flattened(nn.Module):
    """A line of channels as one vector, place by place."""

    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(1)


class Line(nn.Module):
    """A vector as a line of one channel."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, None]


def net(cell: Cell) -> nn.Sequential:
    """The net of a cell at its start, in its arithmetic; the last module is the last layer."""
    p: Any = cell.params
    shape = layers(p)
    parts, modules = start(cell, shape), list[nn.Module]()
    if shape[0].taps:
        modules.append(Line())
    for i, layer in enumerate(shape):
        weights, bias = (torch.from_numpy(part) for part in parts[2 * i : 2 * i + 2])
        if layer.taps:
            module: Any = nn.Conv1d(
                layer.fan_in // layer.taps, layer.fan_out, layer.taps, 2, layer.taps // 2, bias=p.bias
            )
            weights = weights.view(layer.fan_out, layer.taps, -1).transpose(1, 2)
        else:
            if i and shape[i - 1].taps:
                modules.append(Flattened())
            module = nn.Linear(layer.fan_in, layer.fan_out, bias=p.bias)
        module.weight.data = weights.contiguous()
        if p.bias:
            module.bias.data = bias
        modules.append(module)
        if not layer.last:
            if p.normed:
                modules.append(nn.BatchNorm1d(layer.fan_out))
            modules.append(ACTIVATIONS[p.activation]())
    return nn.Sequential(*modules).to(getattr(torch, p.dtype))


def trained(cell: Cell, steps: int) -> nn.Sequential:
    """The net after some steps."""
    p = cell.params
    assert isinstance(p, FeaturesParams)
    dtype = getattr(torch, p.dtype)
    points, _ = drawn(cell)
    made, draws = net(cell), cell.stream("order")
    x, y = (torch.from_numpy(values).to(dtype) for values in (points.x, points.y))
    labels = torch.from_numpy(points.labels)
    with torch.no_grad():
        h = x
        for module in made.eval():
            if isinstance(module, nn.BatchNorm1d):
                module.running_var, module.running_mean = torch.var_mean(h, [i for i in range(h.ndim) if i != 1])
            h = module(h)
        offset = made(x) if p.centre_output else torch.zeros_like(y)
    of = made.train() if p.trained == "all" else made[-1]
    optimizer = torch.optim.SGD(of.parameters(), lr=p.lr, momentum=p.momentum, weight_decay=p.weight_decay)
    for step in range(steps):
        epoch, number = divmod(step, p.steps_per_epoch)
        if number == 0:
            order = torch.from_numpy(draws.permutation(p.n))
        for group in optimizer.param_groups:
            group["lr"] = p.lr * (p.drop_factor ** (epoch // p.drop_every) if p.drop_every else 1)
        some = order[number * p.batch : (number + 1) * p.batch]  # pyright: ignore[reportPossiblyUnboundVariable]
        f = made(x[some]) - offset[some]
        if p.loss == "cross_entropy":
            loss = nn.functional.cross_entropy(f, labels[some])
        elif p.reduction == "mean":
            loss = nn.functional.mse_loss(f, y[some])
        else:
            loss = ((f - y[some]) ** 2).sum(1).mean() / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return made.eval()
