"""The training and test points that a cell draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby_sweeps.dynamics.images import Name, load
from swingby_sweeps.dynamics.labels import redrawn

from .params import SIDES, FeaturesParams

Array = np.ndarray
SERIES = 8000
"""Points of mnist1d that are made."""


@dataclass(frozen=True)
class Points:
    """Points of a cell.

    Attributes:
        x: inputs, (n, inputs), float64; in units of the training points' mean and standard deviation, but for a step.
        labels: the class of each, (n,); of training points as trained on.
        y: targets, (n, outputs): scaled one-hot vectors, or scaled numbers of a step.
    """

    x: Array
    labels: Array
    y: Array


def drawn(cell: Cell[FeaturesParams]) -> tuple[Points, Points]:
    """Training and test points of a cell; test labels are true.

    Of a seed's pool the first `n` are trained on, as many of each class as there are: more points are the fewer ones
    and others. The test points are the same for every n.

    Raises:
        SwingbyError: the data cannot be had, or a class that is kept has too few points.
    """
    p = cell.params
    if p.data == "step":
        grids = np.linspace(-1, 1, p.n), (np.arange(p.test_points) + 0.5) * 2 / p.test_points - 1
        train, test = (Points(x[:, None], labels := (x > 0).astype(np.int64), _target(p, labels)) for x in grids)
        return train, test
    x, labels, test_x, test_labels = _mixture(cell, p) if p.data == "mixture" else _pooled(cell, p)
    mean, sd = x.mean(), x.std()
    labels = redrawn(cell, labels, p.label_noise, p.labels)
    train = Points((x - mean) / sd, labels, _target(p, labels))
    return train, Points((test_x - mean) / sd, test_labels, _target(p, test_labels))


def _target(p: FeaturesParams, labels: Array) -> Array:
    scale = p.target_scale if p.loss == "mse" else 1.0
    return scale * (labels[:, None].astype(float) if p.data == "step" else np.eye(p.outputs)[labels])


def _mixture(cell: Cell, p: FeaturesParams) -> tuple[Array, Array, Array, Array]:
    """Inputs and labels of Gaussian classes: for training, and for the test."""
    draws = cell.stream("means").normal(size=(p.labels, p.dims))
    means = p.separation * draws / np.linalg.norm(draws, axis=1, keepdims=True)
    parts = []
    for name, size in (("points", p.n), ("test", p.test_points)):
        labels = np.arange(size) % p.labels
        parts += [means[labels] + cell.stream(name).normal(size=(size, p.dims)), labels]
    return parts[0], parts[1], parts[2], parts[3]


def _pooled(cell: Cell, p: FeaturesParams) -> tuple[Array, Array, Array, Array]:
    """Inputs and labels out of a set of data: for training, and for the test."""
    if p.data == "mnist1d":
        values, labels = series()
        scale, first = 1, SERIES
    else:
        images = load(cast(Name, p.data))
        values, labels, scale, first = images.values, images.labels, images.most, images.first
    kept = np.flatnonzero(labels < p.labels)
    training, rest = kept[kept < first], kept[kept >= first]
    order = training[cell.stream("points").permutation(len(training))]
    test, pool = (rest, order) if len(rest) else (order[: p.test_points], order[p.test_points :])
    if len(pool) < p.n:
        raise SwingbyError(f"n = {p.n}, but data: {p.data} have {len(pool)} training points of {p.labels} classes")
    train = pool[_by_turns(labels[pool])][: p.n]
    return (
        _padded(p, values[train] / scale),
        labels[train].astype(np.int64),
        _padded(p, values[test] / scale),
        labels[test].astype(np.int64),
    )


def _by_turns(labels: Array) -> Array:
    """An order in which first one point of each class comes, then another of each, and so on."""
    turn = np.zeros(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = labels == label
        turn[members] = np.arange(members.sum())
    return np.lexsort((labels, turn))


def _padded(p: FeaturesParams, x: Array) -> Array:
    """Images with background around them, where they are smaller than they are taken."""
    side = SIDES.get(p.data)
    width = round((x.shape[1] * 1.0) ** 0.5)
    if side is None or width**2 != x.shape[1] or width == side:
        return x
    edge = (side - width) // 2
    return np.pad(x.reshape(-1, width, width), ((0, 0), (edge, edge), (edge, edge))).reshape(len(x), -1)


@cache
def series() -> tuple[Array, Array]:
    """The 8,000 points of mnist1d: inputs (8000, 40) and labels (8000,); made in seconds, once a process.

    Raises:
        SwingbyError: the package mnist1d is not installed.
    """
    try:
        import mnist1d.data as source  # pyright: ignore[reportMissingImports]  an extra
    except ImportError as error:
        message = f"data: mnist1d needs the package of this name, which cannot be imported here ({error}): pip install "
        raise SwingbyError(f"{message}'swingby[mnist1d]'; or data: digits, mixture or step") from error
    arguments: Any = source.get_dataset_args()
    arguments.num_samples = SERIES
    before = np.random.get_state()  # it seeds numpy's global state
    try:
        dataset = source.make_dataset(arguments)
    finally:
        np.random.set_state(before)
    return np.concatenate([dataset["x"], dataset["x_test"]]), np.concatenate([dataset["y"], dataset["y_test"]])
