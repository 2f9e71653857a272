"""Planning: what a sweep still lacks, the batches that would fill it, and what they will cost."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.errors import SwingbyError
from swingby.experiment import Resources
from swingby.gang import LostWorkerError
from swingby.headers import sweep_table
from swingby.records import BatchNote, Plan, Records, provenance
from swingby.run.alarm import DeadlineError, alarmed
from swingby.run.apart import Apart
from swingby.run.batch import BatchDone, committing, run_batch
from swingby.run.batches import Chosen, choose
from swingby.run.cost import Cost, Sample, costs, fit, worth_measuring
from swingby.run.deal import check_deadline, deadline_told
from swingby.run.forecast import Forecast, forecast, forecast_lines
from swingby.run.progress import counted
from swingby.run.room import check_processes, on_gpus, together, widened
from swingby.store import Store, check_experiment, ingest
from swingby.sweep import Sweep

PILOTS = (1, 2, 16)
"""Cells of the batches that measure a shape: the first warms up, the other two give the fixed and the variable part."""
LONGEST_PILOT = (20, 4)
"""Batches' worth of time that the second pilot, and those after it, may take by what is known: the second is worth
more, because one cell alone cannot tell what a batch costs from what a cell does."""
PILOT_SECONDS = 600.0
"""The deadline of a pilot: what it takes is not known yet, but it is a few cells of an experiment that has many."""
STAIRS = (1, 2, 4)
"""The same where so many `Experiment.lanes` cost as much as one cell: in these."""
GRAINS = 4
"""Batches that should make a trial: so many are put together as fit, by what cells turn out to cost meanwhile."""
RECENT = 200
"""Batches of a shape, the newest first, that its cost is fitted to."""


@dataclass(frozen=True)
class Planned:
    """What a run of a sweep would do.

    Attributes:
        plan: the plan; written to disk if `written`.
        done, missing, failed: cells with a result, cells to train, cells that failed and are left alone.
        batches: the batches of the missing cells, in the order to run them.
        forecast: None if nothing was measured, or nothing is missing.
        resources: what each process of a batch of each shape needs.
        most: the most cells of each shape that can be trained together.
        target: seconds a trial should take; as many batches go into one as fit.
        workers: how many one-core batches run at once.
        piloted: cells that were trained to measure the cost; they count as done.
        shared: cells that other sweeps of the same run train.
        processes: how many of them train a batch.
        deadline: seconds for which a batch may give no sign of life; None: by what it should take.
        machines: the CPUs of each machine.
        beside: batches of other sweeps of the same run.
    """

    sweep: Sweep
    plan: Plan
    done: int
    missing: int
    failed: int
    batches: tuple[BatchNote, ...]
    forecast: Forecast | None
    resources: Mapping[str, Resources]
    most: Mapping[str, int]
    target: float
    workers: int
    written: bool = False
    piloted: int = 0
    shared: int = 0
    chosen_device: str | None = None
    processes: int = 1
    deadline: float | None = None
    machines: tuple[float, ...] = ()
    beside: int = 0

    @cached_property
    def each(self) -> Mapping[str, Resources]:
        """What each process of a batch of each shape occupies: more CPUs than it needs, where there are too many."""
        return _each(self.resources, len(self.batches) + self.beside, self.processes, self.machines, self.chosen_device)

    @cached_property
    def occupied(self) -> Mapping[str, Resources]:
        """What a batch of each shape occupies."""
        return {shape: together(each, self.processes) for shape, each in self.each.items()}

    def device(self, note: BatchNote) -> str:
        """Where a batch runs: as the caller chose, else on a GPU if the experiment asks for one."""
        return self.chosen_device or ("cuda" if self.resources[note.shape].gpus > 0 else "cpu")


def _each(
    resources: Mapping[str, Resources],
    batches: int,
    processes: int,
    machines: Sequence[float],
    device: str | None,
) -> dict[str, Resources]:
    """What each process of a batch of each shape occupies on these machines."""
    wide = {shape: widened(needed, batches, processes, machines) for shape, needed in resources.items()}
    return {shape: replace(needed, gpus=on_gpus(needed, device)) for shape, needed in wide.items()}


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
    with records.lock(sweep.sweep_id):
        planner.measure()
    return planner.look()


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


class Planner:
    """The steps of planning one sweep; whoever writes or measures holds the sweep's lock.

    Attributes:
        elsewhere: ids of cells that other sweeps of the same run train, with the tokens of what these record of them;
            they are left alone if that is all that this sweep asks for.
        ids: of every cell, in the order of `Sweep.cells`.
        todo: the places in it of the cells to train, as last looked at.
        begin: called when something is to be trained, before it is known how.
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
    ) -> None:
        check_experiment(sweep.experiment)
        check_processes(sweep.experiment, processes)
        check_deadline(deadline)
        self.sweep, self.records, self.processes = sweep, records, processes
        self.deadline, self.apart = deadline, apart
        self.machines = tuple(machines) or (float(workers),)
        self.retry_failed, self.target, self.workers = retry_failed, target_seconds, workers
        self.device, self.stop, self.begin = device, stop, begin
        self.elsewhere: Sequence[tuple[pa.Array, frozenset[str]]] = ()
        self.piloted = 0
        self.ids = sweep.cell_ids()
        self.todo = np.zeros(0, np.int64)
        self.shared = 0

    def look(self) -> Planned:
        """Reads what is finished, and plans the rest; writes no plan."""
        ingest(self.records)
        return self._planned(self._standing(), written=False)

    def commit(self) -> Planned:
        """Reads what is finished and writes the plan of the rest, with nobody finishing anything in between.

        A sweep of which nothing is missing gets a plan only if it has none yet, or is to be shown otherwise: the plan
        is what says that it exists, and how.
        """
        with committing(self.records, self.sweep.sweep_id):
            ingest(self.records)
            planned = self._planned(self._standing(), written=True)
            if not planned.missing and planned.plan.sequence > 1 and self._shown_so():
                return replace(planned, written=False)
            self._write(planned.plan)
            return planned

    def _shown_so(self) -> bool:
        """Whether the newest plan shows the sweep as it is written now."""
        with Store.open(self.records.data) as store:
            rows = store.sql("select resolved from sweeps where sweep_id = ?", [self.sweep.sweep_id]).rows()
        wanted = json.loads(json.dumps(self.sweep.presentation))
        return bool(rows) and wanted.items() <= json.loads(rows[0].resolved).items()

    def _write(self, plan: Plan) -> None:
        """Writes a plan, and sees to it that the store takes it: it would refuse the results, too."""
        self.records.write_plan(plan)
        plan.__dict__.pop("table", None)  # the store reads the file: two of them would be in memory
        ingest(self.records)
        reasons = refused(self.records, f"plans/{plan.plan_id}.parquet")
        if reasons:
            raise SwingbyError(f"the store cannot hold experiment {plan.experiment!r}: {reasons[0]}")

    def measure(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Trains pilot cells of shapes that nobody has measured, under a plan of their own."""
        with committing(self.records, self.sweep.sweep_id):
            ingest(self.records)
            self._standing()
            pilots = self._pilots()
            if not pilots:
                return
            tell(f"measuring the cost of a cell on {sum(len(batch.positions) for batch in pilots)} of them ...")
            planned = self._planned_as(pilots, (0, 0), {}, written=True)
            self._write(planned.plan)
        self.prepare(tell)
        with Apart() if self.apart else nullcontext() as apart:
            self._train_pilots(planned, apart, tell)

    def _train_pilots(self, planned: Planned, apart: Apart | None, tell: Callable[[str], None]) -> None:
        took: dict[str, list[Sample]] = {}
        given_up: set[str] = set()
        for note in planned.batches:
            known = took.setdefault(note.shape, [])
            most = LONGEST_PILOT[len(known) > 1] * self.target
            if self.stop() or note.shape in given_up or (known and fit(known).seconds(note.cells) > most):
                continue
            which = self.records.data, planned.plan.plan_id, note.batch, planned.device(note)
            try:
                done = self._train_pilot(which, apart)
            except (LostWorkerError, DeadlineError) as error:
                given_up.add(note.shape)
                tell(f"measuring {note.shape} was given up: {error}")
                continue
            self.piloted += done.cells
            known.append(Sample(note.shape, note.cells, done.seconds, 0))

    def _train_pilot(self, which: tuple[Path, str, int, str], apart: Apart | None) -> BatchDone:
        seconds = self.deadline or PILOT_SECONDS
        if apart is not None:
            return apart.run(*which, seconds)
        with alarmed(seconds) as beat:
            return run_batch(*which, self.stop, beat=beat)

    def prepare(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """What the experiment has to do once on a machine before it trains the missing cells."""
        self.sweep.experiment.prepare([self._representatives[shape] for shape in self._missing_shapes()], tell)

    def unmeasured(self) -> list[str]:
        """The shapes worth measuring among those of missing cells, cheapest first, that no batch was measured of.

        A shape whose cells are trained one by one is not worth it: its pilot would be the run. One cell alone (of a
        pilot that was stopped) measures nothing: it cannot tell what a batch costs from what a cell does.
        """
        known = {sample.shape for sample in self._samples() if sample.cells > 1}
        most = self._most()
        work = {shape: work for shape, work in self._work(self._missing_shapes()).items() if most[shape] > 1}
        return [shape for shape in worth_measuring(work) if shape not in known]

    def _pilots(self) -> list[Chosen]:
        """Pilot batches, the first ones of all shapes first; none takes more than half of a shape's cells (or two)."""
        shapes, names = self._shapes
        of_todo = shapes[self.todo % len(self.sweep.points)]
        waiting = {shape: np.flatnonzero(of_todo == names.index(shape)) for shape in self.unmeasured()}
        chosen, most = [], self._most()
        sizes = {shape: self._pilot_sizes(shape, len(found), most[shape]) for shape, found in waiting.items()}
        for turn in range(len(PILOTS)):
            for shape, positions in waiting.items():
                size = sizes[shape][turn]
                if size <= min(len(positions), max(2, len(positions) // 2), most[shape]):
                    chosen.append(Chosen(shape, positions[:size], None))
                    waiting[shape] = positions[size:]
        return chosen

    def _pilot_sizes(self, shape: str, waiting: int, most: int) -> tuple[int, ...]:
        """Cells of a shape's pilots: stairs where it has room for two of them, else cell by cell."""
        lanes = self.sweep.experiment.lanes(self._representatives[shape])
        stairs = tuple(count * lanes for count in STAIRS)
        return stairs if lanes > 1 and stairs[1] <= min(waiting // 2, most) else PILOTS

    def _standing(self) -> tuple[int, int]:
        """How many cells have a result and how many failed; `todo` becomes the rest, seed by seed."""
        with Store.open(self.records.data) as store:
            letters = store.stand(self.sweep.experiment_name, self.ids, self.sweep.recording.tokens)
        done = letters == "d"
        failed = (letters == "f") & (not self.retry_failed)
        todo = np.flatnonzero(~(done | failed))
        asked = set(self.sweep.recording.tokens)
        for ids, tokens in self.elsewhere:
            if asked <= tokens:
                todo = todo[~_among(self.ids.take(pa.array(todo)), ids)]
        self.shared = len(letters) - int(done.sum()) - int(failed.sum()) - len(todo)
        self.todo = todo
        if len(todo):
            self.begin()
        return int(done.sum()), int(failed.sum())

    @cached_property
    def _shapes(self) -> tuple[np.ndarray, list[str]]:
        """The shape of each point as a number, and the shapes that the numbers stand for."""
        return self.sweep.points.told(self.sweep.experiment.shape)

    @cached_property
    def _representatives(self) -> dict[str, Any]:
        """The parameters of one point of each shape."""
        shapes, names = self._shapes
        _, first = np.unique(shapes, return_index=True)
        return {name: self.sweep.points[int(place)].params for name, place in zip(names, first, strict=True)}

    def _missing_shapes(self) -> list[str]:
        """The shapes of the cells to train, in the order in which they come."""
        shapes, names = self._shapes
        found, first = np.unique(shapes[self.todo % len(self.sweep.points)], return_index=True)
        return [names[code] for code in found[np.argsort(first)]]

    def _work(self, shapes: Iterable[str]) -> dict[str, float]:
        return {shape: float(self.sweep.experiment.work(self._representatives[shape])) for shape in shapes}

    def _most(self) -> dict[str, int]:
        most = self.sweep.experiment.max_batch
        return {shape: most(self._representatives[shape]) for shape in self._missing_shapes()}

    def _samples(self) -> list[Sample]:
        """Batches of this experiment that ran with this recording on this kind of device."""
        tokens = " ".join(self.sweep.recording.tokens)
        with Store.open(self.records.data) as store:
            rows = store.sql(SAMPLES, [self.sweep.experiment_name, tokens, self.device or "", RECENT]).rows()
            if max(self._most().values(), default=0) == 1 and rows:
                # A run that was stopped in the middle says nothing of what a whole one costs.
                query = f"""select shard from "{self.sweep.experiment_name}" where status <> 'running'"""
                whole = {row.shard for row in store.sql(query).rows()}
                rows = [row for row in rows if whole.intersection(row.names)]
        return [Sample(row.shape, row.cells, row.seconds, row.bytes) for row in rows]

    def _planned(self, standing: tuple[int, int], written: bool) -> Planned:
        """The plan of everything that is missing; shapes of which nothing is missing say what the others cost."""
        codes, names = self._shapes
        known = costs(self._samples(), self._work(names))
        shapes = codes[self.todo % len(self.sweep.points)], names
        chosen = choose(shapes, known, self._most(), self.workers, self.target / GRAINS)
        return self._planned_as(chosen, standing, known, written)

    def _planned_as(
        self, chosen: Sequence[Chosen], standing: tuple[int, int], known: Mapping[str, Cost], written: bool
    ) -> Planned:
        notes = tuple(
            BatchNote(number, batch.shape, len(batch.positions), batch.seconds) for number, batch in enumerate(chosen)
        )
        most = self._most()
        resources = {shape: self.sweep.experiment.resources(self._representatives[shape]) for shape in most}
        planned = Planned(
            sweep=self.sweep,
            plan=self._plan(chosen, notes),
            done=standing[0],
            missing=len(self.todo),
            failed=standing[1],
            batches=notes,
            forecast=None,
            resources=resources,
            most=most,
            target=self.target,
            workers=self.workers,
            written=written,
            piloted=self.piloted,
            shared=self.shared,
            chosen_device=self.device,
            processes=self.processes,
            deadline=self.deadline,
            machines=self.machines,
        )
        return replace(planned, forecast=forecast(notes, known, planned.occupied, self.workers))

    def _plan(self, chosen: Sequence[Chosen], notes: tuple[BatchNote, ...]) -> Plan:
        """The plan with its table: every cell of the sweep, those that run with the number of their batch."""
        batch = np.full(len(self.ids), -1, np.int32)
        for number, one in enumerate(chosen):
            batch[self.todo[one.positions]] = number
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
            given=lambda: sweep_table(self.sweep.points, self.sweep.seeds, self.ids, numbers),
        )

    @cached_property
    def _provenance(self) -> dict[str, Any]:
        return provenance()


def _among(ids: pa.Array, known: pa.Array) -> np.ndarray:
    """Which of the ids are among those known."""
    found = pc.call_function("is_in", [ids], pc.SetLookupOptions(value_set=known))
    return found.to_numpy(zero_copy_only=False)


def refused(records: Records, start: str) -> list[str]:
    """Records whose names begin so and that the store lists as bad, with the reasons."""
    with Store.open(records.data) as store:
        query = "select shard, reason from bad_shards where starts_with(shard, ?) order by shard"
        return [f"{row.shard}: {row.reason}" for row in store.sql(query, [start]).rows()]


def _spread(planned: Planned) -> str:
    """How a batch is spread over processes and cores, where it is."""
    cpus = {each.cpus for each in planned.each.values()}
    parts = [f"{planned.processes} processes a batch"] if planned.processes > 1 else []
    if max(cpus) > 1:
        low, high = (f"{count:g}" for count in (min(cpus), max(cpus)))
        parts.append(f"{low if low == high else f'{low}-{high}'} CPUs a process")
    return "".join(f", {part}" for part in parts)


SAMPLES = """
select shape, cells, seconds, bytes, names from (
  select shape, list(shard) as names, max(cells) as cells,
    sum(seconds) as seconds, sum(bytes)::double as bytes, max(finished) as finished
  from shards
  where experiment = $1 and array_to_string(recorded, ' ') = $2 and ($3 = '' or starts_with(device, $3))
  group by shape, plan_id, batch, attempt, host, pid
) qualify row_number() over (partition by shape order by finished desc) <= $4"""


def summary(planned: Planned) -> str:
    """What a run would do, in a few lines."""
    counts = Counter({"done": planned.done, "failed (left alone)": planned.failed, "missing": planned.missing})
    standing = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "missing")
    lines = [f"{planned.sweep.name}: {counted(len(planned.sweep), 'cell')}: {standing}"]
    if planned.piloted:
        lines.append(f"  {planned.piloted:,} pilot cells were trained to measure the cost; they are kept as results")
    if planned.shared:
        lines.append(f"  {counted(planned.shared, 'more cell')} of it will be trained by the sweeps named before it")
    if not planned.missing:
        return "\n".join(lines)
    batches, shapes = counted(len(planned.batches), "batch", "batches"), counted(len(planned.resources), "shape")
    lines.append(f"  {batches} of {shapes} on {counted(planned.workers, 'worker')}{_spread(planned)}")
    lines.append(f"  {deadline_told(planned.deadline)}")
    return "\n".join([*lines, *forecast_lines(planned.forecast)])
