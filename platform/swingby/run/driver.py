"""The driver: plans sweeps, trains what is missing while the store ingests it, and derives the outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.options import option
from swingby.run.drain import Drain
from swingby.run.executor import allows_nearby, execute, workers_nearby
from swingby.run.forecast import Planned, summary
from swingby.run.ingest_thread import IngestThread
from swingby.run.options import RunOptions
from swingby.run.outcomes import derive, outcome_not_recorded
from swingby.run.pending import Reservations, TrainedCells
from swingby.run.plan import Planner
from swingby.run.processes.child import ChildProcess
from swingby.run.progress import Progress, progress_for
from swingby.run.ray.machines import Code
from swingby.run.ray.session import Standby
from swingby.run.ray.trials import run_tune
from swingby.run.resources import check_request, cores
from swingby.run.results import RunResult, Tally
from swingby.store import Store, ingest, upgrade
from swingby.store.status import in_progress
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

if TYPE_CHECKING:
    from swingby.run.refine import Rounds

WAIT_SECONDS = 2.0
"""How often a driver that waits for cells of other drivers reads the store."""
WAIT_COST = 10.0
"""Least time between two such reads, in multiples of what the last one took."""


def run_sweep(
    sweep: Sweep, data: str | Path, *, progress: Progress | None = None, drain: Drain | None = None, **options: Any
) -> RunResult:
    """`run` of a single sweep; the fields of `RunOptions` are keywords."""
    return run([sweep], data, RunOptions(**options), progress=progress, drain=drain)[0]


def run(
    sweeps: Sequence[Sweep],
    data: str | Path,
    options: RunOptions | None = None,
    *,
    progress: Progress | None = None,
    drain: Drain | None = None,
    standby: Standby | None = None,
) -> list[RunResult]:
    """Trains every cell of the sweeps that has no result yet, and brings the store up to date.

    Ray is started once, for all sweeps; a cell that several of them share is trained by the first. A cell that another
    driver has reserved is left to that driver, and waited for.

    Ctrl-C (or SIGTERM, or `drain.ask()`) once lets running batches finish; twice raises KeyboardInterrupt.

    Args:
        sweeps: the sweeps to train, in this order.
        data: the data folder; made if missing.
        progress: the display; None: one on standard error.
        drain: the switch that asks the run to stop; None: one of the run's own.
        standby: a Ray that goes on after the run; None: one of the run's own, if it needs one.

    Raises:
        SwingbyError: a sweep is given twice, or is running already (names the process), or data folder, disk,
            processes or cluster do not fit.
    """
    began, options = time.monotonic(), options or RunOptions()
    seen: set[str] = set()
    for sweep in sweeps:
        if sweep.sweep_id in seen:
            raise SwingbyError(f"sweep {sweep.name!r} ({sweep.sweep_id}) is given twice; give it once")
        seen.add(sweep.sweep_id)
        check_request(sweep, options)
    if options.refine and len(sweeps) != 1:
        raise SwingbyError(f"{len(sweeps)} sweeps cannot be refined in one run; refine one after another")
    records, drain = Records.open(data), drain or Drain()
    progress = progress or progress_for()
    with ExitStack() as stack:
        holds = {sweep.sweep_id: stack.enter_context(records.lock(sweep.sweep_id)) for sweep in sweeps}
        stack.enter_context(drain.on_signals())
        stack.enter_context(Store.held_open())
        own_ray = not options.local and standby is None
        if own_ray:
            standby = stack.enter_context(ray_for(sweeps, records, options, progress.line))
        workers = worker_count(options)
        machines = standby.machines() if standby is not None and options.address else (float(workers or 1),)
        nearby = own_ray and allows_nearby(options)
        child = None if options.local else stack.enter_context(ChildProcess())
        records.tell = progress.line
        upgrade(records, progress.line)
        reservations = Reservations(records, holds)
        planners = [
            Planner(
                sweep,
                records,
                options,
                workers=workers or max(1, int(sum(machines))),
                machines=machines,
                gpus=standby.gpus() if standby is not None and options.address else None,
                stop=drain,
                begin=(lambda: None) if standby is None or nearby else standby.begin,
                reservations=reservations,
                child=child,
            )
            for sweep in sweeps
        ]
        driver = Driver(planners, records, reservations, progress, drain, standby, child, nearby)
        driver.run()
        derive(records, [sweep.sweep_id for sweep in sweeps], {sweep.sweep_id: sweep.outcomes for sweep in sweeps})
        for sweep in sweeps:
            if lacking := outcome_not_recorded(records, sweep):
                progress.line(f"warning: {lacking}")
        if driver.rounds is not None:
            driver.rounds.finish()
        return driver.tally.results(drain(), time.monotonic() - began, driver.rounds and driver.rounds.refined)


def worker_count(options: RunOptions) -> int | None:
    """How many one-core batches run at once; None: as many as the cluster has CPUs."""
    if options.local:
        return options.workers or 1
    return options.workers or (cores() if options.address is None else None)


def ray_for(sweeps: Sequence[Sweep], records: Records, options: RunOptions, tell: Callable[[str], None]) -> Standby:
    """Ray for runs of sweeps of these experiments, on this machine or on the cluster that the options name.

    Args:
        tell: shows a line of text to the user.
    """
    names = tuple(sorted({sweep.experiment_name for sweep in sweeps}))
    code = Code(options.code or "wheel", names, tell)
    return Standby(worker_count(options), records.data, options.address, code, tell)


class Driver:
    """Rounds of planning and training, until every pending cell of some sweeps was trained by this or another driver.

    A cell that another driver has reserved is waited for: until it has a final row, or nobody reserves it any more.
    Then what is missing is planned again. A driver reserves nothing while it waits, so no two drivers wait for each
    other; and a cell that was in one of its plans is not planned again, so the run ends even if a cell never gets its
    row.

    Attributes:
        tally: what was trained of each sweep.
        rounds: those of a sweep that is refined.

    Args:
        reservations: those of this driver, and of all others.
        standby: Ray; None: a plain loop trains.
        child: the process that trains pilots, if one does.
        nearby: whether it, and others beside it, train what is over before Ray would be up.
    """

    def __init__(
        self,
        planners: Sequence[Planner],
        records: Records,
        reservations: Reservations,
        progress: Progress,
        drain: Drain,
        standby: Standby | None,
        child: ChildProcess | None = None,
        nearby: bool = False,
    ) -> None:
        self._planners, self._records, self._reservations = list(planners), records, reservations
        self._progress, self._drain, self._standby = progress, drain, standby
        self._child, self._nearby = child, nearby
        self._planned_cells: list[tuple[Planner, TrainedCells]] = []
        self._message = ""
        self.tally = Tally(records)
        self.rounds: Rounds | None = None
        options = self._planners[0].options
        if options.refine:
            from swingby.run.refine import Rounds  # it needs scipy, and most runs refine nothing

            waits = options.local or options.wait_rounds
            (one,) = self._planners
            self.rounds = Rounds(
                one.sweep, one, records, progress, drain, waits, lambda more: self.tally.add_plans([more])
            )

    def run(self) -> None:
        """Trains, waits, and trains what others have left, until nothing is left to wait for or the run drains.

        Raises:
            SwingbyError: as the function `run`.
        """
        planners = self._planners
        while planners:
            planned = [self._plan(planner) for planner in planners]
            self.tally.add_plans(planned)
            missing = [one for one in planned if one.missing]
            if missing and not self._drain():
                budget = 1.0 if self.rounds is None else self.rounds.refinement.budget / missing[0].missing
                workers = workers_nearby(missing, max(1.0, budget)) if self._nearby else 0
                for planner, one in zip(planners, planned, strict=True):
                    if one.missing and not workers:
                        if self._standby is not None:
                            self._standby.begin()  # it starts while kernels are compiled
                        planner.prepare(self._progress.line)
                given_up = self._train(missing, workers)
                self.tally.add_training(self._progress, given_up)
                if self.rounds is not None and self.rounds.fault is not None:
                    raise self.rounds.fault
            if missing:
                ingest(self._records)
            self._reservations.release()
            planners = [planner for planner in planners if len(planner.pending.reserved)]
            planners = self._wait(planners) if planners and not self._drain() else []

    def _plan(self, planner: Planner) -> Planned:
        """Measures unknown costs on pilots, then writes the plan of a sweep without cells of the sweeps before it."""
        planner.shared = [cells for owner, cells in self._planned_cells if owner is not planner]
        if self.rounds is not None:
            self.rounds.begin()
        # Where a cluster trains, its machines measure: this one may be a login node, or have no GPU.
        if planner.options.pilot and planner.options.address is None:
            planner.measure(self._progress)
        planned = planner.commit()
        if self.rounds is None or planned.missing:
            for line in summary(planned).splitlines():
                self._progress.line(line)
        ids = planner.pending.ids.take(pa.array(planner.pending.places))
        self._planned_cells.append((planner, (ids, frozenset(planner.sweep.recording.tokens))))
        planner.pending.mark_tried()
        return planned

    def _train(self, planned: Sequence[Planned], workers: int) -> dict[tuple[str, str], str]:
        """Runs the batches while the store ingests their shards; returns the cells given up, with the reason.

        Args:
            workers: how many processes of the driver's own train them; 0: Ray or a plain loop does.
        """
        Store.release_held()
        total = sum(len(one.batches) for one in planned)
        planned = [replace(one, other_batches=total - len(one.batches)) for one in planned]
        sweeps = [(one.plan.experiment, one.plan.sweep_id) for one in planned]
        records, progress, drain = self._records, self._progress, self._drain

        def shares() -> list[float]:
            return [one.share for one in in_progress(records, sweeps)]

        rounds = self.rounds
        progress.planned(*planned, in_progress=shares(), more=rounds is not None)
        try:
            with IngestThread(planned, records, progress, drain, lambda: progress.in_progress(shares()), rounds):
                if workers and self._child is not None:
                    progress.line(
                        f"trained by {counted(workers, 'worker process', 'worker processes')} of this command, sooner "
                        f"than Ray would be up; {option('ray', True)} insists on Ray"
                    )
                    children = [self._child, *(ChildProcess() for _ in range(workers - 1))]
                    return execute(planned, records, progress, drain, children, rounds)
                if self._child is not None:
                    self._child.close()  # it has trained the pilots, and would keep its memory
                if self._standby is None:
                    return execute(planned, records, progress, drain, (), rounds)
                return run_tune(planned, records, progress, drain, self._standby, rounds)
        finally:
            progress.close()

    def _wait(self, planners: Sequence[Planner]) -> list[Planner]:
        """Waits until all reserved cells have a final row, or some are reserved no more, or the run drains.

        The store is only read here: the drivers that train ingest.

        Returns:
            The planners that are to plan again.
        """
        every = sum(len(planner.pending.reserved) for planner in planners)
        self._progress.line(f"waiting for {counted(every, 'cell')} that others train; Ctrl-C ends the wait")
        pause = WAIT_SECONDS
        with self.tally.waiting(), self._progress.waiting(every) as show_remaining:
            while not self._drain.within(pause):
                began = time.monotonic()
                free = self._refresh_reserved(planners)
                show_remaining(remaining := sum(len(planner.pending.reserved) for planner in planners))
                if free:
                    self._progress.line("nobody trains some of them any more: what is missing is planned again")
                if free or not remaining:
                    return [planner for planner in planners if len(planner.pending.reserved)]
                pause = max(WAIT_SECONDS, WAIT_COST * (time.monotonic() - began))
        self._progress.line("stopping: the cells that others train are left to them")
        return []

    def _refresh_reserved(self, planners: Sequence[Planner]) -> bool:
        """Reads which reserved cells have finished; true if some are reserved by nobody any more."""
        free: list[bool] = []
        try:
            for planner in planners:
                others = self._reservations.others(planner.sweep.experiment_name)
                free.append(planner.pending.refresh_reserved(others))
        except SwingbyError as error:  # the store is being written; the next read will succeed
            if str(error) != self._message:
                self._progress.line(f"the wait goes on: {error}")
            self._message, free = str(error), []
        return any(free)
