"""Ingest: a short step in which the holder of the lease applies new records to the store."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from swingby.data.files import clear_os_errors, make_folder, sync_file, sync_folder, write_json
from swingby.data.records import Records
from swingby.errors import BrokenStoreError, SwingbyError
from swingby.store import apply
from swingby.store.database import Database, DatabaseError, clear_errors, is_damage, is_outside
from swingby.store.layout import FORMAT, Layout, OlderStoreError
from swingby.store.tables import fetch, insert_one
from swingby.store.unfit import UNFIT, reason, refused
from swingby.store.writer import Writer

GROUP_ROWS = 8192
GROUP_BYTES = 128 * 2**20
READ_AHEAD = 1


def _ahead(read: Callable[[str], apply.Piece], names: Iterable[str]) -> Iterator[tuple[str, Future[apply.Piece]]]:
    """Reads in a thread of its own, `READ_AHEAD` names ahead, while DuckDB writes."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[tuple[str, Future[apply.Piece]]] = deque()
        for name in names:
            waiting.append((name, pool.submit(read, name)))
            if len(waiting) > READ_AHEAD:
                yield waiting.popleft()
        yield from waiting


@dataclass(frozen=True, slots=True)
class Taken:
    """What one ingest applied.

    Attributes:
        plans, shards, rows, derived, retractions: how many of each.
        bad: each bad file, with the reason.
        upgrade: what was done to a store of an older version, in words; empty for none.
    """

    plans: int
    shards: int
    rows: int
    derived: int
    bad: tuple[tuple[str, str], ...]
    seconds: float
    retractions: int = 0
    upgrade: str = ""


class Ingest(Writer):
    """The writer that applies new records; a short step that any process may take.

    Attributes:
        complete: whether the last `take` left no shard for later, because a worker may still have to remove it.
    """

    complete = True
    _bad: dict[str, str]
    _unfit: list[tuple[str, str]]

    def take(self) -> Taken:
        """Applies every plan, shard and derived file that is not in the index; bad files are listed and left out.

        If the store turns out to be damaged it is made again, with all records.

        Raises:
            SwingbyError: the disk is full, or the store is broken; what was committed stays, the rest is for next time.
        """
        try:
            return self._take()
        except BrokenStoreError as error:
            self._begin_anew(error)
            return self._take()

    def publish(self, force: bool = False) -> bool:
        try:
            return super().publish(force)
        except BrokenStoreError as error:
            self._begin_anew(error)
            self._take()
            return super().publish(force)

    def _take(self) -> Taken:
        start = time.perf_counter()
        self._unfit = []
        with self._guarded("ingest into"):
            self._bad = dict(fetch(self._build.connection(), "select shard, stamp from ix.bad"))
            for key in [key for key in self._bad if not self._path(key).exists()]:
                with self._transaction("ix"):
                    self._forgive(key)
            keys = [f"plans/{plan}.parquet" for plan in self._records.plans()]
            plans = self._take_all(keys, "select 'plans/' || plan_id || '.parquet' from ix.plans")
            for key in sorted({f"{key.partition('+')[0]}.parquet" for key in keys if "+" in key} & set(keys)):
                self._take_one(key, again=True)
            keys = [f"retractions/{name}" for name in self._records.retractions()]
            retractions = self._take_all(keys, "select record from ix.retractions")
            shards, rows = self._take_shards()
            derived = self._take_all([f"derived/{name}" for name in self._records.derived()], "from ix.records")
        seconds = time.perf_counter() - start
        return Taken(plans, shards, rows, derived, tuple(self._unfit), seconds, retractions, self._upgrade)

    @property
    def refused(self) -> bool:
        """Whether the store lists bad files, whose mending an ingest has to see."""
        return bool(self._bad)

    def _path(self, key: str) -> Path:
        if key.startswith(("plans/", "derived/", "retractions/")):
            return self._records.data / key
        return self._records.shard_path(key)

    def _file_stamp(self, key: str) -> str:
        """A text that changes when a file does; empty if it is gone."""
        try:
            stat = self._path(key).stat()
        except OSError:
            return ""
        return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"

    def _untaken(self, keys: Iterable[str], known: str) -> list[str]:
        """The keys that the query `known` does not yield, without bad ones whose files did not change."""
        taken = {name for (name,) in fetch(self._build.connection(), known)}
        new = [key for key in keys if key not in taken]
        new = [key for key in new if key not in self._bad or self._bad[key] != self._file_stamp(key)]
        # What is seen may not last yet, and what is made of it will: a power cut would leave rows without their record.
        for folder in {self._path(key).parent for key in new}:
            make_folder(folder)
            sync_folder(folder)
        return new

    def _forgive(self, key: str) -> None:
        if self._bad.pop(key, None) is not None:
            self._build.connection().execute("delete from ix.bad where shard = ?", [key])

    def _refuse(self, key: str, error: SwingbyError) -> None:
        """Lists a bad file; it is read again when it changes."""
        self._unfit.append((key, str(error)))
        stamp = self._file_stamp(key)
        with self._transaction("ix") as connection:
            self._forgive(key)
            insert_one(connection, "ix.bad", {"shard": key, "reason": str(error), "stamp": stamp})
        self._bad[key] = stamp

    def _take_all(self, keys: Iterable[str], known: str) -> int:
        """Applies each record that the query `known` does not yield; returns how many there were."""
        return sum(self._take_one(key) for key in self._untaken(keys, known))

    def _take_one(self, key: str, again: bool = False) -> bool:
        """Applies a record, or lists it as bad and returns False.

        A plan is applied again if another one has its name by now: of several, the first created has it, see `merge`.
        """
        try:
            self._sync(key)
            if again:
                plan_id = Path(key).stem
                plan = self._records.read_plan(plan_id)
                if apply.replaced(self._build.connection(), plan, plan_id):
                    with self._transaction("ix") as connection:
                        apply.reapply_plan(connection, plan, plan_id)
                return True
            with self._transaction("ix") as connection:
                self._apply_record(connection, key)
                self._forgive(key)
        except UNFIT as error:
            self._refuse(key, self._blamed(error, lambda trial: self._apply_record(trial, key)))
            return False
        return True

    def _apply_record(self, connection: Database, key: str) -> None:
        folder, _, name = key.partition("/")
        if folder == "plans":
            apply.apply_plan(connection, self._records.read_plan(Path(name).stem), Path(name).stem)
        elif folder == "retractions":
            apply.apply_retraction(connection, key, self._records.read_retraction(name))
        else:
            header, table = self._records.read_derived(name)
            apply.apply_derived(connection, key, header, table)
            insert_one(connection, "ix.records", {"record": key})

    def _blamed(self, error: BaseException, attempt: Callable[[Database], object]) -> SwingbyError:
        """What a record was refused for: the error, if it was its own.

        Args:
            attempt: applies the record over a connection. Where damage could raise this too, an empty store decides.

        Raises:
            BrokenStoreError: an empty store takes the record.
            SwingbyError: the disk is full, or the system refuses.
        """
        if isinstance(error, DatabaseError) and (is_outside(error) or is_damage(error)):
            self._build.discard()  # DuckDB may not go on from what it raised
            self._admitted.clear()
            if is_outside(error) or not (self._rebuild or refused(attempt)):
                with clear_errors(f"ingest into {self._layout.root}"):
                    raise error
        elif isinstance(error, BrokenStoreError):
            raise error
        return reason(error)

    def _sync(self, key: str) -> None:
        """Makes the content of a record last, whoever wrote it."""
        path = self._path(key)
        if path.is_file():  # else reading it says what it is
            with clear_os_errors(f"read {path.name}"):
                sync_file(path)

    def _take_shards(self) -> tuple[int, int]:
        """Applies new shards, a group at a time; how many shards and rows."""
        untaken = self._untaken(self._records.shards(), "select shard from ix.shards")
        unpublished = {name for name in untaken if self._records.is_unpublished(name)}
        self.complete = not unpublished
        untaken = [name for name in untaken if name not in unpublished]
        shards = rows = 0
        for group in self._groups(untaken):
            taken = self._applied(group)
            shards += len(taken)
            rows += sum(piece.rows.num_rows for piece in taken)
            self._seal(self._segment_rows)
        return shards, rows

    def _applied(self, group: Sequence[apply.Piece]) -> list[apply.Piece]:
        """Applies a group of shards, or, if that fails, each alone; those that fail alone are listed as bad."""
        try:
            rows = sum(piece.rows.num_rows for piece in group)
            with self._build.room(sum(piece.size for piece in group), rows):
                self._apply(group)
        except UNFIT as error:
            if len(group) == 1 or isinstance(error, BrokenStoreError):
                self._refuse(group[0].name, self._blamed(error, partial(_apply_alone, group[0])))
                return []
            if isinstance(error, DatabaseError):
                self._build.discard()
            return [taken for piece in group for taken in self._applied([piece])]
        return list(group)

    def _apply(self, group: Sequence[apply.Piece]) -> None:
        """Applies a group of shards, in two transactions.

        DuckDB writes one database in a transaction, so the curves go first: until the index names the shard nothing
        points at them, and the segment keeps their numbers in case they are applied again.
        """
        with self._transaction("seg") as connection:
            numbers = apply.apply_curves(connection, self._build.segment, group)
        with self._transaction("ix") as connection:
            apply.apply_rows(connection, group, numbers)
            for piece in group:
                self._forgive(piece.name)

    def _groups(self, names: Iterable[str]) -> Iterator[list[apply.Piece]]:
        """Good shards in groups of bounded size, whose tables are there; bad ones are listed on the way."""
        group: list[apply.Piece] = []
        for name, reading in _ahead(self._read, names):
            try:
                piece = reading.result()
                schemas = (piece.experiment, piece.rows.schema, piece.curves.schema)
                if schemas not in self._admitted:
                    apply.make_tables(self._build.connection(), piece)
                    self._admitted.add(schemas)
            except UNFIT as error:
                self._refuse(name, self._blamed(error, lambda trial, name=name: _apply_alone(self._read(name), trial)))
                continue
            group.append(piece)
            full = sum(piece.rows.num_rows for piece in group) >= GROUP_ROWS
            if full or sum(piece.size for piece in group) >= GROUP_BYTES:
                yield group
                group = []
        if group:
            yield group

    def _read(self, name: str) -> apply.Piece:
        self._sync(name)
        header, table = self._records.read_shard(name)
        return apply.piece(name, self._path(name).stat().st_size, header, table)


def _apply_alone(piece: apply.Piece, connection: Database) -> None:
    """Applies a shard to an empty store."""
    apply.make_tables(connection, piece)
    apply.apply_rows(connection, [piece], apply.apply_curves(connection, 0, [piece]))


def ingest(records: Records, wait: float = 30.0, force: bool = True) -> Taken:
    """Takes the lease, applies new records, and publishes them (without `force`: unless the last one is too recent).

    A mirror is united with its object storage first. Where the newest generation holds every record there is, neither
    the lease is taken nor a database opened.

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds; the storage does not answer; or as
            `Ingest.take`.
    """
    records.unite()
    layout, names = Layout(records.data), records.paths()
    # Where nobody may write, the lease says so.
    if os.access(layout.lease, os.W_OK) and layout.holds_all(names):
        return Taken(0, 0, 0, 0, (), 0.0)
    with Ingest(records, wait) as step:
        if not layout.published_as_noted():
            step.check_published()
        taken = step.take()
        published = step.publish(force)
        clean = step.complete and not step.refused and (published or force)
    if clean and (state := layout.state(names)):
        with suppress(SwingbyError, OSError):  # the next ingest looks for itself
            write_json(layout.ingested, state)
    return taken


def rebuild(records: Records, wait: float = 30.0) -> Taken:
    """Makes the store again from the records beside the old one, then publishes it in the place of the old one.

    Raises:
        SwingbyError: as `ingest`; readers keep the old store.
    """
    with Ingest(records, wait, rebuild=True) as step:
        taken = step.take()
        step.publish(force=True)
    return taken


def upgrade(records: Records, tell: Callable[[str], object]) -> None:
    """Makes a store of an older version one of this version, and says so; leaves any other alone.

    Raises:
        SwingbyError: the store is of a newer version; or as `ingest`.
    """
    try:
        newest = Layout(records.data).newest()
        older = newest is not None and newest.format != FORMAT
    except (OlderStoreError, BrokenStoreError):
        older = True
    if older and (done := ingest(records).upgrade):
        tell(done)
