"""Planted faults: each is a mistake that somebody could make in the protocol, and the histories have to find it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from swingby.data import files, locks
from swingby.data.records import Records
from swingby.data.remote import lease, mirror, signals
from swingby.run import commit_lock, driver, pending, plan
from swingby.run.worker import segments, training
from swingby.store import build, ingestion, layout, writer

merging, retract = (import_module(f"swingby.maintenance.{name}") for name in ("merge", "retract"))
Changes = list[tuple[Any, str, Any]]
FAULTS: dict[str, Callable[[], Changes]] = {}
"""Name -> what makes the fault: (owner, attribute, value) for as long as a history is told."""
AIMED = {
    "a folder that is there is taken to last": "runs",
    "a checkpoint goes on from rows that are gone": "dark",
    "what is ingested may not last": "dark",
    "the log of the store has no name that lasts": "dark",
    "rows are committed before their curves": "dark",
    "gc goes by the clock, and looks for no writer": "runs",
    "a retraction leaves checkpoints": "back",
    "cells are released before their rows are in the store": "crowd",
    "results are read before the reservations": "crowd",
    "a planner does not hold the commit lock": "runs",
    "the newest plan is told by the clock": "runs",
    "files of the generation before are removed before the pointer is flipped": "runs",
    "a closed plan commits": "back",
    "a retraction closes no plan": "back",
    "a retraction does not hold the commit lock": "back",
    "results are taken back that were read before the locks were held": "back",
    "a record is put before it is whole here": "remote",
    "a driver that takes over does not say so": "takeover",
    "a worker does not ask whether another driver has taken over": "takeover",
    "a new driver does not wait for puts that are on their way": "remote",
    "a lease is not renewed": "takeover",
    "a shard is taken that may still be refused": "takeover",
    "a plan is put without a look at the storage": "takeover",
}
"""The kind of histories in which a fault can be found, where few of all are of it."""


def nothing(*_: Any, **__: Any) -> None:
    """Does nothing."""


@contextmanager
def free(*_: Any, **__: Any) -> Iterator[Any]:
    """A lock that locks nothing."""
    yield None


def fault(name: str) -> Callable[[Callable[[], Changes]], Callable[[], Changes]]:
    """Notes a fault by its name."""

    def noted(make: Callable[[], Changes]) -> Callable[[], Changes]:
        FAULTS[name] = make
        return make

    return noted


def simple(name: str, *changes: tuple[Any, str, Any]) -> None:
    """Notes a fault that replaces something."""
    FAULTS[name] = lambda: list(changes)


# files

simple("the content of a record is not synced", (files, "sync_file", nothing))
simple("the name of a record is not synced", (files, "sync_folder", nothing))
simple("a new folder is not synced", (files, "make_folder", lambda one: one.mkdir(parents=True, exist_ok=True)))


@fault("a folder that is there is taken to last")
def _() -> Changes:
    def made(one: Path) -> None:
        if not one.is_dir():
            real(one)

    real = files.make_folder
    return [(files, "make_folder", made)]


def _whole(order: str) -> Changes:
    """`write_whole` in another order."""

    def write_whole(path: Path, write: Callable[[Path], object], digits: int = 0) -> Path:
        files.make_folder(path.parent)
        aside = path.with_name(f"{files.TEMPORARY}{order}{os.getpid()}")
        if digits:
            write(aside)
            path = path.with_name(f"{path.stem}-{files._sha256(aside.read_bytes())[:digits]}{path.suffix}")
            aside.unlink()
        if order == "in place":
            path.unlink(missing_ok=True)
            write(path)
        else:
            aside.touch()
            aside.rename(path)
            write(path)
        files.sync_file(path)
        files.sync_folder(path.parent)
        return path

    places = [files, import_module("swingby.data.parquet"), mirror, writer, build]
    records = import_module("swingby.data.records.records")
    return [(place, "write_whole", write_whole) for place in (*places, records)]


FAULTS["a record is written in its place"] = lambda: _whole("in place")
FAULTS["a record has its name before its content"] = lambda: _whole("named first")


@fault("gc goes by the clock, and looks for no writer")
def _() -> Changes:
    def forsaken(path: Path, seconds: float, remove: bool = False) -> bool:
        dead = files.time.time() - path.stat().st_mtime >= seconds
        if dead and remove:
            path.unlink(missing_ok=True)
        return dead

    return [(import_module("swingby.maintenance.gc"), "forsaken", forsaken)]


@fault("gc removes every unfinished file")
def _() -> Changes:
    def forsaken(path: Path, seconds: float, remove: bool = False) -> bool:
        if remove:
            path.unlink(missing_ok=True)
        return True

    return [(import_module("swingby.maintenance.gc"), "forsaken", forsaken)]


@fault("an unfinished file is not locked by its writer")
def _() -> Changes:
    @contextmanager
    def being_written(temporary: Path) -> Iterator[None]:
        temporary.touch()
        yield

    def dead(name: str) -> bool:
        return False

    return [(files, "_being_written", being_written), (files, "_writer_is_dead", dead)]


# locks

simple("no lock is ever refused", (locks, "_take", nothing))


@fault("locks are shared")
def _() -> Changes:
    real = locks._take

    def take(handle: int, *given: Any) -> None:
        flock = fcntl.flock
        fcntl.flock = lambda one, how: flock(one, fcntl.LOCK_SH | fcntl.LOCK_NB)  # type: ignore[assignment]
        try:
            real(handle, *given)
        finally:
            fcntl.flock = flock  # type: ignore[assignment]

    return [(locks, "_take", take)]


@fault("the file of a lock is removed when it is free")
def _() -> Changes:
    real = locks.held

    @contextmanager
    def held(path: Path, *given: Any, **options: Any) -> Iterator[Any]:
        with real(path, *given, **options) as hold:
            yield hold
            path.unlink(missing_ok=True)

    records = import_module("swingby.data.records.records")
    return [(place, "held", held) for place in (locks, commit_lock, records, writer)]


@fault("the lock of a sweep locks nothing")
def _() -> Changes:
    real = locks.held

    @contextmanager
    def held(path: Path, *given: Any, **options: Any) -> Iterator[Any]:
        with real(Path(f"{path}.{os.getpid()}"), *given, **options) as hold:
            yield hold

    return [(import_module("swingby.data.records.records"), "held", held)]


simple("a worker commits without the commit lock", (training, "commit_lock", free))
simple("a planner does not hold the commit lock", (plan, "commit_lock", free))
simple("planners of one experiment do not exclude each other", (plan, "planning_lock", free))
simple("two processes write the store at once", (writer, "held", free))

# committing

simple("a worker of an older plan commits", (training, "check_current", nothing))


simple("a closed plan commits", (commit_lock, "_closed_plans", lru_cache(lambda data, name: ())))
simple("a worker that was taken for dead commits", (training.Training, "_check_alone", nothing))


@fault("the newest plan is told by the clock")
def _() -> Changes:
    def check_current(records: Records, one: Any) -> None:
        every = [records.read_plan(name) for name in records.plans()]
        newest = max((other for other in every if other.sweep_id == one.sweep_id), key=lambda other: other.created)
        if newest.plan_id != one.plan_id:
            raise commit_lock.SupersededError(f"plan {one.plan_id} is no longer the newest: another run has taken over")

    return [(training, "check_current", check_current)]


@fault("a plan is written over another")
def _() -> Changes:
    real = Records.write_plan

    def write_plan(self: Records, one: Any) -> Path:
        (self.data / "plans" / f"{one.plan_id}.parquet").unlink(missing_ok=True)
        return real(self, one)

    return [(Records, "next_sequence", lambda self, name, sweep_id: 1), (Records, "write_plan", write_plan)]


simple("a checkpoint goes on from rows that are gone", (Records, "has_whole_shard", lambda self, name: True))
simple("a checkpoint does not say which rows it goes on from", (segments.Lineage, "committed", nothing))


@fault("a row does not say what it goes on from")
def _() -> Changes:
    real = segments.Lineage.follow

    def follow(self: Any, rows: Any) -> Any:
        found = real(self, rows)
        import pyarrow as pa

        place = found.column_names.index(segments.AFTER)
        return found.set_column(place, segments.AFTER, pa.nulls(found.num_rows, pa.int64()))

    return [(segments.Lineage, "follow", follow)]


@fault("an attempt does not look at what the one before has finished")
def _() -> Changes:
    return [(import_module("swingby.run.worker.batch"), "final_cells", lambda *_: set())]


# planning

simple("nothing is reserved", (pending.Reservations, "reserve", nothing))
simple("reservations of others do not count", (pending.Reservations, "others", lambda self, experiment: []))
simple("cells are released before their rows are in the store", (driver, "ingest", nothing))


@fault("results are read before the reservations")
def _() -> Changes:
    def refresh(self: Any) -> Any:
        plan.ingest(self.records)
        store: Any = plan.Store.open(self.records.data)
        store.layout = None  # it stays at this generation
        reservations = self.reservations.others(self.sweep.experiment_name)
        kept, pending.Store = pending.Store, _Open(store)
        try:
            counts = self.pending.refresh(self.shared, reservations)
        finally:
            pending.Store = kept
        return counts

    return [(plan.Planner, "_refresh", refresh)]


class _Open:
    """A class of stores of which one is open already."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def open(self, data: Any) -> Any:
        return self._store


simple("a plan is reserved, and not looked at by the store first", (plan, "ingest", nothing))

# the store


@fault("what is ingested may not last")
def _() -> Changes:
    return [
        (ingestion, "sync_folder", nothing),
        (ingestion, "make_folder", nothing),
        (ingestion.Ingest, "_sync", nothing),
    ]


simple("the log of the store has no name that lasts", (build.Build, "settle", nothing))


@fault("rows are committed before their curves")
def _() -> Changes:
    def apply(self: Any, group: Any) -> None:
        segment = self._build.segment
        known = self._build.connection().base("seg").state["shards"]
        top = max((low + rows for low, rows in known.values()), default=0)
        numbers = {}
        for piece in group:
            numbers[piece.name] = (segment << 32) + known.get(piece.name, (top, 0))[0]
            top += piece.rows.num_rows
        with self._transaction("ix") as connection:
            ingestion.apply.apply_rows(connection, group, numbers)
        with self._transaction("seg") as connection:
            ingestion.apply.apply_curves(connection, segment, group)

    return [(ingestion.Ingest, "_apply", apply), (build.Build, "_check_whole", nothing)]


@fault("what is in the store is taken again")
def _() -> Changes:
    real = ingestion.Ingest._untaken

    def untaken(self: Any, keys: Any, known: str) -> list[str]:
        return real(self, keys, known if "shards" not in known else "select record from ix.retractions")

    return [(ingestion.Ingest, "_untaken", untaken)]


@fault("the pointer is flipped before the copies are there")
def _() -> Changes:
    real = layout.Layout.flip
    later: list[Any] = []

    def aside(path: Path, write: Callable[[Path], object], digits: int = 0) -> Path:
        later.append((path, write))
        return path

    def flip(self: Any, generation: Any) -> None:
        real(self, generation)
        while later:
            files.write_whole(*later.pop(0))

    return [(writer, "write_whole", aside), (layout.Layout, "flip", flip)]


@fault("a published copy is not synced")
def _() -> Changes:
    def copied(path: Path, write: Callable[[Path], object], digits: int = 0) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        return path

    return [(writer, "write_whole", copied)]


def _unneeded(keeps: Callable[[Any], Any]) -> Changes:
    def unneeded(self: Any, generation: Any) -> list[Path]:
        kept = {self.root / name for name in keeps(generation)}
        return sorted(path for path in files.files_below(self.published) if path not in kept)

    return [(layout.Layout, "unneeded", unneeded)]


FAULTS["files that a pointer names are removed"] = lambda: _unneeded(lambda generation: generation.previous)


@fault("files of the generation before are removed before the pointer is flipped")
def _() -> Changes:
    real = layout.Layout.flip

    def flip(self: Any, generation: Any) -> None:
        kept = {self.root / name for name in generation.files.values()}
        for path in files.files_below(self.published):
            if path not in kept:
                path.unlink(missing_ok=True)
        real(self, generation)

    return [(layout.Layout, "flip", flip)]


@fault("an ingest sees no news once there is a store")
def _() -> Changes:
    def holds_all(self: Any, names: Any) -> bool:
        return bool(self._noted())

    return [(layout.Layout, "holds_all", holds_all)]


@fault("a store is made again in the place of the old one")
def _() -> Changes:
    return [(layout.Layout, "next_build", lambda self: 1)]


# maintenance

simple("a retraction closes no plan", (retract, "plan_token", lambda one: "none"))
simple("a retraction does not hold the commit lock", (retract, "commit_lock", free))
simple("a retraction leaves checkpoints", (retract, "_drop_checkpoints", nothing))


@fault("results are taken back that were read before the locks were held")
def _() -> Changes:
    rows_of, affected_of, known = retract._rows, retract._affected, dict[int, Any]()

    def affected(store: Any, chosen: Any) -> Any:
        if id(chosen) not in known:
            known[id(chosen)] = rows_of(store, chosen)
        return affected_of(store, chosen)

    return [(retract, "_affected", affected), (retract, "_rows", lambda store, chosen: known[id(chosen)])]


def _put_over(here: Records, key: str, content: bytes) -> None:
    here.put(merging._plain(key), content)


simple("a merge writes over a plan of the same name", (merging, "_put_plan", _put_over))


@fault("a merge takes whatever has the size for the same plan")
def _() -> Changes:
    real = merging._is_here
    return [
        (
            merging,
            "_is_here",
            lambda here, there, key: here.size(key) is not None if key.startswith("plans/") else real(here, there, key),
        )
    ]


simple("a merge excludes nobody", (merging, "commit_lock", free), (merging, "_sound", lambda records, key: None))

# object storage

simple("a driver that takes over does not say so", (signals.Signals, "supersede", nothing))
simple("a worker does not ask whether another driver has taken over", (signals.Signals, "is_over", lambda *_: False))
simple("a new driver does not wait for puts that are on their way", (signals, "SETTLING", 0.0))
simple("a holder counts as dead at once", (lease, "STALE", 1.0))
simple("a lease is not renewed", (lease, "RENEWED", 1e8))
simple("a driver does not look whether its lease is its own", (signals.Signals, "confirm", nothing))
simple("who takes over leaves out no number of plans", (signals.Signals, "fence", lambda self, sweep_id: 0))
simple("a shard is taken that may still be refused", (Records, "is_unpublished", lambda self, name: False))


@fault("claims of others do not count")
def _() -> Changes:
    real = lease.live
    return [(lease, "live", lambda *given: (real(*given)[0], [], []))]


@fault("a record is put before it is whole here")
def _() -> Changes:
    def keep(path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return [(mirror, "_keep", keep)]


simple("records that are only here are not put", (mirror.Mirror, "_put", lambda *_: 0))
simple("records that are only there are not fetched", (mirror.Mirror, "_fetch", lambda *_: 0))


@fault("a plan is put without a look at the storage")
def _() -> Changes:
    real = Records.write_plan

    def write_plan(self: Records, one: Any) -> Path:
        if self.mirror is None:
            return real(self, one)
        bucket = self.mirror.bucket
        found = bucket.find
        bucket.find = lambda key, patience=None: None if key.startswith("plans/") else found(key, patience)  # type: ignore
        try:
            return real(self, one)
        finally:
            bucket.find = found  # type: ignore[method-assign]

    return [(Records, "write_plan", write_plan)]
