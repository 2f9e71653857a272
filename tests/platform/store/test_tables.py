"""Laws of the store's tables: columns that come later, files that are bad, derived records, what is finished."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swingby import sandbox
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import Params
from swingby.store import Ingest, Layout, Store, check_experiment, ingest, ingestion
from tests.support.store import LIST, Segment, cells, finished, rows_of, write_plan, write_shard

# tables that grow


def test_columns_that_came_later_are_null_before(records: Records) -> None:
    """A parameter, scalar or recording that came later is there for all, null where it was not known."""
    write_plan(records, ["x"], width=pa.array([1]))
    write_shard(records, [Segment("x")])
    ingest(records)
    write_plan(records, ["y"], "b", width=pa.array([2]), gain=pa.array([0.5]))
    late = rows_of([Segment("y")], extra=pa.array([[1.0, 2.0, 3.0]], LIST), rank=pa.array([4]))
    write_shard(records, late, sweep="b", curves=("step", "loss", "extra"))
    ingest(records)
    with Store.open(records.data) as store:
        rows = store.sql("select cell_id, width, gain, rank, extra from toy order by cell_id").rows()
        assert list(map(tuple, rows)) == [("x", 1, None, None, None), ("y", 2, 0.5, 4, [1.0, 2.0, 3.0])]
        types = dict(store.tables()["toy"])
    assert (types["gain"], types["rank"], types["extra"]) == ("DOUBLE", "BIGINT", "DOUBLE[]")


def test_a_parameter_learnt_later_is_filled_in(records: Records) -> None:
    """A cell planned before a parameter existed gets its value from a later plan of the same cell, from no other."""
    write_plan(records, ["x", "y"], width=pa.array([1, 2]))
    ingest(records)
    write_plan(records, ["x"], "b", width=pa.array([1]), gain=pa.array([0.5]))
    write_shard(records, [Segment("x"), Segment("y")])
    ingest(records)
    with Store.open(records.data) as store:
        rows = store.sql("select cell_id, width, gain from toy order by cell_id").rows()
    assert list(map(tuple, rows)) == [("x", 1, 0.5), ("y", 2, None)]


@pytest.mark.parametrize("backwards", [False, True])
def test_whole_numbers_widen_to_floats(records: Records, backwards: bool) -> None:
    """A column that is whole in one shard and not in another holds both, as floats, whichever came first."""
    tables = [
        rows_of([Segment("x")], rank=pa.array([4]), extra=pa.array([[1, 2, 3]], pa.list_(pa.int64()))),
        rows_of([Segment("y")], rank=pa.array([0.5]), extra=pa.array([[0.5, 2, 3]], LIST)),
    ]
    for table in reversed(tables) if backwards else tables:
        write_shard(records, table, curves=("step", "loss", "extra"))
        ingest(records)
    with Store.open(records.data) as store:
        rows = store.sql("select cell_id, rank, extra from toy order by cell_id").rows()
    assert list(map(tuple, rows)) == [("x", 4.0, [1.0, 2.0, 3.0]), ("y", 0.5, [0.5, 2.0, 3.0])]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"score": pa.array(["high"])}, "'score' is VARCHAR, and DOUBLE in the store"),
        ({"Width": pa.array([1])}, "scalar 'Width' clashes with the parameter 'width'"),
        ({"Steps": pa.array([1])}, "scalar 'Steps' has the name of a column that every experiment has"),
        ({"a\0b": pa.array([1])}, "'a\\x00b' cannot name a column"),
        ({"": pa.array([1])}, "'' cannot name a column"),
    ],
)
def test_columns_that_do_not_fit_are_a_bad_shard(records: Records, columns: dict[str, Any], complaint: str) -> None:
    """A shard whose columns clash with the store's is listed with the reason; its neighbours are taken."""
    write_plan(records, ["x", "y"], width=pa.array([1, 2]))
    write_shard(records, [Segment("x", value=1)])
    ingest(records)
    table = rows_of([Segment("y")])
    for name, column in columns.items():
        table = table.drop_columns([name] if name in table.column_names else []).append_column(name, column)
    bad = write_shard(records, table, batch=1)
    write_shard(records, [Segment("z", value=3)], batch=2)
    taken = ingest(records)
    assert taken.bad[0][0] == bad
    assert complaint in taken.bad[0][1]
    assert [row[0] for row in cells(records)] == ["x", "z"]


class ClumsyParams(Params):
    """Has a name that is taken."""

    attempt: int = 10


class Clumsy(Experiment):
    """Its names cannot be those of columns."""

    name: ClassVar[str] = "clumsy"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = ClumsyParams
    scalars: ClassVar[Mapping[str, Column]] = {"Loss": Column(pa.float64(), "at the end")}
    curves: ClassVar[Mapping[str, Column]] = {"loss": Column(LIST, "loss")}

    def shape(self, params: Any) -> str:
        """One."""
        return "one"

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Nothing."""
        yield from ()


def test_an_experiment_with_names_that_are_taken_is_refused_whole() -> None:
    """Before anything is trained, every clash is named, with the names that are taken; those that fit pass."""
    with pytest.raises(SwingbyError) as caught:
        check_experiment(Clumsy())
    said = str(caught.value)
    assert "parameter 'attempt' has the name of a column that every experiment has" in said
    assert "curve 'loss' clashes with the scalar 'Loss'" in said
    assert "cell_id" in said
    for name in registry.offered(registry.EXPERIMENTS):
        check_experiment(registry.experiment(name))


def test_segments_are_sealed_and_never_touched_again(records: Records) -> None:
    """Curves over many sealed segments are one table; what was sealed keeps its file through later publications."""
    layout = Layout(records.data)
    stamps: dict[Path, tuple[int, int]] = {}
    for batch in range(5):
        write_shard(records, [Segment(f"{batch}{k}", value=batch + k / 8) for k in range(4)], batch=batch)
        with Ingest(records, segment_rows=4) as step:
            step.take()
            step.publish(force=True)
        now = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for _, path in layout.sealed(1)}
        assert stamps.items() <= now.items()
        stamps = now
    assert len(stamps) == 5
    rows = cells(records)
    assert [(row[0], row[2], row[4][0]) for row in rows] == [
        (f"{batch}{k}", batch + k / 8, batch + k / 8) for batch in range(5) for k in range(4)
    ]


# bad files


def test_more_segments_than_files_may_be_open_are_read(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process asks for more of what it is allowed: to publish, to read, and for somebody's SQL."""
    monkeypatch.setattr(ingestion, "GROUP_ROWS", 1)
    write_plan(records, [f"c{number:02d}" for number in range(30)])
    for number in range(30):
        write_shard(records, [Segment(f"c{number:02d}")], batch=number)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = len(list(Path("/proc/self/fd").iterdir())) + 20
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
        with Ingest(records, segment_rows=1) as step:
            step.take()
            step.publish()
        resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
        assert len(cells(records)) == 30
        resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
        assert sandbox.query(records.data, "select sum(len(loss)) as n from toy").to_pylist() == [{"n": 90}]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_torn_shard_hurts_nobody(records: Records) -> None:
    """It is listed with a reason and left out; mended it is taken; removed it is forgotten."""
    write_shard(records, [Segment("x")], batch=0)
    torn = write_shard(records, [Segment("y")], batch=1)
    write_shard(records, [Segment("z")], batch=2)
    path = records.shard_path(torn)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    taken = ingest(records)
    assert (taken.shards, [name for name, _ in taken.bad]) == (2, [torn])
    assert [row[0] for row in cells(records)] == ["x", "z"]
    with Store.open(records.data) as store:
        ((name, reason),) = store.sql("from bad_shards").rows()
    assert name == torn
    assert "torn or corrupt" in reason
    assert ingest(records).bad == ()
    path.write_bytes(content)
    assert ingest(records).shards == 1
    with Store.open(records.data) as store:
        assert len(store.sql("from bad_shards")) == 0
    path.with_name("b000009-a1001-01234567.parquet").write_bytes(b"nonsense")
    assert len(ingest(records).bad) == 1
    path.with_name("b000009-a1001-01234567.parquet").unlink()
    ingest(records)
    with Store.open(records.data) as store:
        assert len(store.sql("from bad_shards")) == 0
    assert [row[0] for row in cells(records)] == ["x", "y", "z"]


def test_bad_plans_and_derived_files_are_listed_too(records: Records) -> None:
    """A foreign plan, derived records with an experiment's name, and such whose key holds nothing, are listed by their
    paths; the rest is taken."""
    plan = write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    pq.write_table(pa.table({"a": [1]}), records.data / "plans" / "odd.parquet")
    records.write_derived("toy", "1", ["cell_id"], pa.table({"cell_id": ["x"]}))
    records.write_derived("plans", "1", ["cell_id"], pa.table({"cell_id": ["x"]}))
    records.write_derived("outcomes_odd", "1", ["cell_id"], pa.table({"cell_id": pa.nulls(1), "odd": [True]}))
    names = [name for name, _ in ingest(records).bad]
    assert names == ["plans/odd.parquet", *[f"derived/{name}" for name in records.derived()]]
    with Store.open(records.data) as store:
        assert [row.plan_id for row in store.sql("from plans").rows()] == [plan.plan_id]
    assert len(cells(records)) == 1


# derived


def test_the_newest_version_of_derived_records_is_shown(records: Records) -> None:
    """The kind's table has the newest version's rows, 1.10 being newer than 1.9; the other one has them all."""
    for version, height in (("1.9", 1.0), ("1.10", 2.0), ("1.2", 3.0)):
        table = pa.table({"cell_id": ["x", "y"], "height": [height, math.inf]})
        records.write_derived("outcomes_toy", version, ["cell_id"], table)
    ingest(records)
    with Store.open(records.data) as store:
        assert list(map(tuple, store.sql("from outcomes_toy order by cell_id").rows())) == [("x", 2.0), ("y", math.inf)]
        versions = store.sql("select version from outcomes_toy_all where cell_id = 'x' order by height").rows()
    assert [row.version for row in versions] == ["1.9", "1.10", "1.2"]


@pytest.mark.parametrize("backwards", [False, True])
def test_the_latest_derived_row_of_a_key_counts(records: Records, backwards: bool) -> None:
    """Of one version and key the file made last counts, whichever was ingested first; columns may come later."""
    early = pa.table({"cell_id": ["x", "y"], "height": [1.0, 1.0]})
    paths = [records.write_derived("outcomes_toy", "1", ["cell_id"], early)]
    late = pa.table({"cell_id": ["y", "z"], "height": [2.0, 2.0], "sure": [True, False]})
    paths.append(records.write_derived("outcomes_toy", "1", ["cell_id"], late))
    then = paths[0 if backwards else 1]
    hidden = then.rename(records.data / then.name)
    ingest(records)
    hidden.rename(then)
    ingest(records)
    with Store.open(records.data) as store:
        rows = [
            tuple(row) for row in store.sql("select cell_id, height, sure from outcomes_toy order by cell_id").rows()
        ]
    assert rows == [("x", 1.0, None), ("y", 2.0, True), ("z", 2.0, False)]


# what is finished


def test_finished_cells_have_every_asked_recording(records: Records) -> None:
    """Done: a result with all tokens, shown in the table or not; failed: a failure with all, and no result."""
    both = ("hierarchy", "jacobian", "steps:every")
    write_shard(
        records, [Segment("plain"), Segment("both"), Segment("blown", status="diverged")], tokens=("steps:every",)
    )
    write_shard(records, [Segment("both")], tokens=both, batch=1)
    write_shard(records, [Segment("bad", status="failed"), Segment("half", final=False)], batch=2)
    write_shard(records, [Segment("mended", status="failed")], batch=3)
    write_shard(records, [Segment("mended")], tokens=("steps:every",), batch=3, attempt=1002)
    ingest(records)
    asked = ["plain", "both", "blown", "bad", "half", "mended", "unknown"]
    plain = finished(records, "toy", asked, ["steps:every"])
    assert (plain.done, plain.failed) == ({"plain", "both", "blown", "mended"}, set())
    jacobian = finished(records, "toy", pa.array(asked), ["steps:every", "jacobian"])
    assert (jacobian.done, jacobian.failed) == ({"both"}, set())
    log = finished(records, "toy", asked, ["steps:log:200"])
    assert (log.done, log.failed) == (set(), {"bad", "mended"})
    assert finished(records, "other", asked, []).done == set()
    assert finished(records, "toy", [], []).done == set()
