"""Training: cells go in, shards come out; what raises is narrowed down to the cells at fault."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Generator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.provenance import package_versions
from swingby.data.records import Plan, Records, ShardHeader
from swingby.data.remote.checkpoints import Checkpoints
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Experiment
from swingby.model.process_group import LostWorkerError
from swingby.run.commit_lock import OvertakenError, admit, committing
from swingby.run.processes.supervision import told
from swingby.run.processes.watchdog import Beat
from swingby.run.worker.attempts import shards_of
from swingby.run.worker.lineage import NOTE, Lineage
from swingby.run.worker.segments import Segments

FLUSH_SECONDS = 60.0
"""A long batch leaves a shard at least this often, so that it can be watched and a kill costs little."""


class Training:
    """The work of one `run_batch`: cells go in, shards come out."""

    def __init__(
        self,
        records: Records,
        plan: Plan,
        batch: int,
        how: Batch,
        attempt: int = 0,
        beat: Beat = lambda doing: None,
    ) -> None:
        self.experiment: Experiment = registry.experiment(plan.experiment)
        self.records, self.plan, self.batch = records, plan, batch
        self.cells = {cell.cell_id: cell for cell in how.cells}
        self.how, self.workdir = how, Path(how.workdir or "")
        self.checkpoints = Checkpoints(records.mirror, self.workdir)
        self.segments = Segments(self.experiment, plan.recording, list(self.cells))
        self.lineage = Lineage(records, how.workdir)
        self.buffer: list[pa.Table] = []
        self.beat, self.mine = beat, set[str]()
        # The numbers of a plan's attempts must not reach those of the next plan.
        self.least = 1000 * plan.sequence + 1 + min(attempt, 900)

    def _begin_attempt(self) -> None:
        self.attempt = max(self.least, self.records.next_attempt(self.plan, self.batch))
        self.flushed, self.started = time.monotonic(), utc_now()

    def run(self) -> None:
        """Trains all cells; on the way out, whatever the reason, rows that were yielded are written."""
        self.checkpoints.bring(self._alive)
        self.beat("training")
        self.lineage.begin()
        self.workdir.mkdir(parents=True, exist_ok=True)
        self._begin_attempt()  # now, and not before: the shards that it goes on from are here
        try:
            self._run_isolating(tuple(self.cells.values()))
            left = self.segments.unfinished
            if left and not self.how.draining():
                name = self.experiment.name
                raise SwingbyError(f"experiment {name!r} breaks its contract: no final row for {len(left)} cells")
        finally:
            self._flush()
        if self.segments.unfinished or self._may_be_continued():
            self._put_checkpoints(at_last=True)
        else:
            _remove(self.workdir)
            self.checkpoints.drop()

    def fail(self, cell_id: str, message: str, last: int = -1) -> None:
        """A cell gets its final row without being trained; its checkpoints stay, for a run that tries it again.

        Args:
            last: the last step that there are rows of; -1: there are none.
        """
        self._begin_attempt()
        if last >= 0:
            self.segments.resume({cell_id: last})
            self.lineage.resume(cell_id, last)
        self._take(self.segments.failed({cell_id: message}))
        self._flush()

    def _may_be_continued(self) -> bool:
        """Whether all cells failed and left checkpoints: a run that tries them again goes on from there."""
        return all(status == "failed" for status in self.segments.status.values()) and self._has_checkpoints()

    def _has_checkpoints(self) -> bool:
        return any(path.is_file() and path.name != NOTE for path in self.workdir.rglob("*"))

    def _put_checkpoints(self, at_last: bool = False) -> None:
        if self._has_checkpoints():  # the note alone is nothing to go on from, and would delay the first that is
            self.checkpoints.put(at_last, self._alive)

    def _take(self, rows: pa.Table) -> None:
        self.buffer.append(self.lineage.follow(rows))

    def _run_isolating(self, cells: tuple[Cell, ...]) -> None:
        """Trains the cells together; if that raises, the unfinished ones in two halves, down to those at fault."""
        try:
            self._run_together(cells)
        except SwingbyError:
            raise
        except LostWorkerError:
            if self.segments.unfinished:
                raise
        except Exception as error:
            ids = {cell.cell_id for cell in cells}
            unfinished = [self.cells[cell_id] for cell_id in self.segments.unfinished if cell_id in ids]
            if len(cells) == 1 and unfinished:
                self._take(self.segments.failed({cells[0].cell_id: told(error)}))
                return
            self._flush()
            self._begin_attempt()
            self.segments.restart([cell.cell_id for cell in unfinished])
            middle = (len(unfinished) + 1) // 2
            for half in (unfinished[:middle], unfinished[middle:]):
                if half:
                    self._run_isolating(tuple(half))

    def _run_together(self, cells: tuple[Cell, ...]) -> None:
        tables = self.experiment.run(replace(self.how, cells=cells))
        try:
            for table in tables:
                rows = self.segments.take(table)
                self._take(rows)
                self.beat("training")
                if not _whole_cells(rows) or time.monotonic() - self.flushed >= FLUSH_SECONDS:
                    self._flush()
        finally:
            if isinstance(tables, Generator):
                tables.close()  # now, and not when it is collected: it may have a gang

    def _flush(self) -> None:
        """One shard with the rows since the last."""
        rows = pa.concat_tables(self.buffer) if self.buffer else None
        self.buffer = []
        if rows is None or not rows.num_rows:
            return
        now, started = time.monotonic(), self.started
        header = replace(self._header(), started=started, finished=utc_now(), seconds=now - self.flushed)
        with committing(self.records, self.plan.sweep_id, lambda: self.beat("training")):
            self.beat("writing")
            admit(self.records, self.plan)
            self._check_attempt()
            shard = self.records.write_shard(header, rows)
        self.beat("publishing")
        self.mine.add(shard.name)
        if self.segments.unfinished:
            self.lineage.left(f"{self.plan.plan_id}/{shard.name}")
        self.records.publish(shard, self._alive)
        if self.segments.unfinished:
            self._put_checkpoints()  # after the rows that it goes on from
        self.flushed, self.started = now, header.finished
        self.beat("training")

    def _alive(self) -> None:
        """What is put takes as long as it takes, while it goes on."""
        self.beat("publishing")

    def _check_attempt(self) -> None:
        """Refuses to write once another process has: this one was taken for dead, and its cells were dealt again.

        Raises:
            OvertakenError: a later attempt left rows of these cells.
        """
        for name in shards_of(self.records, self.plan, self.batch):
            later = int(Path(name).name.split("-")[1].removeprefix("a")) >= self.attempt
            if not later or Path(name).name in self.mine:
                continue
            _, rows = self.records.read_shard(name)
            if not self.cells.keys().isdisjoint(rows["cell_id"].to_pylist()):
                raise OvertakenError("another process, taken for dead, trained the same cells")

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
            versions=_versions(),
        )


@cache
def _versions() -> dict[str, str]:
    """The packages of this process; asking for them takes as long as training a small batch."""
    return package_versions()


def _whole_cells(rows: pa.Table) -> bool:
    """Whether every row is all of its cell."""
    return all(rows["final"].to_pylist()) and not any(rows["from_step"].to_pylist())


def _remove(folder: Path) -> None:
    """Removes a folder of checkpoints and its parent if that is empty; another batch may have made it again."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    try:
        folder.rmdir()
        folder.parent.rmdir()
    except OSError:
        return
