"""The writer of a store: it holds the lease, works on one build, and publishes it as generations."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Self

from swingby.data.files import clear_os_errors, write_whole
from swingby.data.locks import held
from swingby.data.records import Records
from swingby.errors import BrokenStoreError
from swingby.store.build import Build
from swingby.store.database import Database, DatabaseError, attached, clear_errors, is_outside
from swingby.store.layout import FORMAT, REBUILD, SEALED, Generation, Layout, OlderStoreError, attachments
from swingby.store.tables import fetch
from swingby.store.unfit import UNFIT

SEGMENT_ROWS = 100_000
SEALED_UNCOPIED = 20_000
"""An open segment with so many rows is sealed to be published: a sealed one is read in place, any other is copied."""


class Writer:
    """The one process that holds the lease and works on a build; a context manager.

    A store of an older version becomes one of this version: where that is known, in place; else it is made again. So is
    one whose files are damaged, once: it is a function of the records. Whoever waits is told in a sentence.

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
        self._unreadable = False
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
        except BrokenStoreError as error:
            self._begin_anew(error)
        return Build(self._layout, self._layout.next_build())

    def _begin_anew(self, error: BrokenStoreError) -> None:
        """Begins a build of its own in the place of one that is damaged, and says so.

        Raises:
            BrokenStoreError: that one was begun a moment ago, too: something else is wrong.
        """
        if self._rebuild:
            raise error
        self._rebuild = True
        self._build.discard()
        self._build = Build(self._layout, self._layout.next_build())
        self._admitted.clear()
        reason = str(error).splitlines()[0].removesuffix(f"; {REBUILD}")
        self._records.tell(f"the store is damaged and is made again from the records: {reason}")

    def __exit__(self, *_: object) -> None:
        try:
            self._build.discard()
        finally:
            self._held.close()

    def _newest(self) -> Generation | None:
        try:
            return self._layout.newest()
        except (BrokenStoreError, OlderStoreError):
            if self._rebuild:
                return None  # a rebuild replaces a pointer that cannot be read
            raise

    def _commit(self, database: str) -> None:
        """Commits the transaction, which wrote to one database only ("seg" or "ix")."""
        self._build.connection().execute("commit")
        if database == "seg":
            self._build.settle()  # before the index names what is in it

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
        """One transaction on one database; rolled back if anything is raised that may be the fault of a record."""
        connection = self._build.connection()
        connection.execute("begin")
        try:
            yield connection
        except UNFIT:
            with suppress(DatabaseError):  # what DuckDB could not go on from has ended the transaction already
                connection.execute("rollback")
            raise
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
            if newest is not None and not self._unreadable:
                early = not (force or self._rebuild) and 0 <= time.time() - newest.published < 10 * newest.cost
                if early or (newest.build, newest.revision) == (self._build.number, revision):
                    return False
            self._publish(newest, revision)
        return True

    def check_published(self) -> None:
        """Sees to it that the next publication makes the published files anew if readers cannot open them."""
        try:
            newest = self._newest()
            if newest is None:
                return
            attached(attachments(self._layout.paths(newest)), newest.views).close()
        except DatabaseError as error:
            if not is_outside(error):
                self._unreadable = True
                self._records.tell(f"the store cannot be read and is published again: {str(error).splitlines()[0]}")

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
