"""Folding: while a run trains, a thread takes its shards into the store, publishes them, and derives their outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Self

from swingby.data.locks import HeldError
from swingby.data.records import Records
from swingby.run.drain import Drain
from swingby.run.live_outcomes import Live
from swingby.run.planned import Planned
from swingby.run.progress import Progress
from swingby.run.remote_sync import Abroad
from swingby.store import Ingest

BUSY = 15
"""Turns in which somebody else is the writer of the store, one after another, before that is told."""
FOLD_SECONDS = 2.0
"""How often a running driver looks for new shards; publications are limited further by what they cost."""


def fold_once(records: Records, unpublished: bool = False) -> bool:
    """One short turn as the writer; True if something taken (now, or before) waits to be published: it is too early.

    Raises:
        SwingbyError: somebody else is the writer just now, the disk is full, or the store is broken.
    """
    with Ingest(records, wait=0) as step:
        taken = step.take()
        return not step.publish() and (unpublished or taken.shards + taken.derived > 0)


class Folding:
    """The thread that folds while these plans are trained; a context manager.

    Args:
        look: called when something was folded in.
    """

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        progress: Progress,
        drain: Drain,
        look: Callable[[], None],
    ) -> None:
        self._records, self._progress, self._drain, self._look = records, progress, drain, look
        self._stop = threading.Event()
        self._away = Abroad(records, [one.plan.plan_id for one in planned])
        sweep_ids = [one.plan.sweep_id for one in planned]
        self._live = Live(records, sweep_ids, lambda: self._stop.is_set() or drain(), progress.line)
        self._seen, self._unpublished = 0, False
        self._thread = threading.Thread(target=self._run, name="fold", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._away.close()

    def _run(self) -> None:
        told_drain, told, busy, due = False, "", 0, time.monotonic() + FOLD_SECONDS
        while not self._stop.wait(0.1):
            if self._drain() and not told_drain:
                self._progress.line(
                    "stopping: running batches finish, the rest is left for the next run; again to stop at once"
                )
                told_drain = True
                self._away.stop()
            if time.monotonic() < due:
                continue
            try:
                self._turn()
                busy = 0
            except Exception as error:  # the run goes on; its end ingests again and then says so
                # Another driver that folds takes these shards, too: that is news only if it goes on and on.
                busy = busy + 1 if isinstance(error, HeldError) else BUSY
                if str(error) != told and busy >= BUSY:
                    told = str(error)
                    self._progress.line(f"the store waits: {told}")
            due = time.monotonic() + FOLD_SECONDS

    def _turn(self) -> None:
        self._away.look()
        count = len(self._records.shards())
        if count != self._seen or self._unpublished:
            self._unpublished = fold_once(self._records, self._unpublished)
            self._seen = count
            self._look()
        self._unpublished = self._live.turn(count) or self._unpublished
