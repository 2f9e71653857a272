"""Planning: what a sweep still lacks, the batches that would fill it, and what they will cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records import BatchNote, Plan, Records, provenance
from swingby.data.records.headers import sweep_table
from swingby.errors import SwingbyError
from swingby.run.batches import Chosen, choose
from swingby.run.commit_lock import committing, planning
from swingby.run.cost import Cost, costs
from swingby.run.deadline import check_deadline
from swingby.run.forecast import forecast
from swingby.run.pending import Elsewhere, Lacking, Standing
from swingby.run.pilots import Pilots, pilots, unmeasured
from swingby.run.planned import Planned
from swingby.run.reservations import Pledges
from swingby.run.resources import check_processes, cores
from swingby.store import Store, check_experiment, ingest
from swingby.store.status import is_presented, refused_records
from swingby.sweepfile.sweep import Sweep

GRAINS = 4
"""Batches that should make a trial: so many are put together as fit, by what cells turn out to cost meanwhile."""


def plan(
    sweep: Sweep,
    records: Records,
    *,
    pilot: bool = True,
    retry_failed: bool = False,
    target_seconds: float = 5.0,
    workers: int | None = None,
    device: str | None = None,
    processes: int = 1,
    deadline: float | None = None,
) -> Planned:
    """What a run would do now. Nothing is written but the results of pilot cells, under a plan of their own.

    Args:
        pilot: train a few cells of shapes whose cost nobody has measured; they are kept as results.
        retry_failed: count failed cells as missing.
        target_seconds: what a batch should take.
        workers: how many batches run at once; None: a core each.
        device: "cpu" or "cuda" for all batches; None: as the experiment asks.
        processes: how many of them train each batch.
        deadline: seconds for which a batch may give no sign of life; None: by what it should take.

    Raises:
        SwingbyError: the data folder is unfit, the experiment cannot make use of several processes, or pilot cells are
            needed while somebody runs the sweep; says who.
    """
    planner = Planner(
        sweep, records, retry_failed, target_seconds, workers or cores(), device, processes=processes, deadline=deadline
    )
    planned = planner.look()
    if not (pilot and planner.unmeasured()):
        return planned
    with records.lock(sweep.sweep_id) as hold:
        planner.pledges = Pledges(records, {sweep.sweep_id: hold})
        planner.measure()
    return planner.look()


class Planner:
    """The steps of planning one sweep; whoever writes or measures holds the sweep's lock.

    Attributes:
        elsewhere: cells that other sweeps of the same run train.
        pledges: what this driver and others are about to train.
        lacking: the cells to train, as last looked at.
        begin: called when something is to be trained, before it is known how.

    Args:
        stop: true once the run was asked to stop.
        apart: whether pilot cells are trained in a process of their own, which may die of them.

    Raises:
        SwingbyError: the experiment cannot be stored, or cannot make use of several processes.
    """

    def __init__(
        self,
        sweep: Sweep,
        records: Records,
        retry_failed: bool = False,
        target_seconds: float = 5.0,
        workers: int = 1,
        device: str | None = None,
        stop: Callable[[], bool] = lambda: False,
        begin: Callable[[], None] = lambda: None,
        processes: int = 1,
        machines: Sequence[float] = (),
        deadline: float | None = None,
        apart: bool = False,
        pledges: Pledges | None = None,
    ) -> None:
        check_experiment(sweep.experiment)
        check_processes(sweep.experiment, processes)
        check_deadline(deadline)
        self.sweep, self.records, self.processes, self.deadline = sweep, records, processes, deadline
        self.machines = tuple(machines) or (float(workers),)
        self.target, self.workers, self.device, self.begin = target_seconds, workers, device, begin
        self.elsewhere: Sequence[Elsewhere] = ()
        self.pledges = Pledges(records) if pledges is None else pledges
        self.lacking = Lacking(sweep, records, retry_failed)
        self._pilots = Pilots(records, stop, deadline, apart)

    @property
    def piloted(self) -> int:
        """Cells that were trained to measure the cost."""
        return self._pilots.trained

    def look(self) -> Planned:
        """Reads what is finished, and plans the rest; writes no plan."""
        return self._planned(self._standing(), written=False)

    def commit(self) -> Planned:
        """Reads what is finished and writes the plan of the rest, with nobody finishing anything in between.

        What other drivers train now is left to them. A sweep of which nothing is missing gets a plan only if it has
        none yet, or is to be shown otherwise: the plan is what says that it exists, and how.
        """
        with self._alone():
            planned = self._planned(self._standing(), written=True)
            if not planned.missing and planned.plan.sequence > 1 and is_presented(self.records, self.sweep):
                return replace(planned, written=False)
            self._write(planned.plan)
            return planned

    def measure(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Trains pilot cells of shapes that nobody has measured, under a plan of their own."""
        with self._alone():
            self._standing()
            chosen = self._chosen_pilots()
            if not chosen:
                return
            tell(f"measuring the cost of a cell on {sum(len(batch.positions) for batch in chosen)} of them ...")
            planned = self._planned_as(chosen, Standing(), {}, written=True)
            self._write(planned.plan)
        self.prepare(tell)
        self._pilots.train(planned, tell)

    def prepare(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """What the experiment has to do once on a machine before it trains the missing cells."""
        self.sweep.experiment.prepare([self.lacking.representatives[shape] for shape in self.lacking.shapes()], tell)

    def unmeasured(self) -> list[str]:
        """The shapes worth measuring among those of missing cells, cheapest first, that no batch was measured of."""
        work = self.lacking.work(self.lacking.shapes())
        return unmeasured(self.lacking.samples(self.device), self.lacking.most(), work)

    def _chosen_pilots(self) -> list[Chosen]:
        waiting = self.lacking.of_shapes(self.unmeasured())
        lanes = {shape: self.sweep.experiment.lanes(self.lacking.representatives[shape]) for shape in waiting}
        return pilots(waiting, self.lacking.most(), lanes)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else plans a sweep of the experiment, or leaves rows of this one."""
        with planning(self.records, self.sweep.experiment_name), committing(self.records, self.sweep.sweep_id):
            yield

    def _standing(self) -> Standing:
        pledges = self.pledges.others(self.sweep.experiment_name)
        ingest(self.records)
        standing = self.lacking.look(self.elsewhere, pledges)
        if len(self.lacking.todo):
            self.begin()
        return standing

    def _write(self, plan: Plan) -> None:
        """Writes a plan, and sees to it that the store takes it: it would refuse the results, too."""
        self.records.write_plan(plan)
        plan.__dict__.pop("table", None)  # the store reads the file: two of them would be in memory
        ingest(self.records)
        reasons = refused_records(self.records, f"plans/{plan.plan_id}.parquet") or self._misfits()
        if reasons:
            raise SwingbyError(f"the store cannot hold experiment {plan.experiment!r}: {reasons[0]}")
        self.pledges.make(plan)

    def _misfits(self) -> list[str]:
        of = self.sweep.experiment
        columns = {**of.scalars, **of.curves, **{name: also[name] for also in of.recordings.values() for name in also}}
        with Store.open(self.records.data) as store:
            return store.misfits(of.name, {name: column.type for name, column in columns.items()})

    def _planned(self, standing: Standing, written: bool) -> Planned:
        """The plan of everything that is missing; shapes of which nothing is missing say what the others cost."""
        known = costs(self.lacking.samples(self.device), self.lacking.work(self.lacking.names))
        chosen = choose(self.lacking.coded(), known, self.lacking.most(), self.workers, self.target / GRAINS)
        return self._planned_as(chosen, standing, known, written)

    def _planned_as(
        self, chosen: Sequence[Chosen], standing: Standing, known: Mapping[str, Cost], written: bool
    ) -> Planned:
        notes = tuple(
            BatchNote(number, batch.shape, len(batch.positions), batch.seconds) for number, batch in enumerate(chosen)
        )
        most, representatives = self.lacking.most(), self.lacking.representatives
        planned = Planned(
            sweep=self.sweep,
            plan=self._plan(chosen, notes),
            done=standing.done,
            missing=len(self.lacking.todo),
            failed=standing.failed,
            batches=notes,
            forecast=None,
            resources={shape: self.sweep.experiment.resources(representatives[shape]) for shape in most},
            most=most,
            target=self.target,
            workers=self.workers,
            written=written,
            piloted=self.piloted,
            shared=standing.shared,
            left=standing.left,
            chosen_device=self.device,
            processes=self.processes,
            deadline=self.deadline,
            machines=self.machines,
        )
        return replace(planned, forecast=forecast(notes, known, planned.occupied, self.workers))

    def _plan(self, chosen: Sequence[Chosen], notes: tuple[BatchNote, ...]) -> Plan:
        """The plan with its table: every cell of the sweep, those that run with the number of their batch."""
        ids, todo = self.lacking.ids, self.lacking.todo
        batch = np.full(len(ids), -1, np.int32)
        for number, one in enumerate(chosen):
            batch[todo[one.positions]] = number
        numbers = pa.array(batch, mask=batch < 0)
        return Plan(
            sweep_id=self.sweep.sweep_id,
            name=self.sweep.name,
            experiment=self.sweep.experiment_name,
            stream_version=self.sweep.points.stream_version,
            sequence=self.records.next_sequence(self.sweep.name, self.sweep.sweep_id),
            resolved=self.sweep.resolved,
            recording=self.sweep.recording,
            provenance=self._provenance,
            batches=notes,
            given=lambda: sweep_table(self.sweep.points, self.sweep.seeds, ids, numbers),
        )

    @cached_property
    def _provenance(self) -> dict[str, Any]:
        return provenance()
