"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, LostWorkerError, ProcessGroup, SpoiledError
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import Drain
from swingby.run.forecast import Planned
from swingby.run.processes.local_group import LocalGroup
from swingby.run.processes.watchdog import DeadlineError, timeout
from swingby.run.progress import Progress
from swingby.run.resources import cores
from swingby.run.retries import Retries
from swingby.run.scheduler import Scheduler, Source, Trial
from swingby.run.worker.batch import Assignment, BatchDone, run_batch


def run_local(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain | None = None,
    source: Source | None = None,
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans in this process, one after another, in the plans' order; each has all cores.

    Args:
        source: of further plans, each made once everything before it has ended.

    Returns:
        Cells (by plan and id) that failed because processes of their group died, or they were past their deadline,
        again and again, with the reason. Whatever a cell raises stays with the cell.

    Raises:
        SwingbyError: as `run_batch`, there are too few GPUs, or this process can train no more; batches that are done
            stay done.
    """
    drain, scheduler = drain or Drain(), Scheduler(planned, 1, source)
    retries = Retries(scheduler, records, progress)
    while not drain() and (trial := scheduler.next()) is not None:
        try:
            done = _run(trial, scheduler.deadline(trial), records, drain)
        except SpoiledError as error:  # the driver's own process: no second try here could mend it
            raise SwingbyError(f"{error}. What is done stays done, and the same command goes on") from error
        except (LostWorkerError, OvertakenError, DeadlineError) as error:
            retries.died(trial, str(error))
            continue
        retries.came_back()
        if done.cells == trial.cells:
            scheduler.record_time(trial, done.seconds)
        progress.batch_done(replace(done, plan_id=trial.planned.plan.plan_id))
    retries.fail_suspects()
    return retries.given_up


def _run(trial: Trial, deadline: float, records: Records, drain: Drain) -> BatchDone:
    """Trains one trial."""
    processes = trial.planned.options.processes
    cpus = max(1, cores() // processes)
    gpus = trial.planned.process_resources[trial.notes[0].shape].gpus
    group: ProcessGroup = ALONE if processes == 1 else LocalGroup(processes, cpus, gpus)
    which = records.data, trial.planned.plan.plan_id, trial.batches, trial.part, trial.attempt
    with timeout(deadline) as beat:
        return run_batch(Assignment(*which, trial.device, group, cpus), drain, beat)
