"""The writer of a store: it holds the lease, works on one build, and publishes it as generations."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from swingby.data.files import clear_os_errors, write_whole
from swingby.data.locks import held
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store.build import Build
from swingby.store.database import Database, UnfitError, clear_errors
from swingby.store.layout import SEALED, Generation, Layout, NewerStoreError, OlderStoreError
from swingby.store.tables import FORMAT, fetch

SEGMENT_ROWS = 100_000
SEALED_UNCOPIED = 20_000
"""An open segment with so many rows is sealed to be published: a sealed one is read in place, any other is copied."""


class Writer:
    """The one process that holds the lease and works on a build; a context manager.

    A store of an older version becomes one of this version: where that is known, in place; else it is made again.

    Args:
        records: what to apply.
        wait: seconds to wait for another writer.
        segment_rows: a curve segment with so many rows is sealed.
        rebuild: begin a build of its own beside the live one, which takes its place when it is published.
    """

    def __init__(
        self, records: Records, wait: float = 30.0, *, segment_rows: int = SEGMENT_ROWS, rebuild: bool = False
    ) -> None:
        self._records = records
        self._layout = Layout(records.data)
        self._wait = wait
        self._segment_rows = segment_rows
        self._rebuild = rebuild
        self._build = Build(self._layout, 1)
        self._admitted: set[tuple[Any, ...]] = set()
        self._upgrade = ""
        self._held = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as entering:
            entering.enter_context(held(self._layout.lease, f"the store in {self._layout.root}", wait=self._wait))
            self._build = self._chosen()
            self._held = entering.pop_all()
        return self

    def _chosen(self) -> Build:
        """The build to work on: the live one, if it is none of an older version that has to be made again."""
        try:
            newest = self._newest()
            if not self._rebuild:
                return self._opened(Build(self._layout, 1 if newest is None else newest.build))
        except OlderStoreError:
            self._rebuild = True
            self._upgrade = f"the store had an older version; it was made again, in version {FORMAT}, from the records"
        return Build(self._layout, self._layout.next_build())

    def _opened(self, build: Build) -> Build:
        self._build = build
        with self._guarded("open"):
            build.connection()
        if build.brought_up is not None:
            self._upgrade = f"the store had version {build.brought_up}; it was brought up to version {FORMAT}"
        return build

    def __exit__(self, *_: object) -> None:
        try:
            self._build.discard()
        finally:
            self._held.close()

    def _newest(self) -> Generation | None:
        try:
            return self._layout.newest()
        except NewerStoreError:
            raise
        except SwingbyError:
            if self._rebuild:
                return None  # a pointer that cannot be read is one of the things a rebuild mends
            raise

    def _commit(self, database: str) -> None:
        """Commits the transaction, which wrote to one database only ("seg" or "ix")."""
        self._build.connection().execute("commit")

    @contextmanager
    def _guarded(self, action: str) -> Iterator[None]:
        """Faults of the disk and of DuckDB as clear errors; after any fault the files are opened afresh."""
        doing = f"{action} {self._layout.root}"
        try:
            with clear_errors(doing), clear_os_errors(doing):
                yield
        except BaseException:
            self._build.discard()
            raise

    @contextmanager
    def _transaction(self, database: str) -> Iterator[Database]:
        """One transaction on one database; rolled back for a record that does not fit (any other fault ends `take`)."""
        connection = self._build.connection()
        connection.execute("begin")
        try:
            yield connection
        except (SwingbyError, pa.ArrowException, LookupError, OverflowError):
            connection.execute("rollback")
            raise
        except UnfitError as error:
            connection.execute("rollback")
            raise SwingbyError(f"it holds what the store cannot take: {error}") from error
        if database == "ix":
            connection.execute("update ix.state set revision = revision + 1")
        self._commit(database)

    def _seal(self, least: int) -> None:
        """Puts the open segment away if it has so many rows."""
        (rows,) = fetch(self._build.connection(), 'select coalesce(sum("rows"), 0) from seg.shards')[0]
        if rows >= least:
            self._build.seal()
            self._admitted.clear()

    # publishing

    def publish(self, force: bool = False) -> bool:
        """Makes what was taken visible to readers; True if a new generation came of it.

        Nothing new: nothing is done. Unless forced, it waits until ten times the cost of the last publication is over.

        Raises:
            SwingbyError: the disk is full, or the store is broken; readers keep the last generation.
        """
        with self._guarded("publish"):
            newest = self._newest()
            (revision,) = fetch(self._build.connection(), "select revision from ix.state")[0]
            if newest is not None:
                early = not (force or self._rebuild) and 0 <= time.time() - newest.published < 10 * newest.cost
                if early or (newest.build, newest.revision) == (self._build.number, revision):
                    return False
            self._publish(newest, revision)
        return True

    def _publish(self, newest: Generation | None, revision: int) -> None:
        """Copies the index and what is in the open segment beside the published ones, then flips the pointer."""
        start = time.perf_counter()
        self._seal(SEALED_UNCOPIED)
        schema = self._build.views()
        self._build.close()
        self._admitted.clear()
        number = self._layout.next_number(newest)
        files = {alias: self._public(path, number) for alias, path in self._build.files().items()}
        generation = Generation(
            number=number,
            build=self._build.number,
            revision=revision,
            files={alias: path.relative_to(self._layout.root).as_posix() for alias, path in files.items()},
            views=tuple(schema),
            previous=() if newest is None else tuple(newest.files.values()),
            published=time.time(),
            cost=time.perf_counter() - start,
        )
        self._layout.flip(generation)

    def _public(self, path: Path, number: int) -> Path:
        """Where readers find a file of the build: a sealed segment where it is, others as this generation's copy."""
        if path.parent.name == SEALED:
            return path
        copy = self._layout.published / f"{path.stem}-{number:06d}.duckdb"
        return write_whole(copy, lambda temporary: shutil.copyfile(path, temporary))
