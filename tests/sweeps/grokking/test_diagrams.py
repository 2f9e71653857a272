"""Lines of theory in the diagrams of `mlp_regimes`."""

from __future__ import annotations

import pytest

from swingby_sweeps.grokking import theory
from swingby_sweeps.grokking.theory_lines import as_large
from tests.support.grids import grid


@pytest.mark.parametrize(
    ("y", "values"), [("target_scale", [0.1, 1.0, 10.0, 100.0]), ("output_scale", [0.01, 0.1, 1.0])]
)
def test_the_line_is_where_the_target_is_as_large_as_the_start(y: str, values: list[float]) -> None:
    """On the line `theory.target_ratio` is 1, and it stays within the diagram."""
    common = {"target_scale": 3.0, "output_scale": 1.0}
    (line,) = as_large({"common": common}, grid(("weight_scale", [1, 2, 4, 8]), (y, values)))
    assert len(line.x) >= 3
    for weight, value in zip(line.x, line.y, strict=True):
        scales = {**common, "weight_scale": weight, y: value}
        assert theory.target_ratio(**scales) == pytest.approx(1)
