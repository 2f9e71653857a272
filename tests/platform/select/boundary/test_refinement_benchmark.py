"""The benchmark of the selector: it goes on where it was ended, and its cases are those it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from tests.benchmarks import refinement
from tests.benchmarks.refinement_recorded import recorded
from tests.benchmarks.refinement_rivals import RIVALS
from tests.benchmarks.refinement_tables import OWN, print_tables, reaches
from tests.support.boundaries import made_up


def test_what_is_measured_is_not_measured_again(tmp_path: Path) -> None:
    """A second run with more orders adds theirs alone, and tables are printed of what is in the file."""
    file, cases = tmp_path / "measured.jsonl", {name: made_up(9)[name] for name in ("3 x 3", "one axis", "sharp")}
    names = [OWN, "full grid", "racing", "quadtree, 5 seeds"]
    refinement.measure(file, refinement.read(file), cases, range(1), names)
    before = file.read_text()
    refinement.measure(file, refinement.read(file), cases, range(2), names)
    assert file.read_text().startswith(before)
    known = refinement.read(file)
    assert sorted(known) == sorted((case, order, name) for case in cases for order in range(2) for name in names)
    console = Console(width=200, record=True)
    print_tables(console, list(known.values()), names)
    assert "one axis" in console.export_text()


def test_every_way_ends_and_knows_a_sharp_line() -> None:
    """Each rival's last look has a few points on the wrong side at most, and no more cells than there are."""
    case = made_up(13)["sharp"]()
    for name in set(RIVALS) - {"python-adaptive"}:
        trace = refinement.rival(case, 0, name)["trace"]
        assert trace[-1][0] <= 1
        assert trace[-1][1] < 0.1, name


def test_the_error_is_reached_where_it_stays() -> None:
    """A lucky look is none: the next one has to be as good."""
    full = [{"trace": [(1.0, 0.02, 0.0, None)]}]
    own = [{"trace": [(0.1, 0.02, 0.0, None), (0.2, 0.05, 0.0, None), (0.3, 0.01, 0.0, None), (0.4, 0.02, 0.0, None)]},
           {"trace": [(0.1, 0.5, 0.0, None)]}]  # fmt: skip
    assert reaches({("case", "full grid"): full, ("case", OWN): own}, "case", OWN, 1) == [0.3, float("inf")]


def test_a_recorded_case_is_its_sweep(tmp_path: Path) -> None:
    """The grid and the seeds of the archive, shares near the recorded ones; fitted once."""
    case = recorded(tmp_path)["depth-gain, diverged"]()
    assert case.space.shape == (41, 12)
    assert case.space.seeds == 30
    assert 0.05 < np.mean(case.truth > 0.5) < 0.2
    again = recorded(tmp_path)["depth-gain, diverged"]()
    assert np.array_equal(again.truth, case.truth)
    assert recorded(tmp_path)["latent-concepts, retreat"]().space.panel.max() == 2
