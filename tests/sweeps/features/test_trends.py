"""Broken power laws, rank correlations and crossings, on made-up curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

from swingby_sweeps.features import trends

POINTS = np.geomspace(32, 1000, 9)
FALSE_BREAKS = 0.184
"""Share of straight lines through nine points, with whatever noise, that are told to break: 553 of 3000 draws."""


def curve(before: float, after: float, at: float, noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """An error that falls as one power of the points up to `at`, and as another one from there on."""
    slopes = np.where(at >= POINTS, before, after)
    draws = np.random.default_rng(seed).normal(size=len(POINTS))
    return 0.3 * (POINTS / at) ** slopes * np.exp(noise * draws)


def test_a_break_is_found_where_it_is() -> None:
    """Both exponents, the place to one step of the grid of knots, and two lines by BIC."""
    fit = trends.broken_line(POINTS, curve(-0.2, -1.0, 180))
    assert fit is not None
    assert fit.gain > trends.LEAST_GAIN
    assert fit.at == pytest.approx(180, rel=0.05)
    assert (fit.before, fit.after) == pytest.approx((-0.2, -1.0), abs=0.02)
    assert math.log(0.3) == pytest.approx(fit.level, abs=0.05)


def test_a_single_power_law_has_no_break() -> None:
    """Of noisy straight lines as many are told to break as chance has it, and all that break by a whole power."""
    count = 200
    told = {after: sum(_fit(after, seed).gain > trends.LEAST_GAIN for seed in range(count)) for after in (-0.5, -1.5)}
    assert told[-0.5] <= binom.ppf(0.999, count, FALSE_BREAKS)
    assert told[-1.5] == count


def _fit(after: float, seed: int) -> trends.Break:
    found = trends.broken_line(POINTS, curve(-0.5, after, 150, noise=0.05, seed=seed))
    assert found is not None
    return found


def test_a_curve_of_four_points_has_no_break() -> None:
    assert trends.broken_line(POINTS[:4], curve(-0.2, -1.0, 180)[:4]) is None


def test_rank_correlation_is_that_of_scipy() -> None:
    """With ties, too; a constant has none."""
    draws = np.random.default_rng(0).integers(0, 6, size=(2, 30)).astype(float)
    assert trends.spearman(*draws) == pytest.approx(float(np.asarray(spearmanr(*draws))[0]))
    assert math.isnan(trends.spearman(np.ones(5), np.arange(5)))


def test_an_interval_over_seeds_holds_the_truth() -> None:
    """Of 40 samples of 20 seeds the interval of the mean holds the truth in most; one seed has none."""
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(40):
        found = trends.over_seeds(generator.normal(size=20), lambda values: float(values.mean()))
        held += found.low <= 0 <= found.high
    assert held >= 32
    assert math.isnan(trends.over_seeds(np.ones(1), lambda values: float(values.mean())).low)


def test_a_crossing_is_the_last_one() -> None:
    """A curve that dips and rises again crosses where it stays below; one that ends above does not cross."""
    n = [10.0, 20.0, 40.0, 80.0]
    assert trends.crossing(n, [0.3, 0.05, 0.2, 0.0], 0.1) == pytest.approx(40 * 2**0.5)
    assert math.isnan(trends.crossing(n, [0.3, 0.05, 0.2, 0.15], 0.1))
    assert math.isnan(trends.crossing(n, [0.05, 0.05, 0.02, 0.0], 0.1))
