"""Certificates that tell a finished run from a stuck one: the gradient at its end, and the flow's growth rate there.

Both need L to second order at the final weights. Between its kinks a ReLU net is one linear net for each pattern of
active units, so points enter through one moment matrix for each pattern; a linear net has a single pattern.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from swingby_sweeps.dynamics.kernels import LANES
from swingby_sweeps.dynamics.kernels.patterns import patterns
from swingby_sweeps.dynamics.kernels.points import PackedRelu
from swingby_sweeps.dynamics.parts import in_parts
from swingby_sweeps.dynamics.second_order import MOST_PARAMETERS, gradient_norms, growth_rates

from . import task
from .engine import Ready, drawn
from .params import SimParams

Array = np.ndarray


@dataclass(frozen=True)
class Certificate:
    """Numbers about one cell's final weights; None for those that do not apply or were not computed."""

    gradient_norm: float | None = None
    growth_rate: float | None = None
    smallest_eigenvalue: float | None = None
    trace: float | None = None


def certify(ready: Sequence[Ready], parameters: Sequence[Array], selected: Array, learned: Array) -> list[Certificate]:
    """Certificates of C cells of one shape, in float64, on the whole training set.

    `parameters` are the final ones, with a leading cell axis. Cells outside the mask `selected` get an empty
    certificate, and those in the mask `learned` no growth rate.
    """
    p, certificates = ready[0].params, [Certificate()] * len(ready)
    places = np.flatnonzero(selected).tolist()
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
    rates: list[float | None] = [None] * len(moments)
    places = np.flatnonzero(stuck).tolist()
    if places:
        stuck_rates = _growth_rates(p, [part[places] for part in weights], [], moments[places][:, None])
        for place, rate in zip(places, stuck_rates, strict=True):
            rates[place] = rate
    columns["growth_rate"] = rates
    if p.model == "symmetric":
        spectrum = torch.linalg.eigvalsh(weights[0] @ weights[0].mT)
        columns |= {"smallest_eigenvalue": spectrum[:, 0].tolist(), "trace": spectrum.sum(1).tolist()}
    return columns


def _of_relu(
    p: SimParams, weights: Sequence[Tensor], ready: Sequence[Ready], stuck: Tensor
) -> dict[str, list[float | None]]:
    """The columns of certificates of C ReLU nets; a growth rate for those of the mask `stuck` (C,)."""
    too_large = sum(part[0].numel() for part in weights) > MOST_PARAMETERS
    rates: list[float | None] = [None] * len(ready)
    norms: list[float | None] = [None] * len(ready)
    of_patterns: list[tuple[int, list[Tensor], Tensor] | None] = [None] * len(ready)

    def compute(cells: slice) -> None:
        # As many nets at a time as lie side by side, so that their points stay in the cache.
        for start in range(cells.start, cells.stop, LANES):
            x = torch.as_tensor(
                task.with_constant(np.stack([drawn(item) for item in ready[start : start + LANES]]), p.bias)
            )
            some = [part[start : start + LANES] for part in weights]
            norms[start : start + LANES] = PackedRelu(p.net_shape, some).gradient(x).norm(dim=1).tolist()
            for place in [] if too_large else np.flatnonzero(stuck[start : start + LANES]).tolist():
                masks = patterns(p.net_shape, [part[place] for part in some], x[place])
                of_patterns[start + place] = (start + place, *masks)

    in_parts(compute, len(ready), LANES)
    nets = [net for net in of_patterns if net is not None]
    # Nets are padded with empty patterns up to the next power of 2, and not to the largest number among them: so a
    # net's rounding does not depend on its company.
    nets.sort(key=lambda net: len(net[2]))
    for count, group in itertools.groupby(nets, lambda net: 1 << (len(net[2]) - 1).bit_length()):
        places, masks, moments = zip(*group, strict=True)
        layers = [torch.stack([_padded(mask, count) for mask in layer]) for layer in zip(*masks, strict=True)]
        members = [part[list(places)] for part in weights]
        group_rates = _growth_rates(p, members, layers, torch.stack([_padded(moment, count) for moment in moments]))
        for place, rate in zip(places, group_rates, strict=True):
            rates[place] = rate
    return {"gradient_norm": norms, "growth_rate": rates}


def _padded(rows: Tensor, count: int) -> Tensor:
    """The rows, with rows of zeros added up to `count`."""
    return torch.cat([rows, rows.new_zeros(count - len(rows), *rows.shape[1:])])


def _growth_rates(
    p: SimParams, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor
) -> list[float | None]:
    """Growth rates of nets of one shape; `masks`, `moments`: for each of their patterns."""
    rates = growth_rates(p.net_shape, parameters, masks, moments)
    # Where d > s, first-layer weights that meet no informative input are flat directions, of eigenvalue 0.
    flat = p.d > p.s and p.model != "symmetric"
    return [rate if rate is None else max(rate, 0.0) for rate in rates] if flat else rates
