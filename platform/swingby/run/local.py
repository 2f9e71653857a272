"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swingby.gang import ALONE, Gang, LostWorkerError
from swingby.records import Records
from swingby.run.batch import BatchDone, run_batch
from swingby.run.deal import RETRIES, Dealer, Trial
from swingby.run.drain import Drain
from swingby.run.gang_local import Local
from swingby.run.plan import Planned, cores
from swingby.run.progress import Progress


def run_local(
    planned: Sequence[Planned], records: Records, progress: Progress, drain: Drain | None = None
) -> dict[tuple[str, int], str]:
    """Runs every batch of the plans in this process, one after another, in the plans' order; each has all cores.

    Returns:
        Batches (by plan and number) that were given up, with the reason: processes of a gang died `RETRIES` + 1 times.
        Whatever a cell raises stays with the cell.

    Raises:
        SwingbyError: as `run_batch`, or there are too few GPUs; batches that are done stay done.
    """
    drain, dealer, lost = drain or Drain(), Dealer(planned, 1), {}
    while not drain() and (trial := dealer.next()) is not None:
        plan_id = trial.planned.plan.plan_id
        try:
            done = _run(trial, records, progress, drain)
        except LostWorkerError as error:
            if dealer.take_apart(trial):
                progress.line(f"{trial} trained one by one: a process died {RETRIES + 1} times")
            else:
                reason = f"its process died {RETRIES + 1} times; the last time: {error}"
                lost |= {(plan_id, batch): reason for batch in trial.batches}
                progress.line(f"{trial} given up")
            continue
        if done.cells == trial.cells:
            dealer.took(trial, done.seconds)
        progress.batch_done(replace(done, plan_id=plan_id))
    return lost


def _run(trial: Trial, records: Records, progress: Progress, drain: Drain) -> BatchDone:
    """One trial, tried again as often as a process of its gang may die."""
    cpus = max(1, cores() // trial.planned.processes)
    gang = _gang(trial, cpus)
    arguments = records.data, trial.planned.plan.plan_id, trial.batches, trial.device, drain, trial.after
    for _ in range(RETRIES):
        try:
            return run_batch(*arguments, gang=gang, cpus=cpus)
        except LostWorkerError as error:
            progress.line(f"{trial} tried again: {error}")
    return run_batch(*arguments, gang=gang, cpus=cpus)


def _gang(trial: Trial, cpus: int) -> Gang:
    """The processes of a trial."""
    gpus = trial.planned.each[trial.notes[0].shape].gpus
    return ALONE if trial.planned.processes == 1 else Local(trial.planned.processes, cpus, gpus)
