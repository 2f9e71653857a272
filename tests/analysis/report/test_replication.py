"""Replication: the extreme points of a map on fresh seeds, by the verb, from Python, and in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby_analysis.replication import SUFFIX, Replication, replication
from swingby_analysis.report import write_report
from tests.support.command import swingby

SEEDS, FRESH = 12, 60
FILE = """
name: coins
experiment: coins.py
axes: {p: [0.2, 0.3], rows.1: [1, 2, 3, 4, 5, 6, 7]}
base: {rows: [0, 0]}
seeds: {count: 12, first: 5, mode: independent}
diagram: {x: rows.1, y: p, outcome: heads}
outcomes: {size: value, side: "if(heads, 'head', 'tail')"}
"""
CODE = """
from swingby import Vector, experiment

@experiment
def coins(cell, p: float, rows: Vector):
    drawn = cell.numpy("coin").uniform()
    cell.record(0, height=drawn)
    return {"heads": bool(drawn < p), "value": float(drawn)}
"""


@pytest.fixture(scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A sweep over coins that differ little, trained, and its extreme points on fresh seeds: file, data, numbers."""
    folder = tmp_path_factory.mktemp("coins")
    (folder / "coins.py").write_text(CODE)
    file = folder / "coins.yaml"
    file.write_text(FILE)
    sweep = Sweep.load(file)
    sweep.run(folder / "data", local=True, pilot=False)
    found = sweep.replicate(folder / "data", seeds=FRESH, top=2, local=True, pilot=False)
    return file, folder / "data", found


def verb(*arguments: object) -> Any:
    """What `swingby replicate` gave."""
    return swingby("replicate", *map(str, arguments))


def test_fresh_seeds_have_no_part_in_the_choice(coins: Any) -> None:
    """They were never used by the sweep, each extreme point has all of them, and shrinking goes inward."""
    _, data, found = coins
    assert isinstance(found, Replication)
    with Store.open(data) as store:
        first, fresh = (
            {row.seed for row in store.sql("select distinct seed from coins join members using (cell_id) "
                                           "join sweeps using (sweep_id) where name = ?", [name]).rows()}
            for name in ("coins", f"coins{SUFFIX}")
        )  # fmt: skip
    assert (len(first), len(fresh)) == (SEEDS, FRESH)
    assert not first & fresh
    rows = found.plain()["extremes"]
    assert [row["end"] for row in rows] == ["largest"] * 2 + ["smallest"] * 2
    assert all(row["fresh"]["n"] == FRESH for row in rows)
    assert rows[0]["seen"]["share"] > rows[0]["shrunken"]["estimate"] > rows[2]["shrunken"]["estimate"]
    assert rows[2]["shrunken"]["estimate"] > rows[2]["seen"]["share"]
    assert found.polars().height == 4


def test_a_second_call_trains_nothing(coins: Any) -> None:
    """By the verb as from Python: the same sweep, whose cells all have a result; as JSON, and as a table."""
    file, data, found = coins
    before = Records.open(data).shards()
    again = verb(file, "--data", data, "--seeds", FRESH, "--top", 2, "--local", "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout[again.stdout.index("{") :])["sweep_id"] == found.sweep.sweep_id
    assert list(Records.open(data).shards()) == list(before)
    assert "fresh seeds" in verb(file, "--data", data, "--seeds", FRESH, "--top", 2, "--local").stdout


def test_a_dry_run_leaves_no_trace(coins: Any) -> None:
    """It names what there would be to do, and no sweep is planned."""
    file, data, _ = coins
    asked = verb(file, "--data", data, "--seeds", 3, "--dry-run")
    assert asked.exit_code == 0, asked.output
    with Store.open(data) as store:
        assert len(store.sql("select distinct sweep_id from sweeps").rows()) == 2


def test_it_goes_on_where_it_was_stopped(coins: Any) -> None:
    """Points and seeds follow from the sweep alone: what was trained of it is a part of the very same cells."""
    file, _, found = coins
    sweep = Sweep.load(file)
    places = [row.point for row in found.extremes.rows]
    again = replication(sweep, places, "heads", FRESH, max(sweep.seeds))
    assert again.sweep_id == found.sweep.sweep_id
    part = replication(sweep, places, "heads", 10, max(sweep.seeds))
    assert set(part.cell_ids().to_pylist()) < set(again.cell_ids().to_pylist())
    for place, point in zip(places, again.points, strict=True):
        assert point.point_id == sweep.points[place].point_id


def test_the_report_shows_fresh_numbers(coins: Any) -> None:
    """Below the map and in the summary; the origin of the fresh sweep stands in its own report."""
    file, data, found = coins
    page = write_report(str(file), data, data.parent / "out", ()).page.read_text()
    assert '<table class="extremes">' in page
    for row in found.plain()["extremes"]:
        assert f"{row['fresh']['k']} of {FRESH} seeds" in page
    assert "on fresh seeds" in page
    assert (
        "Made by <code>swingby replicate coins</code>"
        in write_report(f"coins{SUFFIX}", data, data.parent / "out", ()).page.read_text()
    )


def test_a_number_is_replicated_too(coins: Any) -> None:
    """Of a number the medians are compared."""
    file, data, _ = coins
    found = Sweep.load(file).replicate(data, outcome="size", seeds=20, top=1, local=True, pilot=False)
    high, low = found.plain()["extremes"]
    assert high["seen"]["median"] > high["shrunken"]["estimate"] > low["shrunken"]["estimate"] > low["seen"]["median"]
    assert high["fresh"]["n"] == low["fresh"]["n"] == 20


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--outcome", "side"], "is a category"),
        (["--outcome", "tails"], "no outcome 'tails'"),
        (["--top", "0"], "--top 0"),
        (["--seeds", "0"], "--seeds 0"),
        (["--seeds", "100000"], "--confirm-above"),
        (["--set", "seeds.count=13"], "not finished|has not been run"),
    ],
)
def test_what_cannot_be_replicated_is_told(coins: Any, arguments: list[str], complaint: str) -> None:
    """By one line that says what is wrong, and exit code 2."""
    file, data, _ = coins
    asked = verb(file, "--data", data, "--local", *arguments)
    assert asked.exit_code == 2
    with pytest.raises(AssertionError, match=complaint):
        raise AssertionError(" ".join(asked.output.split()))


def test_without_results_there_is_nothing_to_replicate(coins: Any, tmp_path: Path) -> None:
    """Neither in an empty folder, nor of a sweep that replicates another."""
    file, data, found = coins
    assert verb(file, "--data", tmp_path / "none").exit_code == 2
    with pytest.raises(SwingbyError, match="replication itself"):
        Sweep.replicate(found.sweep, data, local=True)
