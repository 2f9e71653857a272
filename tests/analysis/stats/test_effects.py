"""Main effects: exact where there is no noise, nothing where there is nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby_analysis.stats.effects import main_effects


def grid(*sizes: int) -> np.ndarray:
    """Every combination of the indices of axes, (points, axes)."""
    return np.array(list(np.ndindex(*sizes)))


@given(st.lists(st.lists(st.floats(-5, 5), min_size=2, max_size=5), min_size=1, max_size=3), st.booleans())
def test_an_additive_function_is_explained_exactly(levels: list[list[float]], common: bool) -> None:
    """Without noise each axis has the share of its own variance, and nothing is left for interactions."""
    places = grid(*map(len, levels))
    values = sum(np.array(axis)[places[:, number]] for number, axis in enumerate(levels))
    found = main_effects(places, np.repeat(np.asarray(values)[:, None], 3, axis=1), common)
    total = sum(float(np.var(axis)) for axis in levels)
    if total < 1e-6:
        return
    assert found is not None
    assert [one.share for one in found.axes] == pytest.approx([np.var(axis) / total for axis in levels], abs=1e-9)
    assert found.rest.share == pytest.approx(0, abs=1e-9)
    assert found.noise == pytest.approx(0, abs=1e-9)
    assert found.whole


@pytest.mark.parametrize("common", [False, True])
def test_noise_is_explained_by_nothing(common: bool) -> None:
    """Of noise the interval of every axis holds 0, whatever the grid; also where seeds shift all points alike."""
    draws = np.random.default_rng(0)
    missed = []
    for _ in range(20):
        places = grid(3, 4, 2)
        values = draws.normal(size=(len(places), 8)) + (5 * draws.normal(size=8) if common else 0)
        found = main_effects(places, values, common)
        assert found is not None
        missed += [not one.low <= 0 <= one.high for one in found.axes]
    assert sum(missed) <= 3


def test_a_pure_interaction_is_left_to_the_rest() -> None:
    """Of a product of two signs no axis explains anything by itself."""
    places = grid(2, 2)
    values = np.array([1.0, -1.0, -1.0, 1.0])[:, None] + np.zeros((4, 2))
    found = main_effects(places, values, common=True)
    assert found is not None
    assert [one.share for one in found.axes] == pytest.approx([0, 0])
    assert found.rest.share == pytest.approx(1)


def test_a_known_effect_lies_in_its_interval() -> None:
    """Of an effect with noise the interval holds the share that it has of all variance, nearly always."""
    draws, hits = np.random.default_rng(1), 0
    places = grid(4, 4)
    for _ in range(20):
        values = places[:, :1] + 2.0 * draws.normal(size=(16, 10))
        found = main_effects(places, values, common=False)
        assert found is not None
        truth = 1.25 / (1.25 + 4 / 10 * 15 / 16)
        hits += found.axes[0].low <= truth <= found.axes[0].high
    assert hits >= 15


@pytest.mark.parametrize(("seeds", "common"), [(3, False), (3, True), (12, False)])
def test_intervals_of_shares_of_seeds_hold_the_truth(seeds: int, common: bool) -> None:
    """With few seeds, too: about 95 of 100 do, and each holds its own estimate."""
    draws, hits, maps = np.random.default_rng(4), 0, 60
    places = grid(4, 5)
    odds = places[:, 0] + 0.5 * places[:, 1] + 0.13 * places[:, 0] * places[:, 1] - 3
    true = 1 / (1 + np.exp(-odds))
    by_level = np.array([true[places[:, 0] == level].mean() for level in range(4)])
    whole = ((true - true.mean()) ** 2).sum() + (true * (1 - true)).mean() / seeds * (len(true) - 1)
    share = 5 * ((by_level - by_level.mean()) ** 2).sum() / whole
    for _ in range(maps):
        seen = np.asarray(draws.random((20, seeds)) < true[:, None], dtype=np.float64)
        found = main_effects(places, seen, common)
        assert found is not None
        assert all(one.low <= one.share <= one.high for one in (*found.axes, found.rest))
        hits += found.axes[0].low <= share <= found.axes[0].high
    assert hits >= 0.87 * maps


def test_what_does_not_vary_has_no_effects() -> None:
    """A constant has none; a single seed gives shares without intervals; unknown points are left out."""
    assert main_effects(grid(2, 3), np.ones((6, 3)), common=False) is None
    found = main_effects(grid(2, 3), np.array([[0.0], [1], [2], [0], [1], [np.nan]]), common=False)
    assert found is not None
    assert found.points == 5
    assert not found.whole
    assert np.isnan(found.axes[0].low)
