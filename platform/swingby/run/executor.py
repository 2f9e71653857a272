"""Training without Ray: in this process, or in worker processes of the driver's own.

A run that is over before Ray would be up needs no Ray. The plain loop is also what Ray's runs are tested against.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, ProcessGroup, SpoiledError
from swingby.run.drain import Drain
from swingby.run.forecast import Planned
from swingby.run.options import RunOptions
from swingby.run.processes.child import ChildProcess
from swingby.run.processes.local_group import LocalGroup
from swingby.run.processes.watchdog import timeout
from swingby.run.progress import Progress
from swingby.run.resources import cores
from swingby.run.retries import Retries
from swingby.run.scheduler import Scheduler, Source, Trial
from swingby.run.worker.batch import Assignment, BatchDone, run_batch

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


def execute(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    children: Sequence[ChildProcess] = (),
    source: Source | None = None,
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans, in the plans' order.

    Args:
        children: processes that train, which the driver survives; they are ended. Without any, this process trains one
            batch after another, each on all cores.
        source: of further plans; without `children` each is made once everything before it has ended.

    Returns:
        Cells (by plan and id) that failed because their process died, or was past its deadline, again and again, with
        the reason. Whatever a cell raises stays with the cell.

    Raises:
        SwingbyError: as `run_batch`, there are too few GPUs, or this process can train no more; batches that are done
            stay done.
    """
    scheduler = Scheduler(planned, len(children), source)
    retries = Retries(scheduler, records, progress)
    if children:
        _in_children(scheduler, retries, records, drain, children)
    else:
        while not drain() and (trial := scheduler.next()) is not None:
            retries.settle(trial, partial(_here, trial, scheduler.deadline(trial), records, drain))
    retries.fail_suspects()
    return retries.given_up


def _here(trial: Trial, deadline: float, records: Records, drain: Drain) -> BatchDone:
    """Trains one trial in this process."""
    processes = trial.planned.options.processes
    cpus = max(1, cores() // processes)
    gpus = trial.planned.process_resources[trial.notes[0].shape].gpus
    group: ProcessGroup = ALONE if processes == 1 else LocalGroup(processes, cpus, gpus)
    try:
        with timeout(deadline) as beat:
            return run_batch(Assignment(*trial.which(records), group, cpus), drain, beat)
    except SpoiledError as error:  # the driver's own process: no second try here could mend it
        raise SwingbyError(f"{error}. What is done stays done, and the same command goes on") from error


def _in_children(
    scheduler: Scheduler, retries: Retries, records: Records, drain: Drain, children: Sequence[ChildProcess]
) -> None:
    """Trains every trial in one of these processes, and ends them."""
    free, running = list(children), dict[Future[BatchDone], tuple[Trial, ChildProcess]]()
    pool = ThreadPoolExecutor(len(children), "worker")
    try:
        while True:
            while free and not drain() and (trial := scheduler.next()) is not None:
                child = free.pop(0)
                submitted = pool.submit(child.run, Assignment(*trial.which(records)), scheduler.deadline(trial))
                running[submitted] = trial, child
            if not running and not (scheduler.may_go_on and not drain()):
                break
            # A worker that is free looks for a further plan again and again.
            again = AGAIN_SECONDS if free and scheduler.may_go_on else None
            if not running:
                drain.within(AGAIN_SECONDS)
            for done in wait(running, again, FIRST_COMPLETED).done:
                trial, child = running.pop(done)
                free.append(child)
                retries.settle(trial, done.result)
    finally:
        for child in children:  # one that still trains was interrupted by a second Ctrl-C, or by an error of another
            child.kill()
        pool.shutdown(cancel_futures=True)
        for child in children:
            child.close()
