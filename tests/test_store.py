"""Laws of the store: the fold of the records, each cell once, whatever was killed and in whatever order they came."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.experiment import Recording
from swingby.headers import BatchNote, Plan, ShardHeader
from swingby.records import Records
from swingby.store import Ingest, Layout, Store, finished, ingest, rebuild

SWEEPS = {"a": "aa" * 8, "b": "bb" * 8}
LIST = pa.list_(pa.float64())


@dataclass(frozen=True)
class Segment:
    """One row of a shard: the steps first..last of a cell; `value` tells it from every other."""

    cell: str
    first: int = 0
    last: int = 2
    final: bool = True
    status: str = "ok"
    value: float = 0.0

    @property
    def steps(self) -> list[int]:
        return list(range(self.first, self.last + 1))

    @property
    def losses(self) -> list[float]:
        return [self.value + step / 1000 for step in self.steps]


def write_plan(records: Records, cells: Sequence[str], sweep: str = "a", sequence: int = 1, **parameters: Any) -> Plan:
    """A plan of these cells; a parameter is a list with an entry a cell."""
    count = len(cells)
    table = pa.table(
        {
            "cell_id": pa.array(cells, pa.string()),
            "point": pa.array(range(count), pa.int32()),
            "seed": pa.array(range(count), pa.int64()),
            "seed_mode": ["common"] * count,
            "batch": pa.array([0] * count, pa.int32()),
            **parameters,
        }
    )
    notes = (BatchNote(0, "s", count),)
    provenance = {"git_commit": "c0ffee", "git_dirty": False}
    plan = Plan(
        SWEEPS[sweep], sweep, "toy", 1, sequence, {"title": "Toys"}, Recording(), provenance, notes,
        created=f"2026-01-01T00:00:{sequence:02d}+00:00", given=table,
    )  # fmt: skip
    records.write_plan(plan)
    return plan


def rows_of(segments: Sequence[Segment], **columns: Any) -> pa.Table:
    return pa.table(
        {
            "cell_id": [segment.cell for segment in segments],
            "from_step": pa.array([segment.first for segment in segments], pa.int64()),
            "to_step": pa.array([segment.last for segment in segments], pa.int64()),
            "final": [segment.final for segment in segments],
            "status": [segment.status if segment.final else None for segment in segments],
            "message": pa.nulls(len(segments), pa.string()),
            "step": pa.array([segment.steps for segment in segments], pa.list_(pa.int64())),
            "loss": pa.array([segment.losses for segment in segments], LIST),
            "score": pa.array([segment.value if segment.final else None for segment in segments], pa.float64()),
            **columns,
        }
    )


def write_shard(
    records: Records,
    rows: list[Segment] | pa.Table,
    *,
    sweep: str = "a",
    batch: int = 0,
    attempt: int = 1001,
    tokens: Sequence[str] = ("steps:log:200",),
    curves: Sequence[str] = ("step", "loss"),
    finished: int = 5,
    experiment: str = "toy",
) -> str:
    """Writes a shard and gives its name."""
    plan_id = f"{sweep}-{SWEEPS[sweep][:8]}-{attempt // 1000:04d}"
    table = rows_of(rows) if isinstance(rows, list) else rows
    header = ShardHeader(
        plan_id, SWEEPS[sweep], experiment, batch, attempt, tuple(tokens), tuple(curves), "s", table.num_rows,
        "2026-01-01T00:00:00+00:00", f"2026-01-01T00:01:{finished:02d}+00:00", 1.0, "h", "cpu", 1,
    )  # fmt: skip
    return records.write_shard(header, table).relative_to(records.data / "shards").as_posix()


def snapshot(records: Records) -> dict[str, list[str]]:
    """Everything a reader can see, in an order of its own."""
    with Store.open(records.data) as store:
        names = {name: sorted(column for column, _ in columns) for name, columns in store.tables().items()}
        tables = {name: store.sql(f'from "{name}"').arrow().select(columns) for name, columns in names.items()}
    return {name: sorted(map(str, [table.schema, *table.to_pylist()])) for name, table in tables.items()}


def cells(records: Records) -> list[tuple[Any, ...]]:
    with Store.open(records.data) as store:
        return [
            tuple(row) for row in store.sql("select cell_id, status, score, step, loss from toy order by all").rows()
        ]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records.open(tmp_path / "data")


# folding


def test_results_come_back_as_they_were_recorded(records: Records) -> None:
    """Parameters, status, scalars and curves of a cell are one typed row; not-a-number and infinity survive."""
    write_plan(records, ["x"], width=pa.array([3]), mu=pa.array([[1.0, 2.0]]), note=pa.array([None], pa.string()))
    table = rows_of([Segment("x")]).drop_columns(["loss", "score"])
    table = table.append_column("loss", pa.array([[math.nan, math.inf, -math.inf]]))
    table = table.append_column("score", pa.array([math.nan]))
    name = write_shard(records, table)
    ingest(records)
    with Store.open(records.data) as store:
        (row,) = store.sql("from toy").rows()
        points = store.sql("from toy_points").arrow().to_pylist()
    assert str(row._asdict()) == str(
        {
            "cell_id": "x",
            "seed": 0,
            "seed_mode": "common",
            "mu": [1.0, 2.0],
            "note": None,
            "width": 3,
            "status": "ok",
            "message": None,
            "recorded": ["steps:log:200"],
            "steps": 2,
            "shard": name,
            "attempt": 1001,
            "score": math.nan,
            "step": [0, 1, 2],
            "loss": [math.nan, math.inf, -math.inf],
        }
    )
    losses = [math.nan, math.inf, -math.inf]
    assert str(points) == str([{"cell_id": "x", "k": k, "step": k, "loss": losses[k]} for k in range(3)])


def test_the_other_tables_tell_where_results_come_from(records: Records) -> None:
    """Sweeps, plans, members and shards hold what the records' headers say; times are UTC."""
    plan = write_plan(records, ["x", "y"])
    second = write_plan(records, ["x", "y"], sequence=2)
    name = write_shard(records, [Segment("x")])
    ingest(records)
    with Store.open(records.data) as store:
        (sweep,) = store.sql("from sweeps").rows()
        assert (sweep.sweep_id, sweep.name, sweep.experiment, sweep.title, sweep.cells) == (
            SWEEPS["a"], "a", "toy", "Toys", 2,
        )  # fmt: skip
        assert json.loads(sweep.resolved) == {"title": "Toys"}
        plans = store.sql("select plan_id, sequence, git_commit, git_dirty from plans order by sequence").rows()
        assert list(map(tuple, plans)) == [(plan.plan_id, 1, "c0ffee", False), (second.plan_id, 2, "c0ffee", False)]
        members = store.sql("from members order by point").rows()
        assert list(map(tuple, members)) == [(SWEEPS["a"], "x", 0), (SWEEPS["a"], "y", 1)]
        (shard,) = store.sql(
            "select shard, cells, rows, date_diff('second', started, finished) as took from shards"
        ).rows()
        assert tuple(shard) == (name, 1, 1, 65)


def test_twice_is_once(records: Records) -> None:
    """Ingesting again takes nothing, publishes nothing and changes nothing."""
    write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    first = ingest(records)
    before, generation = snapshot(records), Store.open(records.data).generation
    again = ingest(records)
    assert (first.plans, first.shards, first.rows) == (1, 1, 1)
    assert (again.plans, again.shards, again.rows, again.bad) == (0, 0, 0, ())
    assert snapshot(records) == before
    assert Store.open(records.data).generation == generation


RACES = [
    ([("late", {"finished": 9}), ("soon", {"finished": 3})], "soon"),
    ([("bad", {"status": "failed", "finished": 1}), ("good", {"finished": 9})], "good"),
    ([("blown", {"status": "diverged", "finished": 9}), ("bad", {"status": "failed"})], "blown"),
    ([("less", {"finished": 1}), ("more", {"finished": 9, "tokens": ("jacobian", "steps:log:200")})], "more"),
    ([("less", {}), ("bad", {"status": "failed", "tokens": ("jacobian", "steps:log:200")})], "less"),
]


@pytest.mark.parametrize(("race", "winner"), RACES)
@pytest.mark.parametrize("backwards", [False, True])
def test_one_final_row_stands_for_a_cell(records: Records, race: list[Any], winner: str, backwards: bool) -> None:
    """A result before a failure, then more recordings, then the earlier end; in whichever order the shards came."""
    values = {name: float(place + 1) for place, (name, _) in enumerate(race)}
    for place, (name, options) in enumerate(reversed(race) if backwards else race):
        options = dict(options)
        segment = Segment("x", status=options.pop("status", "ok"), value=values[name])
        write_shard(records, [segment], batch=place, **options)
        ingest(records)
    ((cell, _, score, step, _),) = cells(records)
    assert (cell, score, step) == ("x", values[winner], [0, 1, 2])


def test_equal_rivals_are_told_apart_by_name(records: Records) -> None:
    """Two final rows alike in everything: the shard whose name sorts first stands, whichever came first."""
    names = {write_shard(records, [Segment("x", value=value)], batch=1): value for value in (1.0, 2.0, 3.0)}
    ingest(records)
    assert [row[2] for row in cells(records)] == [names[min(names)]]


# long runs


def test_a_long_run_is_put_together_from_its_segments(records: Records) -> None:
    """Segments of one attempt follow each other; until the last one is there the cell is running."""
    write_plan(records, ["x"])
    write_shard(records, [Segment("x", 0, 1, final=False, value=1), Segment("x", 2, 3, final=False, value=2)])
    ingest(records)
    assert cells(records) == [("x", "running", None, [0, 1, 2, 3], [1.0, 1.001, 2.002, 2.003])]
    write_shard(records, [Segment("x", 4, 5, value=3)])
    ingest(records)
    assert cells(records) == [("x", "ok", 3.0, [0, 1, 2, 3, 4, 5], [1.0, 1.001, 2.002, 2.003, 3.004, 3.005])]


def test_what_was_computed_again_replaces_the_first_try(records: Records) -> None:
    """A later attempt from step 2 on keeps an earlier one's points below 2 only; one from step 0 on keeps none."""
    write_shard(records, [Segment("x", 0, 3, final=False, value=1), Segment("y", 0, 3, final=False, value=1)])
    write_shard(records, [Segment("x", 2, 4, value=2), Segment("y", 0, 1, value=2)], attempt=1002)
    ingest(records)
    assert cells(records) == [
        ("x", "ok", 2.0, [0, 1, 2, 3, 4], [1.0, 1.001, 2.002, 2.003, 2.004]),
        ("y", "ok", 2.0, [0, 1], [2.0, 2.001]),
    ]


def test_sweeps_do_not_lend_each_other_segments(records: Records) -> None:
    """A cell of two sweeps is put together from the segments of the sweep that finished it, and no others."""
    write_shard(records, [Segment("x", 0, 1, final=False, value=1)], sweep="b")
    write_shard(records, [Segment("x", 1, 1, final=False, value=2), Segment("x", 2, 2, value=3)], attempt=1002)
    ingest(records)
    assert cells(records) == [("x", "ok", 3.0, [1, 2], [2.001, 3.002])]


def test_a_curve_that_only_some_pieces_have_stays_in_step(records: Records) -> None:
    """Per-step curves keep an entry a step where a piece lacks them; one that is not per step is the last piece's."""
    first, second = Segment("x", 0, 1, final=False, value=1), Segment("x", 2, 3, value=2)
    write_shard(records, rows_of([first], whole=pa.array([[7.0]], LIST)), curves=("step", "loss", "whole"))
    extra, whole = pa.array([[5.0, 6.0]], LIST), pa.array([[8.0]], LIST)
    names = ("step", "loss", "extra", "whole")
    write_shard(records, rows_of([second], extra=extra, whole=whole), curves=names, attempt=1002)
    ingest(records)
    with Store.open(records.data) as store:
        (row,) = store.sql("select step, loss, extra, whole from toy").rows()
        assert tuple(row) == ([0, 1, 2, 3], [1.0, 1.001, 2.002, 2.003], [None, None, 5.0, 6.0], [8.0])
        assert [name for name, _ in store.tables()["toy_points"]] == ["cell_id", "k", "step", "extra", "loss"]


# any order


def expected(rows: Sequence[tuple[str, int, dict[str, Any], Segment]]) -> tuple[str, str, list[int], list[float]]:
    """The winner rule and the law of overlaps in Python, for the rows (shard, place, header, row) of a cell."""

    def merit(row: tuple[str, int, dict[str, Any], Segment]) -> tuple[Any, ...]:
        name, place, header, segment = row
        if segment.final:
            return (0, segment.status == "failed", -len(header["tokens"]), header["finished"], name, place)
        return (1, -header["attempt"], -segment.last, name, place)

    head = min(rows, key=merit)

    def run(row: tuple[str, int, dict[str, Any], Segment]) -> tuple[Any, ...]:
        return (row[2]["attempt"], row[0][:-17])

    chain = [
        row
        for row in rows
        if row[2]["sweep"] == head[2]["sweep"]
        and (row is head or (not row[3].final if run(row) == run(head) else row[2]["attempt"] < head[2]["attempt"]))
    ]
    points = []
    for row in sorted(chain, key=lambda row: (run(row), row[3].first, row[0], row[1])):
        later = [other[3].first for other in chain if run(other) > run(row)]
        points += [
            point for point in zip(row[3].steps, row[3].losses, strict=True) if point[0] < min(later, default=99)
        ]
    status = head[3].status if head[3].final else "running"
    return head[0], status, [step for step, _ in points], [loss for _, loss in points]


SEGMENTS = st.builds(
    lambda cell, first, length, final, status: (cell, first, first + length, final, status),
    st.sampled_from("xy"),
    st.integers(0, 4),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(["ok", "failed", "diverged"]),
)
SHARDS = st.fixed_dictionaries(
    {
        "sweep": st.sampled_from("ab"),
        "attempt": st.sampled_from([1001, 1002, 2001]),
        "batch": st.sampled_from([0, 1]),
        "tokens": st.sampled_from([("steps:every",), ("jacobian", "steps:every")]),
        "finished": st.integers(0, 2),
        "rows": st.lists(SEGMENTS, min_size=1, max_size=3),
    }
)


@settings(max_examples=12, deadline=None)
@given(shards=st.lists(SHARDS, min_size=1, max_size=6), seed=st.integers(0, 9), steps=st.integers(1, 3))
def test_the_order_of_arrival_leaves_no_trace(
    tmp_path_factory: pytest.TempPathFactory, shards: list[dict[str, Any]], seed: int, steps: int
) -> None:
    """Records in any order, in one go or several, give the store that a rebuild gives, and the rows of the rules."""
    source = Records.open(tmp_path_factory.mktemp("source") / "data")
    live = Records.open(tmp_path_factory.mktemp("live") / "data")
    rows: dict[str, list[Any]] = {}
    for header in shards:
        segments = [Segment(*row, value=10 * sum(map(len, rows.values())) + k) for k, row in enumerate(header["rows"])]
        name = write_shard(source, segments, **{key: value for key, value in header.items() if key != "rows"})
        for place, segment in enumerate(segments):
            rows.setdefault(segment.cell, []).append((name, place, header, segment))
    write_plan(source, ["x", "y"], width=pa.array([1, 2]))
    write_plan(source, ["x", "y"], "b", width=pa.array([1, 2]), late=pa.array([7, 7]))
    files = [path.relative_to(source.data) for path in source.data.rglob("*.parquet")]
    random.Random(seed).shuffle(files)
    for step in range(steps):
        for path in files[step::steps]:
            (live.data / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.data / path, live.data / path)
        ingest(live)
    seen = snapshot(live)
    with Store.open(live.data) as store:
        found = {
            row[0]: tuple(row[1:]) for row in store.sql("select cell_id, shard, status, step, loss from toy").rows()
        }
    assert found == {cell: expected(own) for cell, own in rows.items()}
    rebuild(live)
    assert snapshot(live) == seen


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
    """A foreign plan, and derived records with an experiment's name, are listed by their paths; the rest is taken."""
    plan = write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    pq.write_table(pa.table({"a": [1]}), records.data / "plans" / "odd.parquet")
    records.write_derived("toy", "1", ["cell_id"], pa.table({"cell_id": ["x"]}))
    records.write_derived("plans", "1", ["cell_id"], pa.table({"cell_id": ["x"]}))
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
    records.write_derived("outcomes_toy", "1", ["cell_id"], pa.table({"cell_id": ["x", "y"], "height": [1.0, 1.0]}))
    time.sleep(0.001)
    late = pa.table({"cell_id": ["y", "z"], "height": [2.0, 2.0], "sure": [True, False]})
    records.write_derived("outcomes_toy", "1", ["cell_id"], late)
    folder = records.data / "derived" / "outcomes_toy"
    first, second = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=backwards)
    hidden = second.rename(records.data / second.name)
    ingest(records)
    hidden.rename(second)
    ingest(records)
    assert first.exists()
    with Store.open(records.data) as store:
        rows = [
            tuple(row) for row in store.sql("select cell_id, height, sure from outcomes_toy order by cell_id").rows()
        ]
    assert rows == [("x", 1.0, None), ("y", 2.0, True), ("z", 2.0, False)]


# what is finished


def test_finished_cells_have_every_asked_recording(records: Records) -> None:
    """Done: a result with all tokens, shown in the table or not; failed: only failures so far; else missing."""
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
    assert (plain.done, plain.failed) == ({"plain", "both", "blown", "mended"}, {"bad"})
    jacobian = finished(records, "toy", pa.array(asked), ["steps:every", "jacobian"])
    assert (jacobian.done, jacobian.failed) == ({"both"}, {"bad"})
    assert finished(records, "other", asked, []).done == set()
    assert finished(records, "toy", [], []).done == set()


# reading


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
    done = threading.Event()

    def read(counts: list[int]) -> None:
        try:
            with Store.open(records.data) as store:
                while not done.is_set():
                    counts.append(store.sql("select count(*) from toy where len(loss) = 3").rows()[0][0])
        except BaseException as error:
            faults.append(error)

    readers = [threading.Thread(target=read, args=(counts,)) for counts in seen]
    for reader in readers:
        reader.start()
    for batch in range(1, 7):
        write_shard(records, [Segment(f"{batch}"), Segment(f"{batch}b")], batch=batch)
        ingest(records)
    done.set()
    for reader in readers:
        reader.join()
    assert faults == []
    for counts in seen:
        assert counts == sorted(counts)
        assert set(counts) <= set(range(2, 15, 2))


def test_only_two_generations_are_kept(records: Records) -> None:
    """After any number of publications and a rebuild there are the files of two, and no build but the live one."""
    layout = Layout(records.data)
    for batch in range(4):
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


@pytest.mark.parametrize("spoilt", ["pointer.json", "build-0001/index.duckdb", "published/index-000001.duckdb"])
def test_a_broken_store_says_so_and_a_rebuild_mends_it(records: Records, spoilt: str) -> None:
    """Whichever file of the store is garbage: whoever needs it says how to mend it, and that mends it."""
    write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    ingest(records)
    before = snapshot(records)
    (records.data / "store" / spoilt).write_bytes(b"garbage " * 1000)
    write_shard(records, [Segment("y")])
    with pytest.raises(SwingbyError, match="swingby rebuild"):
        (ingest if "build" in spoilt else snapshot)(records)
    rebuild(records)
    after = snapshot(records)
    assert set(before["toy"]) < set(after["toy"])
    assert ingest(records).shards == 0


# publishing


def test_publications_are_rationed_by_their_cost(records: Records) -> None:
    """Unforced, a publication waits for ten times the cost of the last one; forced it does not; nothing new: none."""
    pointer = Layout(records.data).pointer
    ingest(records)

    def pretend(cost: float) -> None:
        pointer.write_text(json.dumps({**json.loads(pointer.read_text()), "cost": cost}))

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


# killed anywhere

KILLED = """
import os, shutil, sys
from swingby.records import Records
from swingby.store import Ingest, Layout

data, owner, seam, when, nth = sys.argv[1:]
owner = {"Ingest": Ingest, "Layout": Layout, "shutil": shutil}[owner]
real, calls = getattr(owner, seam), 0

def killed(*arguments, **options):
    global calls
    calls += 1
    if calls == int(nth) and when == "before":
        os._exit(9)
    result = real(*arguments, **options)
    if calls == int(nth):
        os._exit(9)
    return result

setattr(owner, seam, killed)
with Ingest(Records.open(data), segment_rows=3) as step:
    step.take()
    step.publish(force=True)
os._exit(1)
"""
WINDOWS = [
    ("Ingest", "_commit", "before", 1),  # the plan
    ("Ingest", "_commit", "after", 1),
    ("Ingest", "_commit", "before", 2),  # the curves
    ("Ingest", "_commit", "after", 2),
    ("Ingest", "_commit", "before", 3),  # the rows
    ("Ingest", "_commit", "after", 3),
    ("Ingest", "_publish", "before", 1),
    ("shutil", "copyfile", "after", 1),  # the index only
    ("Layout", "flip", "before", 1),
    ("Layout", "prune", "before", 1),
]


@pytest.mark.parametrize(("owner", "seam", "when", "nth"), WINDOWS)
def test_killed_anywhere_it_goes_on(records: Records, owner: str, seam: str, when: str, nth: int) -> None:
    """An ingest killed at any window leaves the old generation readable; the next one has each cell once."""
    write_shard(records, [Segment("0")])
    ingest(records)
    old = snapshot(records)
    write_plan(records, ["x", "y"], "b", width=pa.array([1, 2]))
    write_shard(records, [Segment("x", value=1), Segment("y", value=2), Segment("z", value=3)], batch=1)
    arguments = [str(records.data), owner, seam, when, str(nth)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True)
    assert killed.returncode == 9, killed.stderr
    flipped = (owner, seam) == ("Layout", "prune")
    assert (snapshot(records) == old) is not flipped
    ingest(records)
    assert [(row[0], row[2]) for row in cells(records)] == [("0", 0.0), ("x", 1.0), ("y", 2.0), ("z", 3.0)]
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


def test_a_rebuild_that_dies_changes_nothing(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the new build is published readers and writers stay on the old one; the next rebuild clears up."""
    write_shard(records, [Segment("x")])
    ingest(records)
    old = snapshot(records)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Layout, "flip", die)
        with pytest.raises(KeyboardInterrupt):
            rebuild(records)
    assert snapshot(records) == old
    write_shard(records, [Segment("y")])
    ingest(records)
    assert [row[0] for row in cells(records)] == ["x", "y"]
    rebuild(records)
    assert [row[0] for row in cells(records)] == ["x", "y"]


def test_an_ingest_that_failed_can_be_tried_again_at_once(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault between the curves' commit and the rows' leaves no double, even in the same ingest and segment."""
    write_shard(records, [Segment("x"), Segment("y")])
    real, calls = Ingest._commit, []

    def fail_once(self: Ingest, database: str) -> None:
        calls.append(database)
        if calls == ["seg", "ix"]:
            raise OSError("unplugged")
        real(self, database)

    monkeypatch.setattr(Ingest, "_commit", fail_once)
    with Ingest(records) as step:
        with pytest.raises(SwingbyError, match="unplugged"):
            step.take()
        assert step.take().shards == 1
        step.publish(force=True)
    assert [row[0] for row in cells(records)] == ["x", "y"]


# two at once


def test_writers_wait_for_each_other(records: Records) -> None:
    """A second process that ingests waits for the first, or is told who that is; it takes nothing twice."""
    write_shard(records, [Segment("x")])
    code = "import sys; from swingby.records import Records; from swingby.store import ingest;"
    code += "print(ingest(Records.open(sys.argv[1]), wait=float(sys.argv[2])).shards)"

    def other(wait: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(records.data), str(wait)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    with Ingest(records) as step:
        patient, hasty = other(60), other(0)
        _, complaint = hasty.communicate()
        assert f"held by process {os.getpid()}" in complaint
        assert step.take().shards == 1
        assert patient.poll() is None
        step.publish(force=True)
    assert patient.communicate()[0] == "0\n"
    assert len(cells(records)) == 1


def test_many_writers_at_once_are_as_one(records: Records) -> None:
    """Several processes that write shards and ingest at once leave each cell once, and what a rebuild leaves."""
    code = """
import sys
from swingby.records import Records
from swingby.store import ingest
records = Records.open(sys.argv[1])
for name in sys.argv[2:]:
    (records.data / "waiting" / name).rename(records.shard_path(name.replace("@", "/")))
    ingest(records)
"""
    waiting = records.data / "waiting"
    waiting.mkdir()
    names = [write_shard(records, [Segment(f"{batch:02d}")], batch=batch) for batch in range(9)]
    for name in names:
        records.shard_path(name).rename(waiting / name.replace("/", "@"))
    flat = [name.replace("/", "@") for name in names]
    command = [sys.executable, "-c", code, str(records.data)]
    writers = [subprocess.Popen([*command, *flat[place::3]], stderr=subprocess.PIPE, text=True) for place in range(3)]
    assert [writer.communicate()[1] for writer in writers] == [""] * 3
    assert [row[0] for row in cells(records)] == [f"{batch:02d}" for batch in range(9)]
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


# a full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 20 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(disk)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("room", [0.2, 1.0, 3.5])
def test_a_full_disk_stops_an_ingest_cleanly(small_disk: Path, room: float) -> None:
    """However many MB are left when the disk fills up: a clear error, readers keep the old; with room it goes on."""
    records = Records.open(small_disk / "data")
    ingest(records)
    old = snapshot(records)
    noise = np.random.default_rng(0).normal(size=(1000, 200))
    segments = [Segment(f"{k:04d}") for k in range(1000)]
    table = rows_of(segments).drop_columns("loss").append_column("loss", pa.array(noise.tolist(), LIST))
    write_shard(records, table)
    free = shutil.disk_usage(small_disk).free
    filler = small_disk / "filler"
    filler.write_bytes(bytes(int(free - room * 2**20)))
    with pytest.raises(SwingbyError, match="disk is full"):
        ingest(records)
    assert snapshot(records) == old
    filler.unlink()
    ingest(records)
    with Store.open(records.data) as store:
        found = store.sql("select loss from toy order by cell_id").arrow()["loss"].to_pylist()
    assert np.array_equal(np.array(found), noise)
