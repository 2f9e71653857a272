"""Laplace's approximation of a surface's posterior, for labels that are binomial given the share.

Rasmussen and Williams, section 3.4: Newton's method for the mode, and the curvature there. The unknowns are either one
number for each point with labels (algorithm 3.1), or one weight for each wave: the same posterior, where the waves keep
the whole prior. So a fit costs no more than the labels ask for, however many points the grid has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import expit

from swingby.select.boundary.kernel import CONSTANT, KEPT, Indices, Numbers, Setting, Waves

FEW = 200
"""Points with labels up to which they are the unknowns in any case: it costs nothing, and loses nothing."""
BY_POINTS = 2000
"""The most points with labels that are unknowns where waves would lose something."""
STEPS = 50
"""The most steps of Newton's method; it takes about six."""
TYPICAL = 6
"""Steps that are reckoned with."""
TINY = 1e-9
"""The least variance that is told of: rounding could leave none, or less."""
PRECISE = 1e-4
"""Gain of the log-posterior in a step below which Newton's method ends: the next would gain about its square."""
CHUNK = 4096
"""Points whose moments are computed at a time."""


@dataclass(frozen=True)
class Labels:
    """Counts of labels at points of one panel.

    Attributes:
        places: flat indices of the points with labels, (M,), each once.
        yes, n: labels that are yes, and all of them, (M,).
    """

    places: Indices
    yes: Numbers
    n: Numbers


class Form(Protocol):
    """The unknowns: numbers u of which f at the points with labels is linear, and whose prior is normal."""

    def f(self, u: Numbers) -> Numbers:
        """The logits at the points with labels."""
        ...

    def penalty(self, u: Numbers, f: Numbers) -> float:
        """Minus the log-density of the prior, but for a constant."""
        ...

    def factor(self, slope: Numbers) -> Numbers:
        """Lower Cholesky factor of identity plus prior times curvature, where the labels' curvature is `slope`."""
        ...

    def solve(self, root: Numbers, slope: Numbers, target: Numbers) -> Numbers:
        """The unknowns at the maximum of the quadratic whose gradient at f = 0 is `target`."""
        ...

    def functions(self, places: Indices) -> Numbers:
        """What u is multiplied with to give f at points given by flat indices, (M, unknowns)."""
        ...

    def variance(self, functions: Numbers, factor: Numbers) -> Numbers:
        """Posterior variance at points, from their functions and from `reduced` of them, (M,)."""
        ...

    def covariance(self, places: Indices, functions: Numbers, factor: Numbers) -> Numbers:
        """Posterior covariance between points, (M, M)."""
        ...

    def reduced(self, root: Numbers, slope: Numbers, functions: Numbers) -> Numbers:
        """The inverse of the Cholesky factor times the functions, (unknowns, M)."""
        ...


class ByPoints:
    """Unknowns u with f = K u, one for each point with labels: exact."""

    def __init__(self, shape: tuple[int, ...], setting: Setting, places: Indices) -> None:
        self._shape, self._setting, self._places = shape, setting, places
        self._prior = setting.covariance(shape, places, places)

    def f(self, u: Numbers) -> Numbers:
        return self._prior @ u

    def penalty(self, u: Numbers, f: Numbers) -> float:
        return float(0.5 * u @ f)

    def factor(self, slope: Numbers) -> Numbers:
        root = np.sqrt(slope)
        return _cholesky(root[:, None] * self._prior * root)

    def solve(self, root: Numbers, slope: Numbers, target: Numbers) -> Numbers:
        scaled = np.sqrt(slope)
        inner = cho_solve((root, True), scaled * (self._prior @ target), check_finite=False)
        return target - scaled * inner

    def functions(self, places: Indices) -> Numbers:
        return self._setting.covariance(self._shape, places, self._places)

    def reduced(self, root: Numbers, slope: Numbers, functions: Numbers) -> Numbers:
        return solve_triangular(root, (functions * np.sqrt(slope)).T, lower=True, check_finite=False)

    def variance(self, functions: Numbers, factor: Numbers) -> Numbers:
        return self._setting.scale**2 + CONSTANT**2 - np.einsum("um,um->m", factor, factor)

    def covariance(self, places: Indices, functions: Numbers, factor: Numbers) -> Numbers:
        return self._setting.covariance(self._shape, places, places) - factor.T @ factor


class ByWaves:
    """Unknown weights of the waves, standard normal."""

    def __init__(self, waves: Waves, places: Indices) -> None:
        self._waves, self._functions = waves, waves.at(places)

    def f(self, u: Numbers) -> Numbers:
        return self._functions @ u

    def penalty(self, u: Numbers, f: Numbers) -> float:
        return float(0.5 * u @ u)

    def factor(self, slope: Numbers) -> Numbers:
        scaled = self._functions * np.sqrt(slope)[:, None]
        return _cholesky(scaled.T @ scaled)

    def solve(self, root: Numbers, slope: Numbers, target: Numbers) -> Numbers:
        return cho_solve((root, True), self._functions.T @ target, check_finite=False)

    def functions(self, places: Indices) -> Numbers:
        return self._waves.at(places)

    def reduced(self, root: Numbers, slope: Numbers, functions: Numbers) -> Numbers:
        return solve_triangular(root, functions.T, lower=True, check_finite=False)

    def variance(self, functions: Numbers, factor: Numbers) -> Numbers:
        return np.einsum("um,um->m", factor, factor) + self._lost(functions)

    def covariance(self, places: Indices, functions: Numbers, factor: Numbers) -> Numbers:
        covariance = factor.T @ factor
        # What is cut off are the quickest waves: they hardly reach from point to point.
        covariance[np.diag_indices_from(covariance)] += self._lost(functions)
        return covariance

    def _lost(self, functions: Numbers) -> Numbers:
        kept = np.einsum("mf,mf->m", functions[:, 1:], functions[:, 1:])
        return np.maximum(self._waves.variance - kept, 0)


def _cholesky(matrix: Numbers) -> Numbers:
    """Lower Cholesky factor of identity plus a matrix, which is overwritten."""
    matrix[np.diag_indices_from(matrix)] += 1
    return cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)


def form(shape: tuple[int, ...], setting: Setting, places: Indices) -> Form:
    """The cheaper form of those that lose nothing to speak of; waves where points would be too many."""
    if len(places) <= FEW:
        return ByPoints(shape, setting, places)
    waves, grid = Waves.of(shape, setting), float(np.prod(shape))
    by_points, by_waves = float(len(places)), float(len(waves.weights) + 1)
    # Multiplications: Newton's steps, then the moments of the whole grid.
    cost_points = TYPICAL * by_points**3 / 3 + by_points**2 * grid
    cost_waves = TYPICAL * (by_points * by_waves**2 + by_waves**3 / 3) + by_waves**2 * grid
    lossy = waves.kept < KEPT
    if cost_points < cost_waves or (lossy and by_points <= BY_POINTS):
        return ByPoints(shape, setting, places)
    return ByWaves(waves, places)


@dataclass(frozen=True)
class Fit:
    """Laplace's approximation under one setting.

    Attributes:
        unknowns: at the mode.
        root: lower Cholesky factor of identity plus prior times curvature there.
        slope: the labels' curvature there, (M,).
        log_evidence: of the labels, with the prior of the setting.
        f: at the points with labels, (M,).
    """

    setting: Setting
    form: Form
    unknowns: Numbers
    root: Numbers
    slope: Numbers
    log_evidence: float
    f: Numbers

    def moments(self, places: Indices) -> tuple[Numbers, Numbers]:
        """Mean and variance of f at points given by flat indices, (M,) each."""
        means, variances = np.empty(len(places)), np.empty(len(places))
        for start in range(0, len(places), CHUNK):
            part = slice(start, start + CHUNK)
            functions, factor = self._parts(places[part])
            means[part] = functions @ self.unknowns
            variances[part] = self.form.variance(functions, factor)
        return means, np.maximum(variances, TINY)

    def covariance(self, places: Indices) -> tuple[Numbers, Numbers]:
        """Mean (M,) and covariance (M, M) of f at points given by flat indices."""
        functions, factor = self._parts(places)
        covariance = self.form.covariance(places, functions, factor)
        covariance[np.diag_indices_from(covariance)] = np.maximum(np.diag(covariance), TINY)
        return functions @ self.unknowns, covariance

    def _parts(self, places: Indices) -> tuple[Numbers, Numbers]:
        functions = self.form.functions(places)
        return functions, self.form.reduced(self.root, self.slope, functions)


def fit(
    shape: tuple[int, ...], setting: Setting, labels: Labels, start: Numbers | None = None, precise: float = PRECISE
) -> Fit:
    """The posterior under one setting, in the cheaper form; see `approximated`."""
    return approximated(form(shape, setting, labels.places), setting, labels, start, precise)


def approximated(
    of: Form, setting: Setting, labels: Labels, start: Numbers | None = None, precise: float = PRECISE
) -> Fit:
    """Newton's method for the mode, and the curvature there.

    Args:
        start: f at the labels' points to begin from, such as that of another setting, (M,).
        precise: gain of the log-posterior below which it ends.
    """
    f, unknowns, best = np.zeros(len(labels.places)), None, float(-labels.n.sum() * np.log(2))
    if start is not None:
        f, best = start, -np.inf

    def value(u: Numbers, f: Numbers) -> float:
        return float(labels.yes @ f - labels.n @ np.logaddexp(0, f)) - of.penalty(u, f)

    for _ in range(STEPS):
        share = expit(f)
        slope = labels.n * share * (1 - share)
        # Newton's step from f, whether or not some unknowns give this f.
        proposal = of.solve(of.factor(slope), slope, slope * f + labels.yes - labels.n * share)
        if unknowns is None:
            unknowns = np.zeros_like(proposal)
        size, tried, moved = 1.0, proposal, of.f(proposal)
        now = value(tried, moved)
        while now < best and size > 1e-6:
            size /= 2
            tried = unknowns + size * (proposal - unknowns)
            moved = of.f(tried)
            now = value(tried, moved)
        unknowns, gained, best, f = tried, now - best, now, moved
        if gained < precise:
            break
    share = expit(f)
    slope = labels.n * share * (1 - share)
    root = of.factor(slope)
    evidence = best - float(np.log(np.diag(root)).sum()) + setting.log_prior
    return Fit(setting, of, unknowns if unknowns is not None else np.zeros(0), root, slope, evidence, f)
