"""One batch: its cells read from the plan, trained, and their rows written as shards."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.records import Plan, Records
from swingby.model.cell import Cell
from swingby.model.experiment import Batch
from swingby.model.process_group import ALONE, Gang
from swingby.run.commit_lock import admit
from swingby.run.processes.watchdog import Beat
from swingby.run.worker.attempts import final_cells, last_step, workdir
from swingby.run.worker.training import Training


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
        part: which of the cells to train, from .. to, in the plan's order; None: all of them.
        gang: the processes that train it.
        cpus: how many CPUs each of them may use.
        attempt: how many attempts at cells of these batches this run has begun before.
        beat: is given a sign of life whenever rows come, are about to be written, and while they wait for that.

    Raises:
        ExperimentError: the experiment broke its contract.
        LostWorkerError: a process of the gang died; what was yielded is kept, and another attempt goes on from there.
        SupersededError: a newer run of the sweep has begun, or its results were taken back.
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
    admit(records, plan)
    where = workdir(records, plan, todo)
    how = Batch(todo, plan.recording, device, where, draining, records.data / "cache", gang, cpus)
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
    """The final row of a cell that cannot be trained, since its process dies: its id, and what was done.

    Args:
        part: one cell; the others as in `run_batch`.
        message: why it failed.
        steps: the last step of a cell that earlier runs of the sweep left rows of; -1: there is none.

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
    training = Training(records, plan, batch, Batch((cell,), plan.recording), attempt)
    last = max(steps(cell.cell_id), last_step(records, plan, batch, cell.cell_id))
    training.fail(cell.cell_id, message, last)
    return cell.cell_id, replace(done, failed=1)


def _cells(
    records: Records, plan: Plan, batches: Sequence[int], part: tuple[int, int] | None
) -> tuple[tuple[Cell, ...], float]:
    """The cells of these batches, or the part of them; and how much of all of them that is."""
    every = records.read_cells(plan, tuple(batches))
    cells = every if part is None else every[slice(*part)]
    return cells, len(cells) / max(1, len(every))
