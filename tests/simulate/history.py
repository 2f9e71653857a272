"""One history: who acts, which faults strike, and whether every promise is kept; all of it chosen by its number."""

from __future__ import annotations

import concurrent.futures
import gc as garbage
import json
import pickle
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from swingby.data import files, parquet
from swingby.data.files import TEMPORARY
from swingby.data.records import Records
from swingby.data.remote import checkpoints, lease, mirror
from swingby.errors import SwingbyError
from swingby.maintenance import gc
from swingby.model import registry
from swingby.run import commit_lock, driver, pending, plan
from swingby.run.worker import training
from swingby.store import build, ingestion, layout, writer
from swingby.store.database import DatabaseError
from tests.simulate import actors as acting
from tests.simulate.actors import Actors, Walk, sweeps
from tests.simulate.codec import codec
from tests.simulate.disk import ROOT
from tests.simulate.storage import ADDRESS, SimBucket, Storage
from tests.simulate.store import APPLY, BrokenError, Connection, SimStore, heads, made_of
from tests.simulate.world import EndlessError, Machine, World, patches

merging, retract = (import_module(f"swingby.maintenance.{name}") for name in ("merge", "retract"))
REAL = 500
"""One in so many histories has real Parquet, and its records are given to the real store."""
CLOSE = 0.5
"""How many of the faults strike just after an event (`World.happened`), where a forgotten sync or look matters."""
SEAMS_AN_EVENT = 25
"""So many seams lie between two events."""
LATER = (0, 0, 0, 1, 1, 2, 3, 5, 8, 13)
"""Seams after it when the fault strikes."""
OWN: list[tuple[Any, str, Callable[[], Any]]] = [
    (files, "_lasting", set),
    (lease, "_left", set),
    (mirror, "_known", dict),
]
"""What each process of the platform has its own of."""
MOST = {"plans": 1, "shards": 1, "records": 1, "retractions": 1}


@dataclass
class Told:
    """How a history went.

    Attributes:
        kind: which of the stories it is.
        broken: promises that were broken, in words.
        counts: of seams, processes killed, power cuts, shards, rows, repairs of the store.
        log: what happened, line by line.
    """

    number: int
    kind: str
    broken: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)


@cache
def known_sweeps() -> Mapping[str, Any]:
    """The sweeps, made once."""
    registry.adopt(Walk())
    return sweeps()


REFUSALS = re.compile(
    "is held by|has taken over|was closed|nothing to take back|no data folder|nothing was ever ingested|"
    "tried for|taken for dead|was silent|begun a moment ago"
)
"""What commands are refused with where others are at work, or somebody strikes."""
SILENT = re.compile("has taken over|taken for dead|was silent")
"""What they are refused with only where somebody strikes."""
KINDS = {"runs": 4, "back": 3, "merge": 2, "remote": 2, "takeover": 2, "crowd": 2, "asleep": 1, "dark": 2}
"""The kinds of histories, and how often each is told: runs and whatever strikes them; results are taken back; folders
are merged; machines share an address of object storage, and one takes over from another that is frozen; many runs of
common cells at once, and nothing strikes but that some get no turn for seconds; workers that are silent for so long
that their cells are dealt again; power cuts alone."""
PROLOGUES: tuple[tuple[str, int, bool], ...] = (
    ("", 0, False),
    ("f", 0, False), ("e", 0, False), ("ef", 0, False), ("d", 0, False), ("ac", 0, False),
    *((sweep, seams, cut) for sweep in "efb" for seams in (200, 260, 330, 400, 500) for cut in (False, True)),
)  # fmt: skip
"""What was there before: sweeps that were run; of the last, up to which seam, and whether power was cut then."""


@cache
def prologue(remote: bool, which: int, real: bool) -> bytes:
    """The disks, the storage, the time, what was acknowledged and which sweeps were begun, after a prologue."""
    names, seams, cut = PROLOGUES[which]
    story = History(which, "prologue", kind="remote" if remote else "runs")
    story.real = real
    with story.patched():
        for name in names:
            if seams:
                story.world.faults = [(story.world.seams + seams, story.stop(cut))]
            story.actors.start(story.machines[0], f"driver of {name}", lambda name=name: story.actors.run(name))
            story.world.run()
        story.end()
    world = story.world
    return pickle.dumps((world.disks.root, world.now, story.storage.objects, story.acked, set(names)))


class History:
    """One history, by its number and the seed of all of them.

    Args:
        kind: which story; by default the seed says.
        changes: called within the world before anything happens, to plant a fault.
    """

    def __init__(
        self,
        number: int,
        seed: int | str = 0,
        kind: str = "",
        changes: Callable[[], list[tuple[Any, str, Any]]] | None = None,
    ) -> None:
        self.number = number
        self.real = number % REAL == 0 and changes is None
        self.rng = Random(f"{seed} {number}")
        self.kind = kind or self.rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
        self.size = self.rng.choices((1, 2, 3), (92, 7, 1))[0]
        self.world = World(self.rng, self.rng.choice((0.02, 0.1, 0.4)), OWN)
        self.storage = Storage(self.world)
        self.told = Told(number, self.kind)
        self.acked: dict[tuple[str, str], bytes] = {}
        self.closed: list[tuple[set[str], set[str]]] = []
        self.over: dict[str, int] = {}
        self.wrong: list[str] = []
        self.struck = self.silent = False
        self.changes = changes
        self.storage.came = self._came
        known = known_sweeps()
        remote = self.remote = self.kind in ("remote", "takeover")
        disks = ("m0", "m1") if remote else ("d0",)
        for name in disks:
            self.world.disks.add(name)
        self.machines = [Machine(f"m{k}", f"m{k}" if remote else "d0") for k in range(2)]
        data = ADDRESS if remote else f"{ROOT}/d0/data"
        self.actors = Actors(self.world, data, f"{ROOT}/d0/other", known)
        self.started: set[str] = set()
        self.finished = self.tidied = False
        self._letters: dict[str, list[str]] = {}

    def tell(self) -> Told:
        """Runs it to its end, and checks what was promised."""
        before = self._before()
        with self.patched():
            try:
                self._begin(*before)
                self._main()
                self._last()
                self._check()
            except (BrokenError, EndlessError) as error:
                self.told.broken.append(str(error))
            finally:
                self.end()
        self.told.counts["seams"] = self.world.seams
        self.told.counts["histories"] = 1
        self.told.log = self.world.log
        if self.real and not self.told.broken:
            self._ask_the_real_store()
        return self.told

    # what happens

    def _before(self) -> tuple[int, bytes]:
        """Which prologue there was, and what it left."""
        which = self.rng.randrange(len(PROLOGUES))
        if self.rng.random() < 0.15 or self.kind == "merge":
            which = 0
        return which, prologue(self.remote, which, self.real)

    def _begin(self, which: int, content: bytes) -> None:
        """Something was there before."""
        world = self.world
        if which:
            world.disks.root, world.now, self.storage.objects, self.acked, started = pickle.loads(content)
            self.started |= started
            self.struck = bool(PROLOGUES[which][1])
            world.say(f"before: {PROLOGUES[which]}")

    def _main(self) -> None:
        rng, world, actors = self.rng, self.world, self.actors
        sweeps_ = ("ef", "abcdef", "abcd")[self.size - 1] if self.kind != "crowd" else "aabef"
        for _ in range(rng.choice(((1, 1, 1, 2), (1, 2, 2), (2, 3))[self.size - 1]) + 2 * (self.kind == "crowd")):
            self._drive(rng.choice(sweeps_))
        if self.kind == "merge":
            self._later(lambda: actors.run(rng.choice(sweeps_[:2]), actors.other), "driver elsewhere", early=True)
        others = self._others()
        for name, work, weight in others:
            if rng.random() < weight * (0.6 if self.size == 1 else 1.0):
                self._later(work, name)
        length = rng.choice((100, 300, 600) if self.size == 1 else (300, 800, 2000))
        strikes = rng.choices((0, 1, 2, 3), (1, 4, 3, 1))[0]
        aimed = [rng.random() < CLOSE for _ in range(strikes)]
        world.faults = [(rng.randrange(1, length), rng.choice(self._faults())) for one in aimed if not one]
        world.faults.sort(key=lambda one: -one[0])
        world.aims = [
            (rng.randrange(1, length // SEAMS_AN_EVENT), rng.choice(LATER), rng.choice(self._faults()))
            for one in aimed
            if one
        ]
        world.aims.sort(key=lambda one: -one[0])
        world.run()
        self._raise_errors()

    def _others(self) -> list[tuple[str, Callable[[], Any], float]]:
        actors, rng = self.actors, self.rng
        found: list[tuple[str, Callable[[], Any], float]] = [
            ("reader", actors.read, 0.4 if self.kind in ("runs",) else 0.0),
            ("ingest", actors.ingest, 0.3),
            ("rebuild", actors.rebuild, 0.15),
            ("gc", actors.tidy, 0.3),
            ("derive", actors.derive, 0.2),
        ]
        if self.kind == "back":
            found += [("retract", lambda: actors.take_back(rng.choice((1, 2))), 0.9)] * 2
        if self.kind == "merge":
            found += [("merge", actors.merge, 0.9)] * 2
        return found

    def _drive(self, sweep: str) -> None:
        self.started.add(sweep)
        again = self.rng.choice((1, 1, 2))

        def drive() -> None:
            for _ in range(again):
                self.actors.run(sweep)

        self._later(drive, f"driver of {sweep}", early=self.rng.random() < 0.5)

    def _later(self, work: Callable[[], Any], name: str, early: bool = False) -> None:
        """Starts a process after a while."""
        pause = 0.0 if early else self.rng.choice((0.1, 1.0, 5.0, 20.0)) * self.rng.random()

        def waits() -> Any:
            self.world.sleep(pause)
            return work()

        self.actors.start(self.rng.choice(self.machines), name, waits)

    # faults

    def stop(self, cut: bool) -> Callable[[World], None]:
        """Ends every process, and perhaps cuts the power."""

        def stops(world: World) -> None:
            for one in world.living():
                if one is not world.network:
                    world.end(one)
            if cut:
                world.disks.cut(self.machines[0].disk, self.rng)

        return stops

    def _faults(self) -> list[Callable[[World], None]]:
        if self.kind == "takeover":
            return [self._take_over] * 5 + [self._outage, self._freeze]
        if self.kind == "dark":
            return [self._cut, self._cut, self._stall]
        if self.kind == "asleep":
            return [self._fall_asleep] * 4 + [self._freeze, self._kill]
        if self.kind == "crowd":
            return [self._stall]
        found = [self._kill, self._kill, self._kill, self._cut, self._cut, self._freeze, self._jump, self._stall]
        found.append(self._crash)
        return [*found, self._outage, self._take_over] if self.remote else found

    def _victim(self) -> Any:
        """The process that runs, or any other."""
        world = self.world
        victims = [one for one in world.living() if one is not world.network]
        if victims and world.current is not None and self.rng.random() < 0.5:
            return world.current.process
        return self.rng.choice(victims) if victims else None

    def _kill(self, world: World) -> None:
        if (victim := self._victim()) is not None:
            world.say(f"FAULT: {victim.name} is killed at {world.where(victim)}")
            self.struck = True
            self.told.counts["kills"] += 1
            world.end(victim)
            if "driver" in victim.name and self.rng.random() < 0.7:
                self._again(victim)

    def _crash(self, world: World) -> None:
        """A driver is killed with its workers, and its user starts it again at once on the same machine."""
        if drivers := [one for one in world.living() if one.name.startswith("driver of ")]:
            driver = self.rng.choice(drivers)
            world.say(f"FAULT: {driver.name} is killed with its workers at {world.where(driver)}")
            self.struck = True
            for one in [one for one in world.living() if one is driver or one.parent is driver]:
                self.told.counts["kills"] += 1
                world.end(one)
            sweep = driver.name[len("driver of ")]
            self.actors.start(driver.machine, f"driver of {sweep}", lambda: self.actors.run(sweep))

    def _again(self, victim: Any) -> None:
        """Its user starts it again."""
        sweep = victim.name.partition("driver of ")[2][:1]
        if self.kind == "back" and self.rng.random() < 0.5:  # instead of that, while its workers may still live
            self._later(lambda: self.actors.take_back(2), "retract", early=self.rng.random() < 0.5)
        elif sweep:
            self._later(lambda: self.actors.run(sweep), f"driver of {sweep}")

    def _cut(self, world: World) -> None:
        disk = self.rng.choice([machine.disk for machine in self.machines])
        world.say(f"FAULT: the power of {disk} is cut")
        self.struck = True
        self.told.counts["cuts"] += 1
        for one in [one for one in world.living() if one.machine.disk == disk]:
            world.end(one)
        world.disks.cut(disk, self.rng)
        commit_lock._first_of_run.cache_clear()
        commit_lock._closed_plans.cache_clear()
        if self.rng.random() < 0.7 and self.started:
            sweep = self.rng.choice(sorted(self.started))
            self._later(lambda: self.actors.run(sweep), f"driver of {sweep}")

    def _freeze(self, world: World) -> None:
        if (victim := self._victim()) is not None:
            seconds = self.rng.choice((3.0, 100.0, 400.0, 1500.0))
            world.say(f"FAULT: {victim.name} is frozen for {seconds:g} s at {world.where(victim)}")
            self.struck = True
            self.told.counts["freezes"] += 1
            self.silent |= self.remote and seconds > 50
            victim.frozen = world.now + seconds

    def _stall(self, world: World) -> None:
        """A process gets no turn for a while, as on a busy machine: nobody may notice."""
        if (victim := self._victim()) is not None:
            victim.frozen = world.now + self.rng.uniform(0.1, 3.0)
            world.say(f"{victim.name} gets no turn until {victim.frozen - world.now:.1f} s from now")

    def _fall_asleep(self, world: World) -> None:
        """A worker is frozen until its cells were dealt again, and most likely wakes while those are trained."""
        if workers := [one for one in world.living() if one.name.startswith("worker")]:
            victim, seconds = self.rng.choice(workers), self.rng.uniform(299.0, 304.0)
            world.say(f"FAULT: {victim.name} is frozen for {seconds:g} s at {world.where(victim)}")
            self.struck = True
            self.told.counts["freezes"] += 1
            victim.frozen = world.now + seconds
        elif world.seams < 3000:  # none trains yet
            world.faults.insert(0, (world.seams + self.rng.randrange(1, 80), self._fall_asleep))
            world.faults.sort(key=lambda one: -one[0])

    def _jump(self, world: World) -> None:
        machine = self.rng.choice(self.machines)
        machine.skew += self.rng.choice((-40.0, -3.0, -0.01, 3.0, 40.0)) * 3600
        if self.rng.random() < 0.5:  # what is being written looks old
            self.actors.start(machine, "gc", self.actors.tidy)
        world.say(f"FAULT: the clock of {machine.name} is {machine.skew / 3600:+.2f} h off")

    def _outage(self, world: World) -> None:
        self.storage.out = world.now + self.rng.choice((1.0, 20.0, 300.0))
        world.say(f"FAULT: the storage is out until {self.storage.out - world.now:.0f} s from now")
        self.struck = self.silent = True

    def _take_over(self, world: World) -> None:
        """A driver's machine is frozen with all its processes, and its user starts the sweep on another one."""
        drivers = [one for one in world.living() if one.name.startswith("driver of ")]
        if drivers:
            victim = self.rng.choice(drivers)
            world.say(f"FAULT: the machine of {victim.name} is frozen at {world.where(victim)}")
            self.struck = self.silent = True
            for one in world.living():
                if one.machine is victim.machine:
                    one.frozen = world.now + 400
            sweep = victim.name[len("driver of ")]
            other = next(machine for machine in self.machines if machine is not victim.machine)
            self.actors.start(other, f"driver of {sweep}", lambda: (world.sleep(200), self.actors.run(sweep)))

    # the end

    def _raise_errors(self) -> None:
        """What no actor may see."""
        for one in self.world.processes:
            if one.error is not None and not isinstance(one.error, SwingbyError):
                raise BrokenError(f"{one.name} ends with {type(one.error).__name__}: {one.error}") from one.error
        for said in self.actors.refused:
            if not REFUSALS.search(said) or (not self.struck and SILENT.search(said)):
                raise BrokenError(f"somebody is refused: {said}")

    def _do(self, name: str, work: Callable[[], Any], machine: Machine | None = None) -> Any:
        """Does something alone, without faults; a refusal is a broken promise."""
        process = self.world.spawn(machine or self.machines[0], name, work)
        self.world.run()
        if process.error is not None:
            raise BrokenError(
                f"{name}, without any fault: {type(process.error).__name__}: {process.error}"
            ) from process.error
        return process.result

    def _last(self) -> None:
        """The same commands once more, without faults."""
        world, actors = self.world, self.actors
        world.faults, world.aims, world.switching, self.storage.out = [], [], 0.02, 0.0
        for one in self.machines:
            one.skew = 0.0
        world.now += 3600
        if self.kind == "merge" and "swingby.json" in world.disks.files(actors.other):
            self._do("merge at last", actors.merge)
        if self.remote:
            begun = "sim/data/swingby.json" in self.storage.objects
        else:
            begun = "swingby.json" in world.disks.files(actors.data)
        if not begun:
            sweep = min(self.started)  # nothing was begun, or nothing of it is left
            self._do(f"driver of {sweep}", lambda: actors.run(sweep))
        if self.remote:
            for machine in (*self.machines, *self.machines):
                self._do("unite", lambda: actors.opened().unite(), machine)
        self._do("ingest", actors.ingest)
        self.finished = self.rng.random() < 0.25
        for sweep in sorted(self.started):
            # One in four is brought to its end: that takes longer than all else.
            if not self.finished:
                continue
            if self.rng.random() < 0.3 or not self._is_done(sweep):
                self._do(f"driver of {sweep}", lambda sweep=sweep: actors.run(sweep))
        if self.rng.random() < 0.25:
            self.tidied = True
            world.now += 200 * 3600
            for machine in self.machines if self.remote else self.machines[:1]:
                self._do("gc", actors.tidy, machine)
        self._do("ingest", actors.ingest)
        if self.remote:
            self._do("unite", lambda: actors.opened().unite(), self.machines[1])

    def _is_done(self, sweep: str) -> bool:
        """Whether the store has every cell of a sweep."""
        of = self.actors.known[sweep]
        try:
            folder = self._folder()
            store = self._do("look", lambda: SimStore.open(Path(folder)))
        except BrokenError as error:
            if "nothing was ever ingested" in str(error) or "no data folder" in str(error):
                return False
            raise
        return "m" not in store.states("walk", of.cell_ids(), of.recording.tokens)

    def end(self) -> None:
        for one in self.world.living():
            self.world.end(one)
        self.world.end(self.world.network)

    # promises

    def _folder(self) -> str:
        if not self.remote:
            return self.actors.data
        return self._do("look", lambda: str(Records.open(self.actors.data, create=False).data))

    def _check(self) -> None:
        if self.wrong:
            raise BrokenError(self.wrong[0])
        folder = self._folder()
        kept = self.world.disks.files(folder)
        self._check_acknowledged(kept)
        self._check_whole(kept, folder)
        live = self._do("read", lambda: SimStore.open(folder))
        if not live.whole():
            raise BrokenError("a row of the store has no curve")
        self._check_cells(live)
        self._check_doubled(live)
        answer = live.answer()
        for table in MOST:
            double = [name for name, times in answer[table].items() if times != 1][:1]
            if double and table != "plans":
                raise BrokenError(f"the store holds {double[0]} twice")
        self._check_same(answer, self._do("apply", lambda: made_of(Records(Path(folder)))))
        if self.rng.random() < 0.1:
            self._do("rebuild", self.actors.rebuild)
            self._check_same(answer, self._do("read", lambda: SimStore.open(folder)).answer())
        bad = self._do("bad", lambda: SimStore.open(folder).state["bad"])
        if bad:
            raise BrokenError(f"the store refuses {bad}")
        self.told.counts["shards"] += len(answer["shards"])
        self.told.counts["acknowledged"] += len(self.acked)
        self._kept = kept

    def _check_same(self, live: Mapping[str, Any], again: Mapping[str, Any]) -> None:
        for name in live:
            if live[name] != again[name]:
                raise BrokenError(f"a store made again differs in {name}: {live[name]} is {again[name]}")

    def _check_acknowledged(self, kept: Mapping[str, bytes]) -> None:
        for (where, key), content in self.acked.items():
            if where == self.actors.other:
                continue
            found = kept.get(key)
            twins = [name for name in kept if name.startswith(key.removesuffix(".parquet") + "+")]
            if found != content and content not in [kept[name] for name in twins]:
                raise BrokenError(f"{key} was acknowledged, and is {'another' if found else 'lost'}")
        if self.remote:
            objects = {path.removeprefix("sim/data/"): one[0] for path, one in self.storage.objects.items()}
            for key in [key for key in kept if key.split("/")[0] in mirror.RECORDS and TEMPORARY not in key]:
                if objects.get(key) != kept[key]:
                    raise BrokenError(f"{key} is {'another' if key in objects else 'not'} in the storage")
            for key in [key for key in objects if key.split("/")[0] in mirror.RECORDS and key not in kept]:
                raise BrokenError(f"{key} is in the storage alone")
        if self.kind == "merge":
            other = self.world.disks.files(self.actors.other)
            for key in [key for key in other if key.split("/")[0] in mirror.RECORDS and TEMPORARY not in key]:
                if other[key] not in kept.values():
                    raise BrokenError(f"{key} of the other folder was not merged")

    def _check_whole(self, kept: Mapping[str, bytes], folder: str) -> None:
        for key in kept:
            if TEMPORARY in key and not self.tidied:
                continue
            if TEMPORARY in key:
                raise BrokenError(f"{key} is left over")
            name = key.split("/")[0]
            if name not in mirror.RECORDS:
                continue
            try:
                merging.check(Records(Path(folder)), key, kept[key])
            except SwingbyError as error:
                raise BrokenError(f"{key} is torn: {error}") from error
        left = [key for key in kept if key.startswith("work/") and "/put/" not in key]
        # Checkpoints of cells that failed stay, for who retries them.
        if left and self.tidied and self.finished and "d" not in self.started:
            raise BrokenError(f"{left[0]} is left over, and every cell is done")

    def _check_cells(self, live: SimStore) -> None:
        for name in sorted(self.started):
            sweep = self.actors.known[name]
            ids = sweep.cell_ids()
            letters = live.states("walk", ids, sweep.recording.tokens)
            self._letters[name] = letters.tolist()
            for cell in ids.to_pylist():
                head = heads(live.rows().get(cell, []), live.state["taken"]).get(sweep.recording.tokens)
                if head is not None and head.final and head.first and head.after is None:
                    raise BrokenError(f"the curve of {cell[:6]} begins at step {head.first}")
            cells = ids.to_pylist()
            wanted = ["f" if cell in self._falling() else "d" for cell in cells]
            if letters.tolist() != wanted and self.finished:
                raise BrokenError(f"cells of {name} are {''.join(letters)} at last, and should be {''.join(wanted)}")

    def _falling(self) -> set[str]:
        return {self.actors.known["d"].cell_ids().to_pylist()[1]}

    def _check_doubled(self, live: SimStore) -> None:
        """No cell has two results of one sweep; nor of two sweeps, where no process died or was silent.

        Of machines that share an address alone: what they have reserved no other sees, and one that was silent for
        longer than a lease lasts may have left a result that comes second.
        """
        if self.kind == "merge" or self.silent:
            return
        each = self.struck or self.remote
        found: Counter[tuple[str, ...]] = Counter()
        for cell, rows in live.rows().items():
            for row in rows:
                if row.final and row.status == "ok" and (cell, row.shard) not in live.state["taken"]:
                    found[(cell, " ".join(row.recorded), row.sweep if each else "")] += 1
        if double := [key for key, times in found.items() if times > 1]:
            raise BrokenError(f"cell {double[0][0][:6]} was trained {found[double[0]]} times")
        for cells, plans in self.closed:
            for cell in cells:
                for row in live.rows().get(cell, []):
                    token = row.shard.partition("/")[0]
                    if token in plans and (cell, row.shard) not in live.state["taken"]:
                        raise BrokenError(f"{row.shard} came after its cells were taken back")

    def _ask_the_real_store(self) -> None:
        """Gives the records to DuckDB: it has to say what the model says."""
        from swingby.store import Store, ingest

        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            for key, content in self._kept.items():
                if key.split("/")[0] in (*mirror.RECORDS, "swingby.json"):
                    path = data / key
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
            ingest(Records(data))
            with Store.open(data) as store:
                bad = store.sql("select shard, reason from bad_shards").rows()
                if bad:
                    self.told.broken.append(f"the real store refuses {bad}")
                for name in sorted(self.started):
                    sweep = self.actors.known[name]
                    ids = sweep.cell_ids()
                    real = store.states("walk", ids, sweep.recording.tokens).tolist()
                    if real != self._letters[name]:
                        self.told.broken.append(f"the real store has {real} of {name}, the model {self._letters[name]}")
        self.told.counts["real"] += 1

    # the world

    @contextmanager
    def patched(self) -> Iterator[None]:
        world = self.world
        commit_lock._first_of_run.cache_clear()
        commit_lock._closed_plans.cache_clear()
        threads = SimpleNamespace(Thread=acting.Thread, Event=acting.Event, Lock=acting.Lock)
        worlds = (Walk, SimStore, Connection, acting.Event, acting.Lock, acting.Thread)
        given: list[tuple[Any, str, Any]] = [
            *patches(world),
            *((owner, "world", world) for owner in worlds),
            (SimBucket, "storage", self.storage),
            *self._noted(),
            (parquet, "pq", codec(self.real)),
            (merging, "pq", codec(self.real)),
            (build, "writer", Connection),
            (build, "give_back", Connection.close),
            (build.Build, "views", lambda self: ["create view cells as select 1"]),
            (writer, "attached", _attached),
            (writer, "SEALED_UNCOPIED", 4),
            (ingestion, "apply", APPLY),
            (ingestion, "ThreadPoolExecutor", acting.Pool),
            (ingestion, "refused", lambda attempt: True),
            (concurrent.futures, "ThreadPoolExecutor", acting.Pool),
            *((module, "Store", SimStore) for module in (pending, plan, driver, gc, retract)),
            (plan, "hints", lambda *_: ()),
            (plan, "provenance", lambda folder: {}),
            (plan, "sent_with", lambda *_, **__: {}),
            (plan, "folder_of", lambda name: None),
            (plan, "is_presented", lambda records, sweep: True),
            (
                plan,
                "refused_records",
                lambda store, key: [store.state["bad"][key][0]] if key in store.state["bad"] else [],
            ),
            (pending.PendingCells, "_samples", lambda self, store: []),
            (driver, "summary", lambda planned: ""),
            (training, "package_versions", dict),
            (training, "without_exit", _nothing),
            (mirror, "Bucket", SimBucket),
            (mirror, "root", lambda: Path(f"{ROOT}/{world.process().machine.disk}/mirrors")),
            (lease, "threading", threads),
            (checkpoints, "_pack", _pack),
            (checkpoints, "_unpack", _unpack),
            (lease, "_here", self._place),
            (layout, "FORMAT", layout.FORMAT),
        ]
        before: list[tuple[Any, str, Any]] = []

        def change(changes: list[tuple[Any, str, Any]]) -> None:
            for owner, name, value in changes:
                before.append((owner, name, owner.__dict__.get(name)))
                setattr(owner, name, value)

        try:
            change(given)
            if self.changes is not None:
                change(self.changes())
            yield
        finally:
            for owner, name, value in reversed(before):
                setattr(owner, name, value)

    def _place(self, pid: int) -> dict[str, str]:
        one = next((one for one in self.world.processes if one.pid == pid), None)
        if one is None or not one.alive:
            return {}
        return {"place": one.machine.name, "started": one.name}

    def _is_over(self, plan_id: str) -> bool:
        """Whether another driver has taken over from this plan's, and has planned."""
        _, sweep, number = plan_id.rsplit("-", 2)
        return int(number) < self.over.get(sweep, 0)

    def _came(self, key: str, sender: Any) -> None:
        """A put has arrived: none of a plan that is over, unless its worker was frozen or the storage was out."""
        works = sender.name.startswith("worker") and not sender.frozen and not self.storage.out
        if works and "/shards/" in key and self._is_over(key.split("/")[-2]):
            self.wrong.append(f"{key} came after another driver had taken over and planned")

    def _noted(self) -> list[tuple[Any, str, Any]]:
        """What notes the records that were acknowledged."""
        disks = self.world.disks
        published, planned, taken = Records.publish, Records.write_plan, Records.write_retraction

        def note(records: Records, path: Any) -> None:
            key = Path(path).relative_to(records.data).as_posix()
            where = str(records.data) if records.mirror is None else ADDRESS
            self.acked[where, key] = disks.node(str(path)).data

        def publish(records: Records, shard: Path, *given: Any) -> None:
            over = self._is_over(shard.parent.name)
            published(records, shard, *given)
            note(records, shard)
            if over:
                self.wrong.append(f"{shard.name} was published after another driver had taken over and planned")

        def write_plan(records: Records, one: Any) -> Path:
            path = planned(records, one)
            note(records, path)
            if records.mirror is not None:
                self.over[one.sweep_id[:8]] = records.mirror.signals.fence(one.sweep_id)
            return path

        def write_retraction(records: Records, one: Any) -> Path:
            path = taken(records, one)
            note(records, path)
            # Nobody runs a sweep with these cells now, so no plan that is there may add to them, whatever it says.
            self.closed.append((set(one.table["cell_id"].to_pylist()), set(records.plans())))
            return path

        return [
            (Records, "publish", publish),
            (Records, "write_plan", write_plan),
            (Records, "write_retraction", write_retraction),
        ]


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _pack(folder: Path, packed: Path) -> None:
    packed.write_bytes(json.dumps({one.name: one.read_text() for one in sorted(folder.iterdir())}).encode())


def _unpack(packed: Path, folder: Path, what: str) -> None:
    for name, text in json.loads(packed.read_bytes()).items():
        (folder / name).write_text(text)


def _attached(attachments: list[str], views: Any) -> Any:
    """Opens databases as a reader does."""
    import pickle

    for statement in attachments:
        path = statement.split("'")[1]
        try:
            pickle.loads(Path(path).read_bytes())
        except (OSError, pickle.UnpicklingError, EOFError) as error:
            raise DatabaseError(f"{path} cannot be opened: {error}") from error
    return SimpleNamespace(close=lambda: None)


def tell(
    number: int, seed: int = 0, changes: Callable[[], list[tuple[Any, str, Any]]] | None = None, kind: str = ""
) -> Told:
    """Tells one history.

    No garbage is collected meanwhile: a generator of an earlier history that a cycle kept would run its `finally` in
    this one, and remove files here.
    """
    collects = garbage.isenabled()
    garbage.disable()
    try:
        return History(number, seed, kind, changes).tell()
    finally:
        if collects:
            garbage.enable()
