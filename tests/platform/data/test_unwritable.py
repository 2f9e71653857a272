"""Laws of a data folder that may only be read: what was published there is shown, and as of when."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from swingby.data.records import Records, ShardHeader
from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.run.outcomes import derive, refresh
from swingby.store import Store
from swingby_analysis.diff.comparison import compared
from swingby_analysis.report import write_report
from swingby_analysis.serve.queries import Limits
from swingby_analysis.serve.reports import Folder
from tests.support import synthetic_sim
from tests.support.rights import only_readable, without_powers
from tests.support.server import served
from tests.support.waiting import awaited

LATER = "1 shard that came later is not in it"
UNTOLD = "Figures of outcomes leave out 4 cells"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A sweep of 12 cells: 4 seen by the detectors, 8 published, one more in a shard that nobody took in."""
    data = tmp_path_factory.mktemp("unwritable") / "data"
    sweep = synthetic_sim.square("small", 2, 3)
    records = synthetic_sim.write(data, sweep, lambda cell: "ok" if cell.seed == 0 else None)
    derive(records)
    rest = [cell for cell in sweep.cells() if cell.seed != 0]
    add(records, rest[:4], 1002)
    refresh(records)
    add(records, rest[4:5], 1003)
    with only_readable(data):
        yield data


def add(records: Records, cells: list[Cell], attempt: int) -> None:
    """One more shard."""
    header, _ = records.read_shard(records.shards()[0])
    again = {name: getattr(header, name) for name in ShardHeader.__dataclass_fields__}
    changed = {"attempt": attempt, "cells": len(cells)}
    records.write_shard(ShardHeader(**{**again, **changed}), synthetic_sim.rows(cells, ["ok"] * len(cells)))


def test_a_report_shows_what_was_published(folder: Path, tmp_path: Path) -> None:
    """It says so first: as of when, what is not in it, and what no detector has seen; nothing is written there."""
    before = sorted(folder.rglob("*"))
    report = without_powers(lambda: write_report("small", folder, tmp_path / "out", ()))
    expected = "The data folder may only be read (Permission denied): this shows what was published on 20"
    assert report.warnings[0].startswith(expected)
    assert LATER in report.warnings[0]
    assert report.warnings[1].startswith(UNTOLD)
    assert "4 of 12 cells have no result yet" in report.warnings[2]
    assert report.faults == []
    assert all(warning.split(":")[0] in report.page.read_text() for warning in report.warnings[:2])
    assert sorted(folder.rglob("*")) == before


@pytest.mark.timeout(900)  # the report is written by a process of low priority: on a busy machine it takes minutes
@pytest.mark.parametrize("reported", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_is_served_and_compared(folder: Path, tmp_path: Path, reported: bool) -> None:
    """The page lists its sweeps, answers SQL and shows a report; a comparison says as of when it is."""

    def look() -> None:
        with served(folder, tmp_path, Limits(seconds=120.0)) as site:
            assert "<strong>8</strong> of 12 cells" in site.ask("/").text
            assert site.sql("select count(*) as n from sim", ".csv").text == "n\n8\n"
            with Store.open(folder) as store:
                (row,) = store.sql("select sweep_id from sweeps").rows()
            if reported:
                site.ask(f"/sweeps/{row.sweep_id}")
                awaited(lambda: site.ask(f"/reports/{row.sweep_id}").status == 200, 600)
                assert LATER in site.ask(f"/reports/{row.sweep_id}").text
        with compared("small", "small", folder) as found:
            assert found.finished.height == 8
            assert LATER in found.a.warnings[0]

    without_powers(look)


def test_where_nothing_was_published_the_fault_is_told(tmp_path: Path) -> None:
    """There is nothing to show: the fault says what could not be written."""
    records = Records.open(tmp_path / "data")
    with only_readable(records.data), pytest.raises(SwingbyError, match=r"cannot lock .*Permission denied"):
        without_powers(lambda: write_report("small", records.data, tmp_path / "out", ()))


def test_a_server_without_a_place_for_reports_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are written elsewhere than into the data folder: where there is no such place, the fault names it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(SwingbyError, match=r"temporary folder .*No such file"), Folder():
        pass
