"""How far W has left the cone of positive semidefinite matrices along a run of the recurrence D.2."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray


class Cone:
    """Keeps, for each of C cells, the recorded state whose smallest eigenvalue lies lowest beside the trace.

    Whether W ever fell below some share of its trace is then told by these two numbers, whatever the share.

    Attributes:
        smallest_eigenvalue: of W at that state, shape (C,); NaN where no finite W was seen.
        trace: of the same W, shape (C,).
    """

    def __init__(self, cells: int) -> None:
        self.smallest_eigenvalue, self.trace = np.full((2, cells), np.nan)
        self._lowest = np.full(cells, np.inf)

    def look(self, W: Tensor, going: Array) -> None:
        """Take the state W, shape (C, d, d), of the cells of a mask (C,) that are still recorded."""
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
