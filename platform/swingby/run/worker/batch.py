"""One batch: its cells are read from the plan and trained, and their rows are written as shards."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.records import Plan, Records
from swingby.model.cell import Cell
from swingby.model.experiment import Batch
from swingby.model.process_group import ALONE, ProcessGroup
from swingby.run.commit_lock import check_current
from swingby.run.processes.watchdog import Beat
from swingby.run.worker.attempts import final_cells, last_step, workdir
from swingby.run.worker.training import Training


@dataclass(frozen=True, slots=True)
class BatchDone:
    """The result of one call of `run_batch`: cells with a final row by status, cells left without one, wall seconds.

    Attributes:
        plan_id: the plan of the batch, where several plans run at once.
        merged: the batches that were trained together with this one.
        share: the part of the batches' cells that the call was about.
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
    group: ProcessGroup = ALONE,
    cpus: float = 1.0,
    attempt: int = 0,
    beat: Beat = lambda doing: None,
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
        part: the range of cells to train, from .. to, in the plan's order; None: all of them.
        group: the processes that train the batch.
        cpus: how many CPUs each of them may use.
        attempt: how many attempts at cells of these batches this run has begun before.
        beat: takes a sign of life when rows come, before they are written, and while the commit lock is waited for.

    Raises:
        ExperimentError: the experiment broke its contract.
        LostWorkerError: a process of the group died; rows that were yielded are kept for the next attempt.
        SupersededError: a newer run of the sweep has begun, or its results were taken back.
        OvertakenError: another process has committed rows of these cells.
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
    check_current(records, plan)
    where = workdir(records, plan, todo)
    how = Batch(todo, plan.recording, device, where, draining, records.data / "cache", group, cpus)
    training = Training(records, plan, batch, how, attempt, beat)
    training.run()
    count = list(training.segments.status.values()).count
    left = len(training.segments.unfinished)
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
    """Writes the final row of a cell that cannot be trained because its process dies; returns its id, and the result.

    Args:
        part: the range of one cell; other arguments as in `run_batch`.
        message: the cause of the failure.
        steps: the last step of a cell that earlier runs of the sweep committed; -1: none.

    Raises:
        SwingbyError: as `run_batch`.
    """
    batch, *merged = batches
    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    records.fetch_shards(plan_id, batch)  # shards of workers on other machines
    (cell,), share = _cells(records, plan, batches, part)
    done = BatchDone(batch, merged=tuple(merged), share=share)
    if cell.cell_id in final_cells(records, plan, batch):  # its process died after the final row
        return cell.cell_id, done
    training = Training(records, plan, batch, Batch((cell,), plan.recording), attempt)
    last = max(steps(cell.cell_id), last_step(records, plan, batch, cell.cell_id))
    training.fail(cell.cell_id, message, last)
    return cell.cell_id, replace(done, failed=1)


def _cells(
    records: Records, plan: Plan, batches: Sequence[int], part: tuple[int, int] | None
) -> tuple[tuple[Cell, ...], float]:
    """The cells of these batches, or a part of them, and the share that the part is of all."""
    every = records.read_cells(plan, tuple(batches))
    cells = every if part is None else every[slice(*part)]
    return cells, len(cells) / max(1, len(every))
