"""The ingest thread: while a run trains, it ingests new shards, publishes the store, and derives outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from swingby.data.locks import HeldError
from swingby.data.records import Records
from swingby.data.remote.bucket import StorageError
from swingby.model.detector import Detector
from swingby.run.drain import Drain
from swingby.run.expressions import Task, bind, written_in
from swingby.run.forecast import Planned
from swingby.run.outcomes import cells_without_outcome, detect, tasks_of, write_outcomes
from swingby.run.progress import Progress
from swingby.store import Ingest, Store

if TYPE_CHECKING:
    from swingby.run.refine import Rounds

BUSY = 15
"""Turns in a row in which another process is the writer of the store, before the user hears of it."""
INGEST_SECONDS = 2.0
"""How often a running driver looks for new shards; publications are limited further by what they cost."""
ROUND_SECONDS = 0.3
"""How often it looks where the next round of a refined sweep is chosen by what has come."""
TURN_EVERY = 10.0
"""Least seconds from one turn of `LiveOutcomes` to the next: each leaves a file, and a run may take days."""
TURN_COST = 10.0
"""Least time from one turn to the next, in multiples of what the last turn took."""
SHARD_GROWTH = 1.01
"""Growth of the number of shards that makes a turn worth it: a run of any length leaves some hundred files."""
TURN_SECONDS = 1.0
"""Seconds after which a turn reads no more cells."""
TURN_CELLS = 1_000
"""Cells that a detector sees at once in a turn, so that a turn takes hardly longer than TURN_SECONDS."""
FAULTS = 20
"""Cells for which a detector may raise; after that it waits for the end of the run, which names them all."""


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

    def add(self, plan_id: str) -> None:
        """Takes a plan that was made meanwhile."""
        self._plans.append(plan_id)

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
                self._mirror.signals.drain(self._plans[0], draining=True)

    def close(self) -> None:
        """Takes the signal to drain back, once the plans do not run any more."""
        if self._mirror is not None and self._flagged:
            with suppress(StorageError):  # `gc` removes it
                self._mirror.signals.drain(self._plans[0], draining=False)


class IngestThread:
    """The thread that ingests while some plans are trained; a context manager.

    Args:
        ingested: called after shards were ingested.
        rounds: of a refined sweep, which derive outcomes themselves, since the next choice needs them.
    """

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        progress: Progress,
        drain: Drain,
        ingested: Callable[[], None],
        rounds: Rounds | None = None,
    ) -> None:
        self._records, self._progress, self._drain, self._ingested = records, progress, drain, ingested
        self._rounds, self._every = rounds, INGEST_SECONDS if rounds is None else ROUND_SECONDS
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
        drained, message, busy, due = False, "", 0, time.monotonic() + self._every
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
                self._remote.fetch()
                count = len(self._records.shards())
                if count != self._shards or self._unpublished:
                    self._unpublished = ingest_once(self._records, self._unpublished)
                    self._shards = count
                    self._ingested()
                if self._rounds is not None:
                    self._rounds.turn()
                    for plan_id in self._rounds.new_plans():
                        self._remote.add(plan_id)
                else:
                    self._unpublished = self._outcomes.turn(count) or self._unpublished
                busy = 0
            except Exception as error:  # the run goes on; its end ingests again, and raises
                # Another driver that ingests takes these shards, too: that is news only if it lasts.
                busy = busy + 1 if isinstance(error, HeldError) else BUSY
                if str(error) != message and busy >= BUSY:
                    message = str(error)
                    self._progress.line(f"the store waits: {message}")
            due = time.monotonic() + self._every


class LiveOutcomes:
    """Short turns of deriving while some sweeps run, so that their maps fill in before the end.

    A detector that raises ends no turn: the end of the run derives again, and reports it.

    Args:
        records: the data folder.
        sweep_ids: the sweeps whose cells are derived.
        stop: true at the end of the run, or once it was asked to stop: no turn begins, and one that goes on ends.
        line: shows a line of text to the user.
    """

    def __init__(
        self, records: Records, sweep_ids: Sequence[str], stop: Callable[[], bool], line: Callable[[str], None]
    ) -> None:
        self._records, self._sweep_ids, self._stop, self._line = records, list(sweep_ids), stop, line
        self._due = time.monotonic() + TURN_EVERY
        self._shards = 0
        self._written: set[str] = set()
        self._failed: dict[str, set[str]] = {}
        self._waiting: set[str] = set()

    def turn(self, shards: int) -> bool:
        """Takes a turn if one is due at this number of shards; true if it wrote outcomes, which are to be ingested.

        Raises:
            SwingbyError: the store cannot be read, or the disk refuses.
        """
        if time.monotonic() < self._due or shards <= SHARD_GROWTH * self._shards or self._stop():
            return False
        start = time.monotonic()
        try:
            with Store.open(self._records.data) as store:
                # Outcomes of the last turn are seen only once they are published: their cells would be derived again.
                names = [f"derived/{name}" for name in self._written]
                query = "select count(*) as ingested from ix.records where list_contains(?, record)"
                published = not names or store.sql(query, [names]).rows()[0].ingested == len(names)
                return published and self._derive(store, start)
        finally:
            now = time.monotonic()
            self._due = now + max(TURN_EVERY, TURN_COST * (now - start))

    def _derive(self, store: Store, start: float) -> bool:
        self._written = set()
        whole = True
        query = "select distinct experiment from sweeps where list_contains(?, sweep_id) order by all"
        experiments = [row.experiment for row in store.sql(query, [self._sweep_ids]).rows()]
        written = written_in(store, self._sweep_ids, {})
        tasks, _ = tasks_of(store, self._sweep_ids, experiments, written)
        if (bound := bind(self._records, store, written)) is not None:
            self._written.add(bound)
        for task in tasks:
            if task.detector.name not in self._waiting:
                whole = self._apply(store, task, start) and whole
        if whole:  # all that is published; other shards are for the next turn
            self._shards = store.sql("select count(*) as seen from shards").rows()[0].seen
        return bool(self._written)

    def _apply(self, store: Store, task: Task, start: float) -> bool:
        """Applies one detector within a turn; true if it saw every published cell."""
        tables, detector = list[pa.Table](), task.detector
        failed, whole = self._failed.setdefault(detector.name, set()), True
        try:
            for table in cells_without_outcome(store, task.experiment, detector, task.sweep_ids, TURN_CELLS):
                import pyarrow.compute as pc

                known = pc.call_function(
                    "is_in", [table["cell_id"]], pc.SetLookupOptions(pa.array(failed, pa.string()))
                )
                fresh = table.filter(pc.call_function("invert", [known]))
                if fresh.num_rows:
                    outcomes, faults = detect(detector, fresh)
                    tables += outcomes
                    failed |= faults.keys()
                if len(failed) > FAULTS:
                    self._postpone(detector, f"it raised for {len(failed)} cells")
                    break
                if self._stop() or time.monotonic() - start > TURN_SECONDS:
                    whole = False
                    break
        except Exception as error:
            self._postpone(detector, f"{type(error).__name__}: {error}")
            whole = True
        if tables:
            self._written.add(write_outcomes(self._records, task.experiment, detector, tables)[0])
        return whole

    def _postpone(self, detector: Detector, reason: str) -> None:
        """Leaves a detector to the end of the run."""
        self._waiting.add(detector.name)
        self._line(f"outcomes by {detector} wait for the end of the run: {reason}")
