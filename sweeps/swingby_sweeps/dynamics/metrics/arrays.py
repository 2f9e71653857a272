"""Arrays of a user, checked: features, outputs and labels of the points of a sample."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from swingby.function.values import as_array

LEAST = 1e-6
"""A singular value below this share of the largest is what float32 leaves of nothing, and no dimension."""
ENOUGH = 4
"""Points a feature from which dimensions are not mistaken by more than a tenth or so."""


class FeaturesWarning(UserWarning):
    """A sample has so few points beside its features that its numbers are biased."""


def numbers(value: Any, name: str, dims: tuple[int, ...], shape: str) -> np.ndarray:
    """An array of finite numbers in float64 with a number of dimensions out of `dims`; `shape` says them in words.

    Raises:
        ValueError: it has another shape, holds no numbers, or holds some that are not finite.
    """
    array = as_array(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {array.dtype}; allowed: real numbers")
    if array.ndim not in dims or 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}; allowed: {shape}, and nothing empty")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise ValueError(f"{name} has {count} of {array.size} entries that are not finite")
    return array


def sample(phi: Any, outputs: Any, stacked: bool) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, p) and outputs (n, C) of the same points; with a cell axis in front if `stacked`.

    Outputs of shape (n,) are one output.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or predicted classes in place of outputs.
    """
    front, dims = ("cells, ", 3) if stacked else ("", 2)
    phi, raw = numbers(phi, "phi", (dims,), f"({front}points, features)"), as_array(outputs)
    if raw.ndim == dims - 1 and raw.dtype.kind in "iu":
        raise ValueError(f"outputs holds one whole number a point ({raw.dtype}); allowed: what the last layer gives")
    outputs = numbers(outputs, "outputs", (dims - 1, dims), f"({front}points, classes)")
    if outputs.ndim < dims:
        outputs = outputs[..., None]
    if phi.shape[:-1] != outputs.shape[:-1]:
        raise ValueError(f"phi has shape {phi.shape} and outputs {outputs.shape}; the points of both have to be equal")
    return phi, outputs


def exponent(array: np.ndarray) -> np.ndarray:
    """The exponent of the power of two next to the largest entry of arrays (..., n, k), (..., 1, 1); 0 of zeros."""
    return np.frexp(np.abs(array).max((-2, -1), keepdims=True))[1]


def of_size_one(array: np.ndarray) -> np.ndarray:
    """Arrays (..., n, k), each over the power of two next to its largest entry, which rounds nothing: products of its
    entries neither vanish nor overflow. What is 0 throughout stays so."""
    return np.ldexp(array, -exponent(array))


def classes_of(labels: Any, shape: tuple[int, ...], classes: int) -> np.ndarray:
    """Labels as whole numbers 0 to classes - 1, of a shape.

    Raises:
        ValueError: another shape, fractions, or a label that is no class.
    """
    values = numbers(labels, "labels", (len(shape),), f"{shape}, the number of a class for each point")
    if values.shape != shape:
        raise ValueError(f"labels has shape {values.shape}; allowed: {shape}, the number of a class for each point")
    whole = values.astype(np.int64)
    wrong = values[(whole != values) | (whole < 0) | (whole >= classes)]
    if wrong.size:
        raise ValueError(f"labels has {wrong[0]:g}; allowed: whole numbers from 0 to {classes - 1}, one for each class")
    return whole


def one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    """1 at each point's class and 0 elsewhere, (..., n, classes)."""
    return (labels[..., None] == np.arange(classes)).astype(np.float64)


def no_points(labels: np.ndarray, classes: int) -> str | None:
    """What is missing for every class to have a point, in words; None: nothing.

    Args:
        labels: classes of the points of one sample, (n,).
    """
    if len(labels) < classes:
        return f"there are {len(labels)} points for {classes} classes; each class needs at least one"
    empty = np.flatnonzero(np.bincount(labels, minlength=classes) == 0)
    return f"class {empty[0]} of {classes} has no point" if empty.size else None


def warn_if_few(points: int, features: int) -> bool:
    """Warns where a sample has fewer than `ENOUGH` points a feature; whether it did."""
    few = points < ENOUGH * features
    if few:
        text = (
            f"{points} points for {features} features: below {ENOUGH} points a feature, effective dimensions of "
            f"intensities read too small, those of the quality too large, and kappa a little too large"
        )
        warnings.warn(text, FeaturesWarning, stacklevel=3)
    return few
