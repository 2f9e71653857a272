"""Ingest: a short step in which the holder of the lease applies new records to the store."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from swingby.data.files import write_json
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import apply
from swingby.store.layout import FORMAT, Layout, OlderStoreError
from swingby.store.tables import fetch, insert_one
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


@contextmanager
def _fitting() -> Iterator[None]:
    """Turns what Arrow raises about a record into a `SwingbyError`: such a record is bad, and stops no ingest."""
    try:
        yield
    except (pa.ArrowException, LookupError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SwingbyError(f"it holds what the store cannot take: {reason}") from error


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
    """The writer that applies new records; a short step that any process may take."""

    _bad: dict[str, str]
    _found: list[tuple[str, str]]

    def take(self) -> Taken:
        """Applies every plan, shard and derived file that is not in the index; bad files are listed and left out.

        Raises:
            SwingbyError: the disk is full, or the store is broken; what was committed stays, the rest is for next time.
        """
        start = time.perf_counter()
        self._found = []
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
        return Taken(plans, shards, rows, derived, tuple(self._found), seconds, retractions, self._upgrade)

    @property
    def refused(self) -> bool:
        """Whether the store lists bad files, whose mending an ingest has to see."""
        return bool(self._bad)

    def _path(self, key: str) -> Path:
        if key.startswith(("plans/", "derived/", "retractions/")):
            return self._records.data / key
        return self._records.shard_path(key)

    def _file_stamp(self, key: str) -> str:
        """A text that changes when a file does."""
        stat = self._path(key).stat()
        return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"

    def _untaken(self, keys: Iterable[str], known: str) -> list[str]:
        """The keys that the query `known` does not yield, without bad ones whose files did not change."""
        taken = {name for (name,) in fetch(self._build.connection(), known)}
        new = [key for key in keys if key not in taken]
        return [key for key in new if key not in self._bad or self._bad[key] != self._file_stamp(key)]

    def _forgive(self, key: str) -> None:
        if self._bad.pop(key, None) is not None:
            self._build.connection().execute("delete from ix.bad where shard = ?", [key])

    def _refuse(self, key: str, error: SwingbyError) -> None:
        """Lists a bad file; it is read again when it changes."""
        self._found.append((key, str(error)))
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
            with _fitting():
                self._apply_record(key, again)
        except SwingbyError as error:
            self._refuse(key, error)
            return False
        return True

    def _apply_record(self, key: str, again: bool) -> None:
        folder, _, name = key.partition("/")
        plan_id = Path(name).stem
        if again:
            plan = self._records.read_plan(plan_id)
            if apply.replaced(self._build.connection(), plan, plan_id):
                with self._transaction("ix") as connection:
                    apply.reapply_plan(connection, plan, plan_id)
            return
        with self._transaction("ix") as connection:
            if folder == "plans":
                apply.apply_plan(connection, self._records.read_plan(plan_id), plan_id)
            elif folder == "retractions":
                apply.apply_retraction(connection, key, self._records.read_retraction(name))
            else:
                header, table = self._records.read_derived(name)
                apply.apply_derived(connection, key, header, table)
                insert_one(connection, "ix.records", {"record": key})
            self._forgive(key)

    def _take_shards(self) -> tuple[int, int]:
        """Applies new shards, a group at a time; how many shards and rows."""
        untaken = self._untaken(self._records.shards(), "select shard from ix.shards")
        shards = rows = 0
        for group in self._groups(untaken):
            count = sum(piece.rows.num_rows for piece in group)
            with self._build.room(sum(piece.size for piece in group), count):
                self._apply(group)
            shards += len(group)
            rows += count
            self._seal(self._segment_rows)
        return shards, rows

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
            except SwingbyError as error:
                self._refuse(name, error)
                continue
            group.append(piece)
            full = sum(piece.rows.num_rows for piece in group) >= GROUP_ROWS
            if full or sum(piece.size for piece in group) >= GROUP_BYTES:
                yield group
                group = []
        if group:
            yield group

    def _read(self, name: str) -> apply.Piece:
        header, table = self._records.read_shard(name)
        with _fitting():
            return apply.piece(name, self._path(name).stat().st_size, header, table)


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
        taken = step.take()
        published = step.publish(force)
        clean = not step.refused and (published or force)
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
    except OlderStoreError:
        older = True
    if older and (done := ingest(records).upgrade):
        tell(done)
