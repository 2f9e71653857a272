"""Laws of reading the store: whole generations, clear faults, publications rationed by their cost."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swingby.cli.rows import Format, write_file
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.store import Ingest, Layout, Store, ingest, rebuild
from tests.support.store import Segment, cells, snapshot, write_shard

# reading


def test_rows_come_in_parts(records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the query, one table at least; what fails in the midst is told, and no file is left of it."""
    monkeypatch.setattr("swingby.store.connection.STREAMED", 2048)
    write_shard(records, [Segment("x")])
    ingest(records)
    with Store.open(records.data) as store:
        with store.stream("select i from range(10_000) t(i) order by i desc") as tables:
            parts = list(tables)
        assert len(parts) > 1
        assert [row["i"] for part in parts for row in part.to_pylist()] == list(range(9_999, -1, -1))
        with store.stream("select cell_id from toy where false") as tables:
            assert [(part.num_rows, part.column_names) for part in tables] == [(0, ["cell_id"])]
        fails = "select case when i = 9000 then error('at last') else i end as i from range(10_000) t(i)"
        with (
            pytest.raises(SwingbyError, match="cannot answer the query: at last"),
            store.stream(fails) as tables,
        ):
            write_file(tables, Format.csv, tmp_path / "x.csv")
    assert list(tmp_path.glob("*x.csv*")) == []


def test_a_reader_moves_on_when_the_next_generation_is_there(records: Records) -> None:
    """An open reader sees what was published since, at its next question."""
    write_shard(records, [Segment("x")])
    ingest(records)
    with Store.open(records.data) as store:
        assert (store.generation, len(store.sql("from toy"))) == (1, 1)
        write_shard(records, [Segment("y")])
        assert len(store.sql("from toy")) == 1
        ingest(records)
        assert (len(store.sql("from toy")), store.generation) == (2, 2)
        rebuild(records)
        assert (len(store.sql("from toy")), store.generation) == (2, 3)


def test_a_reader_in_the_middle_of_a_question_is_not_disturbed(records: Records) -> None:
    """While generations come and go, readers always see a whole one, and never an older one than before."""
    write_shard(records, [Segment("0"), Segment("0b")])
    ingest(records)
    seen: list[list[int]] = [[], []]
    faults: list[BaseException] = []
    reading, done = threading.Barrier(3), threading.Event()

    def read(counts: list[int]) -> None:
        try:
            with Store.open(records.data) as store:
                last = False
                while not last:
                    last = done.is_set()
                    counts.append(store.sql("select count(*) from toy where len(loss) = 3").rows()[0][0])
                    if len(counts) == 1:
                        reading.wait(60)
        except BaseException as error:
            faults.append(error)
            reading.abort()

    readers = [threading.Thread(target=read, args=(counts,)) for counts in seen]
    for reader in readers:
        reader.start()
    with suppress(threading.BrokenBarrierError):
        reading.wait(60)
    for batch in range(1, 5):
        write_shard(records, [Segment(f"{batch}"), Segment(f"{batch}b")], batch=batch)
        ingest(records)
    done.set()
    for reader in readers:
        reader.join()
    assert faults == []
    for counts in seen:
        assert counts == sorted(counts)
        assert (counts[0], counts[-1]) == (2, 10)
        assert set(counts) <= set(range(2, 11, 2))


def test_only_two_generations_are_kept(records: Records) -> None:
    """After any number of publications and a rebuild there are the files of two, and no build but the live one."""
    layout = Layout(records.data)
    for batch in range(3):
        write_shard(records, [Segment(f"{batch}")], batch=batch)
        ingest(records)
    assert len(list(layout.published.iterdir())) == 4
    rebuild(records)
    write_shard(records, [Segment("y")])
    ingest(records)
    assert len(list(layout.published.iterdir())) == 4
    assert [path.name for path in layout.root.glob("build-*")] == ["build-0002"]


def test_rows_come_as_arrow_polars_and_tuples(records: Records) -> None:
    """One result in three shapes; parameters are bound; a name that is no Python name is replaced by its place."""
    write_shard(records, [Segment("x"), Segment("y")])
    ingest(records)
    with Store.open(records.data) as store:
        rows = store.sql('select cell_id, steps as "the steps" from toy where cell_id = ?', ["y"])
        assert rows.arrow().to_pylist() == [{"cell_id": "y", "the steps": 2}]
        assert rows.polars().equals(pl.DataFrame({"cell_id": ["y"], "the steps": [2]}))
        assert [(row.cell_id, row._1) for row in rows] == [("y", 2)]
        assert len(store.sql("from toy where cell_id = $cell", {"cell": "x"})) == 1
        twice = store.sql("select steps, steps, 1 as steps_1 from toy where cell_id = 'y'")
        assert twice.polars().rows(named=True) == twice.arrow().to_pylist() == [twice.rows()[0]._asdict()]
        assert list(twice.polars().columns) == ["steps", "steps_2", "steps_1"]
        assert len(store.sql("from toy where false")) == 0


def test_faults_of_a_question_are_clear(records: Records, tmp_path: Path) -> None:
    """A wrong query, a folder that was never ingested, and one that is not there are told apart."""
    with pytest.raises(SwingbyError, match="no data folder"):
        Store.open(tmp_path / "nowhere")
    with pytest.raises(SwingbyError, match="nothing was ingested"):
        Store.open(records.data)
    ingest(records)
    with Store.open(records.data) as store:
        assert len(store.sql("from sweeps")) == 0
        with pytest.raises(SwingbyError, match="toyz"):
            store.sql("from toyz")
        with pytest.raises(SwingbyError, match="syntax"):
            store.sql("selec 1")
        with pytest.raises(SwingbyError, match="read-only"):
            store.sql("delete from ix.plans")


SPOILT = [
    *(pytest.param("pointer.json", "garbage", new) for new in (False, True)),
    pytest.param("build-0001/index.duckdb", "garbage", False),
    pytest.param("build-0001/index.duckdb", "garbage", True, marks=pytest.mark.slow),
    # Nobody needs the open segment before there is something new.
    *(pytest.param("build-0001/segment-000000.duckdb", how, True) for how in ("garbage", "gone")),
    pytest.param("published/index-000001.duckdb", "garbage", False),
    pytest.param("published/index-000001.duckdb", "garbage", True, marks=pytest.mark.slow),
    pytest.param("published/index-000001.duckdb", "gone", False, marks=pytest.mark.slow),
    pytest.param("published/index-000001.duckdb", "gone", True),
]
"""Every file in each way; what is slow goes the way of another: to open the index fails before new records are seen,
and published files that are garbage or gone are those that no reader can open."""


@pytest.mark.parametrize(("spoilt", "how", "new"), SPOILT)
def test_a_broken_store_is_mended_by_whoever_may_write(
    one_cell: Records, spoilt: str, how: str, new: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever file of the store is garbage or gone, with new records or without: readers say what to run or read on,
    and an ingest mends it and says so in a line; the store is what the records make."""
    records = one_cell
    before = snapshot(records)
    path = records.data / "store" / spoilt
    path.unlink(missing_ok=True) if how == "gone" else path.write_bytes(b"garbage " * 1000)
    if not spoilt.startswith("build"):
        with pytest.raises(SwingbyError, match="`swingby ingest` makes the store again"):
            snapshot(records)
    if new:
        write_shard(records, [Segment("y")])
    ingest(records)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("the store ")
    after = snapshot(records)
    assert set(before["toy"]) < set(after["toy"]) if new else before == after
    assert ingest(records).shards == 0
    assert capsys.readouterr().err == ""
    rebuild(records)
    assert snapshot(records) == after


def test_a_log_that_came_back_is_not_applied_again(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """A log of DuckDB's that was removed, and is there again after a power cut: no row is there twice."""
    log = Layout(records.data).index(1).with_name("index.duckdb.wal")
    write_shard(records, [Segment("x")])
    with Ingest(records) as step:
        step.take()
        content = log.read_bytes()
        step.publish(force=True)
    log.write_bytes(content)
    write_shard(records, [Segment("y")])
    ingest(records)
    assert "is made again from the records" in capsys.readouterr().err
    assert [row[0] for row in cells(records)] == ["x", "y"]


def test_a_run_mends_the_store_and_goes_on(walk: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A sweep is run again on a folder whose pointer is garbage: it says so, and nothing is trained twice."""
    sweep = walk.sweep(base={"length": 5})
    run_sweep(sweep, walk.data, local=True, pilot=False)
    Layout(walk.data).pointer.write_text("{")
    with pytest.raises(SwingbyError, match="`swingby ingest`"):
        Store.open(walk.data)
    capsys.readouterr()
    run_sweep(sweep, walk.data, local=True, pilot=False)
    assert capsys.readouterr().err.count("is made again from the records") == 1
    assert set(walk.started().values()) == {1}


# publishing


def test_publications_are_rationed_by_their_cost(records: Records) -> None:
    """Unforced, a publication waits for ten times the cost of the last one; forced it does not; nothing new: none."""
    pointer = Layout(records.data).pointer
    ingest(records)

    def pretend(cost: float) -> None:
        told = json.loads(pointer.read_text())
        told.pop("digest", None)
        pointer.write_text(json.dumps({**told, "cost": cost}))

    write_shard(records, [Segment("x")])
    with Ingest(records) as step:
        step.take()
        pretend(1000)
        assert not step.publish()
        pretend(0)
        assert step.publish()
        assert not step.publish(force=True)
    write_shard(records, [Segment("y")])
    with Ingest(records) as step:
        step.take()
        pretend(1000)
        assert step.publish(force=True)
