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
    """f(x) = W x with W iterated by D.2, which is not gradient descent: `push` adds no gradient.

    A step of size eta of `symmetric` on U takes W to (I - eta G) W (I - eta G), where G = (W-I)A + A(W-I) in the time
    of D.1, and half of this in that of D.2. The recurrence drops the term eta^2 G W G, and with it W >= 0.
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
    """Keeps, for each of C cells, the recorded W with the lowest ratio of smallest eigenvalue to trace.

    These two numbers decide, for every share of the trace, whether an eigenvalue was ever below minus that share.

    Attributes:
        smallest_eigenvalue: of that W, shape (C,); NaN where no finite W was seen.
        trace: of the same W, shape (C,).
    """

    def __init__(self, cells: int) -> None:
        self.smallest_eigenvalue, self.trace = np.full((2, cells), np.nan)
        self._lowest = np.full(cells, np.inf)

    def observe(self, W: Tensor, going: Array) -> None:
        """Compare the present W, shape (C, d, d), of the cells `going`, a mask (C,), that are still recorded."""
        finite = torch.isfinite(W).flatten(1).all(1).cpu().numpy() & going
        spectrum = np.linalg.eigvalsh(W.double().cpu().numpy()[finite])
        lowest, trace = np.full((2, len(finite)), np.nan)
        lowest[finite], trace[finite] = spectrum[:, 0], spectrum.sum(1)
        # Where the trace is not positive the ratio counts as minus infinity, or as 0 for W = 0.
        ratio = np.divide(lowest, trace, out=np.where(lowest < 0, -np.inf, 0.0), where=trace > 0)
        worse = finite & (ratio < self._lowest)
        self._lowest[worse] = ratio[worse]
        self.smallest_eigenvalue[worse], self.trace[worse] = lowest[worse], trace[worse]
