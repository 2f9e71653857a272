"""One batch: its cells read from the plan, trained, and their rows written as shards."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pyarrow as pa

from swingby import plugins
from swingby.cells import Cell
from swingby.checkpoints import Checkpoints
from swingby.errors import SwingbyError
from swingby.experiment import Batch, Experiment
from swingby.files import held, utc_now
from swingby.gang import ALONE, Gang, LostWorkerError
from swingby.provenance import package_versions
from swingby.records import Plan, Records, ShardHeader
from swingby.run.gang import told
from swingby.run.segments import Segments

FLUSH_SECONDS = 60.0
"""A long batch leaves a shard at least this often, so that it can be watched and a kill costs little."""


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What one call of `run_batch` did: cells with a final row by status, cells left without one, wall seconds.

    `plan_id` is told where several plans run at once; `merged` are the batches that were trained with this one.
    """

    batch: int
    ok: int = 0
    diverged: int = 0
    failed: int = 0
    left: int = 0
    seconds: float = 0.0
    plan_id: str = ""
    merged: tuple[int, ...] = ()

    @property
    def cells(self) -> int:
        """Cells that got their final row."""
        return self.ok + self.diverged + self.failed


def run_batch(
    data: str | Path,
    plan_id: str,
    batches: int | Sequence[int],
    device: str = "cpu",
    draining: Callable[[], bool] = lambda: False,
    after: int | None = None,
    gang: Gang = ALONE,
    cpus: float = 1.0,
) -> BatchDone:
    """Trains those cells of a batch that have no final row from an earlier attempt at it.

    Several batches of one shape are trained as one, which has the number of the first. A second attempt must be at the
    same ones, or at one of them and say after which.

    Rows that are whole cells (final, from step 0) are written together at the end, or once a minute. Any other row is
    on disk when `run` goes on after its yield, so that it may then note in `Batch.workdir` how far it got.

    A cell that makes `Experiment.run` raise comes back as a row with status "failed"; it is found by halving the batch.

    Args:
        data: the data folder.
        plan_id, batches: what to train, as the plan has it.
        device: "cpu", "cuda" or "cuda:k".
        draining: True once the run was asked to stop; a batch that has not begun then does nothing.
        after: the number under which an earlier attempt trained this batch together with others.
        gang: the processes that train it.
        cpus: how many CPUs each of them may use.

    Raises:
        ExperimentError: the experiment broke its contract.
        LostWorkerError: a process of the gang died; what was yielded is kept, and another attempt goes on from there.
        SupersededError: a newer run of the sweep has begun.
        SwingbyError: the data folder, the plan or the batch cannot be read, or a shard cannot be written.
    """
    began = time.monotonic()
    batch, *others = (batches,) if isinstance(batches, int) else batches
    merged = tuple(others)
    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    cells = records.read_cells(plan, (batch, *merged))
    finished = final_cells(records, plan, batch) | (set() if after is None else final_cells(records, plan, after))
    todo = tuple(cell for cell in cells if cell.cell_id not in finished)
    if draining() or not todo:
        return BatchDone(batch, left=len(todo), merged=merged)
    if current(records, plan) != plan.sequence:
        raise SupersededError(f"plan {plan_id} is no longer the newest of its sweep: another run has taken over")
    where = workdir(records, plan, todo)
    how = Batch(todo, plan.recording, device, where, draining, records.data / "cache", gang, cpus)
    trial = _Trial(records, plan, batch, how)
    trial.run()
    count = list(trial.segments.status.values()).count
    left = len(trial.segments.unfinished)
    seconds = time.monotonic() - began
    return BatchDone(batch, count("ok"), count("diverged"), count("failed"), left, seconds, merged=merged)


def final_cells(records: Records, plan: Plan, batch: int) -> set[str]:
    """The cells that earlier attempts at this batch finished, by their shards."""
    found: set[str] = set()
    for path in (records.data / "shards" / plan.plan_id).glob(f"b{batch:06d}-a*.parquet"):
        _, rows = records.read_shard(f"{plan.plan_id}/{path.name}")
        found.update(rows.filter(rows["final"])["cell_id"].to_pylist())
    return found


def current(records: Records, plan: Plan) -> int:
    """The sequence number of the newest plan of this plan's sweep."""
    return records.next_sequence(plan.name, plan.sweep_id) - 1


def workdir(records: Records, plan: Plan, cells: Sequence[Cell]) -> Path:
    """The folder of checkpoints: the same for the same cells in every run of a sweep, so a killed one is continued."""
    return records.workdir(plan.sweep_id, [cell.cell_id for cell in cells])


@contextmanager
def committing(records: Records, sweep_id: str) -> Iterator[None]:
    """Excludes committing a sweep's shards and planning the sweep from each other.

    The workers of a driver that was killed may live on for some seconds. Whatever they finish is either there before
    the next driver looks, or refused because its plan is there; so no cell with a committed result runs again.
    """
    with held(records.data / "locks" / f"{sweep_id}.commit", f"the door to the records of sweep {sweep_id}", wait=600):
        yield


class _Trial:
    """The work of one `run_batch`: cells go in, shards come out."""

    def __init__(
        self,
        records: Records,
        plan: Plan,
        batch: int,
        how: Batch,
    ) -> None:
        self.experiment: Experiment = plugins.experiment(plan.experiment)
        self.records, self.plan, self.batch = records, plan, batch
        self.cells = {cell.cell_id: cell for cell in how.cells}
        self.how, self.workdir = how, Path(how.workdir or "")
        self.checkpoints = Checkpoints(records.mirror, self.workdir)
        self.segments = Segments(self.experiment, plan.recording, list(self.cells))
        self.buffer: list[pa.Table] = []
        self._begin_attempt()

    def _begin_attempt(self) -> None:
        self.attempt = self.records.next_attempt(self.plan, self.batch)
        self.flushed, self.started = time.monotonic(), utc_now()

    def run(self) -> None:
        """Trains all cells; on the way out, whatever the reason, rows that were yielded are written."""
        self.checkpoints.bring()
        self.workdir.mkdir(parents=True, exist_ok=True)
        try:
            self._run_isolating(tuple(self.cells.values()))
            left = self.segments.unfinished
            if left and not self.how.draining():
                name = self.experiment.name
                raise SwingbyError(f"experiment {name!r} breaks its contract: no final row for {len(left)} cells")
        finally:
            self._flush()
        if self.segments.unfinished:
            self.checkpoints.put(at_last=True)
        else:
            _remove(self.workdir)
            self.checkpoints.drop()

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
                self.buffer.append(self.segments.failed({cells[0].cell_id: told(error)}))
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
                self.buffer.append(rows)
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
        with committing(self.records, self.plan.sweep_id):
            if current(self.records, self.plan) != self.plan.sequence:
                raise SupersededError(f"plan {self.plan.plan_id} was superseded while its batch {self.batch} ran")
            shard = self.records.write_shard(header, rows)
        self.records.publish(shard)
        if self.segments.unfinished:
            self.checkpoints.put()  # after the rows that it goes on from
        self.flushed, self.started = now, header.finished

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
