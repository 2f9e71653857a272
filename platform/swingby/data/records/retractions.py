"""Retractions: which results were taken back, why, by whom and when, a file each, for good.

Results that are trained afterwards are none of them.
"""

from __future__ import annotations

import getpass
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.folder import Folder, listing
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.errors import SwingbyError

COLUMNS: Mapping[str, pa.DataType] = {"cell_id": pa.string(), "shard": pa.string()}
"""The columns of its table: the rows of a cell in a shard."""
_DIGITS = 12
LONGEST = 2000
"""Characters that a reason may have."""


def user() -> str:
    """Who runs this process; its number where the machine knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


@dataclass(frozen=True, slots=True)
class Retraction:
    """What one file of `retractions/` says.

    Attributes:
        reason: why, in a person's words.
        sweep_id, sweep: id and name of the sweep that was named; empty where cells were.
        who, host, command: who did it, where, and by what command line.
        created: ISO 8601, UTC.
        closed: plans whose workers may leave nothing more (see `swingby.run.commit_lock`): their drivers are gone.
        table: `cell_id`, `shard`: all rows of these cells in these shards, which were all there were.
    """

    reason: str
    sweep_id: str = ""
    sweep: str = ""
    who: str = field(default_factory=user)
    host: str = field(default_factory=socket.gethostname)
    command: str = field(default_factory=lambda: " ".join(sys.argv))
    created: str = field(default_factory=utc_now)
    closed: tuple[str, ...] = ()
    table: pa.Table = field(default_factory=lambda: pa.table({}), repr=False, compare=False)

    def header(self) -> dict[str, Any]:
        """Everything but the table."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "table"}

    @classmethod
    def of(cls, header: Mapping[str, Any], table: pa.Table) -> Self:
        """The retraction that a file tells.

        Raises:
            KeyError, TypeError: its header lacks something, or has it in another type.
        """
        values = {item.name: header[item.name] for item in fields(cls) if item.name not in ("table", "closed")}
        for name, value in values.items():
            if not isinstance(value, str):
                raise TypeError(name)
        closed = header.get("closed", [])  # the first retractions closed nothing
        if not isinstance(closed, list) or not all(isinstance(plan, str) for plan in closed):
            raise TypeError("closed")
        return cls(**values, closed=tuple(closed), table=table.select(list(COLUMNS)))


def checked_reason(reason: str) -> str:
    """A reason that says something, on one line.

    Raises:
        SwingbyError: it is empty, has unprintable characters, or is too long.
    """
    reason = reason.strip()
    if not reason or len(reason) > LONGEST or not reason.isprintable():
        raise SwingbyError(f"the reason {reason[:40]!r} is none; allowed: 1 to {LONGEST:,} printable characters")
    return reason


class Retracted(Folder):
    """A data folder's retractions."""

    def write_retraction(self, retraction: Retraction) -> Path:
        """Writes a retraction; there is no way to undo it.

        Raises:
            SwingbyError: its table lacks a column, or the disk refuses.
        """
        require(retraction.table, COLUMNS, "a retraction")
        self.admit_retractions()
        name = re.sub(r"[^0-9T]", "", retraction.created[:19])
        path = self.data / "retractions" / f"{name}.parquet"
        return write_parquet(path, retraction.table, retraction.header(), _DIGITS)

    def retractions(self) -> list[str]:
        """The name of every retraction (`<when>-<content>.parquet`), sorted."""
        return listing(self.data / "retractions", "*.parquet")

    def read_retraction(self, name: str, content: bytes | None = None) -> Retraction:
        """A retraction, or what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or no retraction.
        """
        header, table = read_parquet(self.data / "retractions" / name, "retraction", _DIGITS, content)
        require(table, COLUMNS, f"retraction {name}")
        try:
            return Retraction.of(header, table)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{name} is no retraction of this format: {error} is missing or wrong") from error
