"""The extreme points of a map: which they are, and what is said of points that are alike."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl

from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.report import write_report
from swingby_analysis.report.extremes import extremes
from swingby_analysis.report.phases import Phases

TRAIN = """
from swingby import experiment


@experiment
def slope(cell, lr: float, steps: int = 5):
    w = 1.0
    for step in range(steps + 1):
        cell.record(step, loss=w * w)
        w = w - lr * w
    return {"small": w * w < 0.5}
"""


def phases_of(samples: list[list[float]]) -> Phases:
    """The numbers of the seeds of each point as the column `height`."""
    rows = [{"point": point, "height": value} for point, values in enumerate(samples) for value in values]
    return Phases(pl.DataFrame(rows))


def test_medians_that_shrink_to_the_same_are_ranked_by_what_else_is_known() -> None:
    """Where all but one are 0, that one is the largest, and not the first of the grid, though it shrinks to 0, too."""
    draws = np.random.default_rng(0)
    samples = [[0.0] * 20 for _ in range(60)]
    samples[41] = [0.0] * 7 + draws.uniform(0.02, 0.03, 13).tolist()
    found = extremes(phases_of(samples), "height", "number")
    assert found is not None
    largest, smallest = found.at("largest")[0], found.at("smallest")[0]
    assert (largest.point, largest.alike) == (41, 1)
    assert (largest.estimate, largest.low) == (0, 0)
    assert smallest.alike == 59
    assert found.qualified(smallest).startswith("59 of 60 points")
    assert re.search(r"the largest of 60 points .* by chance; shrunken .* it is 0 ", found.qualified(largest))


def test_nothing_is_too_extreme_that_shrinking_leaves() -> None:
    """Numbers without noise stay as they are, infinite ones too, and are not called too extreme."""
    found = extremes(phases_of([[1.0, 1.0], [2.0, 2.0], [np.inf, np.inf]]), "height", "number")
    assert found is not None
    (largest, *_), smallest = found.at("largest"), found.at("smallest")[0]
    assert (largest.point, largest.estimate) == (2, np.inf)
    assert (smallest.point, smallest.estimate) == (0, 1.0)
    for row in (largest, smallest):
        assert "by chance" not in found.qualified(row)
        assert f"it is the {row.end} of 3 points" in found.qualified(row)


def test_a_report_says_what_to_type_and_whose_outcome_is_not_known(tmp_path: Path) -> None:
    """A sweep of one's own is run by its file; a function that diverges returns nothing, and figures leave it out."""
    (tmp_path / "train.py").write_text(TRAIN)
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: own-slope\nexperiment: train.py\naxes: {lr: [0.1, 0.5, 1.0e+200]}\nseeds: 2\n"
        "diagram: {x: lr, outcome: small}\n"
    )
    run_sweep(Sweep.load(file), tmp_path / "data", local=True, pilot=False, progress=Progress())
    written = write_report("own-slope", tmp_path / "data", tmp_path / "out", kinds=())
    page = written.page.read_text()
    assert re.search(r"2 cells diverged; 2 of them .*\u201csmall\u201d", page)
    assert f"swingby replicate {file}" in page
