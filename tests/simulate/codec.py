"""Record files in a format that is quick to write and to read; or, in every so many histories, real Parquet."""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache
from operator import ge
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DIGEST = 32


class Writer:
    """Stands in for `pyarrow.parquet.ParquetWriter`."""

    def __init__(self, where: Any, schema: pa.Schema, **options: Any) -> None:
        self._where, self._schema, self._tables = where, schema, list[pa.Table]()
        self._options = options

    def __enter__(self) -> Writer:
        return self

    def write_table(self, table: pa.Table, *_: Any) -> None:
        self._tables.append(table)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            with Path(self._where).open("wb") as file:
                file.write(self._content(pa.concat_tables(self._tables)))

    def _content(self, table: pa.Table) -> bytes:
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, self._schema) as stream:
            stream.write_table(table)
        content = sink.getvalue()
        return hashlib.sha256(content).digest() + content


class ParquetWriter(Writer):
    """Writes real Parquet."""

    def _content(self, table: pa.Table) -> bytes:
        sink = io.BytesIO()
        with pq.ParquetWriter(sink, self._schema, **self._options) as file:
            file.write_table(table)
        return sink.getvalue()


def _content_of(source: Any) -> bytes:
    if isinstance(source, str | Path):
        return Path(source).read_bytes()
    return source.getvalue() if isinstance(source, io.BytesIO) else source.read_buffer().to_pybytes()


@lru_cache(4096)
def _table(content: bytes) -> pa.Table:
    if content[:4] == b"PAR1":
        return pq.read_table(io.BytesIO(content), page_checksum_verification=True)
    if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST] or len(content) <= DIGEST:
        raise pa.ArrowInvalid("its content is not what was written")
    return pa.ipc.open_stream(content[DIGEST:]).read_all()


class File:
    """Stands in for `pyarrow.parquet.ParquetFile`."""

    def __init__(self, source: Any, **_: Any) -> None:
        self._found = _table(_content_of(source))
        self.metadata = SimpleNamespace(num_rows=self._found.num_rows, num_columns=self._found.num_columns)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, columns: list[str] | None = None, **_: Any) -> pa.Table:
        return self._found if columns is None else self._found.select(columns)


def read_table(source: Any, columns: list[str] | None = None, filters: Any = None, **_: Any) -> pa.Table:
    """Stands in for `pyarrow.parquet.read_table`."""
    found = _table(_content_of(source))
    for name, how, wanted in filters or ():
        values = found[name].to_pylist()
        fits = {">=": ge, "in": lambda value, wanted: value in wanted}[how]
        found = found.filter(pa.array([value is not None and fits(value, wanted) for value in values], pa.bool_()))
    return found if columns is None else found.select(columns)


def codec(real: bool) -> SimpleNamespace:
    """What stands in for the module `pyarrow.parquet`."""
    return SimpleNamespace(
        ParquetWriter=ParquetWriter if real else Writer, ParquetFile=File, read_table=read_table,
        FileMetaData=pq.FileMetaData,
    )  # fmt: skip
