"""Laws of records that nobody here would write: one that the store cannot take is set aside, and stops nobody else."""

from __future__ import annotations

import decimal
import hashlib
import os
import shutil
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby.data.parquet import read_parquet, write_parquet
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import Store, ingest, rebuild
from tests.support.command import swingby
from tests.support.store import Segment, rows_of, snapshot, write_plan, write_shard

shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


def structure(*names: str) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array([place]) for place in range(len(names))], names=list(names))


TEXT_THAT_IS_NONE = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], "i4")), pa.py_buffer(b"\xff")]
)
ODD: dict[str, pa.Array] = {
    "half floats": pa.array(np.array([1.5], "f2")),
    "wide decimals": pa.array([decimal.Decimal("1.5")], pa.decimal256(50, 2)),
    "doubly named": structure("a", "a"),
    "doubly named, by case": structure("a", "A"),
    "nameless": structure(""),
    "a key twice": pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64())),
    "text that is none": TEXT_THAT_IS_NONE,
    "a very wide array": pa.array([[1] * 200_000], pa.list_(pa.int64(), 200_000)),
    "an extension": pa.array([[b"a" * 16]], pa.list_(pa.binary(16))).cast(pa.list_(pa.uuid())),
}
"""What DuckDB or Arrow cannot take; each alone."""


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """Three cells, of which one has a sound result."""
    records = Records.open(tmp_path / "data")
    write_plan(records, ["x", "y", "z"])
    write_shard(records, [Segment("x")])
    return records


def with_odd(column: pa.Array, cell: str = "y", name: str = "odd") -> pa.Table:
    return rows_of([Segment(cell)]).append_column(name, column)


def test_a_record_of_an_odd_kind_is_set_aside_and_the_rest_goes_on(records: Records) -> None:
    """Of every kind, a shard, a curve, a derived file and a plan with such a column are named with a reason; shards
    before and after them are there, and a store made again is the same."""
    odd: set[str] = set()
    for place, (kind, column) in enumerate(ODD.items()):
        name = f"odd{place}"  # of its own: it is refused for its kind, not because a column has another one
        shard = write_shard(records, with_odd(column, name=name), batch=2 * place + 1)
        lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), column)
        curve = write_shard(records, with_odd(lists, name=name), batch=2 * place + 2, curves=("step", "loss", name))
        table = pa.table({"cell_id": ["x"], name: column})
        derived = records.write_derived(f"outcomes_{name}", "1", ["cell_id"], table)
        plan = write_plan(records, ["q"], "b", sequence=place + 1, **{name: column})
        names = {
            shard,
            curve,
            f"derived/{derived.relative_to(records.data / 'derived')}",
            f"plans/{plan.plan_id}.parquet",
        }
        assert len(names) == 4, kind
        odd |= names
    write_shard(records, [Segment("z")], batch=90)
    taken = ingest(records)
    assert {name for name, _ in taken.bad} == odd
    assert all(0 < len(reason) <= 500 for _, reason in taken.bad)
    seen = snapshot(records)
    with Store.open(records.data) as store:
        assert [row.cell_id for row in store.sql("from toy select cell_id order by all").rows()] == ["x", "z"]
    assert ingest(records).bad == ()  # named once, and read again when it changes
    rebuild(records)
    assert snapshot(records) == seen


def test_a_group_of_shards_loses_only_the_odd_ones(records: Records) -> None:
    """Shards are applied many at once; where one of them is refused, its neighbours are not."""
    plain = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    for batch in range(1, 8):
        column = ODD["a key twice"] if batch == 4 else plain
        write_shard(records, with_odd(column, f"c{batch}"), batch=batch)
    taken = ingest(records)
    assert (taken.shards, len(taken.bad)) == (7, 1)
    assert "b000004" in taken.bad[0][0]


def test_status_and_doctor_name_what_is_set_aside(records: Records) -> None:
    """Both name the file and the reason, and say what to do; the sweep's other cells are counted."""
    name = write_shard(records, with_odd(ODD["half floats"]), batch=1)
    arguments = ["--data", str(records.data)]
    assert swingby("ingest", *arguments).exit_code == 2
    status = swingby("status", *arguments)
    assert status.exit_code == 0
    assert f"set aside: shards/{name}: it holds what the store cannot take" in status.stdout
    doctor = swingby("doctor", "--no-ray", *arguments)
    assert f"shards/{name} is set aside" in doctor.stdout
    assert "move the file away" in doctor.stdout


def test_doctor_names_a_shard_that_is_gone(records: Records) -> None:
    """Results whose record was removed are still in the store, and would not be in one made again: that is told."""
    name = write_shard(records, [Segment("y")], batch=1)
    ingest(records)
    records.shard_path(name).unlink()
    doctor = swingby("doctor", "--no-ray", "--data", records.data)
    assert f"shards/{name} is gone" in doctor.stdout


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "empty"])
def test_what_is_no_plain_file_is_set_aside(records: Records, kind: str) -> None:
    """A named pipe, a folder, a link to itself and an empty file among the shards are named, and nobody waits for
    them."""
    path = records.data / "shards" / "a-aaaaaaaa-0001" / "b000009-a1001-00000000.parquet"
    make: dict[str, Any] = {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "loop": lambda: path.symlink_to(path),
        "empty": path.touch,
    }
    make[kind]()
    taken = ingest(records)
    assert taken.shards == 1
    assert [name for name, _ in taken.bad] == [f"{path.parent.name}/{path.name}"]
    assert ingest(records).shards == 0


# records of every kind

LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float16(), st.just(np.float16(1))),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.string(), st.text(max_size=5).filter(lambda text: text.isprintable())),
    (pa.large_string(), st.just("x")),
    (pa.binary(), st.binary(max_size=5)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.date32(), st.just(date(2020, 2, 29))),
    (pa.timestamp("us"), st.just(datetime(2020, 2, 29))),
    (pa.timestamp("ns", "UTC"), st.just(10**9)),
    (pa.time64("us"), st.just(time(1, 2))),
    (pa.duration("s"), st.integers(0, 10**6)),
    (pa.decimal128(38, 2), st.just(decimal.Decimal("1.25"))),
    (pa.decimal256(76, 3), st.just(decimal.Decimal("1.25"))),
    (pa.null(), st.none()),
]
NAMES = st.sampled_from(["a", "A", "", 'a"b', "a[3]", "rowid", "x.y", "\u202e", "select", "cell_id", "é", "a" * 300])


@st.composite
def columns(draw: st.DrawFn, depth: int = 3) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """A type, of any nesting, and values of it."""
    kind = draw(st.sampled_from(["leaf", "leaf", "list", "large", "fixed", "struct", "map", "dictionary"]))
    if kind == "leaf" or depth == 0:
        return draw(st.sampled_from(LEAVES))
    if kind == "dictionary":
        return pa.dictionary(pa.int8(), pa.string()), st.just("x")
    type_, values = draw(columns(depth - 1))  # pyright: ignore[reportCallIssue]
    if kind == "fixed":
        return pa.list_(type_, 2), st.lists(values, min_size=2, max_size=2)
    if kind == "struct":
        names = draw(st.lists(NAMES, min_size=1, max_size=3))
        return pa.struct([pa.field(name, type_) for name in names]), st.fixed_dictionaries(dict.fromkeys(names, values))
    if kind == "map":
        return pa.map_(pa.string(), type_), st.lists(st.tuples(st.sampled_from(["k", "l"]), values), max_size=2)
    return (pa.list_ if kind == "list" else pa.large_list)(type_), st.lists(values, max_size=3)


def odd_table(data: st.DataObject, table: pa.Table) -> pa.Table:
    """The table with one to three columns of any type and name, new or in the place of those it has."""
    for _ in range(data.draw(st.integers(1, 3))):
        type_, values = data.draw(columns())
        name = data.draw(NAMES | st.sampled_from(table.column_names))
        rows = data.draw(st.lists(st.none() | values, min_size=table.num_rows, max_size=table.num_rows))
        try:
            column = pa.array(rows, type_)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            continue  # what not even Arrow can hold
        place = table.column_names.index(name) if name in table.column_names else None
        table = table.append_column(name, column) if place is None else table.set_column(place, name, column)
    return table


def put(records: Records, key: str, table: pa.Table, header: dict[str, Any], data: st.DataObject) -> None:
    """Writes a record under a name that fits its content; now and then the digits in it do not."""
    path = records.data / key
    try:
        written = write_parquet(path, table, header)
    except (SwingbyError, pa.ArrowException):
        return  # what Parquet cannot hold
    digits = {"shards": 8, "derived": 12}.get(key.partition("/")[0], 0)
    if digits:
        digest = hashlib.sha256(written.read_bytes()).hexdigest() if data.draw(st.integers(0, 9)) else "0" * 64
        written.rename(path.with_name(f"{path.stem}-{digest[:digits]}.parquet"))


def stop_nobody(tmp_path: Path, data: st.DataObject) -> None:
    """An ingest of records of any kind beside sound ones, and a rebuild."""
    shutil.rmtree(tmp_path / "data", ignore_errors=True)
    records = Records.open(tmp_path / "data")
    write_plan(records, ["x", "y", "z"], width=pa.array([1, 2, 3]))
    shard = write_shard(records, [Segment("x")])
    records.write_derived("outcomes_one", "1", ["cell_id"], pa.table({"cell_id": ["x"], "told": [True]}))
    sound = {key: read_parquet(records.data / key, "record") for key in records.paths()}
    for place in range(6):
        key = data.draw(st.sampled_from(sorted(sound)))
        header, table = sound[key]
        folder = key.partition("/")[0]
        if folder == "plans":
            key, header = f"plans/a-aaaaaaaa-{place + 2:04d}.parquet", {**header, "sequence": place + 2}
        elif folder == "shards":
            key = f"shards/{shard.partition('/')[0]}/b{place + 1:06d}-a1001.parquet"
            curves = [name for name in ("step", "loss", "a") if data.draw(st.booleans())]
            header = {**header, "batch": place + 1, "curves": curves}
        else:
            key = f"derived/outcomes_one/1.{place}.parquet"
        put(records, key, odd_table(data, table), header, data)
    write_shard(records, [Segment("z")], batch=90)
    taken = ingest(records)
    assert all(reason for _, reason in taken.bad)
    seen = snapshot(records)
    with Store.open(records.data) as store:
        assert {row.cell_id for row in store.sql("from toy select cell_id").rows()} >= {"x", "z"}
    records.tell = lambda text: pytest.fail(text)
    rebuild(records)
    again = snapshot(records)
    assert {name: again[name] for name in again if name != "bad_shards"} == {
        name: seen[name] for name in seen if name != "bad_shards"
    }


@settings(shared, max_examples=4)
@given(st.data())
def test_records_of_every_kind_stop_nobody(tmp_path: Path, data: st.DataObject) -> None:
    """Plans, shards and derived files with columns of any type, name and nesting, and checksums that do not fit: each
    is taken or set aside with a reason; sound ones are there; all can be read; a store made again is the same."""
    stop_nobody(tmp_path, data)


@pytest.mark.slow
@settings(shared, max_examples=80)
@given(st.data())
def test_records_of_every_kind_by_the_hundred(tmp_path: Path, data: st.DataObject) -> None:
    """The same, of hundreds."""
    stop_nobody(tmp_path, data)
