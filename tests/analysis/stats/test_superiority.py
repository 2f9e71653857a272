"""The probability of superiority: its values, its symmetries, and how often its interval covers the true one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from swingby_analysis.stats.superiority import superiority

Floats = NDArray[np.float64]
values = st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=15)


@given(values, values)
def test_it_is_the_share_of_pairs(one: list[float], other: list[float]) -> None:
    """Over all pairs, equal ones counted half; within its interval, which turns round with the samples."""
    found, turned = superiority(one, other), superiority(other, one)
    x, y = np.array(one)[:, None], np.array(other)[None, :]
    assert found.share == pytest.approx(float(((x > y) + (x == y) / 2).mean()))
    assert found.low <= found.share + 1e-12
    assert found.share <= found.high + 1e-12
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low))


def test_samples_apart_have_an_interval_all_the_same() -> None:
    """As that of a share of as many as the smaller sample has; infinite values are the largest."""
    found = superiority([2.0, 3.0, np.inf, 5.0, 6.0], [1.0] * 9)
    assert found.share == found.high == 1
    assert 0.5 < found.low < 0.6
    with pytest.raises(ValueError, match="without NaN"):
        superiority([1.0], [])


CASES: list[tuple[str, Callable[[np.random.Generator, int], Floats], Callable[[np.random.Generator, int], Floats]]] = [
    ("equal", lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(size=n)),
    ("apart", lambda rng, n: rng.normal(size=n) + 2, lambda rng, n: rng.normal(size=n)),
    ("of two spreads", lambda rng, n: 5 * rng.normal(size=n), lambda rng, n: rng.normal(size=n)),
    ("mostly zero", lambda rng, n: rng.exponential(size=n) * (rng.random(n) < 0.4),
     lambda rng, n: rng.exponential(size=n) * (rng.random(n) < 0.15)),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("sizes", [(8, 8), (20, 60)])
def test_the_interval_covers_as_often_as_it_says(
    sizes: tuple[int, int],
    x: Callable[[np.random.Generator, int], Floats],
    y: Callable[[np.random.Generator, int], Floats],
) -> None:
    """In more than 91 % of samples, also where the spreads or the sizes differ and where most values are equal."""
    rng = np.random.default_rng(1)
    true = superiority(x(rng, 50_000), y(rng, 50_000)).share
    found = [superiority(x(rng, sizes[0]), y(rng, sizes[1])) for _ in range(200)]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.91
