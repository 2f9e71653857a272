"""Who acts in a history: drivers and their workers, readers, and whoever ingests, tidies, merges, takes back, rebuilds.

All of them call the platform's own code. What is written here is what a machine and a user do: start processes, wait
for them, start them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pyarrow as pa

from swingby.data.files import write_json
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.maintenance.gc import collect
from swingby.maintenance.merge import merge
from swingby.maintenance.retract import Chosen, retract
from swingby.model.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment
from swingby.model.params import Params
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import Drain
from swingby.run.driver import Driver
from swingby.run.ingest_thread import ingest_once
from swingby.run.options import RunOptions
from swingby.run.pending import Reservations
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, fail_cell, run_batch
from swingby.store import ingest, rebuild
from swingby.sweepfile.sweep import Sweep
from tests.simulate.store import NAME, BrokenError, SimStore
from tests.simulate.world import Machine, Process, World, place

EDGES = ((0, 1), (2, 3), (4, 5))
"""The steps of the pieces in which some cells are trained."""


class WalkParams(Params):
    """Where a walk begins: which says, too, how it is trained."""

    spot: int = 0


class Walk(Experiment):
    """Two of three cells are trained whole, every third in pieces with checkpoints; the sixth raises."""

    name: ClassVar[str] = NAME
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = WalkParams
    curves: ClassVar[Mapping[str, Column]] = {"step": Column(pa.list_(pa.int64()), "recorded steps", "steps")}
    pinned: ClassVar[bool] = True
    world: ClassVar[World]

    def shape(self, params: Any) -> str:
        return "w"

    def max_batch(self, params: Any) -> int:
        return 2

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        whole = []
        for cell in batch.cells:
            spot = cell.params.spot  # type: ignore[attr-defined]
            self.world.say(f"trains {spot} ({cell.cell_id[:6]})")
            self.world.sleep(self.world.rng.uniform(0.01, 1.0))
            if spot == 5:
                raise ValueError("this walk falls")
            if spot % 3 == 1:
                yield from self._pieces(cell.cell_id, batch)
            else:
                whole.append(self._rows(cell.cell_id, 0, EDGES[-1][1]))
        if whole:
            yield pa.concat_tables(whole)

    def _pieces(self, cell_id: str, batch: Batch) -> Iterator[pa.Table]:
        note = Path(batch.workdir or "") / f"{cell_id}.json"
        begun = 0
        if note.exists():
            with suppress(ValueError):
                begun = json.loads(note.read_text())["next"]
        for low, high in EDGES:
            if low >= begun:
                yield self._rows(cell_id, low, high)
                write_json(note, {"next": high + 1})
                self.world.sleep(self.world.rng.uniform(0.01, 0.3))

    def _rows(self, cell_id: str, low: int, high: int) -> pa.Table:
        final = high == EDGES[-1][1]
        columns = [[cell_id], [low], [high], [final], ["ok" if final else None], [None], [list(range(low, high + 1))]]
        return pa.table(
            [pa.array(column, type_) for column, type_ in zip(columns, (*SEGMENT_COLUMNS.values(), STEP), strict=True)],
            names=[*SEGMENT_COLUMNS, "step"],
        )


STEP = pa.list_(pa.int64())
GRIDS = {
    "a": ("[0, 1, 2]", "every"),
    "b": ("[1, 2, 3]", "every"),
    "c": ("[0, 1]", "log"),
    "d": ("[4, 5]", "every"),
    "e": ("[1]", "every"),
    "f": ("[0]", "every"),
}
"""Sweeps that share cells: of one recording, and of another."""


def sweeps() -> dict[str, Sweep]:
    """The sweeps by their names; made once, since that takes a thousand times longer than to run one here."""
    text = "name: {name}\nexperiment: walk\naxes:\n  spot: {spots}\nseeds: 1\nrecord:\n  steps: {steps}\n"
    return {
        name: Sweep.parse(text.format(name=name, spots=spots, steps=steps), name)
        for name, (spots, steps) in GRIDS.items()
    }


class Tally:
    """Counts nothing."""

    def add_plans(self, planned: Any) -> None: ...

    def add_training(self, progress: Any, given_up: Any) -> None: ...

    @contextmanager
    def waiting(self) -> Iterator[None]:
        yield


class SimDriver(Driver):
    """The platform's driver, whose workers are processes of the world."""

    actors: Actors

    def _train(self, planned: Any, workers: int) -> dict[tuple[str, str], str]:
        world, over = self.actors.world, [False]

        def turns() -> None:
            while not over[0]:
                world.sleep(2.0)
                with suppress(SwingbyError):
                    if not over[0]:
                        ingest_once(self._records)

        thread = world.thread(turns)
        todo = [(one.plan, note.batch, note.cells) for one in planned for note in one.batches]
        faults: list[BaseException] = []
        try:
            lanes = [todo[::2], todo[1::2]] if world.rng.random() < 0.5 else [todo]
            threads = [world.thread(partial(self._lane, lane, faults)) for lane in lanes if lane]
            world.wait(lambda: all(one.done for one in threads))
        finally:
            over[0] = True
        world.wait(lambda: thread.done)
        if faults:
            raise faults[0]
        return {}

    def _lane(self, batches: list[tuple[Any, int, int]], faults: list[BaseException]) -> None:
        """Trains batches one after the other: a worker that dies or is silent for long is followed by another."""
        world, here = self.actors.world, self.actors.world.process()
        for plan, batch, cells in batches:
            for attempt in range(4):
                assignment = Assignment(self._records.data, plan.plan_id, (batch,), None, attempt)
                worker = world.spawn(
                    here.machine, f"worker of {plan.plan_id} {batch}", partial(run_batch, assignment), here
                )
                silent = not world.wait(lambda worker=worker: not worker.alive, 300.0)
                if silent and world.rng.random() < 0.7:
                    world.say(f"ends {worker.name}, which is silent")
                    world.end(worker)
                if not silent and worker.error is None and worker.result is not None:
                    break
                if worker.error is not None and not isinstance(worker.error, OvertakenError):
                    faults.append(worker.error)  # as a fault of disk or plan: the run ends with it
                    return
            else:
                for at in range(cells):
                    one = Assignment(self._records.data, plan.plan_id, (batch,), (at, at + 1), 4)
                    with suppress(SwingbyError):
                        fail_cell(one, "its process dies")


class Actors:
    """The actors of one world.

    Args:
        data: gives the data folder, or the address, as a machine names it.
        other: another data folder, which is merged.
    """

    def __init__(self, world: World, data: str, other: str, known: Mapping[str, Sweep]) -> None:
        self.world, self.data, self.other, self.known = world, data, other, known
        self.refused: list[str] = []

    def start(self, machine: Machine, name: str, work: Callable[[], Any]) -> Process:
        """Starts a process that does something which may be refused."""

        def tried() -> Any:
            try:
                return work()
            except SwingbyError as error:
                self.world.say(f"is refused: {str(error)[:300]}")
                if error.__cause__ is not None:
                    self.world.say(f"which comes of {error.__cause__!r} at {place(error.__cause__)}")
                self.refused.append(str(error))
                return error

        return self.world.spawn(machine, name, tried)

    def run(self, sweep: str, data: str = "") -> None:
        """Runs a sweep, as `swingby run` does."""
        of = self.known[sweep]
        records = Records.open(data or self.data)
        records.tell = self.world.say
        with records.lock(of.sweep_id) as hold:
            reservations = Reservations(records, {of.sweep_id: hold})
            options = RunOptions(local=True, pilot=False, retry_failed=False)
            planner = Planner(of, records, options, reservations=reservations)
            driver = SimDriver([planner], records, reservations, Progress(), Drain(), None)
            driver.actors, driver.tally = self, Tally()  # type: ignore[assignment]
            driver.run()

    def opened(self, data: str = "") -> Records:
        """The records of the data folder."""
        records = Records.open(data or self.data, create=False)
        records.tell = self.world.say
        return records

    def ingest(self) -> None:
        """`swingby ingest`."""
        ingest(self.opened())

    def rebuild(self) -> None:
        """`swingby ingest --rebuild`."""
        rebuild(self.opened())

    def tidy(self) -> None:
        """`swingby gc`."""
        collect(self.data)

    def merge(self) -> None:
        """`swingby merge`."""
        merge(self.data, self.other)

    def take_back(self, spots: int) -> None:
        """`swingby retract`: some cells."""
        ids = sorted({cell for sweep in self.known.values() for cell in sweep.cell_ids().to_pylist()})
        cells = tuple(self.world.rng.sample(ids, spots))
        retract(self.data, (), "wrong", chosen=Chosen("", "", {NAME: cells}))

    def derive(self) -> None:
        """Outcomes are written, and ingested."""
        records = self.opened()
        with SimStore.open(records.data) as store:
            cells = sorted(store.rows())
        if cells:
            table = pa.table({"cell_id": cells, "height": [self.world.rng.random() for _ in cells]})
            records.write_derived("heights", "1", ["cell_id"], table)
            ingest(records)

    def read(self) -> None:
        """Reads again and again: what was there once stays, unless somebody takes it back."""
        seen: dict[tuple[str, str], str] = {}
        for _ in range(6):
            self.world.sleep(self.world.rng.uniform(0.05, 3.0))
            with suppress(SwingbyError):
                store = SimStore.open(self.data)
                if not store.whole():
                    raise BrokenError("a reader finds a row without its curve")
                answer = store.answer()["cells"]
                taken = {cell for cell, _ in store.state["taken"]}
                for (cell, tokens), shard in seen.items():
                    now = answer.get(cell, {}).get(tokens)
                    if cell not in taken and (now is None or now[0] != shard):
                        raise BrokenError(f"a reader saw {shard} for {cell[:6]}, and later {now}")
                for cell, every in answer.items():
                    for tokens, (shard, status, final) in every.items():
                        if final and status != "failed":
                            seen.setdefault((cell, tokens), shard)


class Event:
    """Stands in for `threading.Event`."""

    world: World

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set

    def wait(self, seconds: float = 1e9) -> bool:
        return self.world.wait(lambda: self._set, seconds)


class Lock:
    """Stands in for `threading.Lock`."""

    world: World

    def __init__(self) -> None:
        self._held = False

    def __enter__(self) -> None:
        self.world.wait(lambda: not self._held)
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False


class Thread:
    """Stands in for `threading.Thread`."""

    world: World

    def __init__(self, target: Callable[..., Any], args: tuple[Any, ...] = (), **_: Any) -> None:
        self._work, self._task = partial(target, *args), None

    def start(self) -> None:
        self._task = self.world.thread(self._work)

    def join(self) -> None:
        self.world.wait(lambda: self._task is None or self._task.done)


class Pool:
    """Stands in for `ThreadPoolExecutor`: does at once what it is given."""

    def __init__(self, *_: Any) -> None: ...

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, work: Callable[..., Any], *given: Any) -> Any:
        try:
            result = work(*given)
        except Exception as error:
            fault = error

            def raised() -> Any:
                raise fault

            return SimpleNamespace(result=raised)
        return SimpleNamespace(result=lambda: result)

    def map(self, work: Callable[..., Any], items: Any) -> Any:
        return [work(item) for item in items]
