"""Laws of what is known of a point."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from swingby.select.boundary.surface import Posterior
from swingby.select.boundary.verdicts import ABOVE, BELOW, NEAR, UNKNOWN, Goal, estimates

shares = st.floats(0.02, 0.98)


@given(st.floats(-8, 8), st.floats(0.01, 5), shares, st.floats(0.01, 0.4), st.floats(0.6, 0.99))
def test_a_verdict_is_as_sure_as_asked(mean: float, sd: float, share: float, within: float, confidence: float) -> None:
    """Above and below leave half of the doubt on the other side, near the doubt outside; else nothing is told."""
    goal = Goal(share, within, confidence)
    one = estimates(Posterior(np.array([[mean]]), np.array([[sd**2]]), np.ones(1)), goal)
    draws = expit(mean + sd * np.random.default_rng(0).normal(size=20_000))
    above, near = np.mean(draws > share), np.mean(np.abs(draws - share) <= within)
    doubt, noise = (1 - confidence) / 2, 0.02
    verdict = one.verdict[0]
    if verdict == ABOVE:
        assert above > 1 - doubt - noise
    elif verdict == BELOW:
        assert above < doubt + noise
    elif verdict == NEAR:
        assert near > confidence - noise
    else:
        assert verdict == UNKNOWN
        assert doubt - noise < above < 1 - doubt + noise
        assert near < confidence + noise
    wrong = np.mean(draws < share - within) if one.above[0] > 0.5 else np.mean(draws > share + within)
    assert abs(one.wrong[0] - wrong) < noise
    assert 0 <= one.low[0] <= one.high[0] <= 1


@given(st.floats(0.001, 0.5), st.floats(0.5, 0.999), shares)
def test_levels_beyond_all_shares_are_infinite(low: float, high: float, share: float) -> None:
    """A level so near to 0 or 1 that nothing lies beyond `within` of it on that side."""
    goal = Goal(share, 1.0)
    one = estimates(Posterior(np.array([[-3.0, 3.0]]), np.array([[1.0, 1.0]]), np.ones(1)), goal)
    assert goal.levels[0] == -np.inf
    assert goal.levels[2] == np.inf
    assert np.all(one.wrong == 0)
