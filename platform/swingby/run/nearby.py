"""Training in worker processes of the driver's own: a run that is over before Ray would be up needs no Ray."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace

from swingby.data.records import Records
from swingby.model.process_group import LostWorkerError
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import Drain
from swingby.run.forecast import Planned
from swingby.run.options import RunOptions
from swingby.run.processes.child import ChildProcess
from swingby.run.progress import Progress
from swingby.run.retries import Retries
from swingby.run.scheduler import Scheduler, Source, Trial
from swingby.run.worker.batch import Assignment, BatchDone

RAY_SECONDS = 10.0
"""Seconds, about, until Ray trains: its own start, and that of its workers."""
START_SECONDS = 4.0
"""Seconds, about, until a worker process trains: it imports what trains, and loads compiled kernels."""
AGAIN_SECONDS = 0.1
"""Seconds after which a worker without work looks for a further plan again."""


def allows_nearby(options: RunOptions) -> bool:
    """Whether the options leave it open where batches are trained: by Ray, or by worker processes of the driver."""
    asks_for_ray = options.ray or options.address is not None or options.processes > 1 or options.device == "cuda"
    return not (options.local or asks_for_ray)


def workers_nearby(planned: Sequence[Planned], times: float = 1.0) -> int:
    """How many worker processes train these plans sooner than Ray would; 0: Ray is to train them.

    A cost that is unknown, a batch that takes a GPU or several CPUs, and training that takes longer than Ray's start
    are for Ray.

    Args:
        times: how much more than these plans is to be trained in all.
    """
    forecasts = [one.forecast for one in planned]
    needs = [each for one in planned for each in one.resources.values()]
    if None in forecasts or any(each.gpus or each.custom or each.cpus > 1 for each in needs):
        return 0
    core_seconds = times * sum(one.core_seconds for one in forecasts if one is not None)
    batches = math.ceil(times * sum(len(one.batches) for one in planned))
    most = min(max(one.workers for one in planned), batches)
    # A process more is worth its start where each has as much to train.
    workers = max(1, min(most, math.ceil(core_seconds / START_SECONDS)))
    return workers if START_SECONDS + core_seconds / workers <= RAY_SECONDS else 0


def run_nearby(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    children: Sequence[ChildProcess],
    source: Source | None = None,
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans in worker processes, which the driver survives, in the plans' order; ends them.

    Args:
        source: of plans that are made meanwhile.

    Returns:
        Cells (by plan and id) that failed because their process died again and again, with the reason.

    Raises:
        SwingbyError: as `run_batch`; batches that are done stay done.
    """
    scheduler, free = Scheduler(planned, len(children), source), list(children)
    retries = Retries(scheduler, records, progress)
    pool, running = ThreadPoolExecutor(len(children), "worker"), dict[Future[BatchDone], tuple[Trial, ChildProcess]]()
    try:
        while True:
            while free and not drain() and (trial := scheduler.next()) is not None:
                child = free.pop(0)
                deadline = scheduler.deadline(trial)
                assigned = records.data, trial.planned.plan.plan_id, trial.batches, trial.part, trial.attempt
                running[pool.submit(child.run, Assignment(*assigned, trial.device), deadline)] = trial, child
            if not running and not (scheduler.may_go_on and not drain()):
                break
            # A worker that is free looks for a further plan again and again.
            again = AGAIN_SECONDS if free and scheduler.may_go_on else None
            if not running:
                drain.within(AGAIN_SECONDS)
            for done in wait(running, again, FIRST_COMPLETED).done:
                trial, child = running.pop(done)
                free.append(child)
                _take(trial, done, scheduler, retries, progress)
        retries.fail_suspects()
    finally:
        for child in children:  # one that still trains was interrupted by a second Ctrl-C, or by an error of another
            child.kill()
        pool.shutdown(cancel_futures=True)
        for child in children:
            child.close()
    return retries.given_up


def _take(trial: Trial, done: Future[BatchDone], scheduler: Scheduler, retries: Retries, progress: Progress) -> None:
    """Counts what a worker process replied, or has the trial tried again where it died."""
    try:
        result = done.result()
    except (LostWorkerError, OvertakenError) as error:
        retries.died(trial, str(error))
        return
    retries.came_back()
    if result.cells == trial.cells:
        scheduler.record_time(trial, result.seconds)
    progress.batch_done(replace(result, plan_id=trial.planned.plan.plan_id))
