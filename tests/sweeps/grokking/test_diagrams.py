"""Lines of theory in the diagrams of `mlp_regimes`."""

from __future__ import annotations

import pytest

from swingby.sweepfile.sweep import Sweep
from swingby_analysis.grid import Grid, GridAxis
from swingby_analysis.statements.catalogue import diagrams
from swingby_sweeps.grokking import theory
from swingby_sweeps.grokking.theory_lines import as_large

DIAGRAMS = diagrams("mlp_regimes")


def grid(y: str, values: list[float]) -> Grid:
    weights = GridAxis.of("weight_scale", "weight scale", [1.0, 2.0, 4.0, 8.0])
    return Grid(weights, GridAxis.of(y, y, values), ("",), {})


@pytest.mark.parametrize(
    ("y", "values"), [("target_scale", [0.1, 1.0, 10.0, 100.0]), ("output_scale", [0.01, 0.1, 1.0])]
)
def test_the_line_is_where_the_target_is_as_large_as_the_start(y: str, values: list[float]) -> None:
    """On the line `theory.target_ratio` is 1, and it stays within the diagram."""
    common = {"target_scale": 3.0, "output_scale": 1.0}
    (line,) = as_large({"common": common}, grid(y, values))
    assert len(line.x) >= 3
    for weight, value in zip(line.x, line.y, strict=True):
        scales = {**common, "weight_scale": weight, y: value}
        assert theory.target_ratio(**scales) == pytest.approx(1)


def test_a_refined_diagram_draws_the_boundaries_that_its_sweep_seeks() -> None:
    """A share map for each outcome of `refine`, in its words."""
    fine = [diagram for diagram in DIAGRAMS if diagram.slug.endswith("-fine")]
    assert len(fine) == 4
    for diagram in fine:
        sought = [label.text for label in Sweep.load(diagram.sweep).refinement().labels]
        assert [one.outcome for one in diagram.maps if one.drawn == "share"] == sought
