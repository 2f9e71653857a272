"""Laws of a store of another version: an older one is brought up or made again, a newer one refused and left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.experiment import Recording
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Ingest, Layout, Store, ingest, rebuild
from swingby.store.database import connect
from swingby.store.layout import FORMAT
from swingby.store.refined import refinements
from swingby.store.status import statuses
from tests.support.store import Segment, cells, copied, finished, rows_of, snapshot, write_plan, write_shard

TOKENS = ("steps:log:200",)


@pytest.fixture(scope="module")
def two_cells(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A store with two cells of one sweep; nobody changes it."""
    records = Records.open(tmp_path_factory.mktemp("two") / "data")
    write_plan(records, ["x", "y"])
    write_shard(records, [Segment("x"), Segment("y", value=1)])
    ingest(records)
    return records


@pytest.fixture
def records(two_cells: Records, tmp_path: Path) -> Records:
    """A copy of it."""
    return copied(two_cells, tmp_path / "data")


def aged(records: Records, version: int, *statements: str) -> None:
    """Makes the store one of that version, by what tells the versions apart."""
    layout = Layout(records.data)
    newest = layout.newest()
    assert newest is not None
    for path in (layout.index(newest.build), layout.paths(newest)["ix"]):
        connection = connect()
        connection.execute(f"attach '{path}' as ix")
        for statement in (*statements, f"update ix.state set format = {version}"):
            connection.execute(statement)
        connection.close()
    told = json.loads(layout.pointer.read_text())
    del told["digest"]  # earlier versions had none
    views = [view for view in told["views"] if version >= FORMAT or "view retractions" not in view]
    layout.pointer.write_text(json.dumps({**told, "format": version, "views": views}))


FOURTH = ("drop schema ix.spare cascade",)
THIRD = ("alter table ix.plans drop column decision", *FOURTH)
SECOND = ("drop table ix.lost", 'alter table if exists ix.rows."toy" drop column after_step', *THIRD)
FIRST = ("drop table ix.retracted", "drop table ix.retractions", *SECOND)


def test_a_store_of_the_first_version_is_brought_up(records: Records) -> None:
    """Readers read it as it is, and say what brings it up where they need more; the next ingest does so in place, says
    so, and leaves what a rebuild makes."""
    now = snapshot(records)
    seen = dict(now)
    aged(records, 1, *FIRST)
    older = snapshot(records)
    assert "decision" in "".join(seen.pop("plans"))
    assert "decision" not in "".join(older.pop("plans"))
    assert older == {name: rows for name, rows in seen.items() if name != "retractions"}
    with pytest.raises(SwingbyError, match=f"has version 1; `swingby ingest` brings it up to {FORMAT}"):
        finished(records, "toy", ["x"], TOKENS)
    taken = ingest(records)
    assert taken.upgrade == f"the store had version 1; it was brought up to version {FORMAT}"
    assert (taken.shards, Layout(records.data).next_build()) == (0, 2)
    assert snapshot(records) == now
    assert finished(records, "toy", ["x"], TOKENS).done == {"x"}
    assert ingest(records).upgrade == ""
    rebuild(records)
    assert snapshot(records) == now


def test_a_store_of_the_second_version_is_brought_up(records: Records) -> None:
    """It knows of no gaps, and readers are told so; once brought up, what goes on from nothing does not count."""
    aged(records, 2, *SECOND)
    with Store.open(records.data) as store:
        assert store.gaps() == []
    after = pa.array([2], pa.int64())
    write_shard(records, rows_of([Segment("x", 5, 6)], after_step=after), sweep="b", attempt=2001)
    write_shard(records, rows_of([Segment("z", 5, 6)], after_step=after), sweep="b", attempt=2001, batch=1)
    assert ingest(records).upgrade == f"the store had version 2; it was brought up to version {FORMAT}"
    assert [row[0] for row in cells(records)] == ["x", "y"]
    with Store.open(records.data) as store:
        assert [gap.cell_id for gap in store.gaps()] == ["z"]
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


def test_a_store_of_the_third_version_is_brought_up(records: Records) -> None:
    """It knows of no decisions; once brought up it is what a rebuild makes."""
    seen = snapshot(records)
    aged(records, 3, *THIRD)
    with Store.open(records.data) as store:
        assert refinements(store) == {}
        assert [(one.cells, one.refined) for one in statuses(store)] == [(2, None)]
        assert store.points("toy", statuses(store)[0].sweep_id).num_rows == 2
    assert ingest(records).upgrade == f"the store had version 3; it was brought up to version {FORMAT}"
    assert snapshot(records) == seen
    rebuild(records)
    assert snapshot(records) == seen


def test_a_store_of_the_fourth_version_is_brought_up(records: Records) -> None:
    """It shows one result of a cell; once brought up, each sweep reads its own, as after a rebuild."""
    coarse = write_plan(records, ["x", "y"], "b", recording=Recording(points=50))
    write_shard(records, [Segment("x", value=5)], tokens=("steps:log:50",), sweep="b", batch=7)
    ingest(records)
    seen = snapshot(records)
    dropped = 'insert into ix.dropped."toy" select cell_id, curve from ix.spare."toy"'
    aged(records, 4, dropped, *FOURTH)
    assert ingest(records).upgrade == f"the store had version 4; it was brought up to version {FORMAT}"
    assert snapshot(records) == seen
    with Store.open(records.data) as store:
        read = store.sql("select score from toy where cell_id = 'x' and ? <> ''", [coarse.sweep_id]).rows()
        assert [row.score for row in read] == [5]
        assert [row.score for row in store.sql("select score from toy where cell_id = 'x'").rows()] == [0]
    rebuild(records)
    assert snapshot(records) == seen


def test_a_store_too_old_is_made_again(records: Records) -> None:
    """Of a version that nobody knows any more, with a column less: readers say what to do, the next ingest makes it
    again from the records, even one that would not have published, and says so."""
    seen = snapshot(records)
    aged(records, 0, *FIRST, "alter table ix.shards drop column host")
    with pytest.raises(SwingbyError, match=r"store version 0, .*`swingby ingest` makes the store again"):
        snapshot(records)
    with Ingest(records) as step:
        assert "made again" in step.take().upgrade
        assert step.publish()
    assert snapshot(records) == seen
    assert ingest(records).upgrade == ""


@pytest.mark.parametrize("where", ["everywhere", "index"])
def test_a_newer_store_is_refused_and_left_alone(records: Records, where: str) -> None:
    """Reading, ingesting and rebuilding say that a newer version wrote it, and change nothing; an index that a newer
    version brought up and has not yet published is read as it was published, and not written."""
    pointer = Layout(records.data).pointer
    published = pointer.read_text()
    aged(records, FORMAT + 1)
    if where == "index":
        pointer.write_text(published)
    before = {path: path.read_bytes() for path in records.data.rglob("*.duckdb")}
    for act in [snapshot, ingest, rebuild] if where == "everywhere" else [ingest]:
        with pytest.raises(SwingbyError, match=rf"newer version of swingby: it has store version {FORMAT + 1}.*update"):
            act(records)
    assert {path: path.read_bytes() for path in records.data.rglob("*.duckdb")} == before


def test_a_run_brings_an_older_store_up_and_says_so(walk: Any) -> None:
    """`run` says in a line what it did about the store, and trains nothing again."""
    sweep = walk.sweep(seeds=1)

    class Heard(Progress):
        lines: list[str] = []  # noqa: RUF012 - of the one that hears

        def line(self, text: str) -> None:
            self.lines.append(text)

    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    aged(walk.records(), 0, *FIRST)
    result = run_sweep(sweep, walk.data, local=True, pilot=False, progress=Heard())
    assert (result.trained, result.ok) == (0, 4)
    assert any("made again" in line for line in Heard.lines)
