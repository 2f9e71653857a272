"""Curves packed for the page: they come back as they were, to the step of the packing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from swingby_analysis.charts.curves import FLOOR
from swingby_analysis.charts.trajectories import time_marks
from swingby_analysis.report.curves import CEILING, PointCurves, packed, packed_path, packed_value

losses = arrays.arrays(float, st.integers(1, 40), elements=st.floats(0) | st.just(math.nan))


@given(losses)
def test_packed_valuees_are_read_back(loss: np.ndarray) -> None:
    """A loss between the floor and the ceiling comes back to 0.12 %; anything else lies outside of the axis."""
    wanted = np.clip(np.where(np.isfinite(loss), loss, 10 * CEILING), FLOOR / 10, 10 * CEILING)
    assert 10 ** (np.cumsum(packed_value(loss)) / 1000) == pytest.approx(wanted, rel=1.2e-3)


@given(arrays.arrays(float, st.integers(1, 40), elements=st.floats(-10, 10)))
def test_packed_paths_are_read_back(output: np.ndarray) -> None:
    """An output comes back to half a thousandth."""
    assert np.cumsum(packed_path(output)) / 1000 == pytest.approx(output, abs=5.1e-4)


def test_points_with_equal_steps_share_them() -> None:
    """Lists of steps that are equal travel once."""
    curve = PointCurves(np.array([0, 1, 5]), {"OOD loss": np.ones((3, 3))}, np.zeros((2, 3)), 4)
    other = PointCurves(np.array([0, 2, 5]), curve.values, curve.path, 4)
    found = packed({1: curve, 2: other, 3: curve})
    assert found["steps"] == [[0, 1, 4], [0, 2, 3]]
    assert [found["of"][point]["steps"] for point in "123"] == [0, 1, 0]


def test_a_path_ends_where_it_is_no_longer_finite() -> None:
    """Of a path that leaves the numbers, the part before is shown."""
    path = np.array([[0.0, 0.5, np.nan, 1.0], [0.0, 0.5, 0.5, 1.0]])
    curve = PointCurves(np.array([0, 1, 2, 3]), {}, path, 4)
    assert [place.step for place in curve.places()] == [0, 1]
    assert time_marks(curve.places(), 1)[-1].x == 0.5
