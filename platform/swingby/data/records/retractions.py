"""Retractions: which results were taken back, why, by whom and when, a file each, for good.

A retraction does not touch results that are trained after it.
"""

from __future__ import annotations

import getpass
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.errors import SwingbyError

COLUMNS: Mapping[str, pa.DataType] = {"cell_id": pa.string(), "shard": pa.string()}
"""The columns of a retraction's table; a row stands for all rows of a cell in a shard."""
LONGEST = 2000
"""Most characters of a reason."""


def user() -> str:
    """Who runs this process; "unknown" where the machine knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


@dataclass(frozen=True, slots=True)
class Retraction:
    """One file of `retractions/`.

    Attributes:
        reason: why, in a person's words.
        sweep_id, sweep: id and name of the sweep that was named; empty where cells were.
        who, host, command: who did it, where, and by what command line.
        created: ISO 8601, UTC.
        closed: plans whose workers may write no more shards, since their drivers are gone; see
            `swingby.run.commit_lock`.
        table: `cell_id` and `shard`: every row that these cells had is in one of these shards.
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
        """The retraction of a file's header and table.

        Raises:
            KeyError, TypeError: its header lacks something, or has it in another type.
        """
        values = {item.name: header[item.name] for item in fields(cls) if item.name not in ("table", "closed")}
        for name, value in values.items():
            if not isinstance(value, str):
                raise TypeError(name)
        closed = header.get("closed", [])  # older retractions do not have it
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
