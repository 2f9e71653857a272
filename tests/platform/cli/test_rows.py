"""Laws of rows in files: whatever type SQL returns, every format takes it, and no value becomes another one."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swingby.cli.rows import Format, encoded, values, write_file, write_rows
from swingby.sandbox.__main__ import TEXT, _spelled

OTHERS = {
    "bignum": "select 5::bignum as v",
    "infinities": "select unnest(['infinity'::date, '-infinity'::date, '2020-02-29'::date]) as v",
    "instants": "select unnest(['infinity'::timestamp, '12345-06-07 08:09:10.5'::timestamp]) as v",
    "intervals": "select [interval '1 day 2 hours', null] as v",
    "deep bytes": "select {'a b\"': ['x'::blob], 'c': map {'k'::blob: 1}} as v",
    "deep dates": "select {'a': [date '9999-12-31', 'infinity'::date]} as v",
    "empty map": "select map() as v",
    "nothing": "select null as v",
    "no rows": "select 1 as v, 'a'::blob as w where false",
    "one name twice": "select 1 as a, 2 as a, 3 as a_1",
    "odd names": 'select 1 as "a, ""b""", 2 as "<b>"',
    "not a number": "select unnest(['nan'::double, 'infinity'::double, 0.1::double]) as v",
    "variants": "select unnest([5::variant, 'x'::variant]) as v",
    "shapes": "select 'POINT (1 2)'::geometry as v",
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"python_enable_replacements": False}) as connection:
        yield connection


def everything(database: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """A query for each type of DuckDB, with the least and the greatest value and null."""
    names = [name for name, *_ in database.execute("describe select * from test_all_types()").fetchall()]
    return {name: f'select "{name}" as v from test_all_types()' for name in names} | OTHERS


def test_every_type_goes_into_every_format(
    database: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of any type, as a sandboxed query gives them and as Arrow has them, are a file that reads back: as many rows
    and columns, null where null was."""
    for name, query in everything(database).items():
        found = database.sql(query)
        for rows in (_spelled(found).to_arrow_table(), found.to_arrow_table()):
            nulls = [value is None for value in values(rows.column(0))]
            told = json.loads(encoded(rows, Format.json))
            assert len(told) == rows.num_rows, name
            assert all(len(row) == rows.num_columns for row in told), name
            if name != "not a number":  # which JSON does not have
                assert [next(iter(row.values())) is None for row in told] == nulls, name
            head, *lines = csv.reader(io.StringIO(encoded(rows, Format.csv).decode()))
            assert len(head) == rows.num_columns, name
            assert len([line for line in lines if line or rows.num_columns == 1]) == rows.num_rows, name
            kept = pq.read_table(io.BytesIO(encoded(rows, Format.parquet)))
            assert [value is None for value in values(kept.column(0))] == nulls, name
            write_rows(rows, Format.table, None)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("select 340282366920938463463374607431768211455::uhugeint", "340282366920938463463374607431768211455"),
        ("select '24:00:00'::time", "24:00:00"),
        ("select '00:00:00+15:59:59'::timetz", "00:00:00+15:59:59"),
        ("select 'infinity'::date", "infinity"),
        ("select '12345-06-07'::date", "+12345-06-07"),
        ("select '12345-06-07 01:02:03.25'::timestamp", "+12345-06-07T01:02:03.250000"),
        ("select '0044-03-15 (BC)'::date", "-0043-03-15"),
        ("select interval '1 month 2 days'", "1 month 2 days"),
        ("select 'x'::blob", "eA=="),
        ("select '10101'::bit", "10101"),
        ("select {'a': 'x'::blob}", {"a": "eA=="}),
        ("select [interval '1 day']", ["1 day"]),
        ("select map {'a'::blob: 1}", '[["YQ==", 1]]'),
        ("select union_value(num := 2)", "2"),
    ],
)
def test_what_is_written(database: duckdb.DuckDBPyConnection, query: str, written: object) -> None:
    """Values that Python or Arrow have no place for come out as they are, as text."""
    rows = _spelled(database.sql(query)).to_arrow_table()
    (found,) = json.loads(encoded(rows, Format.json))[0].values()
    assert found == written


def test_no_type_travels_as_another(database: duckdb.DuckDBPyConnection) -> None:
    """Types that an answer gives as text are DuckDB's own, and none is left below lists and structures."""
    for query in everything(database).values():
        rows = _spelled(database.sql(query))
        assert not any(of in TEXT for type_ in rows.types for of in kinds(type_))


def kinds(type_: Any) -> Iterator[str]:
    yield type_.id
    if type_.id in ("list", "array", "struct", "map"):
        for _, child in type_.children:
            if not isinstance(child, int):
                yield from kinds(child)


def test_names_of_columns_in_files_are_their_own() -> None:
    """Where several columns have one name, those after the first get a number, and none takes another's name."""
    rows = pa.table([[1], [2], [3], [4]], names=["a", "a", "a_1", "a"])
    assert json.loads(encoded(rows, Format.json)) == [{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}]


@pytest.mark.parametrize("form", [Format.csv, Format.json, Format.parquet])
@pytest.mark.parametrize("query", [*OTHERS.values(), "select i, [i] as l, 'a,\"' || i as t from range(7) t(i)"])
def test_a_file_in_parts_is_the_file_at_once(
    database: duckdb.DuckDBPyConnection, tmp_path: Path, form: Format, query: str
) -> None:
    """However the rows come, also in parts without a row: before, between and after the others."""
    rows = database.sql(query).to_arrow_table()
    none, parts = rows.slice(0, 0), [rows.slice(place, 1) for place in range(rows.num_rows)]
    x, y = tmp_path / "x", tmp_path / "y"
    write_file(iter([none, *parts[:1], none, *parts[1:], none]), form, x)
    write_rows(rows, form, y)
    if form is Format.parquet:
        one, other = pq.read_table(x), pq.read_table(y)
        assert one.schema == other.schema
        assert repr([*map(values, one.columns)]) == repr([*map(values, other.columns)])
    else:
        assert x.read_text() == y.read_text()
