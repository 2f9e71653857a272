"""The mixture of two Gaussians, and the best denoisers for it and for a training set: in closed form."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def centres(d: int, mean: float) -> Array:
    """The means of the two components, (2, d): the frequent one at +mean in every coordinate, the rare one at -mean."""
    return mean * np.array([[1.0], [-1.0]]) * np.ones(d)


def draw(random: np.random.Generator, count: int, d: int, mean: float, rare: float) -> tuple[Array, Array]:
    """Points (count, d) of unit covariance around the centres, and their components (count,): 1 with chance `rare`."""
    component = (random.random(count) < rare).astype(np.int64)
    return random.normal(size=(count, d)) + centres(d, mean)[component], component


def balanced(random: np.random.Generator, count: int, d: int, mean: float, rare: float) -> tuple[Array, Array]:
    """As `draw`, with the same number of points of each component in every set: round(rare x count), at least one."""
    number = int(np.clip(round(rare * count), 1, count - 1))
    component = np.repeat([0, 1], [count - number, number])
    return random.normal(size=(count, d)) + centres(d, mean)[component], component


def exact_denoiser(x: Array, sigma: Array, mean: float, rare: float) -> Array:
    """E[x0 | x0 + sigma z = x], (R, d), at x (R, d) and sigma (R,): the best that any net can do on new points."""
    at, spread = centres(x.shape[1], mean), 1 + sigma**2
    # ln N(x; +-m, s^2 + sigma^2): what does not differ between the components is left out.
    logs = np.log([1 - rare, rare]) + (x @ at.T) / spread[:, None]
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    centre = (weights / weights.sum(axis=1, keepdims=True)) @ at
    return centre + (x - centre) / spread[:, None]


def empirical_denoiser(x: Array, sigma: Array, points: Array) -> Array:
    """The same where the data are the training points (n, d) alone: what minimises the training loss."""
    squares = (x**2).sum(axis=1)[:, None] - 2 * x @ points.T + (points**2).sum(axis=1)
    logs = -squares / (2 * sigma[:, None] ** 2)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)) @ points
