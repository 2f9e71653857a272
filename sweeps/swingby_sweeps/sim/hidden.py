"""Metrics of the last hidden layer of SIM nets, by `dynamics.metrics`, on points that no training sees.

The targets are the points themselves: numbers, and no classes. So there is no neural collapse here, and the mean over
the outputs stays in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.metrics import measures
from swingby_sweeps.dynamics.nets import Net

from . import task
from .recurrence import Recurrence

Array = np.ndarray
NAMES = ("kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "modes", "output_variance")


class Hidden:
    """The metrics of C cells along their runs.

    Args:
        cells: of one shape.
        like: a tensor of the nets' device and arithmetic.
        bias: whether inputs have a last coordinate of 1.
    """

    def __init__(self, cells: Sequence[Cell], like: Tensor, bias: bool) -> None:
        self._points = np.stack([task.evaluation_points(cell) for cell in cells])
        self._x = torch.as_tensor(task.with_constant(self._points, bias)).to(like.device, like.dtype)

    def __call__(self, net: Net, going: Array) -> dict[str, Array]:
        """Each metric, (C,), of the cells of a mask; nan where there is none."""
        curves = {name: np.full(len(going), np.nan) for name in NAMES}
        hidden = last_hidden(net, self._x)
        if hidden is None:
            return curves
        phi, f = (part.double().cpu().numpy() for part in (hidden, net.outputs(self._x)))
        targets = np.pad(self._points, [(0, 0), (0, 0), (0, f.shape[2] - self._points.shape[2])])
        finite = np.flatnonzero(going & np.isfinite(phi).all((1, 2)) & np.isfinite(f).all((1, 2)))
        if len(finite) == 0:
            return curves
        metrics_of = measures(phi[finite], f[finite], targets[finite], spectrum=False, collapse=False)
        for at, metrics in zip(finite, metrics_of, strict=True):
            for name, value in metrics.numbers().items():
                if name in curves and value is not None:
                    curves[name][at] = value
        return curves


def last_hidden(net: Net, x: Tensor) -> Tensor | None:
    """What the last layer reads at points x (C, m, k), as shape (C, m, width); None: the net has no hidden layer.

    In the symmetric model, f(x) = U U^T x, it is U^T x.
    """
    if isinstance(net, Recurrence) or not net.shape.hidden:
        return None
    first, *rest = net.parameters
    if net.shape.symmetric:
        return torch.bmm(x, first[:, : net.shape.s])
    stride = 1 + net.shape.bias
    h = torch.bmm(x, first)
    for at in range(0, len(rest) - stride, stride):
        h = torch.bmm(h.relu() if net.shape.kind == "relu" else h, rest[at].mT)
        h = h + rest[at + 1][:, None] if net.shape.bias else h
    return h.relu() if net.shape.kind == "relu" else h
