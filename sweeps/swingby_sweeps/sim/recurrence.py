"""The recurrence D.2 on W, and how far W leaves the cone of positive semidefinite matrices along a run of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from swingby_sweeps.dynamics.nets import MomentNet, StepData
from swingby_sweeps.dynamics.shapes import NetShape

Array = np.ndarray


class Recurrence(MomentNet):
    """f(x) = W x with W iterated by D.2; no gradient descent, and `push` adds no gradient.

    A step of size eta of `symmetric` on U takes W to (I - eta G) W (I - eta G), G = (W-I)A + A(W-I) in the time of
    D.1 and half of it in that of D.2. The recurrence drops the eta^2 G W G of it, and with it W >= 0.
    """

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor]) -> None:
        super().__init__(shape, parameters)
        self._minus_target = self.minus_target()

    def affine(self) -> Tensor:
        return self.parameters[0][:, : self.s]

    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        """Add W G + G W, times the scale that data carries: D.1 where that is minus the step, D.2 at minus half."""
        assert isinstance(data, Tensor)
        W = self.parameters[0]
        D = torch.bmm(data, self.affine() + self._minus_target)
        G = torch.nn.functional.pad(D, (0, 0, 0, self.d - self.s))
        product = torch.bmm(W, G + G.mT)
        # One product and its transpose, so that W stays symmetric to the last bit.
        into[0].add_(product + product.mT)


class PsdCone:
    """Keeps, for each of C cells, the recorded state whose smallest eigenvalue lies lowest beside the trace.

    These two numbers say whether W ever fell below some share of its trace, whatever the share.

    Attributes:
        smallest_eigenvalue: of W at that state, shape (C,); NaN where no finite W was seen.
        trace: of the same W, shape (C,).
    """

    def __init__(self, cells: int) -> None:
        self.smallest_eigenvalue, self.trace = np.full((2, cells), np.nan)
        self._lowest = np.full(cells, np.inf)

    def observe(self, W: Tensor, going: Array) -> None:
        """Compare the state W, shape (C, d, d), of the cells of a mask (C,) that are still recorded."""
        finite = torch.isfinite(W).flatten(1).all(1).cpu().numpy() & going
        spectrum = np.linalg.eigvalsh(W.double().cpu().numpy()[finite])
        lowest, trace = np.full((2, len(finite)), np.nan)
        lowest[finite], trace[finite] = spectrum[:, 0], spectrum.sum(1)
        worse = finite & (_share(lowest, trace) < self._lowest)
        self._lowest[worse] = _share(lowest, trace)[worse]
        self.smallest_eigenvalue[worse], self.trace[worse] = lowest[worse], trace[worse]


def _share(lowest: Array, trace: Array) -> Array:
    """Smallest eigenvalue over trace; where the trace is not positive, minus infinity, or 0 for W = 0."""
    outside = np.where(lowest < 0, -np.inf, 0.0)
    return np.divide(lowest, trace, out=outside, where=trace > 0)
