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
from swingby.errors import SwingbyError
from swingby.experiment import Batch, Experiment
from swingby.files import held, utc_now
from swingby.gang import ALONE, Gang, LostWorkerError
from swingby.provenance import package_versions
from swingby.records import Plan, Records, ShardHeader
from swingby.remote.checkpoints import Checkpoints
from swingby.run.gang import told
from swingby.run.segments import Segments
from swingby.run.warden import Beat

FLUSH_SECONDS = 60.0
"""A long batch leaves a shard at least this often, so that it can be watched and a kill costs little."""


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


class OvertakenError(SwingbyError):
    """Another process has left rows of these cells: this one, or that, was taken for dead; to be tried again."""


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What one call of `run_batch` did: cells with a final row by status, cells left without one, wall seconds.

    `plan_id` is told where several plans run at once; `merged` are the batches that were trained with this one; `share`
    is how much of their cells it was about.
    """

    batch: int
    ok: int = 0
    diverged: int = 0
    failed: int = 0
    left: int = 0
    seconds: float = 0.0
    plan_id: str = ""
    merged: tuple[int, ...] = ()
    share: float = 1.0

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
    part: tuple[int, int] | None = None,
    gang: Gang = ALONE,
    cpus: float = 1.0,
    attempt: int = 0,
    beat: Beat = lambda writing: None,
) -> BatchDone:
    """Trains those cells of a batch that have no final row from an earlier attempt at it.

    Several batches of one shape are trained as one, which has the number of the first. A second attempt must be at the
    same ones, perhaps at a part of their cells.

    Rows that are whole cells (final, from step 0) are written together at the end, or once a minute. Any other row is
    on disk when `run` goes on after its yield, so that it may then note in `Batch.workdir` how far it got.

    A cell that makes `Experiment.run` raise comes back as a row with status "failed"; it is found by halving the batch.

    Args:
        data: the data folder.
        plan_id, batches: what to train, as the plan has it.
        device: "cpu", "cuda" or "cuda:k".
        draining: True once the run was asked to stop; a batch that has not begun then does nothing.
        part: which of the cells to train, from .. to, in the plan's order; None: all of them.
        gang: the processes that train it.
        cpus: how many CPUs each of them may use.
        attempt: how many attempts at cells of these batches this run has begun before.
        beat: is given a sign of life whenever rows come, and whenever they are about to be written.

    Raises:
        ExperimentError: the experiment broke its contract.
        LostWorkerError: a process of the gang died; what was yielded is kept, and another attempt goes on from there.
        SupersededError: a newer run of the sweep has begun.
        OvertakenError: another process has left rows of these cells.
        SwingbyError: the data folder, the plan or the batch cannot be read, or a shard cannot be written.
    """
    began = time.monotonic()
    batch, *merged = (batches,) if isinstance(batches, int) else batches
    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    cells, share = _cells(records, plan, (batch, *merged), part)
    finished = final_cells(records, plan, batch)
    todo = tuple(cell for cell in cells if cell.cell_id not in finished)
    if draining() or not todo:
        return BatchDone(batch, left=len(todo), merged=tuple(merged), share=share)
    if current(records, plan) != plan.sequence:
        raise SupersededError(f"plan {plan_id} is no longer the newest of its sweep: another run has taken over")
    where = workdir(records, plan, todo)
    how = Batch(todo, plan.recording, device, where, draining, records.data / "cache", gang, cpus)
    trial = _Trial(records, plan, batch, how, attempt, beat)
    trial.run()
    count = list(trial.segments.status.values()).count
    left = len(trial.segments.unfinished)
    seconds = time.monotonic() - began
    counts = count("ok"), count("diverged"), count("failed"), left
    return BatchDone(batch, *counts, seconds, merged=tuple(merged), share=share)


def fail_cell(
    data: str | Path,
    plan_id: str,
    batches: Sequence[int],
    part: tuple[int, int] | None,
    attempt: int,
    message: str,
    steps: Callable[[str], int] = lambda cell_id: -1,
) -> tuple[str, BatchDone]:
    """The final row of a cell that cannot be trained, since its process dies: its id, and what was done.

    Args:
        part: one cell; the others as in `run_batch`.
        message: why it failed.
        steps: the last step of a cell that earlier runs left rows of; -1: there is none.

    Raises:
        SwingbyError: as `run_batch`.
    """
    batch, *merged = batches
    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    records.fetch_shards(plan_id, batch)  # what workers elsewhere left
    (cell,), share = _cells(records, plan, batches, part)
    done = BatchDone(batch, merged=tuple(merged), share=share)
    if cell.cell_id in final_cells(records, plan, batch):  # its process died afterwards
        return cell.cell_id, done
    trial = _Trial(records, plan, batch, Batch((cell,), plan.recording), attempt)
    trial.segments.resume({cell.cell_id: max(steps(cell.cell_id), _last_step(records, plan, batch, cell.cell_id))})
    trial.fail(cell.cell_id, message)
    return cell.cell_id, replace(done, failed=1)


def _cells(
    records: Records, plan: Plan, batches: Sequence[int], part: tuple[int, int] | None
) -> tuple[tuple[Cell, ...], float]:
    """The cells of these batches, or the part of them; and how much of all of them that is."""
    every = records.read_cells(plan, tuple(batches))
    cells = every if part is None else every[slice(*part)]
    return cells, len(cells) / max(1, len(every))


def _shards(records: Records, plan: Plan, batch: int) -> list[str]:
    """What attempts at a batch left."""
    found = (records.data / "shards" / plan.plan_id).glob(f"b{batch:06d}-a*.parquet")
    return sorted(f"{plan.plan_id}/{path.name}" for path in found)


def _last_step(records: Records, plan: Plan, batch: int, cell_id: str) -> int:
    """The last step that an attempt at this batch left of a cell; -1: none."""
    last = -1
    for name in _shards(records, plan, batch):
        _, rows = records.read_shard(name)
        own = rows.filter([row == cell_id for row in rows["cell_id"].to_pylist()])
        last = max([last, *own["to_step"].to_pylist()])
    return last


def final_cells(records: Records, plan: Plan, batch: int) -> set[str]:
    """The cells that earlier attempts at this batch finished, by their shards."""
    found: set[str] = set()
    for name in _shards(records, plan, batch):
        _, rows = records.read_shard(name)
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
        attempt: int = 0,
        beat: Beat = lambda writing: None,
    ) -> None:
        self.experiment: Experiment = plugins.experiment(plan.experiment)
        self.records, self.plan, self.batch = records, plan, batch
        self.cells = {cell.cell_id: cell for cell in how.cells}
        self.how, self.workdir = how, Path(how.workdir or "")
        self.checkpoints = Checkpoints(records.mirror, self.workdir)
        self.segments = Segments(self.experiment, plan.recording, list(self.cells))
        self.buffer: list[pa.Table] = []
        self.beat, self.mine = beat, set[str]()
        # The numbers of a plan's attempts must not reach those of the next plan.
        self.least = 1000 * plan.sequence + 1 + min(attempt, 900)
        self._begin_attempt()

    def _begin_attempt(self) -> None:
        self.attempt = max(self.least, self.records.next_attempt(self.plan, self.batch))
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

    def fail(self, cell_id: str, message: str) -> None:
        """A cell gets its final row without being trained; its checkpoints stay, for a run that tries it again."""
        self.buffer.append(self.segments.failed({cell_id: message}))
        self._flush()

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
                self.beat(False)
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
        self.beat(True)
        with committing(self.records, self.plan.sweep_id):
            if current(self.records, self.plan) != self.plan.sequence:
                raise SupersededError(f"plan {self.plan.plan_id} was superseded while its batch {self.batch} ran")
            self._check_attempt()
            shard = self.records.write_shard(header, rows)
        self.mine.add(shard.name)
        self.records.publish(shard)
        if self.segments.unfinished:
            self.checkpoints.put()  # after the rows that it goes on from
        self.flushed, self.started = now, header.finished
        self.beat(False)

    def _check_attempt(self) -> None:
        """Refuses to write once another process has: this one was taken for dead, and its cells were dealt again.

        Raises:
            OvertakenError: a later attempt left rows of these cells.
        """
        for name in _shards(self.records, self.plan, self.batch):
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
