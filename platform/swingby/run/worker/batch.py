"""One batch: its cells are read from the plan and trained, and their rows are written as shards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.records import Plan, Records
from swingby.function.travel import take
from swingby.model.cell import Cell
from swingby.model.experiment import Batch
from swingby.model.process_group import ALONE, ProcessGroup
from swingby.run.commit_lock import check_current
from swingby.run.processes.watchdog import Beat
from swingby.run.worker.segments import final_cells, last_step, shards_of, workdir
from swingby.run.worker.training import Training


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one call of `run_batch` trains, and with which resources.

    Attributes:
        data: the data folder.
        plan_id: the plan that has the batches.
        batches: numbers of batches of one shape, which are trained as one.
        part: the range of their cells to train, from .. to, in the plan's order; None: all of them.
        attempt: how many attempts at cells of these batches this run has begun before.
        device: "cpu", "cuda" or "cuda:k".
        group: the processes that train the cells together.
        cpus: how many CPUs each of these processes may use.
        gpus: how many GPUs, or what part of one, Ray gave to each of them.
        meter: the file for reports of how far the batch is, where the driver decides by them how many runs share a
            GPU; a run that finds no memory then is to be tried again. None: neither.
    """

    data: Path
    plan_id: str
    batches: tuple[int, ...]
    part: tuple[int, int] | None = None
    attempt: int = 0
    device: str = "cpu"
    group: ProcessGroup = ALONE
    cpus: float = 1.0
    gpus: float = 0.0
    meter: Path | None = None


@dataclass(frozen=True, slots=True)
class BatchDone:
    """The result of one call of `run_batch`: cells with a final row by status, cells left without one, wall seconds.

    Attributes:
        batch: the first of the batches.
        plan_id: the plan of the batches, where several plans run at once.
        merged: the other batches, which were trained together with the first.
        share: the part of the batches' cells that was assigned.
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
    assignment: Assignment,
    draining: Callable[[], bool] = lambda: False,
    beat: Beat = lambda doing: None,
) -> BatchDone:
    """Trains those of the assigned cells that have no final row from an earlier attempt at their batches.

    Several batches are trained as one that has the number of the first; so a later attempt has to be at these batches
    and no others, perhaps at a part of their cells.

    Rows that are whole cells (final, from step 0) are written together at the end, or once a minute. Any other row is
    on disk when `run` goes on after its yield, so that it may then note in `Batch.workdir` how far it got.

    A cell that makes `Experiment.run` raise gets a row with status "failed"; it is found by halving the batch.

    Args:
        draining: true once the run was asked to stop; a batch that has not begun then does nothing.
        beat: takes a sign of life when rows come, before they are written, and while the commit lock is waited for.

    Raises:
        ExperimentError: the experiment broke its contract.
        LostWorkerError: a process of the group died, or it found no memory on a GPU that others share; rows that were
            yielded are kept for the next attempt.
        SupersededError: a newer run of the sweep has begun, or its results were taken back.
        OvertakenError: another process has committed rows of these cells.
        SwingbyError: the data folder, the plan or the batch cannot be read, or a shard cannot be written.
    """
    began = time.monotonic()
    records = Records.open(assignment.data, create=False)
    plan, cells, nothing = _read(records, assignment)
    seen = shards_of(records, plan, nothing.batch)
    finished = final_cells(records, seen)
    todo = tuple(cell for cell in cells if cell.cell_id not in finished)
    if draining() or not todo:
        return replace(nothing, left=len(todo))
    check_current(records, plan)
    how = Batch(
        todo,
        plan.recording,
        assignment.device,
        workdir(records, plan, todo),
        draining,
        records.data / "cache",
        assignment.group,
        assignment.cpus,
        assignment.gpus if assignment.meter is None else 1.0,  # how many share it may change
    )
    training = Training(records, plan, nothing.batch, how, seen, assignment.attempt, beat, assignment.meter)
    training.run()
    statuses = list(training.segments.status.values())
    return replace(
        nothing,
        ok=statuses.count("ok"),
        diverged=statuses.count("diverged"),
        failed=statuses.count("failed"),
        left=len(training.segments.unfinished),
        seconds=time.monotonic() - began,
    )


def fail_cell(
    assignment: Assignment, message: str, steps: Callable[[str], int] = lambda cell_id: -1
) -> tuple[str, BatchDone]:
    """Writes the final row of a cell that cannot be trained because its process dies; returns its id, and the result.

    Args:
        assignment: its part is the range of one cell.
        message: the cause of the failure.
        steps: gives the last step of a cell that earlier runs of the sweep committed; -1: none.

    Raises:
        SwingbyError: as `run_batch`.
    """
    records = Records.open(assignment.data, create=False)
    records.fetch_shards(assignment.plan_id, assignment.batches[0])  # shards of workers on other machines
    plan, (cell,), nothing = _read(records, assignment)
    seen = shards_of(records, plan, nothing.batch)
    if cell.cell_id in final_cells(records, seen):  # its process died after the final row
        return cell.cell_id, nothing
    training = Training(records, plan, nothing.batch, Batch((cell,), plan.recording), seen, assignment.attempt)
    last = max(steps(cell.cell_id), last_step(records, plan, nothing.batch, cell.cell_id))
    training.fail(cell.cell_id, message, last)
    return cell.cell_id, replace(nothing, failed=1)


def _read(records: Records, assignment: Assignment) -> tuple[Plan, tuple[Cell, ...], BatchDone]:
    """The plan, the cells that are assigned, and the result of training none of them."""
    plan = records.read_plan(assignment.plan_id)
    take(plan.provenance, records.data / "cache" / "code")
    every = records.read_cells(plan, assignment.batches)
    cells = every if assignment.part is None else every[slice(*assignment.part)]
    first, *merged = assignment.batches
    return plan, cells, BatchDone(first, merged=tuple(merged), share=len(cells) / max(1, len(every)))
