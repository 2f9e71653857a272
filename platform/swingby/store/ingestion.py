"""Ingest: a short step in which the holder of the lease applies the records that are new."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import apply
from swingby.store.layout import Layout, OlderStoreError
from swingby.store.tables import FORMAT, fetch, insert_one
from swingby.store.writer import Writer

GROUP_ROWS = 8192
GROUP_BYTES = 128 * 2**20
READ_AHEAD = 1


def _ahead(read: Callable[[str], apply.Piece], names: Iterable[str]) -> Iterator[tuple[str, Future[apply.Piece]]]:
    """Reads in a thread of its own, a few names ahead: DuckDB writes meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[tuple[str, Future[apply.Piece]]] = deque()
        for name in names:
            waiting.append((name, pool.submit(read, name)))
            if len(waiting) > READ_AHEAD:
                yield waiting.popleft()
        yield from waiting


@contextmanager
def _fitting() -> Iterator[None]:
    """A record whose columns are of types that nothing here was made for is a bad record, and stops no ingest."""
    try:
        yield
    except (pa.ArrowException, LookupError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SwingbyError(f"it holds what the store cannot take: {reason}") from error


@dataclass(frozen=True, slots=True)
class Taken:
    """What one ingest took in: counts of plans, shards, rows, derived files and retractions; the bad files, with
    reasons; and what it did about a store of an older version, in words."""

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
            self._forget_vanished()
            plans = self._take_plans()
            retractions = self._take_retractions()
            shards, rows = self._take_shards()
            derived = self._take_derived()
        seconds = time.perf_counter() - start
        return Taken(plans, shards, rows, derived, tuple(self._found), seconds, retractions, self._upgrade)

    def _path(self, key: str) -> Path:
        if key.startswith(("plans/", "derived/", "retractions/")):
            return self._records.data / key
        return self._records.shard_path(key)

    def _file_stamp(self, key: str) -> str:
        """Changes when a file does."""
        stat = self._path(key).stat()
        return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"

    def _untaken(self, keys: Iterable[str], known: str) -> list[str]:
        """The keys that the query `known` does not give, without the bad ones whose files are as they were."""
        taken = {name for (name,) in fetch(self._build.connection(), known)}
        new = [key for key in keys if key not in taken]
        return [key for key in new if key not in self._bad or self._bad[key] != self._file_stamp(key)]

    def _forget_vanished(self) -> None:
        for key in [key for key in self._bad if not self._path(key).exists()]:
            with self._transaction("ix"):
                self._forgive(key)

    def _forgive(self, key: str) -> None:
        if self._bad.pop(key, None) is not None:
            self._build.connection().execute("delete from ix.bad where shard = ?", [key])

    def _refuse(self, key: str, error: SwingbyError) -> None:
        """Lists a bad file; it is tried again when it changes."""
        self._found.append((key, str(error)))
        stamp = self._file_stamp(key)
        with self._transaction("ix") as connection:
            self._forgive(key)
            insert_one(connection, "ix.bad", {"shard": key, "reason": str(error), "stamp": stamp})
        self._bad[key] = stamp

    def _take_plans(self) -> int:
        keys = [f"plans/{plan}.parquet" for plan in self._records.plans()]
        untaken = self._untaken(keys, "select 'plans/' || plan_id || '.parquet' from ix.plans")
        taken = sum(self._take_one(key, self._take_plan) for key in untaken)
        for key in sorted({f"{key.partition('+')[0]}.parquet" for key in keys if "+" in key} & set(keys)):
            self._take_one(key, self._take_plan_again)
        return taken

    def _take_derived(self) -> int:
        keys = [f"derived/{name}" for name in self._records.derived()]
        return sum(self._take_one(key, self._take_derivation) for key in self._untaken(keys, "from ix.records"))

    def _take_retractions(self) -> int:
        keys = [f"retractions/{name}" for name in self._records.retractions()]
        untaken = self._untaken(keys, "select record from ix.retractions")
        return sum(self._take_one(key, self._take_retraction) for key in untaken)

    def _take_one(self, key: str, take: Callable[[str], None]) -> bool:
        try:
            with _fitting():
                take(key)
        except SwingbyError as error:
            self._refuse(key, error)
            return False
        return True

    def _take_plan(self, key: str) -> None:
        plan = self._records.read_plan(Path(key).stem)
        with self._transaction("ix") as connection:
            apply.apply_plan(connection, plan, Path(key).stem)
            self._forgive(key)

    def _take_plan_again(self, key: str) -> None:
        """Of several plans of one name the first created has it: see `swingby.maintenance.merge`."""
        name = Path(key).stem
        plan = self._records.read_plan(name)
        if apply.replaced(self._build.connection(), plan, name):
            with self._transaction("ix") as connection:
                apply.reapply_plan(connection, plan, name)

    def _take_retraction(self, key: str) -> None:
        retraction = self._records.read_retraction(key.removeprefix("retractions/"))
        with self._transaction("ix") as connection:
            apply.apply_retraction(connection, key, retraction)
            self._forgive(key)

    def _take_derivation(self, key: str) -> None:
        header, table = self._records.read_derived(key.removeprefix("derived/"))
        with self._transaction("ix") as connection:
            apply.apply_derived(connection, key, header, table)
            insert_one(connection, "ix.records", {"record": key})
            self._forgive(key)

    def _take_shards(self) -> tuple[int, int]:
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

    def _groups(self, names: Iterable[str]) -> Iterator[list[apply.Piece]]:
        """Good shards in groups of bounded size, a transaction each; bad ones are listed on the way."""
        group: list[apply.Piece] = []
        for name, reading in _ahead(self._read, names):
            try:
                piece = reading.result()
                self._admit(piece)
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

    def _admit(self, piece: apply.Piece) -> None:
        look = (piece.experiment, piece.rows.schema, piece.curves.schema)
        if look not in self._admitted:
            apply.make_tables(self._build.connection(), piece)
            self._admitted.add(look)

    def _apply(self, group: Sequence[apply.Piece]) -> None:
        """Applies a group of shards.

        DuckDB writes one database in a transaction, so the curves go first: until the index names the shard nothing
        points at them, and the segment remembers their numbers in case this is done again.
        """
        with self._transaction("seg") as connection:
            numbers = apply.apply_curves(connection, self._build.segment, group)
        with self._transaction("ix") as connection:
            apply.apply_rows(connection, group, numbers)
            for piece in group:
                self._forgive(piece.name)


def ingest(records: Records, wait: float = 30.0, force: bool = True) -> Taken:
    """Takes the lease, applies what is new, and publishes it (with `force` False: unless the last one is too fresh).

    What is new on object storage comes here first, and what is only here goes there.

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds; the storage does not answer; or as
            `Ingest.take`.
    """
    records.unite()
    with Ingest(records, wait) as step:
        taken = step.take()
        step.publish(force)
    return taken


def rebuild(records: Records, wait: float = 30.0) -> Taken:
    """Makes the store again from the records, beside the old one, then publishes it in its place.

    Raises:
        SwingbyError: as `ingest`; readers keep the old store.
    """
    with Ingest(records, wait, rebuild=True) as step:
        taken = step.take()
        step.publish(force=True)
    return taken


def bring_up(records: Records, tell: Callable[[str], object]) -> None:
    """Makes a store of an older version one of this version, and says so; does nothing about any other.

    Raises:
        SwingbyError: the store is of a newer version; or as `ingest`.
    """
    try:
        newest = Layout(records.data).newest()
        older = newest is not None and newest.format != FORMAT
    except OlderStoreError:
        older = True
    if older and (said := ingest(records).upgrade):
        tell(said)
