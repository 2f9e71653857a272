"""The surface of an outcome's share over a grid, fitted to yes-or-no labels: a Gaussian process on the logit.

Lengths and amplitude are those with the most evidence (`settle`), and some that are nearly as good are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

from swingby.select.boundary.kernel import Indices, Numbers, Setting
from swingby.select.boundary.laplace import Fit, Labels, fit

SEARCHED = 600
"""The most points with labels that lengths and amplitude are searched with."""
LADDER = tuple(1.5**step for step in range(12))
"""Lengths that are tried, in grid steps; none beyond the number of points along its axis."""
SCALES = (0.2, 0.32, 0.5, 0.8, 1.3, 2.1, 3.5, 5.6)
"""Amplitudes that are tried, in logits."""
AVERAGED = 4
"""Settings of lengths and amplitude that are averaged: one alone says too little doubt."""
NEGLIGIBLE = 4.0
"""Difference of log-evidence from the best at which a setting is left out."""


@dataclass(frozen=True)
class Posterior:
    """What the labels say of f at some points: a mixture of normals, one a setting, (S, M) each; weights (S,)."""

    means: Numbers
    variances: Numbers
    weights: Numbers

    def above(self, level: float) -> Numbers:
        """The probability that f exceeds a level in logits, (M,)."""
        return self.weights @ ndtr((self.means - level) / np.sqrt(self.variances))

    @property
    def mean(self) -> Numbers:
        """Mean of f, (M,)."""
        return self.weights @ self.means

    @property
    def variance(self) -> Numbers:
        """Variance of f, (M,)."""
        return self.weights @ (self.variances + (self.means - self.mean) ** 2)

    @property
    def share(self) -> Numbers:
        """Mean of the share, (M,): MacKay's approximation of the mean of a logistic function of a normal number."""
        return self.weights @ expit(self.means / np.sqrt(1 + np.pi * self.variances / 8))

    def interval(self, confidence: float) -> tuple[Numbers, Numbers]:
        """Ends of the central interval of the share at this confidence, (M,) each; from the mixture's moments."""
        half = float(ndtri(0.5 + confidence / 2)) * np.sqrt(self.variance)
        return expit(self.mean - half), expit(self.mean + half)


@dataclass(frozen=True)
class Surface:
    """The fitted surface of one panel: some settings, each with its share of the evidence."""

    fits: tuple[Fit, ...]
    weights: Numbers

    def at(self, places: Indices) -> Posterior:
        """The posterior at points given by flat indices."""
        moments = [one.moments(places) for one in self.fits]
        return Posterior(np.array([m for m, _ in moments]), np.array([v for _, v in moments]), self.weights)


def settle(shape: tuple[int, ...], labels: Labels, start: Setting | None = None) -> tuple[Setting, ...]:
    """The settings with the most evidence, the best first: coordinate ascent on the ladders, from a setting.

    Of many points with labels it sees SEARCHED, evenly taken in the order in which they are given.
    """
    if len(labels.places) > SEARCHED:
        some = np.linspace(0, len(labels.places) - 1, SEARCHED).astype(np.int64)
        labels = Labels(labels.places[some], labels.yes[some], labels.n[some])
    lengths = [LADDER[: max(1, sum(rung <= count for rung in LADDER))] for count in shape]
    ladders = [*lengths, SCALES]
    values = (*start.lengths, start.scale) if start else [float(np.median(ladder)) for ladder in ladders]
    best = tuple(
        int(np.argmin(np.abs(np.log(ladder) - np.log(value)))) for ladder, value in zip(ladders, values, strict=True)
    )
    known: dict[tuple[int, ...], float] = {}
    mode: Numbers | None = None

    def setting(rungs: tuple[int, ...]) -> Setting:
        *along, scale = (ladder[rung] for ladder, rung in zip(ladders, rungs, strict=True))
        return Setting(tuple(along), scale)

    def evidence(rungs: tuple[int, ...]) -> float:
        nonlocal mode
        if rungs not in known:
            fitted = fit(shape, setting(rungs), labels, mode, precise=1e-2)
            known[rungs], mode = fitted.log_evidence, fitted.f
        return known[rungs]

    while True:
        before = best
        for axis, ladder in enumerate(ladders):
            for step in (-1, 1):
                rung = best[axis] + step
                while 0 <= rung < len(ladder):
                    tried = (*best[:axis], rung, *best[axis + 1 :])
                    if evidence(tried) <= evidence(best):
                        break
                    best, rung = tried, rung + step
        if best == before:
            break
    ordered = sorted(known, key=lambda rungs: (-known[rungs], rungs))[:AVERAGED]
    return tuple(setting(rungs) for rungs in ordered if known[rungs] > known[best] - NEGLIGIBLE)


def surface(shape: tuple[int, ...], labels: Labels, settings: Sequence[Setting]) -> Surface:
    """The surface of one panel under these settings."""
    fits = list[Fit]()
    for setting in settings:
        fits.append(fit(shape, setting, labels, fits[-1].f if fits else None))
    evidence = np.array([one.log_evidence for one in fits])
    weights = np.exp(evidence - evidence.max())
    return Surface(tuple(fits), weights / weights.sum())
