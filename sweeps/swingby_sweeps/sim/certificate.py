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

from swingby_sweeps.dynamics.kernels.patterns import patterns
from swingby_sweeps.dynamics.kernels.points import PackedRelu
from swingby_sweeps.dynamics.second_order import MOST_PARAMETERS, gradient_norms, growth_rates

from . import task
from .engine import Ready, drawn
from .params import SimParams

Array = np.ndarray


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
) -> dict[str, list[float | None]]:
    """The columns of certificates of C nets linear in x; a growth rate for those of the mask `stuck` (C,)."""
    columns: dict[str, list[float | None]] = {}
    columns["gradient_norm"] = gradient_norms(p.net_shape, weights, moments).tolist()
    # Where all have learned there is no net to ask.
    told = _growth_rates(p, [part[stuck] for part in weights], [], moments[stuck][:, None]) if bool(stuck.any()) else []
    rates = iter(told)
    columns["growth_rate"] = [next(rates) if asked else None for asked in stuck.tolist()]
    if p.model == "symmetric":
        spectrum = torch.linalg.eigvalsh(weights[0] @ weights[0].mT)
        columns |= {"smallest_eigenvalue": spectrum[:, 0].tolist(), "trace": spectrum.sum(1).tolist()}
    return columns


def _of_relu(
    p: SimParams, weights: Sequence[Tensor], ready: Sequence[Ready], stuck: Tensor
) -> dict[str, list[float | None]]:
    """The columns of certificates of C ReLU nets; a growth rate for those of the mask `stuck` (C,)."""
    x = torch.as_tensor(task.with_constant(np.stack([drawn(item) for item in ready]), p.bias))
    rates: list[float | None] = [None] * len(ready)
    asked = [] if sum(part[0].numel() for part in weights) > MOST_PARAMETERS else np.flatnonzero(stuck).tolist()
    found = [(place, *patterns(p.net_shape, [part[place] for part in weights], x[place])) for place in asked]
    # Patterns that no point has fill up to the next power of 2, whatever the others have: a net's rounding is its own.
    found.sort(key=lambda one: len(one[2]))
    for most, alike in itertools.groupby(found, lambda one: 1 << (len(one[2]) - 1).bit_length()):
        places, masks, moments = zip(*alike, strict=True)
        layers = [torch.stack([_padded(mask, most) for mask in layer]) for layer in zip(*masks, strict=True)]
        own = [part[list(places)] for part in weights]
        told = _growth_rates(p, own, layers, torch.stack([_padded(moment, most) for moment in moments]))
        for place, rate in zip(places, told, strict=True):
            rates[place] = rate
    return {"gradient_norm": PackedRelu(p.net_shape, weights).gradient(x).norm(dim=1).tolist(), "growth_rate": rates}


def _padded(rows: Tensor, count: int) -> Tensor:
    """Rows of zeros added, up to `count`."""
    return torch.cat([rows, rows.new_zeros(count - len(rows), *rows.shape[1:])])


def _growth_rates(
    p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor
) -> list[float | None]:
    rates = growth_rates(p.net_shape, parameters, masks, moments)
    # First-layer weights that meet no informative input exist where d > s: flat directions, of eigenvalue 0.
    flat = p.d > p.s and p.model != "symmetric"
    return [rate if rate is None else max(rate, 0.0) for rate in rates] if flat else rates
