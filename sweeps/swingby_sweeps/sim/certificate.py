"""What tells a finished run from a stuck one: the gradient at its end, and how fast the flow would leave that point.

Both need L to second order at the final weights. A ReLU net is, between its kinks, one linear net for each pattern of
active units, so the points enter through one moment matrix a pattern; a linear net has a single pattern.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from swingby_sweeps.sim import task
from swingby_sweeps.sim.engine import Ready, drawn
from swingby_sweeps.sim.kernels import growth, points_patterns
from swingby_sweeps.sim.kernels.points import PackedRelu
from swingby_sweeps.sim.nets import build
from swingby_sweeps.sim.params import SimParams

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
    p, certificates = ready[0].params, [Certificate()] * len(ready)
    places = np.flatnonzero(wanted).tolist()
    weights = [torch.as_tensor(part[places]) for part in parameters]
    if not places:
        return certificates
    stuck = torch.as_tensor(~learned[places])
    if p.model == "relu":
        columns = _of_relu(p, weights, [ready[place] for place in places], stuck)
    else:
        moments = torch.as_tensor(np.stack([ready[place].moments for place in places]))
        columns = _of_moments(p, weights, moments, stuck)
    for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
        certificates[place] = Certificate(**dict(zip(columns, values, strict=True)))
    return certificates


def _of_moments(
    p: SimParams, weights: Sequence[Tensor], moments: Tensor, stuck: Tensor
) -> dict[str, list[float] | list[float | None]]:
    """The columns of certificates of C nets linear in x; a growth rate for those of the mask `stuck` (C,)."""
    columns: dict[str, list[float] | list[float | None]] = {}
    columns["gradient_norm"] = moment_gradient_norms(p, weights, moments).tolist()
    # Where all have learned there is no net to ask.
    told = growth_rates(p, [part[stuck] for part in weights], [], moments[stuck][:, None]) if bool(stuck.any()) else []
    rates = iter(told)
    columns["growth_rate"] = [next(rates) if asked else None for asked in stuck.tolist()]
    if p.model == "symmetric":
        spectrum = torch.linalg.eigvalsh(weights[0] @ weights[0].mT)
        columns |= {"smallest_eigenvalue": spectrum[:, 0].tolist(), "trace": spectrum.sum(1).tolist()}
    return columns


def _of_relu(
    p: SimParams, weights: Sequence[Tensor], ready: Sequence[Ready], stuck: Tensor
) -> dict[str, list[float] | list[float | None]]:
    """The columns of certificates of C ReLU nets; a growth rate for those of the mask `stuck` (C,)."""
    x = torch.as_tensor(task.with_constant(np.stack([drawn(item) for item in ready]), p.bias))
    rates: list[float | None] = [None] * len(ready)
    asked = [] if sum(part[0].numel() for part in weights) > MOST_PARAMETERS else np.flatnonzero(stuck).tolist()
    found = [(place, *patterns(p, [part[place] for part in weights], x[place])) for place in asked]
    # Patterns that no point has fill up to the next power of 2, whatever the others have: a net's rounding is its own.
    found.sort(key=lambda one: len(one[2]))
    for most, alike in itertools.groupby(found, lambda one: 1 << (len(one[2]) - 1).bit_length()):
        places, masks, moments = zip(*alike, strict=True)
        layers = [torch.stack([_padded(mask, most) for mask in layer]) for layer in zip(*masks, strict=True)]
        own = [part[list(places)] for part in weights]
        told = growth_rates(p, own, layers, torch.stack([_padded(moment, most) for moment in moments]))
        for place, rate in zip(places, told, strict=True):
            rates[place] = rate
    return {"gradient_norm": PackedRelu(p, weights).gradient(x).norm(dim=1).tolist(), "growth_rate": rates}


def _padded(rows: Tensor, count: int) -> Tensor:
    """Rows of zeros added, up to `count`."""
    return torch.cat([rows, rows.new_zeros(count - len(rows), *rows.shape[1:])])


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
    words = np.zeros((len(x), -(-packed.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    first, moments = np.empty(len(x), np.int64), np.zeros((len(x), x.shape[1], x.shape[1]))
    count = points_patterns.group(words, x.numpy(), first, moments)
    kinds = code[torch.as_tensor(first[:count])].to(x.dtype)
    return list(kinds.split([mask.shape[1] for mask in seen], dim=1)), torch.as_tensor(moments[:count].copy())


def moment_gradient_norms(p: SimParams, parameters: Sequence[Tensor], moments: Tensor) -> Tensor:
    """||grad L|| of C nets linear in x, from moments (C, k, k): shape (C,); L in its own units (eq 2.1)."""
    slopes = [torch.zeros_like(parameter) for parameter in parameters]
    build(p, parameters).push(moments, slopes)
    return torch.cat([slope.flatten(1) for slope in slopes], dim=1).norm(dim=1)


def growth_rates(
    p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor
) -> list[float] | list[None]:
    """The largest growth rate of theta' = -grad L linearised at each of C nets, in the time of the flow of L (eq 4.1).

    It is minus the smallest eigenvalue of L's Hessian. None for nets of more than `MOST_PARAMETERS` parameters. Shapes
    as in `kernels.growth.growth_rates`.
    """
    if sum(parameter[0].numel() for parameter in parameters) > MOST_PARAMETERS:
        return [None] * len(moments)
    largest = growth.growth_rates(p, parameters, masks, moments)
    # First-layer weights that meet no informative input exist where d > s: flat directions, of eigenvalue 0.
    return (largest.clamp_min(0) if p.d > p.s and p.model != "symmetric" else largest).tolist()
