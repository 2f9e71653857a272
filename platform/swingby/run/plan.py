"""Planning: the pending cells of a sweep, the batches that train them, and what these will cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records import BatchNote, Plan, Records, provenance
from swingby.data.records.headers import sweep_table
from swingby.errors import SwingbyError
from swingby.function.travel import FOLDER, sent_with
from swingby.model.code import folder_of
from swingby.model.needed import require
from swingby.run.batches import Chosen, choose
from swingby.run.commit_lock import commit_lock, planning_lock
from swingby.run.cost import Cost, costs
from swingby.run.estimate import Sizes
from swingby.run.forecast import Planned, forecast
from swingby.run.hints import hints
from swingby.run.options import RunOptions
from swingby.run.pending import CellCounts, PendingCells, Reservations, TrainedCells
from swingby.run.pilots import Pilots, choose_pilots, unmeasured
from swingby.run.processes.child import ChildProcess
from swingby.run.progress import Progress
from swingby.run.resources import check_request, gpus_here
from swingby.store import Store, check_experiment, ingest
from swingby.store.status import failed_cells, is_presented, refused_records
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

GRAINS = 4
"""Batches that should make a trial: the scheduler puts as many together as fit, by the cost seen meanwhile."""


class Planner:
    """The steps of planning one sweep; a caller that commits or measures holds the sweep's lock.

    Attributes:
        shared: cells that other sweeps of the same run train.
        reservations: cells that this driver and others are about to train.
        pending: the cells to train, as of the last step.
        decision: why these cells are wanted, where the sweep is refined; its plans list only them.

    Args:
        workers: how many one-core batches run at once; those of the options if None, or one.
        machines: the CPUs of each machine; by default one machine with a CPU for each worker.
        gpus: how many GPUs all machines have; by default those of this one.
        stop: true once the run was asked to stop.
        begin: called when there is something to train, before it is known how.
        reservations: those of the driver; by default it holds none.
        child: the process that trains pilots; by default this one does.

    Raises:
        SwingbyError: the experiment cannot be stored, or cannot make use of several processes.
    """

    def __init__(
        self,
        sweep: Sweep,
        records: Records,
        options: RunOptions | None = None,
        *,
        workers: int | None = None,
        machines: Sequence[float] = (),
        gpus: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        begin: Callable[[], None] = lambda: None,
        reservations: Reservations | None = None,
        child: ChildProcess | None = None,
    ) -> None:
        self.options = options or RunOptions()
        check_experiment(sweep.experiment)
        check_request(sweep, self.options)
        self.sweep, self.records, self._begin = sweep, records, begin
        self.workers = workers or self.options.workers or 1
        self.machines = tuple(machines) or (float(self.workers),)
        self.gpus = gpus_here() if gpus is None else gpus
        self.shared: Sequence[TrainedCells] = ()
        self.decision: Mapping[str, Any] = {}
        self.reservations = Reservations(records) if reservations is None else reservations
        self.pending = PendingCells(
            sweep, records, self.options.retry_failed, self.options.device, self.options.older == "keep"
        )
        self._child = child
        self._hints: tuple[str, ...] | None = None
        self._pilots = Pilots(records, stop, self.options.deadline, child)

    @property
    def piloted(self) -> int:
        """Cells that were trained to measure the cost."""
        return self._pilots.trained

    def preview(self) -> Planned:
        """The plan of everything that is missing now; nothing is written."""
        return self._planned(self._refresh())

    def commit(self) -> Planned:
        """Writes the plan of everything that is missing, with nothing committed between reading and writing.

        Cells that other drivers train now are left to them. A sweep of which nothing is missing gets a plan only if it
        has none yet, or is to be shown otherwise: the plan is the record that the sweep exists, and how it is shown.
        """
        with self._locked():
            counts = self._refresh()
            self._refuse()
            planned = self._planned(counts)
            known = planned.plan.sequence > 1 and not self.decision
            if not planned.missing and known and is_presented(self.records, self.sweep):
                return planned
            return self._written(planned)

    def measure(self, progress: Progress | None = None) -> None:
        """Trains pilot cells of shapes that have no measured batch, under a plan of their own."""
        progress = progress or Progress()
        with self._locked():
            self._refresh()
            self._refuse()
            pending = self.pending.of_shapes(self.unmeasured())
            chosen = choose_pilots(pending, self.pending.max_batches(), self.pending.lanes())
            if not chosen:
                return
            progress.line(
                f"measuring the cost of a cell on {sum(len(batch.positions) for batch in chosen)} of them ..."
            )
            planned = self._written(self._planned_batches(chosen, CellCounts(), {}))
        self._pilots.train(planned, progress, lambda: self.prepare(progress.line))
        if self._pilots.failed and self._pilots.failed == self._pilots.trained:
            raise SwingbyError(
                f"all {counted(self._pilots.failed, 'cell')} of {self.sweep.name!r} that were tried first have failed, "
                f"so the run stops here: {self._first_failure()}"
            )

    def _first_failure(self) -> str:
        """Why the first failed cell of the sweep has failed, in one line."""
        ingest(self.records)
        with Store.open(self.records.data) as store:
            failures = failed_cells(store, self.sweep.experiment_name, self.sweep.sweep_id)
        return f"cell {failures[0][0][:12]}: {failures[0][1]}" if failures else "no reason is known"

    def prepare(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Runs `Experiment.prepare` for the shapes of the missing cells."""
        self.sweep.experiment.prepare([self.pending.representatives[shape] for shape in self.pending.shapes()], tell)

    def _refuse(self) -> None:
        """Refuses to train what cannot be trained here, or must not without a word of the user.

        Raises:
            SwingbyError: as `refuse_older`; or something that training needs is not installed.
        """
        self.refuse_older()
        # On a cluster others train; they say what they lack.
        if len(self.pending.places) and (self.options.address is None or self.options.pilot):
            of = self.sweep.experiment
            require(of.requires, f"training {of.name}")

    def refuse_older(self) -> None:
        """Refuses to go on where another version of the code made some of the results, and nobody said what to do.

        Raises:
            SwingbyError: how many there are, and the three ways to go on.
        """
        if len(self.pending.older) and self.options.older is None:
            of = self.sweep.experiment_name
            raise SwingbyError(
                f"{counted(len(self.pending.older), 'cell')} of {self.sweep.name!r} have results of another version of "
                f"{of}'s code (now {self.sweep.recording.code}). Say what they are: --keep counts them as results; "
                "--retrain takes them back and trains them again; or raise the version (@experiment(version=...); of a "
                "class: stream_version), and all cells are new ones"
            )

    def unmeasured(self) -> list[str]:
        """The shapes of missing cells that are worth measuring and have no measured batch, cheapest first."""
        work = self.pending.work(self.pending.shapes())
        return unmeasured(self.pending.samples, self.pending.max_batches(), work)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Excludes other planners of the experiment, and commits to this sweep."""
        with planning_lock(self.records, self.sweep.experiment_name), commit_lock(self.records, self.sweep.sweep_id):
            yield

    def _refresh(self) -> CellCounts:
        """Ingests what is new, and reads which cells are pending."""
        reservations = self.reservations.others(self.sweep.experiment_name)
        ingest(self.records)
        counts = self.pending.refresh(self.shared, reservations)
        if self._hints is None:  # before any of them is trained
            self._hints = hints(self.records, self.sweep, self.pending.ids, self.pending.places)
        if len(self.pending.places):
            self._begin()
        return counts

    def _written(self, planned: Planned) -> Planned:
        """Writes a plan, reserves its cells, and makes sure that the store takes it: else it would refuse the results.

        Raises:
            SwingbyError: the store cannot hold the experiment.
        """
        sent = sent_with(self.sweep.experiment, elsewhere=not self.options.local or self._child is not None)
        folder = sent.get(FOLDER) or folder_of(self.sweep.experiment_name)
        plan = replace(planned.plan, provenance={**provenance(folder), **sent})
        self.records.write_plan(plan)
        plan.__dict__.pop("table", None)  # the store reads the file: two of them would be in memory
        ingest(self.records)
        of = self.sweep.experiment
        columns = {
            **of.scalars,
            **of.curves,
            **{name: also[name] for also in of.recordings.values() for name in also},
        }
        with Store.open(self.records.data) as store:
            reasons = refused_records(store, f"plans/{plan.plan_id}.parquet")
            reasons = reasons or store.misfits(of.name, {name: column.type for name, column in columns.items()})
        if reasons:
            raise SwingbyError(f"the store cannot hold experiment {plan.experiment!r}: {reasons[0]}")
        self.reservations.reserve(plan, beside=bool(self.decision))
        return replace(planned, plan=plan, written=True)

    def _planned(self, counts: CellCounts) -> Planned:
        """The plan of all pending cells; samples of every shape count, since they tell the cost of the others."""
        known = costs(self.pending.samples, self.pending.work(self.pending.shape_names))
        target = self.options.target_seconds / GRAINS
        shapes, most, lanes = self.pending.shape_codes(), self.pending.max_batches(), self.pending.lanes()
        together, slow = self.sweep.experiment.trains_together, self._pilots.slow
        chosen = choose(shapes, known, most, self.workers, target, lanes, together, slow)
        by_sizes = Sizes.of(self.pending.samples, known)
        factors = by_sizes.factors(self._batch_sizes(chosen))
        chosen = [
            batch if batch.seconds is None else replace(batch, seconds=batch.seconds * factor)
            for batch, factor in zip(chosen, factors.tolist(), strict=True)
        ]
        planned = self._planned_batches(chosen, counts, known, by_sizes.off)
        return replace(planned, hints=self._hints or (), slow=bool(slow))

    def _planned_batches(
        self, chosen: Sequence[Chosen], counts: CellCounts, known: Mapping[str, Cost], off: float = 0.0
    ) -> Planned:
        """The plan of these batches, with its forecast, which is `off` by so much."""
        notes = tuple(
            BatchNote(number, batch.shape, len(batch.positions), batch.seconds) for number, batch in enumerate(chosen)
        )
        # The plan's table has every cell that is wanted, those that run with the number of their batch.
        ids, places, listed = self.pending.ids, self.pending.places, self.pending.listed
        batch_of = np.full(len(ids), -1, np.int32)
        for number, batch in enumerate(chosen):
            batch_of[places[batch.positions]] = number
        batch_of = batch_of[listed]
        numbers = pa.array(batch_of, mask=batch_of < 0)
        if self.pending.requested is not None:
            ids = ids.take(pa.array(listed))
        plan = Plan(
            sweep_id=self.sweep.sweep_id,
            name=self.sweep.name,
            experiment=self.sweep.experiment_name,
            stream_version=self.sweep.points.stream_version,
            sequence=self.records.next_sequence(self.sweep.name, self.sweep.sweep_id),
            resolved=self.sweep.resolved,
            recording=self.sweep.recording,
            provenance={},  # asks git and every required package: see `_written`
            batches=notes,
            decision=self.decision,
            source=lambda: sweep_table(self.sweep.points, self.sweep.seeds, listed, ids, numbers),
        )
        max_batch, representatives = self.pending.max_batches(), self.pending.representatives
        planned = Planned(
            sweep=self.sweep,
            plan=plan,
            counts=counts,
            missing=len(self.pending.places),
            batches=notes,
            forecast=None,
            resources={
                shape: replace(self.sweep.experiment.resources(representatives[shape]), **self.sweep.resources)
                for shape in max_batch
            },
            max_batch=max_batch,
            workers=self.workers,
            options=self.options,
            piloted=self.piloted,
            older=len(self.pending.older),
            machines=self.machines,
            gpus=self.gpus,
            decision=self.decision,
            batch_sizes=self._batch_sizes(chosen),
        )
        return replace(planned, forecast=forecast(notes, known, planned.batch_resources, self.workers, self.gpus, off))

    def _batch_sizes(self, chosen: Sequence[Chosen]) -> np.ndarray:
        """What the cost of these batches may depend on: the mean over the cells of each."""
        sizes, places = self.pending.sizes, self.pending.places % len(self.sweep.points)
        if not chosen:
            return sizes[:0]
        starts = np.cumsum([0] + [len(batch.positions) for batch in chosen[:-1]])
        rows = sizes[places[np.concatenate([batch.positions for batch in chosen])]]
        return np.add.reduceat(rows, starts, axis=0) / [[len(batch.positions)] for batch in chosen]
