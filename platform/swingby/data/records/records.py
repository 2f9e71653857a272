"""The records of one data folder, written and read: plans, shards, derived files, retractions; each whole or absent."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from swingby.data.files import (
    TEMPORARY,
    clear_os_errors,
    entry,
    files_below,
    is_as_named,
    is_locked,
    make_folder,
    shared_lock,
    sync_folder,
    utc_now,
    write_whole,
)
from swingby.data.folder import admit_retractions, listing, numbers, opened
from swingby.data.locks import Hold, held, holder
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.data.records.headers import DERIVED_TYPES, PLAN_COLUMNS, Plan, ShardHeader, check_types, plan_cells
from swingby.data.records.retractions import COLUMNS, Retraction
from swingby.data.remote.mirror import Mirror, is_record
from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import SEGMENT_COLUMNS
from swingby.text import fitted

DIGITS = {"shards": 8, "derived": 12, "retractions": 12}
"""How many digits of the content end the names of the records in a folder; the name of a plan says no content."""
_KIND = re.compile(r"[a-z][a-z0-9_]*")


def _to_stderr(text: str) -> None:
    sys.stderr.write(f"{fitted(text, sys.stderr)}\n")


class Records:
    """The records of one data folder; cheap to make, holds nothing open.

    Attributes:
        data: where the folder lies on this machine.
        mirror: the object storage that it mirrors; None: it mirrors none.
        tell: called with a sentence about what happens beside what was asked for, such as a store that is mended.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.mirror: Mirror | None = None
        self.tell: Callable[[str], object] = _to_stderr

    @classmethod
    def open(cls, data: str | Path, create: bool = True) -> Self:
        """The records of a folder, or of an address of object storage, whose records are fetched first.

        The path is made absolute. A folder that mirrors an address is opened as it is here.

        Raises:
            SwingbyError: no such folder (and `create` is False), a folder of something else, or of an unknown format;
                or the storage does not answer.
        """
        place, mirror = opened(data, create)
        records = cls(place)
        records.mirror = mirror
        return records

    @property
    def where(self) -> str:
        """Its address, or path: what opens it on any machine that reaches it."""
        return str(self.data) if self.mirror is None else self.mirror.bucket.address

    def unite(self, tell: Callable[[str], object] = lambda text: None) -> int:
        """Fetches the records that only the storage has, and puts those that only this folder has; returns how many.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        return 0 if self.mirror is None else self.mirror.unite(tell)

    @contextmanager
    def lock(self, sweep_id: str, command: str | None = None) -> Iterator[Hold]:
        """Holds a sweep's lock: one run of a sweep at a time; on object storage, from whatever machine.

        Raises:
            SwingbyError: on entering, if somebody else runs it; says who.
        """
        with ExitStack() as stack:
            path = entry(self.data / "locks", sweep_id, ".lock")
            hold = stack.enter_context(held(path, f"sweep {sweep_id}", command, wait=1.0))
            if self.mirror is not None:
                self.mirror.forgive = self.mirror.bucket.patience = None  # a lock needs the storage's own answer
                stack.enter_context(self.mirror.signals.lock(sweep_id, command))
            yield hold

    def holder(self, sweep_id: str) -> str | None:
        """Who runs a sweep now, in words; None if nobody does, as far as can be seen."""
        here = holder(entry(self.data / "locks", sweep_id, ".lock"))
        return here if here is not None or self.mirror is None else self.mirror.signals.holder(sweep_id)

    def workdir(self, sweep_id: str, cell_ids: Sequence[str]) -> Path:
        """The folder of these cells' checkpoints: equal in every run of a sweep, so that a killed run is continued."""
        content = hashlib.sha256("".join(cell_ids).encode()).hexdigest()
        return entry(self.data / "work", sweep_id) / content[:16]

    # records by their paths

    def paths(self) -> list[str]:
        """Every record by its path: a plan before its shards, a retraction before the shards that it takes back."""
        names = {"retractions": self.retractions(), "shards": self.shards(), "derived": self.derived()}
        plans = [f"plans/{plan}.parquet" for plan in self.plans()]
        return plans + [f"{folder}/{name}" for folder, files in names.items() for name in files]

    def content(self, key: str) -> bytes:
        """The bytes of the record at a path below the folder.

        Raises:
            SwingbyError: it is no plain file, or cannot be read.
        """
        path = self.data / key
        with clear_os_errors(f"read {path}"):
            if not path.is_file() or path.is_symlink():
                raise SwingbyError(f"{path} is no plain file")
            return path.read_bytes()

    def size(self, key: str) -> int | None:
        """Bytes of a record; None if there is none of that name."""
        path = self.data / key
        return path.stat().st_size if path.exists() else None

    def put(self, key: str, content: bytes) -> None:
        """Writes a record of another data folder, whole and under its name.

        Raises:
            SwingbyError: the disk refuses.
        """
        if key.startswith("retractions/"):
            admit_retractions(self.data, self.mirror)
        if self.mirror is not None and key.startswith("plans/"):
            self.mirror.bucket.put(key, content)  # first: of two plans of one name that one counts which is there
        write_whole(self.data / key, lambda temporary: temporary.write_bytes(content))

    def unfinished(self, store: bool = True) -> list[Path]:
        """Files that somebody writes, or died while writing them; perhaps without those of the store."""
        paths = list(self.data.glob(f"{TEMPORARY}*"))
        for place in ("plans", "shards", "derived", "retractions", *(("store",) if store else ()), "work"):
            paths += [path for path in files_below(self.data / place) if path.name.startswith(TEMPORARY)]
        return sorted(paths)

    # plans

    def plans(self) -> list[str]:
        """The id of every plan, sorted."""
        return [name.removesuffix(".parquet") for name in listing(self.data / "plans", "*.parquet")]

    def next_sequence(self, name: str, sweep_id: str) -> int:
        """The sequence number of the sweep's next plan; hold the sweep's lock."""
        pattern = rf"{re.escape(name)}-{re.escape(sweep_id[:8])}-(\d+)"
        left_out = 0 if self.mirror is None else self.mirror.signals.fence(sweep_id)
        return 1 + max([left_out, *numbers(self.plans(), pattern)])

    def write_plan(self, plan: Plan) -> Path:
        """Writes a plan, its rows sorted by batch; on object storage first, where another machine may have the name.

        Raises:
            SwingbyError: the plan exists, lacks a column, or the disk refuses; or another run has taken over.
        """
        path = entry(self.data / "plans", plan.plan_id, ".parquet")
        if path.exists():
            raise SwingbyError(f"plan {plan.plan_id} exists already; plans are never written twice")
        require(plan.table, PLAN_COLUMNS, f"plan {plan.plan_id}")
        import pyarrow.compute as pc

        order = pc.call_function("array_sort_indices", [plan.table["batch"].combine_chunks()])
        if self.mirror is None:
            return write_parquet(path, plan.table, plan.header(), order=order)
        aside, key = self.data / "work" / f"{TEMPORARY}{path.name}", f"plans/{path.name}"  # `gc` knows what is left
        write_parquet(aside, plan.table, plan.header(), order=order)
        try:
            # A driver that was frozen may have lost its lock meanwhile, and what it knows of results is old.
            self.mirror.signals.confirm(plan.sweep_id)
            if self.mirror.bucket.find(key) is not None:
                raise SwingbyError(f"plan {path.stem} exists already in {self.where}; plans are never written twice")
            self.mirror.put(key, aside)
            self.mirror.signals.confirm(plan.sweep_id)  # it may have been frozen in between
            with clear_os_errors(f"write {path}"):
                make_folder(path.parent)
                aside.rename(path)
                sync_folder(path.parent)
        finally:
            aside.unlink(missing_ok=True)
        return path

    def read_plan(self, plan_id: str) -> Plan:
        """A plan; only the header is read now, `table` is read when it is asked for.

        Raises:
            SwingbyError: no such plan, or its file is torn or foreign.
        """
        path = entry(self.data / "plans", plan_id, ".parquet")
        if self.mirror is not None:
            self.mirror.fetch(f"plans/{path.name}")
        header, _ = read_parquet(path, "plan", columns=[])
        try:
            return Plan.of_header(header, path)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{path.name} is not a plan of this format: {error} is missing or wrong") from error

    def read_cells(self, plan: Plan, batches: Sequence[int]) -> tuple[Cell, ...]:
        """The cells of some batches, in the plan's order.

        Raises:
            SwingbyError: no such batch, or the installed experiment gives these cells other ids.
        """
        path, among = entry(self.data / "plans", plan.plan_id, ".parquet"), [("batch", "in", list(batches))]
        _, rows = read_parquet(path, "plan", filters=among)
        lacking = set(batches) - set(rows["batch"].unique().to_pylist())
        if lacking:
            has = f"it has {len(plan.batches)}, counted from 0"
            raise SwingbyError(f"plan {plan.plan_id} has no batch {min(lacking)}; {has}")
        return plan_cells(plan, rows)

    # shards

    def shards(self) -> list[str]:
        """The name of every shard (`<plan_id>/b<batch>-a<attempt>-<content>.parquet`), sorted."""
        return listing(self.data / "shards", "*/*.parquet")

    def shard_path(self, name: str) -> Path:
        """Where a shard lies."""
        return self.data / "shards" / name

    def next_attempt(self, plan: Plan, batch: int) -> int:
        """The next attempt at a batch: 1000 x sequence + 1, and one more for each attempt that left a shard."""
        names = listing(self.data / "shards" / plan.plan_id, f"b{batch:06d}-a*.parquet")
        earlier = numbers(names, r"b\d+-a(\d+)-[0-9a-f]+\.parquet")
        return 1 + max(earlier, default=1000 * plan.sequence)

    def write_shard(self, header: ShardHeader, table: pa.Table, hold: Callable[[Path], object] | None = None) -> Path:
        """Writes rows that `Experiment.run` yielded; the column `attempt` is added here.

        Args:
            hold: called with the file before it has its name.

        Raises:
            SwingbyError: a column is missing or of another type, a curve is not a list, or the disk refuses.
        """
        what = f"a shard of batch {header.batch} of {header.plan_id}"
        require(table, SEGMENT_COLUMNS, what)
        for name in header.curves:
            if name not in table.column_names or not pa.types.is_list(table.schema.field(name).type):
                raise SwingbyError(f"{what}: the curve {name!r} is not a list column of the table")
        if "attempt" not in table.column_names:
            attempt = pa.array([header.attempt] * table.num_rows, pa.int64())
            table = table.append_column("attempt", attempt)
        name = f"b{header.batch:06d}-a{header.attempt:04d}.parquet"
        return write_parquet(
            self.shard_path(f"{header.plan_id}/{name}"), table, asdict(header), DIGITS["shards"], hold=hold
        )

    @contextmanager
    def unpublished(self, header: ShardHeader, table: pa.Table) -> Iterator[Path]:
        """Writes a shard that no ingest takes as long as this is not left, for `publish` may still remove it.

        Raises:
            SwingbyError: as `write_shard`.
        """
        with ExitStack() as stack:
            hold = (lambda aside: stack.enter_context(shared_lock(aside))) if self.mirror is not None else None
            yield self.write_shard(header, table, hold)

    def is_unpublished(self, name: str) -> bool:
        """Whether a process of this machine is about to publish a shard, and may have to remove it."""
        return self.mirror is not None and is_locked(self.shard_path(name))

    def publish(self, shard: Path, alive: Callable[[], object] = lambda: None) -> None:
        """Puts a written shard where all machines see it; without object storage they do already.

        Args:
            shard: its path, as `unpublished` gives it.
            alive: called again and again, however long it takes.

        Raises:
            SwingbyError: another driver has taken over the sweep, and the shard is removed; or the storage does not
                answer for long, and the shard is left for the next run on this machine.
        """
        plan_id, key = shard.parent.name, shard.relative_to(self.data).as_posix()
        if self.mirror is None or self.mirror.publish(key, plan_id, alive):
            return
        with clear_os_errors(f"remove {shard}"):
            shard.unlink(missing_ok=True)  # else the next run on this machine would put it
        raise SwingbyError(f"plan {plan_id} was superseded: another run of its sweep has taken over")

    def fetch_shards(self, plan_id: str, batch: int) -> None:
        """Fetches the shards that attempts at a batch on other machines left.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self.mirror is not None:
            self.mirror.fetch_all(f"shards/{plan_id}/b{batch:06d}-a")

    def read_shard(self, name: str, content: bytes | None = None) -> tuple[ShardHeader, pa.Table]:
        """Header and rows of one shard, or of the bytes that are given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or not a shard.
        """
        path = self.shard_path(name)
        header, table = read_parquet(path, "shard", DIGITS["shards"], content)
        require(table, {**SEGMENT_COLUMNS, "attempt": pa.int64()}, f"shard {path.name}")
        try:
            return ShardHeader.of_json(header), table
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{path.name} is not a shard of this format: {error} is missing or wrong") from error

    def has_whole_shard(self, name: str) -> bool:
        """Whether a shard is there, fetched if need be, and as it was written.

        Raises:
            SwingbyError: the storage does not answer.
        """
        key = f"shards/{name}"
        if not is_record(key):
            return False
        if self.mirror is not None:
            self.mirror.fetch(key)
        path = self.shard_path(name)
        return path.is_file() and is_as_named(path, path.read_bytes(), DIGITS["shards"])

    # derived files

    def derived(self) -> list[str]:
        """The name of every derived file (`<kind>/<version>-<content>.parquet`), sorted."""
        return listing(self.data / "derived", "*/*.parquet")

    def write_derived(self, kind: str, version: str, key: Sequence[str], table: pa.Table, **metadata: Any) -> Path:
        """Writes rows that were computed from the store; for one version and key the latest file counts.

        Args:
            kind: the name of the table it makes in the store.
            version: of the code that computed it; the newest version is the one shown.
            key: the columns that tell its rows apart.

        Raises:
            SwingbyError: the kind is no name for a table, a key column is missing, or the disk refuses.
        """
        if not _KIND.fullmatch(kind):
            raise SwingbyError(f"{kind!r} cannot name derived records; allowed: lower-case letters, digits and _")
        if not re.fullmatch(r"[\w.+]+", version):
            raise SwingbyError(f"{version!r} cannot be a version; allowed: letters, digits, '.', '+' and '_'")
        require(table, dict.fromkeys(key), f"derived records {kind}")
        header = {"kind": kind, "version": version, "key": list(key), "created": utc_now(), **metadata}
        return write_parquet(self.data / "derived" / kind / f"{version}.parquet", table, header, DIGITS["derived"])

    def read_derived(self, name: str, content: bytes | None = None) -> tuple[dict[str, Any], pa.Table]:
        """Header (kind, version, key, created, ...) and rows of one derived file, or of the bytes given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or not derived records.
        """
        what = f"{Path(name).name} is not a derived file"
        header, table = read_parquet(self.data / "derived" / name, "derived file", DIGITS["derived"], content)
        missing = [key for key in DERIVED_TYPES if key not in header]
        if missing:
            raise SwingbyError(f"{what}: its header lacks {', '.join(missing)}")
        try:
            check_types(header, DERIVED_TYPES)
        except TypeError as error:
            raise SwingbyError(f"{what}: {error} is wrong") from error
        require(table, dict.fromkeys(header["key"]), f"derived file {Path(name).name}")
        return header, table

    # retractions

    def retractions(self) -> list[str]:
        """The name of every retraction (`<when>-<content>.parquet`), sorted."""
        return listing(self.data / "retractions", "*.parquet")

    def write_retraction(self, retraction: Retraction) -> Path:
        """Writes a retraction; there is no way to undo it.

        Raises:
            SwingbyError: its table lacks a column, or the disk refuses.
        """
        require(retraction.table, COLUMNS, "a retraction")
        admit_retractions(self.data, self.mirror)
        name = re.sub(r"[^0-9T]", "", retraction.created[:19])
        path = self.data / "retractions" / f"{name}.parquet"
        return write_parquet(path, retraction.table, retraction.header(), DIGITS["retractions"])

    def read_retraction(self, name: str, content: bytes | None = None) -> Retraction:
        """A retraction, or the one in the bytes that are given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or no retraction.
        """
        header, table = read_parquet(self.data / "retractions" / name, "retraction", DIGITS["retractions"], content)
        require(table, COLUMNS, f"retraction {name}")
        try:
            return Retraction.of(header, table)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{name} is no retraction of this format: {error} is missing or wrong") from error
