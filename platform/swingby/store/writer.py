"""The writer of a store: it holds the lease, works on one build, and publishes it as generations."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Self

import pyarrow as pa

from swingby.data.files import clear_os_errors, write_whole
from swingby.data.locks import held
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store.build import Build
from swingby.store.database import Database, UnfitError, clear_errors
from swingby.store.layout import FORMAT, SEALED, Generation, Layout, NewerStoreError, OlderStoreError
from swingby.store.tables import fetch

SEGMENT_ROWS = 100_000
SEALED_UNCOPIED = 20_000
"""An open segment with so many rows is sealed to be published: a sealed one is read in place, any other is copied."""


class Writer:
    """The one process that holds the lease and works on a build; a context manager.

    A store of an older version becomes one of this version: where that is known, in place; else it is made again.

    Args:
        records: of the data folder.
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
        """The build to work on: the live one, opened, or a new one where the live one is too old."""
        try:
            newest = self._newest()
            if not self._rebuild:
                self._build = Build(self._layout, 1 if newest is None else newest.build)
                with self._guarded("open"):
                    self._build.connection()
                if (version := self._build.upgraded_from) is not None:
                    self._upgrade = f"the store had version {version}; it was brought up to version {FORMAT}"
                return self._build
        except OlderStoreError:
            self._rebuild = True
            self._upgrade = f"the store had an older version; it was made again, in version {FORMAT}, from the records"
        return Build(self._layout, self._layout.next_build())

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
                return None  # a rebuild replaces a pointer that cannot be read
            raise

    def _commit(self, database: str) -> None:
        """Commits the transaction, which wrote to one database only ("seg" or "ix")."""
        self._build.connection().execute("commit")

    @contextmanager
    def _guarded(self, action: str) -> Iterator[None]:
        """Turns faults of the disk and of DuckDB into clear errors; after any fault the files are opened afresh."""
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
        """Makes applied records visible to readers; True if there is a new generation.

        Without news there is none; unless forced, neither before ten times the cost of the last publication is over.

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
        """Copies index and open segment beside the published files, then flips the pointer; sealed segments stay."""
        start = time.perf_counter()
        self._seal(SEALED_UNCOPIED)
        schema = self._build.views()
        self._build.close()
        self._admitted.clear()
        number = self._layout.next_number(newest)
        files: dict[str, str] = {}
        for alias, path in self._build.files().items():
            public = path
            if path.parent.name != SEALED:
                public = self._layout.published / f"{path.stem}-{number:06d}.duckdb"
                write_whole(public, partial(shutil.copyfile, path))
            files[alias] = public.relative_to(self._layout.root).as_posix()
        generation = Generation(
            number=number,
            build=self._build.number,
            revision=revision,
            files=files,
            views=tuple(schema),
            previous=() if newest is None else tuple(newest.files.values()),
            published=time.time(),
            cost=time.perf_counter() - start,
        )
        self._layout.flip(generation)
