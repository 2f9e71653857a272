"""Rows written as a table, CSV, JSON or Parquet, whatever types they have: what a format has no place for is text."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swingby.cli.console import err, give, table
from swingby.errors import SwingbyError
from swingby.text import once

if TYPE_CHECKING:  # imported where they are used: every verb, and --help, begins with the module of `sql`
    import polars as pl
    import pyarrow as pa

SHOWN = 200
"""Rows that are printed as a table."""
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAYS_OF_400_YEARS = 146_097


class Format(StrEnum):
    """The format that rows are written in."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def write_rows(rows: pa.Table, form: Format, out: Path | None) -> None:
    """Writes rows to a file (whole or absent) or to standard output.

    Raises:
        SwingbyError: the file cannot be written, or Parquet was asked for on a terminal.
    """
    if out is not None:
        write_file(iter([rows]), form, out)
    elif form is Format.parquet:
        if sys.stdout.isatty():
            raise SwingbyError("Parquet is not text: add --out FILE, or send it through a pipe")
        sys.stdout.buffer.write(encoded(rows, form))
    elif form is Format.table:
        columns = [list(map(_short, values(column))) for column in rows.slice(0, SHOWN).columns]
        table(rows.column_names, list(zip(*columns, strict=True)))
        if rows.num_rows > SHOWN:
            err.print(f"... {rows.num_rows - SHOWN:,} more rows; --format csv prints all", markup=False)
    else:
        give(encoded(rows, form).decode().rstrip("\n"))


def write_file(tables: Iterator[pa.Table], form: Format, out: Path) -> None:
    """Writes the rows of tables of one schema to a file (whole or absent), a table at a time.

    Raises:
        SwingbyError: the file cannot be written.
    """
    from swingby.data.files import write_whole

    count = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal count
        for rows in tables:
            count += rows.num_rows
            yield rows

    write_whole(out, lambda path: _write(counted(), form, path))
    err.print(f"{count:,} rows -> {out}", markup=False)


def encoded(rows: pa.Table, form: Format) -> bytes:
    """The file that `write_rows` would write; of CSV, JSON and Parquet."""
    buffer = io.BytesIO()
    _write(iter([rows]), form, buffer)
    return buffer.getvalue()


def _write(tables: Iterator[pa.Table], form: Format, path: Path | io.BytesIO) -> None:
    renamed = (rows.rename_columns(once(rows.column_names)) for rows in tables)
    if form is Format.parquet:
        _write_parquet(renamed, path)
        return
    with path.open("wb") if isinstance(path, Path) else nullcontext(path) as file:
        if form is Format.csv:
            for place, rows in enumerate(renamed):
                _flat(rows).write_csv(file, include_header=place == 0)
            return
        # One list: of the lists that the tables are, those with entries, without their brackets.
        lists = (_frame(rows).write_json().encode()[1:-1] for rows in renamed)
        before = b"["
        for entries in filter(None, lists):
            file.write(before + entries)
            before = b","
        file.write(b"]" if before == b"," else b"[]")


def _write_parquet(tables: Iterator[pa.Table], path: Path | io.BytesIO) -> None:
    import pyarrow.parquet as pq

    changed = (_each(rows, lambda column: column if _parquet_takes(column.type) else _texts(column)) for rows in tables)
    first = next(changed)
    with pq.ParquetWriter(path, first.schema) as file:
        for rows in chain([first], changed):
            file.write_table(rows)


def _each(rows: pa.Table, change: Any) -> pa.Table:
    """The rows with every column changed."""
    for place, name in enumerate(rows.column_names):
        column = rows.column(place)
        changed = change(column)
        rows = rows if changed is column else rows.set_column(place, name, changed)
    return rows


def _frame(rows: pa.Table) -> pl.DataFrame:
    """The rows as a polars frame that can be written as text: bytes in base64, dates beyond the calendar as text."""
    import polars as pl

    return pl.DataFrame(_each(rows, lambda column: column if _plain(column.type) else _jsonable(column)))


def _flat(rows: pa.Table) -> pl.DataFrame:
    """The rows with lists and structures written as JSON text, since CSV has none."""
    import polars as pl

    frame = _frame(rows)
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(
        pl.Series(name, [None if v is None else json.dumps(v, default=str) for v in frame[name].to_list()], pl.String)
        for name in nested
    )


# types


def _plain(type_: pa.DataType) -> bool:
    """Whether polars writes any value of a type as text: numbers, texts, and lists of these."""
    import pyarrow as pa

    known = pa.types
    if known.is_list(type_) or known.is_large_list(type_) or known.is_fixed_size_list(type_):
        return _plain(type_.value_type)
    if known.is_dictionary(type_):
        return known.is_string(type_.value_type) or known.is_large_string(type_.value_type)
    tests = (known.is_null, known.is_boolean, known.is_integer, known.is_floating, known.is_decimal128)
    return any(test(type_) for test in (*tests, known.is_string, known.is_large_string))


def _parquet_takes(type_: pa.DataType) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.write_table(pa.schema([("column", type_)]).empty_table(), io.BytesIO())
    except pa.ArrowException:
        return False
    return True


def _jsonable(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of any type as one of text, numbers, lists and structures; itself, where it is one of dates that all
    lie in the calendar."""
    import pyarrow as pa

    samples = values(column)
    known = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_time)
    if any(test(column.type) for test in known) and not any(isinstance(value, str) for value in samples):
        return column
    written = list(map(_written, samples))
    try:
        array = pa.array(written)
        if _parquet_takes(array.type):  # what that takes, such as no structure without fields, polars takes, too
            return array
    except (pa.ArrowException, OverflowError):  # values of several types
        pass
    return _as_text(written)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """A column of any type as one of text."""
    return _as_text(list(map(_written, values(column))))


def _as_text(written: list[Any]) -> pa.Array:
    import pyarrow as pa

    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in written]
    return pa.array(texts, pa.string())


# values


def values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column of any type as Python has them; dates and times beyond Python's calendar as text."""
    import pyarrow as pa

    if pa.types.is_time(column.type):  # the end of a day would become its begin
        day, counts = 86_400 * _UNITS[column.type.unit], column.cast(f"int{column.type.bit_width}").to_pylist()
        return ["24:00:00" if count == day else column[place].as_py() for place, count in enumerate(counts)]
    try:
        return column.to_pylist()
    except (OverflowError, ValueError, NotImplementedError):
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    import pyarrow as pa

    if not scalar.is_valid:
        return None
    known, type_ = pa.types, scalar.type
    if isinstance(scalar, pa.ListScalar):  # of fixed size, and maps, too
        return [_value(item) for item in scalar.values]
    if isinstance(scalar, pa.StructScalar):
        return {type_.field(place).name: _value(scalar[place]) for place in range(type_.num_fields)}
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        if known.is_date32(type_):
            return _instant(scalar.value, None)
        if known.is_date64(type_):
            return _instant(scalar.value // 86_400_000, None)
        if known.is_timestamp(type_):
            return _instant(scalar.value, type_.unit)
        return str(scalar.cast(pa.string()))


def _instant(value: int, unit: str | None) -> str:
    """A date (days since 1970) or time (since 1970, in that unit) that Python has no value for, in ISO 8601."""
    most = 2**31 - 1 if unit is None else 2**63 - 1
    if abs(value) == most:
        return "infinity" if value > 0 else "-infinity"
    days, rest = (value, 0) if unit is None else divmod(value, 86_400 * _UNITS[unit])
    cycles, day = divmod(days, _DAYS_OF_400_YEARS)
    near = date(1970, 1, 1) + timedelta(days=day)
    year = near.year + 400 * cycles
    text = f"{year:04d}-{near:%m-%d}" if 0 <= year <= 9999 else f"{year:+05d}-{near:%m-%d}"
    if unit is None:
        return text
    seconds, part = divmod(rest, _UNITS[unit])
    return f"{text}T{timedelta(seconds=seconds)!s:0>8}" + (f".{part:0{len(str(_UNITS[unit])) - 1}d}" if part else "")


def _written(value: Any) -> Any:
    """A value as JSON can have it: bytes in base64, dates and times in ISO 8601, the entries of a map as a list."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(key): _written(item) for key, item in value.items()}
    if (months := getattr(value, "months", None)) is not None:  # of Arrow: an interval
        return f"{months} months {value.days} days {value.nanoseconds / 1e9:g} seconds"
    if isinstance(value, list | tuple):
        return list(map(_written, value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else str(value)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        head = ", ".join("null" if item is None else _short(item) for item in value[:4])
        return f"[{head}{f', ... {len(value)} in all' if len(value) > 4 else ''}]"
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    return "" if value is None else str(value)
