"""Shrunken estimates: of the extreme point of a map they are right where its own share, or number, is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from swingby_analysis.stats.shares import wilson
from swingby_analysis.stats.shrinkage import Shrunken, shrunken_numbers, shrunken_shares

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


def test_the_extreme_number_of_a_map_is_estimated_without_bias() -> None:
    """Numbers with errors: the shrunken extreme is right on average, the raw one too large by more than an error."""
    draws, off, raw, held = np.random.default_rng(1), [], [], []
    for _ in range(60):
        true, errors = draws.normal(5, 1, 80), np.full(80, 1.0)
        seen = true + draws.normal(size=80)
        at = int(seen.argmax())
        found = shrunken_numbers(seen, errors)
        off.append(found.estimate[at] - true[at])
        raw.append(seen[at] - true[at])
        held.append(found.low[at] <= true[at] <= found.high[at])
    assert abs(np.mean(off)) < 0.3
    assert np.mean(raw) > 0.8
    assert np.mean(held) > 0.87


def test_numbers_without_errors_or_spread() -> None:
    """Exact numbers stay, and so do equal ones; one of a single seed is estimated by the others."""
    kept: Shrunken = shrunken_numbers([1.0, 5.0], [0.0, 0.0])
    assert kept.estimate == pytest.approx([1.0, 5.0])
    assert shrunken_numbers([2.0, 2.0], [0.5, 0.5]).estimate == pytest.approx([2.0, 2.0])
    alone = shrunken_numbers([1.0, 2.0, 3.0, 50.0], [0.1, 0.1, 0.1, np.inf])
    assert alone.estimate[3] == pytest.approx(2.0, abs=0.2)
    assert alone.high[3] - alone.low[3] > alone.high[0] - alone.low[0]
    left = shrunken_numbers([1.0, np.inf, 2.0], [0.1, 0.1, 0.1])
    assert np.isnan(left.estimate[1])
    assert np.isfinite(left.estimate[[0, 2]]).all()


def test_intervals_end_at_the_bounds_of_a_number() -> None:
    """Where a number cannot lie outside them; the estimates are the same, and unbounded intervals did pass them."""
    values, errors = [0.02, 0.5, 0.97, 0.99], [0.1, 0.02, 0.1, 0.02]
    free, bound = shrunken_numbers(values, errors), shrunken_numbers(values, errors, bounds=(0.0, 1.0))
    assert free.low.min() < 0
    assert free.high.max() > 1
    assert bound.low == pytest.approx(np.maximum(free.low, 0))
    assert bound.high == pytest.approx(np.minimum(free.high, 1))
    assert bound.estimate == pytest.approx(free.estimate)
