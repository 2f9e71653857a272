"""SQLite files of other tools, opened for reading alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from swingby.errors import SwingbyError

MARK = b"SQLite format 3\0"
WAIT = 5.0
"""Seconds that a lock is waited for."""


def is_sqlite(path: Path) -> bool:
    """Whether a path is a file that begins as SQLite's do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def has_tables(path: Path, names: Collection[str]) -> bool:
    """Whether a file is SQLite and has these tables.

    Raises:
        SwingbyError: it is SQLite and cannot be read.
    """
    if not is_sqlite(path):
        return False
    with reading(path) as connection:
        rows = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    return set(names) <= {name for (name,) in rows}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing, and sees what other processes have committed.

    Raises:
        SwingbyError: it is locked, damaged, or of another form than is known.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=WAIT)) as connection:
            connection.text_factory = lambda data: data.decode(errors="replace")
            yield connection
    except sqlite3.Error as error:
        hint = "; copy it while nothing writes it, and import the copy" if "locked" in str(error) else ""
        raise SwingbyError(f"{path} cannot be read: {error}{hint}") from error
