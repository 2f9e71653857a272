"""The closed forms of gradient and Hessian are those of L: automatic differentiation is the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.kernels.patterns import patterns
from swingby_sweeps.sim import certificate, task
from swingby_sweeps.sim.engine import Ready, drawn
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start
from swingby_sweeps.sim.params import SimParams
from tests.support.profiles import examples

Array = np.ndarray


def loss(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> Tensor:
    """L = 1/2 sum over patterns q of tr (F_q - T)^T A_q (F_q - T), for one net."""
    first, rest = parameters[0], list(parameters[1:])
    if p.model == "symmetric":
        F = (first[: p.s] @ first.T)[None]
    else:
        F, stride = first[None], 1 + p.bias
        constant = torch.eye(p.s + p.bias, dtype=first.dtype)[:, -1:]
        for layer in range(len(rest) // stride):
            F = (F * masks[layer][:, None] if masks else F) @ rest[layer * stride].T
            if p.bias:
                F = F + rest[layer * stride + 1] * constant
    target = first.new_zeros(moments.shape[1], p.d)
    target.diagonal()[: p.s] = 1
    error = F - target
    return 0.5 * (error * (moments @ error)).sum()


def differentiated(
    p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor
) -> tuple[float, float]:
    """The norm of the gradient of L over all parameters, and minus the smallest eigenvalue of its Hessian."""
    shapes = [parameter.shape for parameter in parameters]
    theta = torch.cat([parameter.flatten() for parameter in parameters]).requires_grad_()

    def of(theta: Tensor) -> Tensor:
        parts = theta.split([shape.numel() for shape in shapes])
        return loss(p, [part.view(shape) for part, shape in zip(parts, shapes, strict=True)], masks, moments)

    slope, hessian = torch.autograd.functional.jacobian(of, theta), torch.autograd.functional.hessian(of, theta)
    assert isinstance(slope, Tensor)
    assert isinstance(hessian, Tensor)
    return float(slope.norm()), -float(torch.linalg.eigvalsh(hessian)[0])


def started(cells: Sequence[Cell], scale: float) -> tuple[list[Ready], list[Array]]:
    """Cells with their draws, and initial parameters stretched by `scale`, in place of trained ones."""
    parts = zip(*(Start.of(item).parameters for item in cells), strict=True)
    return [Ready(item) for item in cells], [scale * np.stack(part) for part in parts]


def check(values: dict[str, Any], scale: float = 1.0, count: int = 3) -> None:
    """Certificates of a batch of cells against automatic differentiation, each to 1e-9 of the largest of its kind."""
    base = {"n": 12, "dtype": "float64", "init": "normal", "drive": "sgd"}
    ready, parameters = started(list(Sim.point("paper", **{**base, **values}).cells(range(count))), scale)
    every, none = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    found = certificate.certify(ready, parameters, every, none)
    for place, (item, told) in enumerate(zip(ready, found, strict=True)):
        p, own = item.params, [torch.as_tensor(part[place]) for part in parameters]
        masks, moments = [], torch.as_tensor(item.moments)[None]
        if p.model == "relu":
            x = torch.as_tensor(task.with_constant(drawn(item), p.bias))
            masks, moments = patterns(p.net_shape, own, x)
        norm, rate = differentiated(p, own, masks, moments)
        if p.d > p.s and p.model != "symmetric":
            rate = max(rate, 0.0)
        assert told.gradient_norm == pytest.approx(norm, rel=1e-9)
        assert told.growth_rate == pytest.approx(rate, rel=1e-9, abs=1e-9 * norm)


shapes = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["linear", "relu", "symmetric", "one_layer"]),
        "s": st.integers(1, 3),
        "extra": st.sampled_from([0, 1, 2, 9]),
        "layers": st.integers(1, 4),
        "width": st.sampled_from([1, 2, 3, 5, 8]),
        "bias": st.booleans(),
    }
)


@settings(max_examples=examples(50, 25))
@given(shapes, st.sampled_from([0.1, 1.0, 3.0]))
def test_certificates_are_those_of_automatic_differentiation(values: dict[str, Any], scale: float) -> None:
    """At random weights, small and large, of nets narrower and wider than they can use, with more outputs too."""
    model, s = values["model"], values["s"]
    values |= {"d": s + values.pop("extra"), "layers": values["layers"] if model in ("linear", "relu") else 1}
    values |= {"bias": values["bias"] and model != "symmetric"}
    check(values, scale)


@pytest.mark.parametrize(
    "values",
    [
        {"d": 2, "width": 64},
        {"d": 2, "width": 40, "bias": True},
        {"d": 60, "width": 2, "bias": True},
        {"model": "symmetric", "d": 3, "width": 30},
        {"model": "symmetric", "d": 30, "width": 2},
        {"model": "one_layer", "d": 64},
        {"model": "relu", "d": 2, "width": 64},
        {"d": 3, "layers": 3, "width": 12},
    ],
    ids=str,
)
def test_nets_far_from_square_keep_their_spectrum(values: dict[str, Any]) -> None:
    """Hidden units and outputs that can be rotated away are, and the smallest eigenvalue stays what it was."""
    check(values, scale=0.5, count=2)


def test_only_what_is_asked_is_told() -> None:
    """Cells that are not wanted get nothing, learned ones no growth rate; company and order change no number."""
    cells = list(Sim.point("paper", d=3, width=4, n=10).cells(range(6)))
    ready, parameters = started(cells, 1.0)
    parameters[0][1] = np.nan
    wanted, learned = np.arange(6) != 1, np.arange(6) == 3
    found = certificate.certify(ready, parameters, wanted, learned)
    assert found[1] == certificate.Certificate()
    assert [told.growth_rate is None for told in found] == [False, True, False, True, False, False]
    for place in (0, 5):
        (alone,) = certificate.certify(
            [ready[place]], [part[place : place + 1] for part in parameters], np.ones(1, bool), np.zeros(1, bool)
        )
        assert alone.gradient_norm == pytest.approx(found[place].gradient_norm, rel=1e-12)
        assert alone.growth_rate == pytest.approx(found[place].growth_rate, rel=1e-12)


def test_nets_of_more_than_400_parameters_get_no_growth_rate() -> None:
    """Over all trained parameters, whatever rotations would leave of them."""
    for width, told in ((100, True), (101, False)):
        ready, parameters = started([Sim.point("paper", d=2, width=width, n=10).cell(0)], 1.0)
        (found,) = certificate.certify(ready, parameters, np.ones(1, bool), np.zeros(1, bool))
        assert (found.growth_rate is not None) == told
        assert found.gradient_norm is not None
