"""Images of handwritten digits, and the training and test points that a cell draws of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from swingby.errors import SwingbyError
from swingby.model.cell import Cell

from .params import CLASSES, MlpParams

Array = np.ndarray
VARIABLE = "SWINGBY_MNIST"
"""The environment variable with the folder of MNIST's files."""


@dataclass(frozen=True)
class Images:
    """Images of digits.

    Attributes:
        pixels: (n, pixels), float64, in [0, 1].
        digits: what each shows, (n,), 0 to 9.
        first: how many of them training points are drawn from: the first ones, or all.
    """

    pixels: Array
    digits: Array
    first: int


@dataclass(frozen=True)
class Points:
    """Points of a cell: inputs x (n, pixels) and targets y (n, outputs), scaled, with the digits (n,) behind them."""

    x: Array
    y: Array
    digits: Array


@cache
def load(images: str) -> Images:
    """All images of one name, `digits` or `mnist`.

    Raises:
        SwingbyError: MNIST cannot be read; says how to have it.
    """
    if images == "digits":
        from sklearn.datasets import load_digits

        bunch: Any = load_digits()
        return Images(bunch.data / 16, bunch.target, len(bunch.data))
    return _mnist(Path(os.environ.get(VARIABLE, "~/.cache/mnist")).expanduser())


def _mnist(folder: Path) -> Images:
    try:
        from torchvision.datasets import MNIST  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        message = "images: mnist needs torchvision, which is not installed here: pip install torchvision; "
        raise SwingbyError(f"{message}or images: digits, which need no files") from error
    try:
        parts: list[Any] = [MNIST(folder, train=train, download=False) for train in (True, False)]
    except RuntimeError as error:
        fetch = f"torchvision.datasets.MNIST({str(folder)!r}, download=True)"
        message = f"images: mnist, but its files are not in {folder}: run {fetch} in Python once, or set {VARIABLE} to "
        raise SwingbyError(f"{message}the folder that has them") from error
    pixels = np.concatenate([part.data.numpy().reshape(len(part.data), -1) for part in parts]) / 255
    return Images(pixels, np.concatenate([part.targets.numpy() for part in parts]), len(parts[0].data))


def drawn(cell: Cell) -> tuple[Points, Points]:
    """Training and test points of a cell; test labels are true. Test points are those that are not drawn from: the
    other digits of scikit-learn, or the 10,000 test images of MNIST."""
    p = cell.params
    assert isinstance(p, MlpParams)
    images = load(p.images)
    order = cell.stream("points").permutation(images.first)
    train = order[: p.points]
    whole = len(images.pixels)
    test = np.arange(images.first, whole) if images.first < whole else order[p.points :]
    # Drawn for all points, in a random order, so that a larger share changes further labels and no other.
    labels = cell.stream("labels")
    changed, others = labels.permutation(p.points), labels.integers(CLASSES, size=p.points)
    digits = images.digits[train].copy()
    changed = changed[: round(p.random_labels * p.points)]
    digits[changed] = others[changed]
    return _points(p, images.pixels[train], digits), _points(p, images.pixels[test], images.digits[test])


def _points(p: MlpParams, pixels: Array, digits: Array) -> Points:
    y = np.eye(CLASSES)[digits] if p.target == "classes" else digits[:, None] / 4.5 - 1
    return Points(p.input_scale * pixels, p.target_scale * y, digits)


def accuracy(p: MlpParams, f: Array, digits: Array) -> float:
    """Share of points whose digit is the largest output, or the number that the output is nearest to."""
    told = f.argmax(1) if p.target == "classes" else np.rint(4.5 * (f[:, 0] / p.target_scale + 1))
    return float((told == digits).mean())
