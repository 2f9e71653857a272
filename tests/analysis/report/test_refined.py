"""What pages say of a refined sweep, whose points have different numbers of seeds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.data.records import Records
from swingby.run.driver import run_sweep
from swingby.store import Store
from swingby.store.status import statuses
from swingby_analysis.diff.comparison import compared
from swingby_analysis.report import write_report
from swingby_analysis.serve.examples import examples
from tests.support.coins import FILE, coins, refine

FILTERED = "where=x < 0.3 and y < 0.3"


@pytest.fixture(scope="module")
def refined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the coins, of which some cells are trained; each test has a copy."""
    folder = tmp_path_factory.mktemp("refined")
    with pytest.MonkeyPatch.context() as patch:
        coins(folder, patch)
        refine("refine.budget=120")
    return folder


@pytest.fixture
def folder(refined: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the refined coins, from now on the folder of this process."""
    shutil.copytree(refined, tmp_path, dirs_exist_ok=True)
    return coins(tmp_path, monkeypatch)


def page(name: str, folder: Path) -> tuple[Any, str]:
    """The report of a sweep, and its text on one line."""
    report = write_report(name, folder / "data", folder / "out", ())
    return report, re.sub(r"\s+", " ", report.page.read_text())


def test_a_report_says_that_it_is_refined(folder: Path) -> None:
    """It says how many cells were spent and on which side points lie as fitted; nothing in it takes a whole grid."""
    report, text = page("coins", folder)
    (told,) = report.warnings
    assert "This sweep is refined: 120 of the grid's 1,536 cells" in told
    assert re.search(r"fitted to the results of all points, the share .*“heads”.* is above one half at [\d,]+ of", text)
    assert "“heads” is true of more than half" not in text
    assert "main-effects" not in [figure.slug for figure in report.figures]
    assert "cells-spent" in " ".join(figure.slug for figure in report.figures)


def test_once_the_grid_is_whole_it_is_one_like_any_other(folder: Path) -> None:
    """Nothing of the refinement is left but its cells."""
    run_sweep(Sweep.load("coins.yaml", [FILTERED]), folder / "data", local=True, pilot=False, refine=True)
    run_sweep(Sweep.load("coins.yaml", [FILTERED]), folder / "data", local=True, pilot=False)
    report, text = page("coins", folder)
    assert "This sweep is refined" not in text
    assert "“heads” is true of more than half" in text
    assert "main-effects" in [figure.slug for figure in report.figures]


def test_a_comparison_says_which_side_is_refined(folder: Path) -> None:
    """Only what both have is compared, and the reader is told why that is little."""
    (folder / "again.yaml").write_text(
        FILE.replace("name: coins", "name: again") + FILTERED.replace("=", ": ", 1) + "\n"
    )
    run_sweep(Sweep.load("again.yaml"), folder / "data", local=True, pilot=False)
    with compared("coins", "again", folder / "data") as found:
        told = [list(side.warnings) for side in found.sides]
    assert [len(one) for one in told] == [1, 0]
    assert told[0][0].startswith("A: it is refined: 120 of the grid's 1,536 cells")


def test_an_example_query_reads_the_fit(folder: Path) -> None:
    """The SQL page offers the points by the side of the line, and the query runs."""
    with Store.open(Records.open(folder / "data").data) as store:
        offered = examples(store.tables(), statuses(store))
        (one,) = [each for each in offered if "side of the line" in each.title]
        rows = store.sql(one.sql).rows()
    assert sum(row.points for row in rows) == 256
