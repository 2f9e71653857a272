"""What tells a finished run from a stuck one: the gradient at its end, and how fast the flow leaves the point it ended at.

Both need L to second order at the final weights. A ReLU net is, between its kinks, one linear net for each pattern of active
units, so the points enter through one moment matrix a pattern; a linear net has a single pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from sweeps.sim.params import SimParams

_FlatLoss = Callable[[Tensor], Tensor]
MOST_PARAMETERS = 400
"""Nets with more trained parameters (in the informative frame) get no growth rate: the Hessian would cost more than the run."""


def _loss(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> Tensor:
    """L = 1/2 sum over patterns q of tr (F_q - T)^T A_q (F_q - T), for one net.

    Shapes: masks[l] (Q, width), or no masks for a linear net; moments (Q, k, k), each over all points of the set, so that they sum to A.
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
    target = torch.zeros(moments.shape[1], p.d, dtype=first.dtype, device=first.device)
    target[: p.s, : p.s] = torch.eye(p.s)
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


def _flat_loss(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> _FlatLoss:
    """L as a function of all parameters in one vector."""
    shapes = [parameter.shape for parameter in parameters]

    def loss(theta: Tensor) -> Tensor:
        parts = theta.split([shape.numel() for shape in shapes])
        return _loss(p, [part.view(shape) for part, shape in zip(parts, shapes, strict=True)], masks, moments)

    return loss


def growth_rate(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> float | None:
    """The largest growth rate of theta' = -grad L linearised at `parameters`: minus the smallest eigenvalue of L's Hessian.

    In the time of the flow of L (eq 4.1). None for nets of more than `MOST_PARAMETERS` parameters.
    """
    theta = torch.cat([parameter.flatten() for parameter in parameters])
    if len(theta) > MOST_PARAMETERS:
        return None
    hessian = cast(Tensor, torch.func.hessian(_flat_loss(p, parameters, masks, moments))(theta))
    smallest = float(torch.linalg.eigvalsh((hessian + hessian.T) / 2)[0])
    # First-layer weights that meet no informative input exist where d > s: flat directions, of eigenvalue 0.
    return -min(smallest, 0.0) if p.d > p.s and p.model != "symmetric" else -smallest


def gradient_norm(p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> float:
    """||grad L|| over all parameters of one net; L in its own units (eq 2.1), whatever a step descended."""
    theta = torch.cat([parameter.flatten() for parameter in parameters])
    return float(torch.func.grad(_flat_loss(p, parameters, masks, moments))(theta).norm())
