"""Laws of what is torn later: a curve that lacks a piece is no result, and the next run makes it whole again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.data.records.retractions import Retraction
from swingby.model.experiment import AFTER
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.worker.segments import NOTE, Lineage
from swingby.store import Store, ingest, rebuild
from swingby.store.status import data_findings, sweep_status
from tests.support.packages import walking
from tests.support.profiles import examples
from tests.support.store import Segment, cells, finished, rows_of, snapshot, write_plan, write_shard

TOKENS = ("steps:log:200",)


def piece(records: Records, segment: Segment, after: int | None, **options: Any) -> str:
    """A shard with one row that goes on from that step."""
    return write_shard(records, rows_of([segment], **{AFTER: pa.array([after], pa.int64())}), **options)


def test_what_goes_on_from_nothing_does_not_count(records: Records) -> None:
    """Without its middle piece a curve is what came before the gap, and its cell is not finished; with it, it is."""
    write_plan(records, ["x"])
    piece(records, Segment("x", 0, 1, final=False, value=1), None)
    middle = records.shard_path(piece(records, Segment("x", 2, 3, final=False, value=2), 1))
    piece(records, Segment("x", 6, 7, value=3), 3)
    middle.rename(records.data / "aside")
    ingest(records)
    assert cells(records) == [("x", "running", None, [0, 1], [1.0, 1.001])]
    assert finished(records, "toy", ["x"], TOKENS).done == set()
    with Store.open(records.data) as store:
        assert [(gap.cell_id, gap.sweeps) for gap in store.gaps()] == [("x", ("a",))]
    (records.data / "aside").rename(middle)
    ingest(records)
    assert cells(records) == [("x", "ok", 3.0, [0, 1, 2, 3, 6, 7], [1.0, 1.001, 2.002, 2.003, 3.006, 3.007])]
    assert finished(records, "toy", ["x"], TOKENS).done == {"x"}
    with Store.open(records.data) as store:
        assert store.gaps() == []


def test_a_new_training_stands_before_one_with_a_gap(records: Records) -> None:
    """Once the cell was trained again its rows stand, though those after the gap were finished earlier."""
    write_plan(records, ["x"])
    piece(records, Segment("x", 2, 3, value=1), 1, finished=1)
    ingest(records)
    assert cells(records) == []
    piece(records, Segment("x", 0, 3, value=2), None, attempt=2001, finished=9)
    ingest(records)
    assert cells(records) == [("x", "ok", 2.0, [0, 1, 2, 3], [2.0, 2.001, 2.002, 2.003])]
    assert finished(records, "toy", ["x"], TOKENS).done == {"x"}
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


def test_what_was_computed_twice_needs_one_of_them(records: Records) -> None:
    """Where an earlier attempt has the steps of a torn piece, they are shown, and nothing is missing."""
    piece(records, Segment("x", 0, 1, final=False, value=1), None)
    piece(records, Segment("x", 2, 5, final=False, value=1), 1)
    torn = piece(records, Segment("x", 2, 3, final=False, value=2), 1, attempt=1002)
    piece(records, Segment("x", 4, 5, final=False, value=2), 3, attempt=1002)
    piece(records, Segment("x", 6, 6, value=2), 5, attempt=1002)
    records.shard_path(torn).write_bytes(b"torn")
    ingest(records)
    ((_, status, _, step, losses),) = cells(records)
    assert (status, step) == ("ok", [0, 1, 2, 3, 4, 5, 6])
    assert losses == [1.0, 1.001, 1.002, 1.003, 2.004, 2.005, 2.006]


# runs

SWEEP: dict[str, Any] = {
    "axes": {"pieces": [0, 3], "wants": ["ok", "diverge"]},
    "seeds": 2,
    "base": {"length": 8},
}
ROWS = "select cell_id, status, message, steps, recorded, step, position, final_position from walk order by cell_id"


class UntilShards(Drain):
    """Asks a run to stop once it left so many shards."""

    def __init__(self, records: Records, count: int) -> None:
        super().__init__()
        self.records, self.count = records, count

    def __call__(self) -> bool:
        if len(self.records.shards()) >= self.count:
            self.ask()
        return super().__call__()


def train(kit: Any, data: Path, drain: Drain | None = None) -> Any:
    """Runs the sweep in that folder."""
    return run_sweep(kit.sweep(**SWEEP), data, local=True, pilot=False, progress=Progress(), drain=drain)


def told(data: Path) -> list[str]:
    """All that readers see of the cells."""
    with Store.open(data) as store:
        return list(map(repr, store.sql(ROWS).rows()))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A kit whose folder has the sweep `whole`; `begun`, stopped in the middle of a cell, from where its batch goes on;
    and `halved`, stopped so twice."""
    with walking(tmp_path_factory.mktemp("gaps")) as kit:
        train(kit, kit.folder / "whole")
        for base, count in (("begun", 2), ("halved", 7)):
            records = Records.open(kit.folder / base)
            train(kit, records.data, UntilShards(records, count))
            with Store.open(records.data) as store:
                assert len(store.sql("from walk where status = 'running'").rows()) == 1
            if base == "begun":
                shutil.copytree(records.data, kit.folder / "halved")
        yield kit


def tear(shard: Path, way: str, place: float) -> None:
    """Cuts a file, flips a bit of it, or takes it away."""
    content = bytearray(shard.read_bytes())
    at = int(place * len(content))
    if way == "gone":
        shard.unlink()
    elif way == "cut":
        shard.write_bytes(content[:at])
    else:
        content[at] ^= 1 << at % 8
        shard.write_bytes(content)


def in_order(records: Records) -> list[str]:
    """The shards: of cells without an end first; then middle pieces, last ones, first ones, and whole cells; their
    names hang on the time."""
    rows = {name: records.read_shard(name)[1].to_pylist() for name in records.shards()}
    over = {row["cell_id"] for of_shard in rows.values() for row in of_shard if row["final"]}

    def told(name: str) -> tuple[Any, ...]:
        first, *_ = rows[name]
        place = first["from_step"] == 0, first["final"], first["cell_id"], first["from_step"]
        return first["cell_id"] in over, *place

    return sorted(records.shards(), key=told)


def law(kit: Any, base: str, which: int, way: str, place: float) -> None:
    """One shard is torn, the store is made again, and the sweep is run again."""
    data = kit.folder / "again"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(kit.folder / base, data, ignore=shutil.ignore_patterns("store"))
    records = Records.open(data)
    names = in_order(records)
    tear(records.shard_path(names[which % len(names)]), way, place)
    result = train(kit, data)
    assert (result.ok, result.diverged, result.missing) == (4, 4, 0)
    assert told(data) == told(kit.folder / "whole")
    with Store.open(data) as store:
        assert store.gaps() == []


TEARS = {
    "base": st.sampled_from(["whole", "begun", "halved"]),
    "which": st.integers(0, 63),
    "way": st.sampled_from(["cut", "flip", "gone"]),
    "place": st.floats(0, 0.999),
}


@settings(
    max_examples=examples(many=2, few=1), phases=[Phase.explicit, Phase.generate]
)  # each takes a run: to shrink one takes minutes
@given(**TEARS)
@example(base="begun", which=0, way="gone", place=0.0)  # what the checkpoint of an unfinished cell goes on from
def test_a_torn_shard_is_made_good(trained: Any, base: str, which: int, way: str, place: float) -> None:
    """Whichever shard of a sweep is torn, cut or gone when its store is made again: once the sweep is run again, rows
    and curves are those of one that nothing befell."""
    law(trained, base, which, way, place)


@pytest.mark.slow
@settings(max_examples=40)
@given(**TEARS)
def test_many_torn_shards_are_made_good(trained: Any, base: str, which: int, way: str, place: float) -> None:
    """The same, of many."""
    law(trained, base, which, way, place)


def test_a_doctor_names_the_cell(trained: Any) -> None:
    """While a piece is missing its cell counts as missing, and is named with the sweeps that lack it."""
    data = trained.folder / "named"
    shutil.copytree(trained.folder / "whole", data, ignore=shutil.ignore_patterns("store"))
    records = Records.open(data)
    name, *_ = in_order(records)
    (cell,) = records.read_shard(name)[1]["cell_id"].to_pylist()
    tear(records.shard_path(name), "gone", 0)
    ingest(records)
    (finding,) = [finding for finding in data_findings(data) if cell[:12] in finding[1]]
    assert finding[0] == "warn"
    assert "walks" in finding[1]
    (status,) = sweep_status(data)
    assert (status.ok + status.diverged, status.missing) == (7, 1)
    assert Planner(trained.sweep(**SWEEP), records).preview().missing == 1


# what stands behind checkpoints


def row(cell: str, low: int, high: int, status: str | None = None) -> pa.Table:
    """A row that a batch yielded."""
    columns = {"cell_id": cell, "from_step": low, "to_step": high, "final": status is not None, "status": status}
    return pa.table({name: [value] for name, value in columns.items()})


def test_a_checkpoint_is_worth_what_its_rows_are(records: Records, tmp_path: Path) -> None:
    """Rows say what they go on from, over a kill and for a cell that failed; once a shard of them is torn, the note
    cannot be read, or a cell has its result, the folder goes."""
    folder = tmp_path / "work"

    def anew() -> Lineage:
        folder.mkdir(exist_ok=True)
        (folder / "checkpoint").touch()
        lineage = Lineage(records, folder)
        lineage.begin()
        return lineage

    first, second = (write_shard(records, [Segment("x", low, low + 1)], batch=low) for low in (0, 2))
    lineage = anew()
    assert lineage.follow(row("x", 0, 3))[AFTER].to_pylist() == [None]
    lineage.committed(first)
    lineage = anew()
    assert lineage.follow(row("x", 2, 5))[AFTER].to_pylist() == [1]
    lineage.committed(second)
    assert anew().follow(row("x", 4, 5))[AFTER].to_pylist() == [3]
    lineage = anew()
    assert lineage.follow(row("x", 6, 6, "failed"))[AFTER].to_pylist() == [5]
    lineage.committed(second)
    assert anew().follow(row("x", 6, 9))[AFTER].to_pylist() == [5]
    note = (folder / NOTE).read_text()
    over = anew()
    over.follow(row("x", 6, 9, "ok"))
    over.committed(second)
    for harm in (lambda: None, lambda: (folder / NOTE).write_text("{"), records.shard_path(first).unlink):
        harm()
        assert Lineage(records, folder).begin() is None
        assert not folder.exists()
        folder.mkdir()
        (folder / NOTE).write_text(note)


def test_no_checkpoint_goes_on_from_what_was_taken_back(records: Records, tmp_path: Path) -> None:
    """One that a power cut brings back, after rows of its cell were taken back, is removed; rows of another cell, and a
    retraction that cannot be read, hurt none."""
    shard = write_shard(records, [Segment("x", 0, 1), Segment("y", 0, 1)])
    folder = tmp_path / "work"
    folder.mkdir()

    def note(cell: str) -> None:
        lineage = Lineage(records, folder)
        lineage.follow(row(cell, 0, 1))
        lineage.committed(shard)

    def take_back(cell: str) -> Path:
        return records.write_retraction(Retraction("wrong", table=pa.table({"cell_id": [cell], "shard": [shard]})))

    note("x")
    take_back("y")
    torn = take_back("x")
    whole = torn.read_bytes()
    torn.write_bytes(whole[:50])
    Lineage(records, folder).begin()
    assert folder.exists()
    torn.write_bytes(whole)
    Lineage(records, folder).begin()
    assert list(tmp_path.glob("*work*")) == []
    assert list(tmp_path.glob(".tmp-*")) == []
