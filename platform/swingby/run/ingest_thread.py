"""The ingest thread: while a run trains, it ingests new shards, publishes the store, and derives outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from swingby.data.locks import HeldError
from swingby.data.records import Records
from swingby.data.remote.bucket import StorageError
from swingby.run.drain import Drain
from swingby.run.forecast import Planned
from swingby.run.outcomes import LiveOutcomes
from swingby.run.progress import Progress
from swingby.store import Ingest

BUSY = 15
"""Turns in a row in which another process is the writer of the store, before the user hears of it."""
INGEST_SECONDS = 2.0
"""How often a running driver looks for new shards; publications are limited further by what they cost."""


def ingest_once(records: Records, unpublished: bool = False) -> bool:
    """Ingests what is new, in one short turn as the writer of the store.

    Returns:
        Whether something that was ingested (now or before) is not published yet, because it is too early for that.

    Raises:
        SwingbyError: another process is the writer just now, the disk is full, or the store is broken.
    """
    with Ingest(records, wait=0) as step:
        taken = step.take()
        return not step.publish() and (unpublished or taken.shards + taken.derived > 0)


class RemoteSync:
    """What the driver of some plans does on object storage while they run; nothing for a data folder on a disk."""

    def __init__(self, records: Records, plan_ids: Sequence[str]) -> None:
        self._mirror, self._plans = records.mirror, list(plan_ids)
        self._flagged = False

    def fetch(self) -> None:
        """Fetches the shards of workers on other machines.

        Raises:
            StorageError: the storage does not answer.
        """
        if self._mirror is not None:
            self._mirror.fetch_new([f"shards/{plan_id}" for plan_id in self._plans])

    def drain(self) -> None:
        """Tells the workers on all machines to begin no further batch."""
        if self._mirror is not None:
            self._flagged = True
            with suppress(StorageError):  # no batch begins any more, whether running ones heard of it or not
                self._mirror.signals.drain(self._plans[0], asked=True)

    def close(self) -> None:
        """Takes the signal to drain back, once the plans do not run any more."""
        if self._mirror is not None and self._flagged:
            with suppress(StorageError):  # `gc` removes it
                self._mirror.signals.drain(self._plans[0], asked=False)


class IngestThread:
    """The thread that ingests while some plans are trained; a context manager.

    Args:
        ingested: called after shards were ingested.
    """

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        progress: Progress,
        drain: Drain,
        ingested: Callable[[], None],
    ) -> None:
        self._records, self._progress, self._drain, self._ingested = records, progress, drain, ingested
        self._stop = threading.Event()
        self._remote = RemoteSync(records, [one.plan.plan_id for one in planned])
        sweep_ids = [one.plan.sweep_id for one in planned]
        self._outcomes = LiveOutcomes(records, sweep_ids, lambda: self._stop.is_set() or drain(), progress.line)
        self._shards, self._unpublished = 0, False
        self._thread = threading.Thread(target=self._run, name="ingest", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._remote.close()

    def _run(self) -> None:
        drained, message, busy, due = False, "", 0, time.monotonic() + INGEST_SECONDS
        while not self._stop.wait(0.1):
            if self._drain() and not drained:
                self._progress.line(
                    "stopping: running batches finish, the rest is left for the next run; again to stop at once"
                )
                drained = True
                self._remote.drain()
            if time.monotonic() < due:
                continue
            try:
                self._turn()
                busy = 0
            except Exception as error:  # the run goes on; its end ingests again, and raises
                # Another driver that ingests takes these shards, too: that is news only if it lasts.
                busy = busy + 1 if isinstance(error, HeldError) else BUSY
                if str(error) != message and busy >= BUSY:
                    message = str(error)
                    self._progress.line(f"the store waits: {message}")
            due = time.monotonic() + INGEST_SECONDS

    def _turn(self) -> None:
        self._remote.fetch()
        count = len(self._records.shards())
        if count != self._shards or self._unpublished:
            self._unpublished = ingest_once(self._records, self._unpublished)
            self._shards = count
            self._ingested()
        self._unpublished = self._outcomes.turn(count) or self._unpublished
