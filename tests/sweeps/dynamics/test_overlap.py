"""Stages counted in overlaps of consecutive pairs."""

from __future__ import annotations

import math

import pytest

from swingby_sweeps.dynamics.overlap import stages

NAN = math.nan


@pytest.mark.parametrize(
    ("overlaps", "count"),
    [
        ([0.01, 0.04, 0.2, 0.01], 2),
        ([0.1, 0.0, 0.0, 0.0], 0),
        ([0.05, 0.05], 2),
        ([0.01, 0.2, NAN], 1),
        ([0.01, NAN, 0.2], None),
        ([NAN], None),
        ([], None),
    ],
)
def test_stages_are_counted_up_to_the_first_pair_that_overlaps(overlaps: list[float], count: int | None) -> None:
    """Pairs behind the first one that overlaps do not count, and a pair that is not known hides the number before."""
    assert stages(overlaps) == count
