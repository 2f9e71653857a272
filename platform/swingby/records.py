"""Records: the append-only files of a data folder (plans, shards, derived, retractions), whole or absent: the truth."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swingby.cells import Cell
from swingby.columns import parameter_schema
from swingby.errors import SwingbyError
from swingby.experiment import SEGMENT_COLUMNS, Recording
from swingby.files import clear_os_errors, entry, is_as_named, utc_now
from swingby.folder import Folder, listing
from swingby.headers import PLAN_COLUMNS, BatchNote, Plan, ShardHeader, check_types, plan_cells, plan_table
from swingby.locks import Hold, held, holder
from swingby.parquet import read_parquet, require, write_parquet
from swingby.provenance import provenance
from swingby.remote.mirror import is_record
from swingby.retractions import COLUMNS, Retraction

__all__ = ["BatchNote", "Plan", "Records", "ShardHeader", "parameter_schema", "plan_table", "provenance"]

_SHARD_DIGITS, _DERIVED_DIGITS = 8, 12
_DERIVED_TYPES = {"kind": str, "version": str, "key": list, "created": str}
_KIND = re.compile(r"[a-z][a-z0-9_]*")


def _numbers(names: Iterable[str], pattern: str) -> list[int]:
    matches = (re.fullmatch(pattern, name) for name in names)
    return [int(match[1]) for match in matches if match]


class Records(Folder):
    """The records of one data folder; cheap to make, holds nothing open."""

    def paths(self) -> list[str]:
        """Every record by its path: a plan before its shards, a retraction before the shards that it speaks of."""
        names = {"retractions": self.retractions(), "shards": self.shards(), "derived": self.derived()}
        plans = [f"plans/{plan}.parquet" for plan in self.plans()]
        return plans + [f"{folder}/{name}" for folder, found in names.items() for name in found]

    # plans

    def _plan_path(self, plan_id: str) -> Path:
        return entry(self.data / "plans", plan_id, ".parquet")

    def plans(self) -> list[str]:
        """The id of every plan, sorted."""
        return [name.removesuffix(".parquet") for name in listing(self.data / "plans", "*.parquet")]

    def next_sequence(self, name: str, sweep_id: str) -> int:
        """The sequence number of the sweep's next plan; hold the sweep's lock."""
        pattern = rf"{re.escape(name)}-{re.escape(sweep_id[:8])}-(\d+)"
        return 1 + max(_numbers(self.plans(), pattern), default=0)

    def write_plan(self, plan: Plan) -> Path:
        """Writes a plan, its rows sorted by batch.

        Raises:
            SwingbyError: the plan exists, lacks a column, or the disk refuses.
        """
        path = self._plan_path(plan.plan_id)
        if path.exists():
            raise SwingbyError(f"plan {plan.plan_id} exists already; plans are never written twice")
        require(plan.table, PLAN_COLUMNS, f"plan {plan.plan_id}")
        order = pc.call_function("array_sort_indices", [plan.table["batch"].combine_chunks()])
        if self.mirror is None:
            return write_parquet(path, plan.table, plan.header(), order=order)
        return self._put_plan(
            path, write_parquet(self.data / "work" / path.name, plan.table, plan.header(), order=order)
        )

    def _put_plan(self, path: Path, made: Path) -> Path:
        """The storage has a plan first: its name says no content, and another machine may have one of that name."""
        assert self.mirror is not None
        key = f"plans/{path.name}"
        try:
            if self.mirror.bucket.find(key) is not None:
                raise SwingbyError(f"plan {path.stem} exists already in {self.where}; plans are never written twice")
            self.mirror.put(key, made)
            with clear_os_errors(f"write {path}"):
                path.parent.mkdir(parents=True, exist_ok=True)
                made.rename(path)
        finally:
            made.unlink(missing_ok=True)
        return path

    def read_plan(self, plan_id: str) -> Plan:
        """A plan; only the header is read now, `table` is read when it is asked for.

        Raises:
            SwingbyError: no such plan, or its file is torn or foreign.
        """
        path = self._plan_path(plan_id)
        if self.mirror is not None:
            self.mirror.fetch(f"plans/{path.name}")
        header, _ = read_parquet(path, "plan", columns=[])
        try:
            return Plan.of_header(header, path)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{path.name} is not a plan of this format: {error} is missing or wrong") from error

    def read_batch(self, plan_id: str, batch: int) -> tuple[tuple[Cell, ...], Recording]:
        """The cells of one batch, in the plan's order, and what to record of them.

        Raises:
            SwingbyError: no such plan or batch, or the installed experiment gives these cells other ids.
        """
        plan = self.read_plan(plan_id)
        return self.read_cells(plan, (batch,)), plan.recording

    def read_cells(self, plan: Plan, batches: Sequence[int]) -> tuple[Cell, ...]:
        """The cells of some batches, in the plan's order.

        Raises:
            SwingbyError: as `read_batch`.
        """
        among = [("batch", "in", list(batches))]
        _, rows = read_parquet(self._plan_path(plan.plan_id), "plan", filters=among)
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
        earlier = _numbers(names, r"b\d+-a(\d+)-[0-9a-f]+\.parquet")
        return 1 + max(earlier, default=1000 * plan.sequence)

    def write_shard(self, header: ShardHeader, table: pa.Table) -> Path:
        """Writes rows that `Experiment.run` yielded; the column `attempt` is added here.

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
        return write_parquet(self.shard_path(f"{header.plan_id}/{name}"), table, asdict(header), _SHARD_DIGITS)

    def publish(self, shard: Path, alive: Callable[[], object] = lambda: None) -> None:
        """Puts a shard that is written where all machines see it; does nothing about a folder that stands for itself.

        Args:
            shard: its path.
            alive: called again and again, however long it takes.

        Raises:
            SwingbyError: another driver has taken over the sweep, and the shard is gone; or the storage does not answer
                for long, and the shard is left for the next run on this machine.
        """
        plan_id, key = shard.parent.name, shard.relative_to(self.data).as_posix()
        if self.mirror is None or self.mirror.publish(key, plan_id, alive):
            return
        with clear_os_errors(f"remove {shard}"):
            shard.unlink(missing_ok=True)  # it would go there with the next run on this machine
        raise SwingbyError(f"plan {plan_id} was superseded: another run of its sweep has taken over")

    def fetch_shards(self, plan_id: str, batch: int) -> None:
        """Fetches what attempts at a batch on other machines left.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self.mirror is not None:
            self.mirror.fetch_all(f"shards/{plan_id}/b{batch:06d}-a")

    def read_shard(self, name: str, content: bytes | None = None) -> tuple[ShardHeader, pa.Table]:
        """Header and rows of one shard, or of what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or not a shard.
        """
        path = self.shard_path(name)
        header, table = read_parquet(path, "shard", _SHARD_DIGITS, content)
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
        return path.is_file() and is_as_named(path, path.read_bytes(), _SHARD_DIGITS)

    # derived

    def write_derived(self, kind: str, version: str, key: Sequence[str], table: pa.Table, **metadata: Any) -> Path:
        """Writes what was computed from the store; for one version and key the latest file counts.

        Args:
            kind: the name of the table it makes in the store.
            version: of what computed it; the newest version is the one shown.
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
        return write_parquet(self.data / "derived" / kind / f"{version}.parquet", table, header, _DERIVED_DIGITS)

    def derived(self) -> list[str]:
        """The name of every derived file (`<kind>/<version>-<content>.parquet`), sorted."""
        return listing(self.data / "derived", "*/*.parquet")

    def read_derived(self, name: str, content: bytes | None = None) -> tuple[dict[str, Any], pa.Table]:
        """Header (kind, version, key, created, ...) and rows of one derived file, or of what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or not derived records.
        """
        header, table = read_parquet(self.data / "derived" / name, "derived file", _DERIVED_DIGITS, content)
        missing = [key for key in _DERIVED_TYPES if key not in header]
        if missing:
            raise SwingbyError(f"{Path(name).name} is not a derived file: its header lacks {', '.join(missing)}")
        try:
            check_types(header, _DERIVED_TYPES)
        except TypeError as error:
            raise SwingbyError(f"{Path(name).name} is not a derived file: {error} is wrong") from error
        require(table, dict.fromkeys(header["key"]), f"derived file {Path(name).name}")
        return header, table

    # retractions

    def write_retraction(self, retraction: Retraction) -> Path:
        """Writes a retraction; there is no way to undo it.

        Raises:
            SwingbyError: its table lacks a column, or the disk refuses.
        """
        require(retraction.table, COLUMNS, "a retraction")
        self.admit_retractions()
        name = re.sub(r"[^0-9T]", "", retraction.created[:19])
        path = self.data / "retractions" / f"{name}.parquet"
        return write_parquet(path, retraction.table, retraction.header(), _DERIVED_DIGITS)

    def retractions(self) -> list[str]:
        """The name of every retraction (`<when>-<content>.parquet`), sorted."""
        return listing(self.data / "retractions", "*.parquet")

    def read_retraction(self, name: str, content: bytes | None = None) -> Retraction:
        """A retraction, or what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or no retraction.
        """
        header, table = read_parquet(self.data / "retractions" / name, "retraction", _DERIVED_DIGITS, content)
        require(table, COLUMNS, f"retraction {name}")
        try:
            return Retraction.of(header, table)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{name} is no retraction of this format: {error} is missing or wrong") from error

    # places

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
                self.mirror.forgive = self.mirror.bucket.patience = None  # whoever locks goes by what is there
                stack.enter_context(self.mirror.signals.lock(sweep_id, command))
            yield hold

    def holder(self, sweep_id: str) -> str | None:
        """Who runs a sweep now, in words; None if nobody does, as far as can be seen."""
        here = holder(entry(self.data / "locks", sweep_id, ".lock"))
        return here if here is not None or self.mirror is None else self.mirror.signals.holder(sweep_id)

    def workdir(self, sweep_id: str, cell_ids: Sequence[str]) -> Path:
        """The folder of these cells' checkpoints: the same in every run of a sweep, so a killed one is continued."""
        content = hashlib.sha256("".join(cell_ids).encode()).hexdigest()
        return entry(self.data / "work", sweep_id) / content[:16]
