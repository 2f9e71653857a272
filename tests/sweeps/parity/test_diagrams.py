"""Diagrams of `parity_net`: lines of theory, and the boundaries that refined sweeps seek."""

from __future__ import annotations

import pytest

from swingby_analysis.statements.catalogue import diagrams
from swingby_analysis.statements.diagram import Lines
from swingby_sweeps.parity import theory, theory_lines
from swingby_sweeps.parity.calibration import CALIBRATED
from tests.support.grids import grid

COMMON = {"common": {"alpha": 0.6, "skills": 5, "m": 3, "bits": 16}}


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_at_a_corner_either_law_has_the_skill_at_half_its_strength(k: int) -> None:
    """(5.9) along the upright part, and the mean law along the level one; outside the grid there is no line."""
    samples = ("samples", [100, 1000, 10_000])
    (line,) = theory_lines.corner(k, COMMON, grid(("width", [3, 6, 12, 25, 50, 100]), samples))
    constants, p = CALIBRATED[3], theory.frequencies(0.6, 5)
    assert theory.strength_in_width(line.x[0], constants.n_c, 5)[k - 1] == pytest.approx(0.5)
    assert theory.mean_strength_in_data(line.y[-1] * p[k - 1], constants.d_c) == pytest.approx(0.5)
    assert (line.x[0], line.y[-1]) == (line.x[1], line.y[1])
    assert theory_lines.corner(k, COMMON, grid(("width", [1, 2, 3]), samples)) == []


@pytest.mark.parametrize(("sweep", "lines"), [
    ("parity-width-samples-fine", theory_lines.each_number_of_samples_and_units),
    ("parity-width-bits-fine", theory_lines.each_number_of_units),
])  # fmt: skip
def test_lines_of_single_maps_belong_to_maps_that_there_are(sweep: str, lines: Lines) -> None:
    """Each is over a map of the diagram, and every map has one."""
    (diagram,) = diagrams("parity_net", [sweep])
    places = grid(("width", [3, 6, 12, 25, 50, 100]), ("samples", [100, 1000, 10_000]))
    assert {line.outcome for line in lines(COMMON, places)} == {one.outcome for one in diagram.maps}


def test_no_line_is_drawn_with_constants_of_other_inputs() -> None:
    """Inputs of 32 bits were not calibrated: they have no line that needs the constants of 16."""
    other = {"common": {**COMMON["common"], "bits": 32}}
    places = grid(("width", [3, 25, 100]), ("m", [2, 3, 4]))
    assert theory_lines.corner(1, other, places) == theory_lines.samples_and_units(other, places) == []
    assert theory_lines.last_in_time(other, places) == []
    assert all(not line.x for line in theory_lines.units_of_skills(other, places))
    assert any(line.x for line in theory_lines.units_of_skills(COMMON, places))
