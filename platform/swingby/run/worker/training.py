"""Training: runs the experiment on a batch, writes shards, and halves a batch that raises until the fault is found."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from swingby.data.files import ensure_folder, utc_now
from swingby.data.provenance import package_versions
from swingby.data.records import Plan, Records, ShardHeader
from swingby.data.remote.checkpoints import Checkpoints
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import Cell
from swingby.model.ending import is_its_own, without_exit
from swingby.model.experiment import Batch, Experiment
from swingby.model.process_group import LostWorkerError
from swingby.run.commit_lock import OvertakenError, check_current, commit_lock
from swingby.run.processes.group import error_text
from swingby.run.processes.watchdog import Beat
from swingby.run.resources import with_advice
from swingby.run.worker.meter import Meter
from swingby.run.worker.segments import NOTE, Lineage, Segments, shards_of

FLUSH_SECONDS = 60.0
"""A long batch leaves a shard at least this often, so that it can be watched and a kill costs little."""


class Training:
    """The work of one `run_batch`, from cells to shards.

    Args:
        seen: the shards of the batch that were there when its finished cells were read.
    """

    def __init__(
        self,
        records: Records,
        plan: Plan,
        batch: int,
        how: Batch,
        seen: Sequence[str],
        attempt: int = 0,
        beat: Beat = lambda doing: None,
        meter: Path | None = None,
    ) -> None:
        self.experiment: Experiment = registry.experiment(plan.experiment)
        self.records, self.plan, self.batch = records, plan, batch
        self.cells = {cell.cell_id: cell for cell in how.cells}
        self.how, self.workdir = how, Path(how.workdir or "")
        self.checkpoints = Checkpoints(records.mirror, self.workdir)
        self.segments = Segments(self.experiment, plan.recording, list(self.cells))
        self.lineage = Lineage(records, how.workdir)
        self.buffer: list[pa.Table] = []
        self.beat, self.known = beat, set(seen)
        self.meter = Meter(meter, self.experiment, self.cells)
        # The numbers of a plan's attempts must not reach those of the next plan.
        self.least = 1000 * plan.sequence + 1 + min(attempt, 900)

    def _begin_attempt(self) -> None:
        self.attempt = max(self.least, self.records.next_attempt(self.plan, self.batch))
        self.flushed, self.started = time.monotonic(), utc_now()

    def run(self) -> None:
        """Trains all cells; rows that were yielded are written even if an exception ends the training."""
        self.checkpoints.fetch(self._alive)
        self.beat("training")
        self.lineage.begin()
        ensure_folder(self.workdir)
        self._begin_attempt()  # only now: the shards that it goes on from are fetched
        try:
            with without_exit():
                self._run_isolating(tuple(self.cells.values()))
            left = self.segments.unfinished
            if left and not self.how.draining():
                self._check_alone()  # who finished them meanwhile left a checkpoint from which there is nothing to do
                name = self.experiment.name
                raise SwingbyError(f"experiment {name!r} breaks its contract: no final row for {len(left)} cells")
        finally:
            self._flush()
        self.meter.report(self.segments.reached(), ended=True)
        # A run that retries failed cells goes on from their checkpoints.
        all_failed = all(status == "failed" for status in self.segments.status.values())
        if self.segments.unfinished or (all_failed and self._has_checkpoints()):
            self._put_checkpoints(at_last=True)
        else:
            _remove(self.workdir)
            self.checkpoints.drop()

    def fail(self, cell_id: str, message: str, last: int = -1) -> None:
        """Writes the final row of a failed cell without training it; its checkpoints stay for a run that retries it.

        Args:
            last: the last step that has rows; -1: none.
        """
        self._begin_attempt()
        if last >= 0:
            self.segments.resume({cell_id: last})
            self.lineage.resume(cell_id, last)
        self._take(self.segments.failed({cell_id: message}))
        self._flush()

    def _has_checkpoints(self) -> bool:
        return any(path.is_file() and path.name != NOTE for path in self.workdir.rglob("*"))

    def _put_checkpoints(self, at_last: bool = False) -> None:
        if self._has_checkpoints():  # the note alone is no checkpoint, and would delay the first one
            self.checkpoints.put(at_last, self._alive)

    def _take(self, rows: pa.Table) -> None:
        self.buffer.append(self.lineage.follow(rows))

    def _run_isolating(self, cells: tuple[Cell, ...]) -> None:
        """Trains the cells together; if that raises, trains the unfinished ones in halves until the fault is found."""
        try:
            self._run_together(cells)
        except SwingbyError:
            raise
        except LostWorkerError as error:
            if self.segments.unfinished:
                raise type(error)(with_advice(str(error), self.how.gpus)) from error
        except BaseException as error:
            if not is_its_own(error):
                raise
            self.meter.check(error_text(error))
            ids = {cell.cell_id for cell in cells}
            unfinished = [self.cells[cell_id] for cell_id in self.segments.unfinished if cell_id in ids]
            if len(cells) == 1 and unfinished:
                self._take(self.segments.failed({cells[0].cell_id: with_advice(error_text(error), self.how.gpus)}))
                return
            self._flush()
            self._begin_attempt()
            self.segments.restart([cell.cell_id for cell in unfinished])
            middle = (len(unfinished) + 1) // 2
            for half in (unfinished[:middle], unfinished[middle:]):
                if half:
                    self._run_isolating(tuple(half))

    def _run_together(self, cells: tuple[Cell, ...]) -> None:
        tables = self.experiment.run(replace(self.how, cells=cells, emit=self._emit))
        try:
            for table in tables:
                self._emit(table)
        finally:
            if isinstance(tables, Generator):
                tables.close()  # now, and not when it is collected: it may hold a process group

    def _emit(self, table: pa.Table | None) -> None:
        """Takes rows of the experiment, or, with None, a sign of life."""
        self.beat("training")
        if table is None:
            return
        self.meter.check_rows(table)
        rows = self.segments.take(table)
        self._take(rows)
        if self.segments.unfinished:  # else the report of the end is the next
            self.meter.report(self.segments.reached())
        whole_cells = all(rows["final"].to_pylist()) and not any(rows["from_step"].to_pylist())
        if not whole_cells or time.monotonic() - self.flushed >= FLUSH_SECONDS:
            self._flush()

    def _flush(self) -> None:
        """Commits one shard with the rows since the last."""
        rows = pa.concat_tables(self.buffer, promote_options="permissive") if self.buffer else None
        self.buffer = []
        if rows is None or not rows.num_rows:
            return
        now, started = time.monotonic(), self.started
        header = replace(self._header(), started=started, finished=utc_now(), seconds=now - self.flushed)
        with ExitStack() as written:
            with commit_lock(self.records, self.plan.sweep_id, lambda: self.beat("training")):
                self.beat("writing")
                check_current(self.records, self.plan)
                self._check_alone()
                shard = written.enter_context(self.records.unpublished(header, rows))
            self.beat("publishing")
            self.known.add(f"{self.plan.plan_id}/{shard.name}")
            if self.segments.unfinished:
                self.lineage.committed(f"{self.plan.plan_id}/{shard.name}")
            self.records.publish(shard, self._alive)
        if self.segments.unfinished:
            self._put_checkpoints()  # after the rows that they go on from
        self.flushed, self.started = now, header.finished
        self.beat("training")

    def _alive(self) -> None:
        """Gives a sign of life during an upload, which may take long."""
        self.beat("publishing")

    def _check_alone(self) -> None:
        """Refuses to write rows of cells of which another process wrote rows meanwhile: one of the two was taken for
        dead. Whoever comes second is refused, whichever that is, and what it would have written is trained already.

        Raises:
            OvertakenError: another process committed rows of these cells since this one read what there is.
        """
        for name in shards_of(self.records, self.plan, self.batch):
            if name in self.known:
                continue
            _, rows = self.records.read_shard(name)
            if not self.cells.keys().isdisjoint(rows["cell_id"].to_pylist()):
                raise OvertakenError("another process, taken for dead, trained the same cells")
            self.known.add(name)

    def _header(self) -> ShardHeader:
        return ShardHeader(
            plan_id=self.plan.plan_id,
            sweep_id=self.plan.sweep_id,
            experiment=self.experiment.name,
            batch=self.batch,
            attempt=self.attempt,
            recorded=self.plan.recording.tokens,
            curves=tuple(self.segments.curves),
            shape=self.experiment.shape(next(iter(self.cells.values())).params),
            cells=len(self.cells),
            started="",
            finished="",
            seconds=0.0,
            host=socket.gethostname(),
            device=self.how.device,
            pid=os.getpid(),
            versions={name: version for name, version in package_versions().items() if version is not None},
        )


def _remove(folder: Path) -> None:
    """Removes a folder of checkpoints, and its parent if that is empty; another batch may use the parent."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    try:
        folder.rmdir()
        folder.parent.rmdir()
    except OSError:
        return
