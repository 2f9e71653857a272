"""Images with labels: handwritten digits of scikit-learn, and the sets of torchvision where their files are there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from swingby.errors import SwingbyError

Array = np.ndarray
Name = Literal["digits", "mnist", "cifar10", "cifar100"]
CLASSES = {"mnist": "MNIST", "cifar10": "CIFAR10", "cifar100": "CIFAR100"}
"""The names of torchvision's classes."""


@dataclass(frozen=True)
class Images:
    """Images with labels.

    Attributes:
        values: (n, channels * side * side), channel by channel, as they are stored.
        most: the largest value that they can have.
        labels: what each shows, (n,), from 0 on.
        first: how many of them training points are drawn from: the first ones, or all.
    """

    values: Array
    most: int
    labels: Array
    first: int

    def pixels(self, which: Array | slice = slice(None)) -> Array:
        """Some images as float64 in [0, 1]."""
        return self.values[which] / self.most


def variable(name: str) -> str:
    """The environment variable with the folder of the files of a set of torchvision."""
    return f"SWINGBY_{name.upper()}"


@cache
def load(name: Name) -> Images:
    """All images of one name.

    Raises:
        SwingbyError: the package that has them is not installed, or their files are not there; says how to have them.
    """
    if name == "digits":
        try:
            from sklearn.datasets import load_digits
        except ImportError as error:
            message = f"digits are images of scikit-learn, which cannot be imported here ({error}): pip install "
            raise SwingbyError(f"{message}'swingby[digits]'") from error

        bunch: Any = load_digits()
        return Images(bunch.data, 16, bunch.target, len(bunch.data))
    return _torchvision(name, Path(os.environ.get(variable(name), f"~/.cache/{name}")).expanduser())


def _torchvision(name: str, folder: Path) -> Images:
    try:
        import torchvision.datasets as datasets  # pyright: ignore[reportMissingImports]  an extra
    except (ImportError, RuntimeError) as error:  # built for another torch, it raises RuntimeError
        message = f"{name} is a set of torchvision, which cannot be imported here ({error}): pip install "
        message += "'swingby[vision]', with a torchvision of the build of torch; or take digits, which need no files"
        raise SwingbyError(message) from error
    try:
        parts: list[Any] = [getattr(datasets, CLASSES[name])(folder, train=train, download=False) for train in (1, 0)]
    except RuntimeError as error:
        fetch = f"torchvision.datasets.{CLASSES[name]}({str(folder)!r}, download=True)"
        message = f"the files of {name} are not in {folder}: run {fetch} in Python once, or set "
        raise SwingbyError(f"{message}{variable(name)} to the folder that has them") from error
    values = np.concatenate([np.asarray(part.data) for part in parts])
    if values.ndim == 4:  # (n, side, side, channels)
        values = values.transpose(0, 3, 1, 2)
    labels = np.concatenate([np.asarray(part.targets) for part in parts])
    return Images(values.reshape(len(values), -1), 255, labels, len(parts[0].data))
