"""Parquet files with a JSON header: written whole, with checksums; errors of reading say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.data.files import is_as_named, write_whole
from swingby.errors import SwingbyError

_META = b"swingby"
ROW_GROUP = 16384
"""Rows that are put in order and written at a time."""


def write_parquet(
    path: Path,
    table: pa.Table,
    header: Mapping[str, Any],
    digits: int = 0,
    order: pa.Array | None = None,
    hold: Callable[[Path], object] | None = None,
) -> Path:
    """Writes a table and its header whole; with checksums, else a flipped bit would go unnoticed.

    Args:
        digits: if not 0, so many digits of the file's SHA-256 end its name: what `read_parquet` can hold it to.
        order: places of the rows in the order to write them; they are put in order a row group at a time.
        hold: called with the whole file before it has its name.

    Returns:
        Where it lies.

    Raises:
        SwingbyError: a column's name comes twice, or the disk refuses.
    """
    if len(set(table.column_names)) < table.num_columns:
        raise SwingbyError(f"{path.name}: a column comes twice among {', '.join(table.column_names)}")
    schema = table.schema.with_metadata({_META: json.dumps(header).encode()})
    floats, others = _leaves(table.schema)
    options: dict[str, Any] = {
        "compression": "zstd",
        # Floats hardly repeat, but their first bytes do: stored apart from the others, these shrink.
        "use_dictionary": others or False,
        "use_byte_stream_split": floats or False,
    }

    def write(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, schema, write_page_checksum=True, **options) as file:
            for low in range(0, max(table.num_rows, 1), ROW_GROUP):
                rows = table.slice(low, ROW_GROUP) if order is None else table.take(order.slice(low, ROW_GROUP))
                file.write_table(rows.replace_schema_metadata(schema.metadata), ROW_GROUP)
        if hold is not None:
            hold(temporary)

    return write_whole(path, write, digits)


def _leaves(schema: pa.Schema) -> tuple[list[str], list[str]]:
    """The columns of floats, and the others, as Parquet names them: an entry of a list is `.list.element` of it."""
    floats, others = list[str](), list[str]()
    for field in schema:
        name, type_ = field.name, field.type
        while pa.types.is_list(type_) or pa.types.is_large_list(type_):
            name, type_ = f"{name}.list.element", type_.value_type
        (floats if pa.types.is_floating(type_) else others).append(name)
    return floats, others


MOST_VALUES = 2**29
"""Most values of a file by its own metadata, 4 GiB of doubles: a few bytes can stand for more than any memory holds."""


def check_size(metadata: pq.FileMetaData) -> None:
    """Refuses a file that is too large by its own metadata, before its values are read.

    Raises:
        SwingbyError: it holds too many values.
    """
    # By rows alone: to ask a column of a damaged file for its count ends the whole process, inside Arrow.
    values = metadata.num_rows * max(metadata.num_columns, 1)
    if values > MOST_VALUES:
        raise SwingbyError(f"it says that it holds {values:,} values; allowed: {MOST_VALUES:,}")


def _table(source: Any, columns: list[str] | None = None, **options: Any) -> pa.Table:
    """The table of a file. Without options it is read without Arrow's datasets, which import pandas for half a second.

    One thread takes half the processor's time that several take, and a file in memory needs no buffers.
    """
    if options:
        return pq.read_table(source, columns=columns, page_checksum_verification=True, **options)
    with pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False) as file:
        if columns != []:
            check_size(file.metadata)
        return file.read(columns, use_threads=False)


def read_parquet(
    path: Path, kind: str, digits: int = 0, content: bytes | None = None, **options: Any
) -> tuple[dict[str, Any], pa.Table]:
    """Header and table of one record; `digits` as it was written, `options` go to `pyarrow.parquet.read_table`.

    Args:
        content: the bytes of the file, if they were read already.

    Raises:
        SwingbyError: the file is missing, torn, corrupt, or not one of this platform's.
    """
    try:
        if content is None and path.exists() and not path.is_file():
            raise OSError("it is no plain file")  # to read a pipe could take for ever
        if content is None and digits:
            content = path.read_bytes()
        source = path if content is None else pa.BufferReader(content)
        table = _table(source, **options)
        table.validate(full=True)  # a text that is none would end what writes it into a database
        header = json.loads((table.schema.metadata or {})[_META])
        if not isinstance(header, dict):
            raise TypeError(f"the header of a {kind} is a mapping")
        if digits and content is not None and not is_as_named(path, content, digits):
            raise pa.ArrowInvalid("its content is not the one its name was made from")
        return header, table.replace_schema_metadata(None)
    except FileNotFoundError as error:
        raise SwingbyError(f"there is no {kind} {path}") from error
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].replace(str(path), path.name)
        raise SwingbyError(f"{kind} {path.name} is torn or corrupt: {reason}") from error
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise SwingbyError(f"{path.name} is a Parquet file, but not a {kind}: it has no swingby header") from error


def require(table: pa.Table, columns: Mapping[str, pa.DataType | None], what: str) -> None:
    """Refuses a table that lacks a column, or has it in another type (None: any type)."""
    for name, type_ in columns.items():
        if table.column_names.count(name) != 1:
            raise SwingbyError(f"{what}: there is no column {name!r}, or two; it has {', '.join(table.column_names)}")
        actual = table.schema.field(name).type
        if type_ is not None and actual not in (type_, pa.null()):
            raise SwingbyError(f"{what}: the column {name!r} is {actual}; allowed: {type_}")
