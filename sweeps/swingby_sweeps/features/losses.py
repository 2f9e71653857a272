"""The losses of stacked nets: values, slopes, and the share of labels that are told."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .params import FeaturesParams

Array = np.ndarray


def slopes(p: FeaturesParams, f: Tensor, y: Tensor) -> Tensor:
    """The slope of a mini-batch's loss at the outputs f (B, m, C), in memory of its own.

    Args:
        y: targets; of cross entropy, one-hot.
    """
    if p.loss == "cross_entropy":
        return torch.softmax(f, -1).sub_(y).div_(f.shape[1])
    per_output = 1.0 if p.reduction == "half_sum" else 2 / f.shape[2]
    return torch.sub(f, y).mul_(per_output / f.shape[1])


def value(p: FeaturesParams, f: Array, y: Array, labels: Array) -> float:
    """The loss of one net at points: half of the sum over outputs of (f - y)^2 ([T] eq 1.11), its mean, or the cross
    entropy of softmax f; the mean over points.

    Args:
        f: outputs, (n, C), float64; they may not be finite, and then the value is not.
        y, labels: targets (n, C) and classes (n,).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if p.loss == "cross_entropy":
            top = f.max(1)
            return float((np.log(np.exp(f - top[:, None]).sum(1)) + top - f[np.arange(len(f)), labels]).mean())
        squares = (f - y) ** 2
        return float(squares.sum(1).mean() / 2 if p.reduction == "half_sum" else squares.mean())


def accuracy(p: FeaturesParams, f: Array, labels: Array) -> float:
    """Share of points whose label has the largest output, or, of a step, lies on its output's side of the middle."""
    predicted = f.argmax(1) if p.outputs > 1 else f[:, 0] > p.target_scale / 2
    return float((predicted == labels).mean())
