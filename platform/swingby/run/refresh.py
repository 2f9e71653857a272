"""Bringing the store up to date for whoever reads it next, or saying as of when it is, where nobody may write there."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from datetime import UTC, datetime

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import Layout, Store, ingest
from swingby.units import counted

_REFUSALS = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True, slots=True)
class AsPublished:
    """What a reader sees of a data folder that cannot be written: the last publication.

    Attributes:
        reason: why it cannot be written.
        published: when it was.
        waiting: shards that are not in it.
    """

    reason: str
    published: datetime
    waiting: int

    def __str__(self) -> str:
        left = "" if not self.waiting else f"; {counted(self.waiting, 'shard')} that came later {self._verb} not in it"
        shown = f"this shows what was published on {self.published:%Y-%m-%d %H:%M} UTC{left}"
        return f"The data folder may only be read ({self.reason}): {shown}."

    @property
    def _verb(self) -> str:
        return "is" if self.waiting == 1 else "are"


def freshen(records: Records) -> AsPublished | None:
    """Folds in what is new; where nobody may write there, what is published is all there is to read, and this says so.

    Raises:
        SwingbyError: as `ingest`; or nothing was ever published in a folder that cannot be written.
    """
    try:
        ingest(records)
    except SwingbyError as error:
        newest, reason = Layout(records.data).newest(), _refusal(error)
        if not reason or newest is None:
            raise
        with Store.open(records.data) as store:
            known = {
                row.shard for row in store.sql("select shard from shards union all select shard from bad_shards").rows()
            }
        waiting = sum(name not in known for name in records.shards())
        return AsPublished(reason, datetime.fromtimestamp(newest.published, UTC), waiting)
    return None


def _refusal(error: BaseException) -> str:
    """What the system said, if it was the right to write that lacked; else nothing."""
    cause = error.__cause__
    return str(cause.strerror) if isinstance(cause, OSError) and cause.errno in _REFUSALS else ""
