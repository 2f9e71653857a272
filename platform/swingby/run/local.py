"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, Gang, LostWorkerError, SpoiledError
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import Drain
from swingby.run.planned import Planned
from swingby.run.processes.local_group import Local
from swingby.run.processes.timeout import DeadlineError, alarmed
from swingby.run.progress import Progress
from swingby.run.resources import cores
from swingby.run.retries import Quarantine
from swingby.run.scheduler import Dealer, Trial
from swingby.run.worker.batch import BatchDone, run_batch


def run_local(
    planned: Sequence[Planned], records: Records, progress: Progress, drain: Drain | None = None
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans in this process, one after another, in the plans' order; each has all cores.

    Returns:
        Cells (by plan and id) that failed because processes of their gang died, or they were past their deadline, again
        and again, with the reason. Whatever a cell raises stays with the cell.

    Raises:
        SwingbyError: as `run_batch`, there are too few GPUs, or this process can train no more; batches that are done
            stay done.
    """
    drain, dealer = drain or Drain(), Dealer(planned, 1)
    quarantine = Quarantine(dealer, records, progress)
    while not drain() and (trial := dealer.next()) is not None:
        try:
            done = _run(trial, dealer.deadline(trial), records, drain)
        except SpoiledError as error:  # the driver's own process: no second try here could mend it
            raise SwingbyError(f"{error}. What is done stays done, and the same command goes on") from error
        except (LostWorkerError, OvertakenError, DeadlineError) as error:
            quarantine.died(trial, str(error))
            continue
        quarantine.lives()
        if done.cells == trial.cells:
            dealer.took(trial, done.seconds)
        progress.batch_done(replace(done, plan_id=trial.planned.plan.plan_id))
    quarantine.end()
    return quarantine.given_up


def _run(trial: Trial, deadline: float, records: Records, drain: Drain) -> BatchDone:
    """One trial."""
    cpus = max(1, cores() // trial.planned.processes)
    which = records.data, trial.planned.plan.plan_id, trial.batches, trial.device, drain, trial.part
    with alarmed(deadline) as beat:
        return run_batch(*which, gang=_gang(trial, cpus), cpus=cpus, attempt=trial.attempt, beat=beat)


def _gang(trial: Trial, cpus: int) -> Gang:
    """The processes of a trial."""
    gpus = trial.planned.each[trial.notes[0].shape].gpus
    return ALONE if trial.planned.processes == 1 else Local(trial.planned.processes, cpus, gpus)
