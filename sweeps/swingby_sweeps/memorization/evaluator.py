"""What is measured of the nets of a batch: losses, and what their samples are like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swingby.model.cell import Cell

from . import kernels, sampler, task
from .denoisers import Denoisers
from .params import MixtureParams

Array = np.ndarray
LEVELS = np.geomspace(0.05, 10, 8)
"""Noise levels, over sigma_data, at which losses are measured."""
LOWEST, HIGHEST = 0.01, 50.0
"""Noise levels of the sampler, over sigma_data."""
FRESH = 2048
"""Fresh points that say how often a point that was never seen looks memorized."""
NEAR = 1 / 3
"""Largest ratio of the distances to the nearest and to the second nearest training point of a copy ([B])."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Noisy(NamedTuple):
    """Points of a cell at which a loss is measured: at each noise level the same, one level after the other.

    Attributes:
        clean, noisy: (R, d).
        sigma: noise levels (R,).
        labels: (R,), or (0,) without conditions.
    """

    clean: Array
    noisy: Array
    sigma: Array
    labels: Array

    @classmethod
    def of(cls, p: MixtureParams, points: Array, labels: Array, noise: Array) -> Noisy:
        """These points and conditions at all levels, with standard normal noise (R, d)."""
        sigma = p.scale * np.repeat(LEVELS, len(points))
        clean = np.tile(points, (len(LEVELS), 1))
        return cls(clean, clean + sigma[:, None] * noise, sigma, np.tile(labels, len(LEVELS)))


class Evaluator:
    """What is measured of C nets: each time with the same noise and the same points.

    Attributes:
        null: of each cell, the share of fresh points that look memorized.
        null_distance: of each cell, the mean distance of a fresh point to the nearest training point.
    """

    def __init__(self, nets: Denoisers) -> None:
        p, cells = nets.p, nets.cells
        self._nets = nets
        self._noise = np.stack([cell.stream("samples").normal(size=(p.samples, p.d)) for cell in cells])
        requested = [cell.stream("conditions").integers(cell.params.points, size=p.samples) for cell in cells]
        self._labels = np.stack(
            [of[places] if len(of) else of for of, places in zip(nets.labels, requested, strict=True)]
        )
        self._ratios = np.repeat(LEVELS, p.test_points)
        pairs = [_pair(cell, *of) for cell, *of in zip(cells, nets.points, nets.labels, strict=True)]
        self._train, self._test = ([pair[place] for pair in pairs] for place in (0, 1))
        fresh = [_drawn(cell, "fresh", FRESH)[0] for cell in cells]
        near = [_nearest(new, points) for new, points in zip(fresh, nets.points, strict=True)]
        self.null = np.array([_copies(distances).mean() for distances in near])
        self.null_distance = np.array([distances[:, 0].mean() for distances in near])
        # Samples are compared with as many fresh points.
        self._fresh = [new[: p.samples] for new in fresh]
        self._among = [kernels.mean_distance(new, new, True) for new in self._fresh]

    def measured(self) -> dict[str, Array]:
        """All curves at the step that the nets have reached, each (C,) or (C, numbers)."""
        with np.errstate(over="ignore", invalid="ignore"):  # nets that diverge are told of by their steps
            return {**self.losses(), **self.of_samples(self.samples())}

    def samples(self) -> Array:
        """(C, samples, d)."""
        scale = self._nets.scales[:, None, None]

        def denoiser(x: Array, ratio: float) -> Array:
            return self._nets.denoised(scale * x, np.full(x.shape[1], ratio), self._labels) / scale

        sigmas = sampler.levels(LOWEST, HIGHEST, self._nets.p.sampler_steps)
        return scale * sampler.sample(denoiser, self._noise, sigmas)

    def losses(self) -> dict[str, Array]:
        """Losses on training and on new points, and the distances from the two best denoisers, each (C,).

        All are mean squares over coordinates, in units of c_out, in which each noise level counts the same.
        """
        new = self._denoised(self._test)
        exact = [
            task.exact_denoiser(of.noisy, of.sigma, cell.params.mean, cell.params.rare)
            for of, cell in zip(self._test, self._nets.cells, strict=True)
        ]
        empirical = [
            task.empirical_denoiser(of.noisy, of.sigma, points)
            for of, points in zip(self._test, self._nets.points, strict=True)
        ]
        return {
            "train_loss": self._off(self._denoised(self._train), [of.clean for of in self._train]),
            "test_loss": self._off(new, [of.clean for of in self._test]),
            "from_exact": self._off(new, exact),
            "from_empirical": self._off(new, empirical),
        }

    def _denoised(self, points: list[Noisy]) -> Array:
        """These points as the nets denoise them, (C, R, d)."""
        noisy, labels = (np.stack([getattr(of, name) for of in points]) for name in ("noisy", "labels"))
        return self._nets.denoised(noisy, self._ratios, labels)

    def _off(self, denoised: Array, targets: list[Array]) -> Array:
        """The mean square of denoised (C, R, d) less the targets, in units of c_out, (C,)."""
        units = (1 + self._ratios**2) / (self._nets.scales[:, None] * self._ratios) ** 2
        return (units * ((denoised - np.stack(targets)) ** 2).mean(axis=2)).mean(axis=1)

    def of_samples(self, samples: Array) -> dict[str, Array]:
        """What samples (C, m, d) are like, beside the training points and beside fresh ones."""
        rows = [self._of_cell(c, drawn) for c, drawn in enumerate(samples)]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _of_cell(self, c: int, drawn: Array) -> dict[str, float | Array]:
        near = _nearest(drawn, self._nets.points[c])
        copied, rare = _copies(near), drawn.sum(axis=1) < 0
        return {
            "memorized": copied.mean(),
            "memorized_frequent": copied[~rare].mean() if not rare.all() else np.nan,
            "memorized_rare": copied[rare].mean() if rare.any() else np.nan,
            "rare_share": rare.mean(),
            "nearest": near[:, 0].mean(),
            "energy_distance": self._energy(c, drawn),
            "ratio": np.quantile(near[:, 0] / near[:, 1], QUANTILES),
        }

    def of_gaussian(self) -> Array:
        """The energy distance of a Gaussian with the mixture's mean and covariance, as measured of samples, (C,)."""
        p, distances = self._nets.p, list[float]()
        for c, cell in enumerate(self._nets.cells):
            q = cell.params
            away, random = task.centres(p.d, q.mean)[0], cell.stream("gaussian")
            # The place of a point's component, +1 or -1, has mean 1 - 2 rare and variance 4 rare (1 - rare).
            along = 1 - 2 * q.rare + 2 * np.sqrt(q.rare * (1 - q.rare)) * random.normal(size=(p.samples, 1))
            distances.append(self._energy(c, random.normal(size=(p.samples, p.d)) + along * away))
        return np.array(distances)

    def _energy(self, c: int, drawn: Array) -> float:
        """The energy distance of samples from the cell's fresh points."""
        between = kernels.mean_distance(drawn, self._fresh[c], False)
        return 2 * between - self._among[c] - kernels.mean_distance(drawn, drawn, True)


def _drawn(cell: Cell[MixtureParams], stream: str, count: int) -> tuple[Array, Array]:
    """New points of a cell's mixture, and their components."""
    p = cell.params
    return task.draw(cell.stream(stream), count, p.d, p.mean, p.rare)


def _pair(cell: Cell[MixtureParams], points: Array, labels: Array) -> tuple[Noisy, Noisy]:
    """Training points, in their order and again where there are too few, and new ones: with the same noise."""
    p = cell.params
    noise = cell.stream("test noise").normal(size=(p.test_points * len(LEVELS), p.d))
    new, component = _drawn(cell, "test", p.test_points)
    labels_of = {"none": component[:0], "component": component}
    if p.condition == "random":
        labels_of["random"] = cell.stream("test labels").integers(p.labels, size=p.test_points)
    place = np.resize(np.arange(p.points), p.test_points)
    of_points = labels[place] if len(labels) else labels
    return Noisy.of(p, points[place], of_points, noise), Noisy.of(p, new, labels_of[p.condition], noise)


def _nearest(samples: Array, points: Array) -> Array:
    """The distances of samples (R, d) to the nearest and second nearest of the points, (R, 2)."""
    distances = np.empty((len(samples), 2))
    kernels.two_nearest(samples, points, distances)
    return distances


def _copies(distances: Array) -> Array:
    """Whether the nearest point is a copied one, (R,)."""
    return distances[:, 0] < NEAR * distances[:, 1]
