"""The training and test points that a cell draws of images of handwritten digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.images import load
from swingby_sweeps.dynamics.labels import redrawn

from .params import CLASSES, MlpParams

Array = np.ndarray


@dataclass(frozen=True)
class Points:
    """Points of a cell: inputs x (n, pixels) and targets y (n, outputs), scaled, with the digits (n,) behind them."""

    x: Array
    y: Array
    digits: Array


def drawn(cell: Cell[MlpParams]) -> tuple[Points, Points]:
    """Training and test points of a cell; test labels are true. Test points are those that are not drawn from: the
    other digits of scikit-learn, or the 10,000 test images of MNIST."""
    p = cell.params
    images = load(p.images)
    order = cell.stream("points").permutation(images.first)
    train = order[: p.points]
    whole = len(images.labels)
    test = np.arange(images.first, whole) if images.first < whole else order[p.points :]
    digits = redrawn(cell, images.labels[train], p.random_labels, CLASSES)
    return _points(p, images.pixels(train), digits), _points(p, images.pixels(test), images.labels[test])


def _points(p: MlpParams, pixels: Array, digits: Array) -> Points:
    y = np.eye(CLASSES)[digits] if p.target == "classes" else digits[:, None] / 4.5 - 1
    return Points(p.input_scale * pixels, p.target_scale * y, digits)


def accuracy(p: MlpParams, f: Array, digits: Array) -> float:
    """Share of points whose digit is the largest output, or the number that the output is nearest to."""
    predicted = f.argmax(1) if p.target == "classes" else np.rint(4.5 * (f[:, 0] / p.target_scale + 1))
    return float((predicted == digits).mean())
