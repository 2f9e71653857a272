"""A connection on the newest published generation of a store: queries, and which tables and columns there are."""

from __future__ import annotations

import threading
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from swingby.errors import SwingbyError, plain_words
from swingby.store.database import Database, DatabaseError, attached, clear_errors
from swingby.store.layout import REBUILD, Generation, Layout, attachments
from swingby.store.reading import READ_AS, read_as, sweeps_named
from swingby.store.sql import script
from swingby.store.views import LAST_STEP, STEPS, quoted
from swingby.text import once
from swingby.units import counted

if TYPE_CHECKING:
    import polars as pl


STREAMED = 65536
"""Rows of a table of `Connection.stream`."""


MOST_DRAWN, MOST_COLUMNS = 20, 12
"""Rows of a result that a terminal or a notebook shows, and columns of a notebook's."""
WIDEST = 80
"""Characters of a line of a terminal's table."""


class Rows:
    """The result of a query, in memory; a terminal and a notebook show it as a table."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table.rename_columns(once(table.column_names))

    def __len__(self) -> int:
        return self._table.num_rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows())

    def __repr__(self) -> str:
        frame, drawn = self._drawable(), ""
        for columns in range(min(frame.width, WIDEST // 4), 0, -1):  # as many as fit
            with _look(columns, 24 if columns == frame.width else 12):
                drawn = repr(frame)
            if len(drawn.partition("\n")[0]) <= WIDEST:
                break
        return f"{drawn}\n{self._size()}"

    def _repr_html_(self) -> str:
        frame = self._drawable()
        with _look(MOST_COLUMNS):
            return f"{frame._repr_html_()}<p>{self._size()}</p>"

    def _size(self) -> str:
        rows, columns = len(self), self._table.num_columns
        return f"{counted(rows, 'row')}, {counted(columns, 'column')}"

    def _drawable(self) -> pl.DataFrame:
        """The rows as a frame; where polars lacks a type, those that are shown, as texts."""
        import polars as pl

        try:
            return self.polars()
        except pl.exceptions.PolarsError:
            shown = self._table.slice(0, MOST_DRAWN).to_pydict()
            return pl.DataFrame({name: list(map(str, values)) for name, values in shown.items()})

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table

    def polars(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        frame = pl.from_arrow(self._table)
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def rows(self) -> list[Any]:
        """The rows as named tuples; a column whose name is no Python name is called `_0`, `_1`, ... by its place."""
        row = namedtuple("Row", self._table.column_names, rename=True)
        columns = [column.to_pylist() for column in self._table.columns]
        return [row(*values) for values in zip(*columns, strict=True)]


def _look(columns: int, letters: int = 24) -> AbstractContextManager[Any]:
    """While inside, frames are drawn in this form, with so many of their columns and letters."""
    import polars as pl

    return pl.Config(
        tbl_rows=MOST_DRAWN,
        tbl_cols=columns,
        tbl_width_chars=10_000,
        tbl_hide_dataframe_shape=True,
        fmt_str_lengths=letters,
    )


def _tables(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The batches of a reader as tables.

    Raises:
        SwingbyError: the query behind it fails, which Arrow says in the words of DuckDB.
    """
    try:
        for batch in reader:
            yield pa.Table.from_batches([batch])
    except (OSError, pa.ArrowException) as error:
        raise SwingbyError(f"cannot answer the query: {plain_words(error)}") from error


_reading_as: ContextVar[tuple[str, ...]] = ContextVar("reading as", default=())
"""The sweeps as which queries of this thread read cells, see `Connection.reading_as`."""


class Connection:
    """A reader on the newest published generation; it moves on by itself when the next one is published."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] = ()
        self._generation: Generation | None = None
        self._kept_of: tuple[tuple[int, ...], dict[str, Any]] = (), {}
        self._connection: Database | None = None
        self._current()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files; a later query opens them again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection, self._seen = None, ()

    @staticmethod
    @contextmanager
    def reading_as(*sweep_ids: str) -> Iterator[None]:
        """While inside, queries of this thread on any store read the cells of these sweeps as they recorded them.

        A cell may have a result for each recording, of which a table shows the finest. A sweep reads a result that
        records what the sweep asks for, and keeps to it, whatever other sweeps over the cell are run. A cell of which
        it has none yet has no row for it. A query that names a sweep's id needs none of this: it reads as that sweep.

        Args:
            sweep_ids: the sweeps; `EVERY_ROW`: each recording of a cell is a row.
        """
        before = _reading_as.set(sweep_ids)
        try:
            yield
        finally:
            _reading_as.reset(before)

    def differing(self) -> frozenset[str]:
        """The experiments of which sweeps may read different results of one cell."""
        return self._kept("differing", self._read_differing)

    def _read_differing(self) -> frozenset[str]:
        assert self._generation is not None
        of_cells = [name for name in self._generation.names if f"{name}_points" in self._generation.names]
        views = {name: f"create view {quoted(name)} " for name in of_cells}
        return frozenset(
            name
            for name, start in views.items()
            if any(view.startswith(start) and READ_AS in view for view in self._generation.views)
        )

    @property
    def generation(self) -> int:
        """The number of the generation that is read now."""
        self._current()
        assert self._generation is not None
        return self._generation.number

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """Runs one trusted query on the newest generation; its result is in memory when this returns.

        It reads the store and no other file.

        Raises:
            SwingbyError: what is wrong with the query, or with the store.
        """
        return self._query(query, parameters, {})

    @contextmanager
    def stream(
        self, query: str, parameters: Sequence[Any] = (), rows: int | None = None
    ) -> Iterator[Iterator[pa.Table]]:
        """Runs one trusted query as `sql` does; while inside, so many of its rows come at a time, one table at least.

        Raises:
            SwingbyError: as `sql`, also in the midst of reading.
        """
        with clear_errors("answer the query", query_of_user=True), self._cursor(query, parameters) as cursor:
            reader = cursor.sql(query, params=list(parameters) or None).to_arrow_reader(rows or STREAMED)
            tables = _tables(reader)
            yield chain([next(tables, reader.schema.empty_table())], tables)

    def names(self) -> frozenset[str]:
        """Every table that a query can name; cheap, where `tables` has to look at every column."""
        self._current()
        assert self._generation is not None
        return self._generation.names

    def columns(self, table: str) -> dict[str, str]:
        """The columns of a table and their types; none if there is no such table."""
        return self._kept(f"columns of {table}", lambda: self._read_columns(table))

    def last_step(self, table: str) -> str:
        """The column of an experiment's table that has the last step of a cell: `steps`, unless that is a parameter."""
        return LAST_STEP if LAST_STEP in self.columns(table) else STEPS

    def _read_columns(self, table: str) -> dict[str, str]:
        if table not in self.names():
            return {}
        return {row.column_name: row.column_type for row in self.sql(f"describe {quoted(table)}").rows()}

    def _kept(self, key: str, read: Callable[[], Any]) -> Any:
        """What `read` gives of the generation that is read now; read once for each generation."""
        self._current()
        seen = self._seen
        if self._kept_of[0] != seen:
            self._kept_of = seen, {}
        kept = self._kept_of[1]
        if key not in kept:
            # If the generation has moved on meanwhile, this is kept for one that is never asked for again.
            kept[key] = read()
        return kept[key]

    def tables(self) -> dict[str, list[tuple[str, str]]]:
        """Every table that a query can name, with its columns and their types."""
        return self._kept("tables", self._read_tables)

    def _read_tables(self) -> dict[str, list[tuple[str, str]]]:
        rows = self._query(script("tables"), (), {})
        tables: dict[str, list[tuple[str, str]]] = {}
        for name, column, type_ in rows.rows():
            tables.setdefault(name, []).append((column, type_))
        return tables

    def _query(self, query: str, parameters: Any, tables: Mapping[str, pa.Table]) -> Rows:
        with clear_errors("answer the query", query_of_user=True):
            cursor = self._cursor(query, parameters)
            for name, table in tables.items():
                cursor.register(name, table)
            try:
                relation = cursor.sql(query, params=parameters or None)
                return Rows(pa.table({}) if relation is None else relation.to_arrow_table())
            finally:
                for name in tables:
                    cursor.unregister(name)

    def _cursor(self, query: str, parameters: Any) -> Database:
        """A cursor that reads cells as the sweeps which the query is about have them."""
        cursor = self._current().cursor()
        values = parameters.values() if isinstance(parameters, Mapping) else parameters or ()
        if sweep_ids := _reading_as.get() or sweeps_named(query, values):
            cursor.execute(read_as(sweep_ids))
        return cursor

    def _current(self) -> Database:
        """The connection on the newest generation, opened again if the pointer moved."""
        with self._lock:
            for _ in range(10):
                seen = self._stamp()
                if self._connection is not None and seen == self._seen:
                    return self._connection
                generation = self._layout.newest()
                if generation is None:
                    raise SwingbyError(
                        f"nothing was ingested in {self._layout.root.parent} yet; `swingby ingest` does it"
                    )
                try:
                    self._connection = attached(attachments(self._layout.paths(generation)), generation.views)
                except DatabaseError as error:
                    if seen != self._stamp():
                        continue  # two publications since the pointer was read: its files are gone
                    raise SwingbyError(
                        f"the store in {self._layout.root} cannot be read: {plain_words(error)}; {REBUILD}"
                    ) from error
                self._generation, self._seen = generation, seen
        raise SwingbyError(f"the store in {self._layout.root} is published faster than it can be opened")

    def _stamp(self) -> tuple[int, ...]:
        try:
            stat = self._layout.pointer.stat()
        except FileNotFoundError:
            return ()
        return (stat.st_ino, stat.st_mtime_ns, stat.st_size)
