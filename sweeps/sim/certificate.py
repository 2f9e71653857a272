"""What tells a finished run from a stuck one: the gradient at its end, and how fast the flow would leave that point.

Both need L to second order at the final weights. A ReLU net is, between its kinks, one linear net for each pattern of
active units, so the points enter through one moment matrix a pattern; a linear net has a single pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sweeps.sim import task
from sweeps.sim.engine import Ready, drawn
from sweeps.sim.nets import build
from sweeps.sim.params import SimParams

Array = np.ndarray
MOST_PARAMETERS = 400
"""Nets with more trained parameters (in the informative frame) get no growth rate: it would cost more than the run."""


@dataclass(frozen=True)
class Certificate:
    """What is told of one cell's final weights; None where it does not apply or was not computed."""

    gradient_norm: float | None = None
    growth_rate: float | None = None
    smallest_eigenvalue: float | None = None
    trace: float | None = None


def certify(ready: Sequence[Ready], parameters: Sequence[Array], wanted: Array, learned: Array) -> list[Certificate]:
    """Certificates of C cells of one shape, in float64, on the whole training set.

    `parameters` are the final ones with a leading cell axis; cells outside the mask `wanted` get an empty certificate,
    and those in `learned` no growth rate.
    """
    p = ready[0].params
    norms: list[float] = []
    if p.model != "relu":
        moments = torch.as_tensor(np.stack([item.moments for item in ready]))
        norms = moment_gradient_norms(p, [torch.as_tensor(part) for part in parameters], moments).tolist()
    certificates = []
    for place, item in enumerate(ready):
        own = [part[place] for part in parameters]
        norm = norms[place] if norms else None
        certificates.append(_certificate(item, own, norm, bool(learned[place])) if wanted[place] else Certificate())
    return certificates


def _certificate(item: Ready, parameters: Sequence[Array], norm: float | None, learned: bool) -> Certificate:
    p, weights = item.params, [torch.as_tensor(part) for part in parameters]
    if p.model == "relu":
        masks, moments = patterns(p, weights, torch.as_tensor(task.with_constant(drawn(item), p.bias)))
        norm = gradient_norm(p, weights, masks, moments)
    else:
        masks, moments = [], torch.as_tensor(item.moments)[None]
    growth = None if learned else growth_rate(p, weights, masks, moments)
    if p.model != "symmetric":
        return Certificate(norm, growth)
    spectrum = np.linalg.eigvalsh(parameters[0] @ parameters[0].T)
    return Certificate(norm, growth, float(spectrum[0]), float(spectrum.sum()))


def _loss(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> Tensor:
    """L = 1/2 sum over patterns q of tr (F_q - T)^T A_q (F_q - T), for one net.

    Shapes: masks[l] (Q, width), or no masks for a linear net; moments (Q, k, k), each divided by the number of all
    points, so that they sum to A.
    """
    first, rest = parameters[0], list(parameters[1:])
    if p.model == "symmetric":
        F = (first[: p.s] @ first.T)[None]
    else:
        F, stride = first[None], 1 + p.bias
        for layer in range(len(rest) // stride):
            W = rest[layer * stride]
            F = (F * masks[layer][:, None] if masks else F) @ W.T
            if p.bias:
                F = F + rest[layer * stride + 1] * _last_row(F)
    target = first.new_zeros(moments.shape[1], p.d)
    target.diagonal()[: p.s] = 1
    error = F - target
    return 0.5 * (error * (moments @ error)).sum()


def _last_row(F: Tensor) -> Tensor:
    row = torch.zeros(F.shape[1], 1, dtype=F.dtype, device=F.device)
    row[-1] = 1
    return row


def patterns(p: SimParams, parameters: Sequence[Tensor], x: Tensor) -> tuple[list[Tensor], Tensor]:
    """The patterns of active units over points x (N, k) of one ReLU net, and each pattern's share of E[x x^T].

    Returns masks, one (Q, width) a hidden layer, and moments (Q, k, k).
    """
    stride, h, seen = 1 + p.bias, x @ parameters[0], []
    for layer in range(p.depth - 1):
        seen.append(h > 0)
        h = h.clamp_min(0) @ parameters[1 + layer * stride].T
        if p.bias:
            h = h + parameters[2 + layer * stride]
    if not seen:
        return [], (x.T @ x / len(x))[None]
    code = torch.cat(seen, dim=1)
    packed = np.packbits(code.numpy(), axis=1)
    _, first, which = np.unique(
        packed.view(np.dtype((np.void, packed.shape[1]))), return_index=True, return_inverse=True
    )
    moments = x.new_zeros(len(first), x.shape[1], x.shape[1])
    moments.index_add_(0, torch.as_tensor(which.reshape(-1)), x[:, :, None] * x[:, None, :] / len(x))
    kinds = code[torch.as_tensor(first)].to(x.dtype)
    return list(kinds.split([mask.shape[1] for mask in seen], dim=1)), moments


def _gradient(
    p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor, differentiable: bool = False
) -> tuple[Tensor, Tensor]:
    """All parameters in one vector theta, and grad L there as a function of theta."""
    shapes = [parameter.shape for parameter in parameters]
    theta = torch.cat([parameter.flatten() for parameter in parameters]).requires_grad_()
    parts = theta.split([shape.numel() for shape in shapes])
    loss = _loss(p, [part.view(shape) for part, shape in zip(parts, shapes, strict=True)], masks, moments)
    (slope,) = torch.autograd.grad(loss, theta, create_graph=differentiable)
    return theta, slope


def gradient_norm(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> float:
    """||grad L|| over all parameters of one net; L in its own units (eq 2.1), whatever a step descended."""
    with torch.enable_grad():
        return float(_gradient(p, parameters, masks, moments)[1].norm())


def moment_gradient_norms(p: SimParams, parameters: Sequence[Tensor], moments: Tensor) -> Tensor:
    """||grad L|| of C nets linear in x at once, from moments (C, k, k): shape (C,)."""
    slopes = [torch.zeros_like(parameter) for parameter in parameters]
    build(p, parameters).push(moments, slopes)
    return torch.cat([slope.flatten(1) for slope in slopes], dim=1).norm(dim=1)


def growth_rate(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> float | None:
    """The largest growth rate of theta' = -grad L linearised at `parameters`, in the time of the flow of L (eq 4.1).

    It is minus the smallest eigenvalue of L's Hessian. None for nets of more than `MOST_PARAMETERS` parameters.
    """
    if sum(parameter.numel() for parameter in parameters) > MOST_PARAMETERS:
        return None
    with torch.enable_grad():
        theta, slope = _gradient(p, parameters, masks, moments, differentiable=True)
        rows = torch.eye(len(theta), dtype=theta.dtype, device=theta.device)
        (hessian,) = torch.autograd.grad(slope, theta, rows, is_grads_batched=True)
    largest = -float(torch.linalg.eigvalsh((hessian + hessian.T) / 2)[0])
    # First-layer weights that meet no informative input exist where d > s: flat directions, of eigenvalue 0.
    return max(largest, 0.0) if p.d > p.s and p.model != "symmetric" else largest
