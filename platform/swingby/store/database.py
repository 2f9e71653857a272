"""The store's only access to DuckDB: how a connection is made, and how its errors are reported."""

from __future__ import annotations

import atexit
import os
import resource
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from swingby.errors import BrokenStoreError, SwingbyError, plain_words

DatabaseError = duckdb.Error
MissingError = duckdb.CatalogException
"""What a table raises that is not there."""
OverdueError = duckdb.InterruptException
FullError = duckdb.OutOfMemoryException
Database = duckdb.DuckDBPyConnection

STORAGE = "storage_version 'v1.5.0'"
"""Attach option: any supported DuckDB reads what any other wrote."""

ROW_GROUP = 2048
CURVES = f"{STORAGE}, row_group_size {ROW_GROUP}"
"""Attach options of a curve segment, whose rows are long: a row group of them is what fits a processor's cache (three
times as fast as groups of 10,240 rows), and a checkpoint writes the last one again."""

WRITER = {"memory_limit": "512MB"}
"""Settings of the writer."""

_idle: list[Database] = []
"""The writer's connection that was given back last, if there is one."""

BASE_MB = 128
"""What the writer needs in memory beside the curves that are under way."""

FILES = 16_384
"""Files that a process may have open once it reads or writes a store, if it is allowed so many."""

FAST = "set global disabled_compression_methods = 'alp,alprd'"
"""Packing floats costs as much as all else the writer does with a curve, and saves an eighth. (DuckDB 2.0 takes this
among the settings of a new connection, and does nothing about it.)"""


def connect(**config: Any) -> Database:
    """An in-memory connection: loads no extensions, sees no Python variables, spills into the temporary folder."""
    spill = Path(tempfile.gettempdir()) / f"swingby-spill-{os.getpid()}"
    fixed = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "temp_directory": str(spill),
    }
    _let_files_open()
    return duckdb.connect(":memory:", config={**fixed, **config})


def writer() -> Database:
    """A connection of the writer's, with nothing attached: the one that was given back last, or a new one.

    A run of a few cells ingests three times, and a new DuckDB takes half of the time of a small ingest.
    """
    _let_files_open()
    with suppress(IndexError):
        return _idle.pop()
    connection = connect(threads=min(4, os.cpu_count() or 1), **WRITER)
    connection.execute(FAST)
    return connection


def give_back(connection: Database) -> None:
    """Takes a writer's connection of which everything was detached, for the next one; keeps one, and closes others."""
    if _idle:
        connection.close()
    else:
        _idle.append(connection)


def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


atexit.register(_close_idle)
# A forked process has none of DuckDB's threads: it can neither use a connection of its parent nor close it.
os.register_at_fork(before=_close_idle)


def _let_files_open() -> None:
    """Every sealed segment is an open file, and of 10^8 cells there are a thousand: as many as a process may usually
    have, until it asks for more of what it is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def one_each(connection: Database, texts: Iterable[str]) -> None:
    """Sees to it that each text is one statement: what follows another statement would be run with it.

    Raises:
        DatabaseError: one is several statements, or no SQL.
    """
    for text in texts:
        if len(connection.extract_statements(text)) != 1:
            raise duckdb.ParserException(f"{text[:60]!r} is not one statement")


def attached(attachments: Iterable[str], views: Sequence[str]) -> Database:
    """A connection with databases attached, and views over them. Whatever the views say, it opens no other file.

    Raises:
        DatabaseError: a database cannot be attached, or a view cannot be made.
    """
    connection = connect()
    try:
        for statement in attachments:
            connection.execute(statement)
        connection.execute("set enable_external_access = false")
        one_each(connection, views)
        for view in views:
            connection.execute(view)
    except BaseException:
        connection.close()
        raise
    return connection


_DAMAGE = (
    duckdb.CatalogException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.IOException,
    duckdb.SerializationException,
)
_OUTSIDE = (
    "Cannot allocate memory",
    "Could not set lock",
    "Input/output error",
    "Operation not permitted",
    "Permission denied",
    "Read-only file system",
    "Stale file handle",
    "Too many open files",
)
"""What DuckDB repeats of the system, in whose place another store would fare alike."""


def disk_is_full(error: BaseException) -> bool:
    """Whether this is what DuckDB says of a full disk."""
    return any(words in str(error) for words in ("No space left", "Disk quota"))


def is_outside(error: BaseException) -> bool:
    """Whether neither store nor record is to blame: the disk or the memory is full, or the system refuses."""
    refused = isinstance(error, (duckdb.OutOfMemoryException, duckdb.InterruptException))
    return refused or disk_is_full(error) or any(words in str(error) for words in _OUTSIDE)


def is_damage(error: BaseException) -> bool:
    """Whether a damaged file of a database would raise this; something else may raise it, too."""
    return isinstance(error, _DAMAGE) and not is_outside(error)


@contextmanager
def clear_errors(action: str, query_of_user: bool = False) -> Iterator[None]:
    """Turns what DuckDB raises into a `SwingbyError`; into a `BrokenStoreError` what damaged files raise."""
    try:
        yield
    except DatabaseError as error:
        if disk_is_full(error):
            full = "the disk is full; nothing was left half-written, free some space"
            raise SwingbyError(f"cannot {action}: {full}") from error
        kind = BrokenStoreError if is_damage(error) else SwingbyError
        raise kind(f"cannot {action}: {plain_words(error, query_of_user)}") from error
