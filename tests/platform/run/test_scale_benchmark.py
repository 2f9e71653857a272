"""The benchmark of scale: every step of it works, on a thousand cells, and what it says of larger ones is a line."""

from __future__ import annotations

import pytest

from tests.benchmarks import scale


@pytest.mark.slow
def test_every_step_is_measured() -> None:
    """A row a step, each with a time and a peak of memory."""
    rows = scale.table(quick=True)
    assert [row[0] for row in rows] == list(scale.STEPS)
    for row in rows:
        told = dict(zip(scale.COLUMNS, row, strict=False))
        assert float(told["core seconds"]) >= 0
        assert float(told["peak MB"].replace(",", "")) > 50


def test_the_sizes_are_whole_and_the_line_goes_through_the_largest() -> None:
    """A square of points with as many seeds comes to the size; growth in proportion is told as such, and goes on so."""
    for cells, places in scale.SIZES.items():
        assert places**2 * (cells // places**2) == cells
    found = {10_000: 9.0, 100_000: 2.0, 1_000_000: 20.0}
    assert scale._growth(found) == "1.00"
    assert scale._line(found) == pytest.approx(2000.0)
    assert scale._line({100_000: 2.0, 1_000_000: 1.0}) == 1.0
