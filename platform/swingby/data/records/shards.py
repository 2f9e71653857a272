"""Shards: the rows that attempts at batches left, named by their content, so that a torn one is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from swingby.data.files import clear_os_errors, is_as_named
from swingby.data.folder import Folder, listing, numbers
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.data.records.headers import Plan, ShardHeader
from swingby.data.remote.mirror import is_record
from swingby.errors import SwingbyError
from swingby.model.experiment import SEGMENT_COLUMNS

_DIGITS = 8


class Shards(Folder):
    """A data folder's shards."""

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
        return write_parquet(self.shard_path(f"{header.plan_id}/{name}"), table, asdict(header), _DIGITS)

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
        header, table = read_parquet(path, "shard", _DIGITS, content)
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
        return path.is_file() and is_as_named(path, path.read_bytes(), _DIGITS)
