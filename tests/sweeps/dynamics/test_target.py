"""Laws of the target: nets learn any linear map, every engine the same one, and the identity without being told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from swingby_sweeps.dynamics.descent import Descent, FullBatchMoments, MomentBatches
from swingby_sweeps.dynamics.flow import Flow
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.nets import Net, build
from swingby_sweeps.dynamics.shapes import NetShape
from swingby_sweeps.dynamics.training import one_thread

CELLS = 19
"""More than one group of sixteen, and the last group not full."""
SHAPES = {
    "one layer": NetShape("linear", s=2, d=5),
    "deep": NetShape("linear", s=3, d=4, hidden=(5, 3)),
    "bias": NetShape("linear", s=2, d=3, hidden=(4,), bias=True),
    "symmetric": NetShape("symmetric", s=2, d=4, hidden=(3,)),
}
RATES = np.full(CELLS, 0.05)
Train = Callable[[NetShape, Tensor | None, int, bool], Net]


def start(shape: NetShape) -> list[Tensor]:
    """Initial parameters."""
    stream = torch.Generator().manual_seed(0)
    sizes = [(shape.d, shape.hidden[0])] if shape.symmetric else [(shape.k, shape.widths[0])]
    for inner, out in zip(shape.widths, shape.widths[1:], strict=False) if not shape.symmetric else ():
        sizes += [(out, inner), (out,)] if shape.bias else [(out, inner)]
    return [0.3 * torch.randn((CELLS, *size), generator=stream, dtype=torch.float64) for size in sizes]


def moments(shape: NetShape) -> Tensor:
    """Second moments of points, the constant among them."""
    points = torch.randn((CELLS, 40, shape.k), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    points[:, :, shape.s :] = 1
    return points.mT @ points / 40


def target(shape: NetShape) -> Tensor:
    """A target of every cell's own."""
    stream = torch.Generator().manual_seed(2)
    return torch.randn((CELLS, shape.k, shape.d), generator=stream, dtype=torch.float64)


def identity(shape: NetShape) -> Tensor:
    """The identity as a target."""
    eye = torch.zeros(shape.k, shape.d, dtype=torch.float64)
    eye.diagonal()[: shape.s] = 1
    return eye.repeat(CELLS, 1, 1)


def descended(shape: NetShape, wanted: Tensor | None, steps: int, compiled: bool) -> Net:
    """Nets after some steps of gradient descent."""
    stream = FullBatchMoments(RATES.copy(), moments(shape).numpy())
    with one_thread():
        if compiled:
            net: Net = LaneNet(shape, [part.numpy() for part in start(shape)], np.dtype(float), wanted)
            LaneDescent(net, stream, np.dtype(float)).advance(0, steps)  # pyright: ignore[reportArgumentType]
        else:
            net = build(shape, start(shape), wanted)
            Descent(net, MomentBatches(stream, torch.float64, net.device)).advance(0, steps)
    return net


def flowed(shape: NetShape, wanted: Tensor | None, steps: int, compiled: bool) -> Net:
    """Nets after some time of gradient flow."""
    net = build(shape, start(shape), wanted)
    with one_thread():
        kernel = FlowKernel if compiled else Flow
        kernel(net, moments(shape), RATES.copy(), np.full(CELLS, 1e-10)).advance(0, steps)
    return net


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("train", [descended, flowed])
def test_compiled_kernels_learn_the_target_of_the_reference(name: str, train: Train) -> None:
    """Kernels and torch nets take the same steps toward any target, and their losses are those of this target."""
    shape = SHAPES[name]
    kernel, reference = (train(shape, target(shape), 60, compiled) for compiled in (True, False))
    for mine, theirs in zip(kernel.parameters, reference.parameters, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-9)
    before, after = build(shape, start(shape), target(shape)).loss(moments(shape)), kernel.loss(moments(shape))
    torch.testing.assert_close(after, reference.loss(moments(shape)), rtol=1e-7, atol=1e-9)
    assert (after < before).all()


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("train", [descended, flowed])
def test_without_a_target_it_is_the_identity(name: str, train: Train) -> None:
    """The kernels give the same numbers, bit for bit, for no target and for the identity as one."""
    shape = SHAPES[name]
    for mine, theirs in zip(
        train(shape, None, 60, True).parameters, train(shape, identity(shape), 60, True).parameters, strict=True
    ):
        assert torch.equal(mine, theirs)


def test_a_net_without_hidden_layers_arrives_at_its_target() -> None:
    """The minimum of one linear layer is the target itself."""
    shape = SHAPES["one layer"]
    net = descended(shape, target(shape), 3000, True)
    torch.testing.assert_close(net.parameters[0], target(shape), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["deep", "bias"])
def test_relu_nets_learn_the_target(name: str) -> None:
    """The gradient by hand is that of autograd, of E[1/2 |f(x) - x T|^2]."""
    shape = NetShape("relu", SHAPES[name].s, SHAPES[name].d, SHAPES[name].hidden, SHAPES[name].bias)
    x = torch.randn((CELLS, 9, shape.k), generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    x[:, :, shape.s :] = 1
    parameters = [part.requires_grad_() for part in start(shape)]
    h = x @ parameters[0]
    for place in range(1, len(parameters), 1 + shape.bias):
        h = h.relu() @ parameters[place].mT + (parameters[place + 1][:, None] if shape.bias else 0)
    loss = 0.5 * (h - x @ target(shape)).square().sum(2).mean(1)
    expected = torch.autograd.grad(loss.sum(), parameters)
    with torch.no_grad():
        net = build(shape, [part.detach() for part in parameters], target(shape))
        slopes = [torch.zeros_like(part) for part in parameters]
        net.push((x, torch.full((CELLS, 1, 1), 1 / 9, dtype=torch.float64)), slopes)
        torch.testing.assert_close(net.loss(x), loss.detach())
    for mine, theirs in zip(slopes, expected, strict=True):
        torch.testing.assert_close(mine, theirs)
