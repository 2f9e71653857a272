"""The prior of a surface: a Gaussian process over the indices of a grid, in two forms.

The logit of the share is a constant plus a process with a Matern-3/2 correlation along each axis, the product over axes
(Rasmussen and Williams, Gaussian Processes for Machine Learning, section 4.2.1). `Setting.covariance` is the form by
points; `Waves`, the leading eigenvectors of the covariance on the whole grid, costs less where many points have labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]

KEPT = 0.999
"""Share of the prior variance that the leading eigenvectors keep; what is lost is added to each point's variance."""
MOST = 1000
"""The most eigenvectors."""
CONSTANT = 3.0
"""Standard deviation of the constant, in logits: shares from 0.003 to 0.997 within two of them."""
LENGTH, LENGTH_SD = np.log(5.0), 1.0
"""The log-normal prior of a length."""
SCALE, SCALE_SD = np.log(2.0), 0.7
"""The log-normal prior of the amplitude."""


@dataclass(frozen=True)
class Setting:
    """Lengths of the process in grid steps, one an axis, and its amplitude in logits."""

    lengths: tuple[float, ...]
    scale: float

    @property
    def log_prior(self) -> float:
        """The log-density of the prior, but for a constant."""
        lengths = ((np.log(self.lengths) - LENGTH) / LENGTH_SD) ** 2
        return float(-0.5 * (lengths.sum() + ((np.log(self.scale) - SCALE) / SCALE_SD) ** 2))

    def covariance(self, shape: tuple[int, ...], some: Indices, others: Indices) -> Numbers:
        """The prior covariance of the logit between points given by flat indices, (some, others)."""
        covariance = np.full((len(some), len(others)), self.scale**2)
        along = zip(np.unravel_index(some, shape), np.unravel_index(others, shape), shape, self.lengths, strict=True)
        for rows, other, count, length in along:
            covariance *= correlation(count, length)[rows][:, other]
        return covariance + CONSTANT**2


@dataclass(frozen=True)
class Waves:
    """The leading eigenvectors of the covariance on a grid, as products of those along its axes; the constant is first.

    Attributes:
        shape: points along each axis.
        vectors: eigenvectors of each axis' correlation matrix, (points, vectors) each.
        chosen: which of them make each function, (axes, F).
        weights: standard deviation of each function, (F,).
        variance: of the process at a point, without the constant.
        kept: share of the prior variance that they keep.
    """

    shape: tuple[int, ...]
    vectors: tuple[Numbers, ...]
    chosen: Indices
    weights: Numbers
    variance: float
    kept: float

    @classmethod
    def of(cls, shape: tuple[int, ...], setting: Setting, most: int = MOST, kept: float = KEPT) -> Self:
        """The fewest eigenvectors that keep this share of the prior variance of the setting, or the most allowed."""
        parts = [eigen(count, length) for count, length in zip(shape, setting.lengths, strict=True)]
        chosen = np.zeros((0, 1), dtype=np.int64)
        products = np.ones(1)
        for values, _ in parts:
            grown = np.multiply.outer(products, values).ravel()
            # A product of one axis' later eigenvalue cannot come before the same product of an earlier one, so that
            # cutting after each axis loses none of the largest.
            largest = np.argsort(-grown, kind="stable")[:most]
            chosen = np.vstack([chosen[:, largest // len(values)], largest % len(values)])
            products = grown[largest]
        share = np.cumsum(products) / math.prod(shape)
        count = min(most, int(np.searchsorted(share, kept)) + 1, len(products))
        vectors, deviations = tuple(vectors for _, vectors in parts), setting.scale * np.sqrt(products[:count])
        return cls(shape, vectors, chosen[:, :count], deviations, setting.scale**2, float(share[count - 1]))

    def at(self, places: Indices) -> Numbers:
        """The functions at points given by flat indices, (M, 1 + F); their weights are standard normal."""
        values = np.full((len(places), 1 + self.chosen.shape[1]), CONSTANT)
        values[:, 1:] = self.weights
        for along, vectors, chosen in zip(np.unravel_index(places, self.shape), self.vectors, self.chosen, strict=True):
            values[:, 1:] *= vectors[along][:, chosen]
        return values


@lru_cache(maxsize=256)
def correlation(count: int, length: float) -> Numbers:
    """The Matern-3/2 correlation between `count` points a step apart, (count, count)."""
    distance = np.sqrt(3) * np.abs(np.subtract.outer(np.arange(count), np.arange(count))) / length
    return (1 + distance) * np.exp(-distance)


@lru_cache(maxsize=256)
def eigen(count: int, length: float) -> tuple[Numbers, Numbers]:
    """Eigenvalues, falling, and eigenvectors of the correlation along an axis."""
    values, vectors = np.linalg.eigh(correlation(count, length))
    return np.maximum(values[::-1], 0), np.ascontiguousarray(vectors[:, ::-1])
