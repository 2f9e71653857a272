"""Shrunken estimates: of the extreme point of a map they are right where its own share, or number, is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from swingby_analysis.stats.shares import wilson
from swingby_analysis.stats.shrinkage import Shrunken, shrunken_medians, shrunken_shares

MAPS = 12
Draws = np.random.Generator
ACCURACY = 0.07
"""How far from the true share of the extreme point its shrunken estimate may lie, on average over maps."""


def ridge(draws: Draws) -> np.ndarray:
    """Most points at almost nothing, and a ridge up to 0.42, as maps of rare outcomes are."""
    return np.concatenate([draws.beta(0.5, 20, 600), draws.uniform(0.1, 0.42, 200)])


MADE_UP: dict[str, Callable[[Draws], np.ndarray]] = {
    "ridge": ridge,
    "smooth": lambda draws: draws.beta(2, 5, 300),
    "flat": lambda draws: np.full(200, 0.3),
}


@pytest.mark.parametrize("name", MADE_UP)
def test_the_extreme_of_a_map_is_estimated_without_bias(name: str) -> None:
    """On average it is off by less than `ACCURACY` and its interval holds the truth; neither is so of the raw share."""
    draws, raw, off, held, wilson_held = np.random.default_rng(0), [], [], [], []
    for _ in range(MAPS):
        true = MADE_UP[name](draws)
        k = draws.binomial(25, true)
        at = draws.choice(np.flatnonzero(k == k.max()))
        found = shrunken_shares(k, np.full(len(k), 25))
        raw.append(k[at] / 25 - true[at])
        off.append(found.estimate[at] - true[at])
        held.append(found.low[at] <= true[at] <= found.high[at])
        low, high = wilson(k[at], 25)
        wilson_held.append(float(low) <= true[at] <= float(high))
    assert abs(np.mean(off)) < ACCURACY
    assert np.mean(raw) > 1.4 * ACCURACY
    assert sum(held) >= MAPS - 3
    assert sum(wilson_held) < sum(held)


def test_intervals_cover_over_all_points() -> None:
    """Over all points of a map of which the true shares are known, about 95 of 100 intervals hold them."""
    draws = np.random.default_rng(3)
    true = ridge(draws)
    k = draws.binomial(30, true)
    found = shrunken_shares(k, np.full(len(k), 30))
    assert 0.90 < np.mean((found.low <= true) & (true <= found.high)) <= 1.0
    assert np.mean((found.estimate - true) ** 2) < np.mean((k / 30 - true) ** 2)


def test_few_points_equal_shares_and_points_without_seeds() -> None:
    """Estimates exist, lie in their intervals, keep the order of equally well known shares, and do not depend on the
    order of the points; a point without seeds has the widest interval."""
    for k, n in (([3], [10]), ([0, 0, 0], [20, 20, 20]), ([5, 5], [5, 5]), ([2, 7, 0, 4], [8, 8, 0, 8])):
        found = shrunken_shares(k, n)
        assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))
        assert np.all((found.low >= 0) & (found.high <= 1))
        turned = shrunken_shares(k[::-1], n[::-1])
        assert turned.estimate[::-1] == pytest.approx(found.estimate)
    assert found.estimate[1] > found.estimate[3] > found.estimate[0]
    assert (found.high - found.low).argmax() == 2
    assert len(set(shrunken_shares([4] * 30, [20] * 30).estimate)) == 1
    assert np.isnan(shrunken_shares([0, 0], [0, 0]).estimate).all()
    assert len(shrunken_shares([], []).estimate) == 0
    with pytest.raises(ValueError, match="k <= n"):
        shrunken_shares([3], [2])


def normals(draws: Draws, seeds: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Medians and seeds of 80 points, each median known with a standard error of about one spread of the medians."""
    true = draws.normal(5, 1, 80)
    return true, [draws.normal(median, np.sqrt(seeds) / 1.2533, seeds) for median in true]


def rare(draws: Draws, seeds: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Heights that are 0 in the runs that show nothing: the median is 0 at most points."""
    share = np.concatenate([draws.beta(0.5, 10, 60), draws.uniform(0.3, 0.95, 24)])
    size = draws.uniform(0.01, 0.06, len(share))

    def heights(number: int) -> list[np.ndarray]:
        shown = [draws.random(number) < part for part in share]
        return [
            np.where(yes, at * np.exp(0.5 * draws.normal(size=number)), 0.0)
            for yes, at in zip(shown, size, strict=True)
        ]

    return np.array([np.median(many) for many in heights(8_001)]), heights(seeds)


def never(draws: Draws, seeds: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Times of something that happens in a part of the runs, and is infinite in the others."""
    share, scale = draws.uniform(0.2, 0.9, 60), draws.uniform(1, 3, 60)

    def times(number: int) -> list[np.ndarray]:
        happens = [draws.random(number) < part for part in share]
        return [np.where(yes, draws.gamma(9, at, number), np.inf) for yes, at in zip(happens, scale, strict=True)]

    return np.array([np.median(many) for many in times(8_001)]), times(seeds)


POPULATIONS = {"normal": normals, "mostly zero": rare, "partly infinite": never}


@pytest.mark.parametrize("seeds", [5, 20])
@pytest.mark.parametrize("name", POPULATIONS)
def test_medians_are_covered_at_all_points_and_at_the_extreme_one(name: str, seeds: int) -> None:
    """About 95 of 100 intervals hold the true median, and those of the largest estimates do, whatever the numbers."""
    draws, covered, held = np.random.default_rng(5), [], []
    for _ in range(MAPS):
        true, samples = POPULATIONS[name](draws, seeds)
        found = shrunken_medians(samples)
        assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))
        inside = (found.low <= true) & (true <= found.high)
        finite = np.where(np.isfinite(found.estimate), found.estimate, -np.inf)
        covered.append(inside.mean())
        held.append(inside[finite.argmax()])
    assert np.mean(covered) > 0.92
    assert sum(held) >= MAPS - 3


def test_the_extreme_median_of_a_map_is_estimated_without_bias() -> None:
    """The largest shrunken one is right on average, the largest raw one too large by more than a spread."""
    draws, off, raw = np.random.default_rng(1), [], []
    for _ in range(60):
        true, samples = normals(draws, 10)
        found, seen = shrunken_medians(samples).estimate, np.array([np.median(each) for each in samples])
        off.append(found[found.argmax()] - true[found.argmax()])
        raw.append(seen[seen.argmax()] - true[seen.argmax()])
    assert abs(np.mean(off)) < 0.4
    assert np.mean(raw) > 1.0


def test_medians_do_not_depend_on_order_scale_or_place() -> None:
    """Points and seeds in another order, and numbers on another axis, have the same estimates on that axis."""
    draws = np.random.default_rng(2)
    samples = rare(draws, 9)[1]
    found = shrunken_medians(samples)
    turned = shrunken_medians([draws.permutation(each) for each in samples[::-1]])
    bent = shrunken_medians([np.exp(3 * each) - 7 for each in samples])
    for one, other, third in zip(found, turned, bent, strict=True):
        assert other[::-1] == pytest.approx(one)
        assert third == pytest.approx(np.exp(3 * one) - 7)


def test_numbers_without_noise_or_seeds() -> None:
    """Exact numbers stay, and so do equal ones; single seeds tell nothing; an empty point is like the rest."""
    kept: Shrunken = shrunken_medians([[1.0, 1.0], [5.0], [np.inf, np.inf]])
    assert kept.estimate.tolist() == kept.low.tolist() == kept.high.tolist() == [1.0, 5.0, np.inf]
    assert np.isnan(shrunken_medians([[1.0], [2.0]]).estimate).all()
    assert len(shrunken_medians([]).estimate) == 0
    empty = shrunken_medians([[1.0, 1.1, 1.2], [1.0, 1.2], []])
    assert 1.0 <= empty.low[2] <= empty.estimate[2] <= empty.high[2] <= 1.2
    with pytest.raises(ValueError, match="NaN"):
        shrunken_medians([[1.0, np.nan]])
