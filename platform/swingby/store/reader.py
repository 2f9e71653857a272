"""Reading the store: SQL on the newest published generation."""

from __future__ import annotations

import json
import threading
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from swingby.data.records import Records
from swingby.data.remote.address import is_address
from swingby.errors import SwingbyError, plain_words
from swingby.store.database import Database, DatabaseError, attached, clear_errors
from swingby.store.grid_points import other_points
from swingby.store.ingestion import ingest
from swingby.store.layout import CATALOGUE, FORMAT, REBUILD, Generation, Layout, attachments
from swingby.store.reading import READ_AS, read_as, sweeps_named
from swingby.store.tables import storable, widest
from swingby.store.views import LAST_STEP, STEPS, lost, quoted, retracted

if TYPE_CHECKING:
    import polars as pl


STREAMED = 65536
"""Rows of a table of `Store.stream`."""


class Rows:
    """The result of a query, in memory."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.num_rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows())

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


@dataclass(frozen=True, slots=True)
class Finished:
    """Which of the asked cells need no run: `done` have a result with every recording, `failed` none and raised."""

    done: frozenset[str]
    failed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Gap:
    """A cell that is not finished, since a piece of its curve is in no shard any more, with the sweeps that have it."""

    cell_id: str
    experiment: str
    sweeps: tuple[str, ...]


def opened(data: str | Path) -> Records:
    """The records of a data folder to read; those fetched from an address of object storage are ingested first.

    Raises:
        SwingbyError: no such folder; or the storage does not answer.
    """
    records = Records.open(data, create=False)
    if is_address(str(data)):
        ingest(records)
    return records


_reading_as: ContextVar[tuple[str, ...]] = ContextVar("reading as", default=())
"""The sweeps as which queries of this thread read cells, see `Store.reading_as`."""

_held: ContextVar[dict[Path, Store] | None] = ContextVar("held", default=None)
"""The stores that `Store.held_open` keeps open for this thread, by their folders."""


class Store:
    """A reader on the newest published generation; it moves on by itself when the next one is published."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] = ()
        self._generation: Generation | None = None
        self._kept_of: tuple[tuple[int, ...], dict[str, Any]] = (), {}
        self._connection: Database | None = None
        self._commented: Database | None = None
        self._current()

    @classmethod
    def open(cls, data: str | Path) -> Store:
        """The store of a data folder; of one on object storage, with its newest records.

        Raises:
            SwingbyError: no such folder, nothing was ever ingested there, or the store cannot be read.
        """
        layout = Layout(opened(data).data)
        held = _held.get()
        if held is None:
            return cls(layout)
        if layout.root not in held:
            held[layout.root] = cls(layout)
        return held[layout.root]

    @staticmethod
    @contextmanager
    def held_open() -> Iterator[None]:
        """While inside, whoever opens a store in this thread gets the one that is open already: opening takes 0.1 s."""
        before = _held.set({})
        try:
            yield
        finally:
            Store.release_held()
            _held.reset(before)

    @staticmethod
    def release_held() -> None:
        """Closes what `held_open` keeps, as before a time in which nobody reads: open files of a store stay on disk."""
        held = _held.get() or {}
        for store in [held.pop(root) for root in list(held)]:
            store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files, unless they are held open; a later query opens them again."""
        if (_held.get() or {}).get(self._layout.root) is self:
            return
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

        It reads the store and no other file. A query that names DuckDB's catalogue finds there what tables and columns
        mean, as comments.

        Raises:
            SwingbyError: what is wrong with the query, or with the store.
        """
        if CATALOGUE.search(query):
            self._comment()
        return self._query(query, parameters, {})

    @contextmanager
    def stream(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[Iterator[pa.Table]]:
        """Runs one trusted query as `sql` does; while inside, its rows come `STREAMED` at a time, one table at least.

        Raises:
            SwingbyError: as `sql`, also in the midst of reading.
        """
        with clear_errors("answer the query", query_of_user=True), self._cursor(query, parameters) as cursor:
            reader = cursor.sql(query, params=list(parameters) or None).to_arrow_reader(STREAMED)
            tables = _tables(reader)
            yield chain([next(tables, reader.schema.empty_table())], tables)

    def _comment(self) -> None:
        """Writes comments into the catalogue of the connection, once: they take longer than opening a store."""
        from swingby.store.comments import comments  # few queries need it

        connection = self._current()
        if self._commented is connection:
            return
        written = comments(self)
        with self._lock, suppress(DatabaseError):  # another generation was published just now
            with connection.cursor() as cursor:
                for statement in written:
                    cursor.execute(statement)
            self._commented = connection

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
        query = """select table_name, column_name, data_type from duckdb_columns()
                   where database_name = current_database() and schema_name = 'main' and not internal
                   order by table_name, column_index"""
        found = self._query(query, (), {})
        tables: dict[str, list[tuple[str, str]]] = {}
        for name, column, type_ in found.rows():
            tables.setdefault(name, []).append((column, type_))
        return tables

    def misfits(self, experiment: str, columns: Mapping[str, pa.DataType]) -> list[str]:
        """Which of these columns the experiment's table has in a type that does not go with theirs, in words."""
        there = self.columns(experiment)
        incoming = storable(pa.schema(list(columns.items())).empty_table())
        wanted = self._query("describe from incoming", None, {"incoming": incoming}).rows()
        return [
            f"its column {column.column_name!r} is {column.column_type}, and {there[column.column_name]} in the store"
            for column in wanted
            if column.column_name in there and widest(there[column.column_name], column.column_type) is None
        ]

    def finished(self, experiment: str, cell_ids: Iterable[Any], tokens: Sequence[str]) -> Finished:
        """Which of these cells have a final row with every token, and which have only failed, as in `states`."""
        ids = pa.array([str(one) for one in cell_ids], pa.string())
        letters, names = self.states(experiment, ids, tokens), np.array(ids.to_pylist(), object)
        return Finished(frozenset(names[letters == "d"]), frozenset(names[letters == "f"]))

    def states(
        self, experiment: str, cell_ids: pa.Array, tokens: Sequence[str], failing: Sequence[str] | None = None
    ) -> np.ndarray:
        """The state of each cell as one letter: `d`one, `f`ailed, or `m`issing.

        A result counts even where the experiment's table shows another row of the cell, of another recording.

        Args:
            tokens: what a result has to be marked with.
            failing: what a failure has to be marked with, to be left alone: that of other code may be mended by now.
                None: the same.
        """
        letters = np.full(len(cell_ids), "m", "U1")
        if experiment not in self.names():
            return letters
        self._check_version()
        asked = pa.table({"cell_id": cell_ids, "place": pa.array(np.arange(len(cell_ids)))})
        rows = self._query(
            f"""select asked.place, bool_or(status in ('ok', 'diverged') and list_has_all(recorded, $tokens)) as done,
                       bool_or(status = 'failed' and list_has_all(recorded, $failing)) as failed
                from ix.rows.{quoted(experiment)} r join asked using (cell_id)
                where final and not {retracted("r")} and not {lost("r")} group by asked.place""",
            {"tokens": list(tokens), "failing": list(tokens if failing is None else failing)},
            {"asked": asked},
        ).arrow()
        place, done, failed = (rows[name].to_numpy() for name in ("place", "done", "failed"))
        letters[place] = np.where(done.astype(bool), "d", np.where(failed.astype(bool), "f", "m"))
        return letters

    def recordings_of(self, experiment: str, cell_ids: pa.Array) -> list[Any]:
        """The recordings of which these cells have results, and of how many: `recording` (tokens), `cells`."""
        self._check_version()
        query = f"""select list_filter(recorded, lambda token: not starts_with(token, 'code:')) as recording,
                           count(distinct cell_id) as cells
                    from ix.rows.{quoted(experiment)} r semi join asked using (cell_id)
                    where final and status in ('ok', 'diverged') and not {retracted("r")} and not {lost("r")}
                    group by all order by cells desc, recording"""
        return self._query(query, [], {"asked": pa.table({"cell_id": cell_ids})}).rows()

    def shards_of(self, experiment: str, cell_ids: Sequence[str], tokens: Sequence[str] = ()) -> pa.Table:
        """The shards that hold rows of these cells, except rows that were taken back: `cell_id`, `shard`.

        Args:
            tokens: what the rows are marked with, at least.
        """
        self._check_version()
        if experiment not in self.names():
            return pa.table({name: pa.array([], pa.string()) for name in ("cell_id", "shard")})
        query = f"""select distinct cell_id, shard from ix.rows.{quoted(experiment)} r semi join asked using (cell_id)
                    where list_has_all(recorded, ?) and not {retracted("r")} order by all"""
        asked = pa.table({"cell_id": pa.array(cell_ids, pa.string())})
        return self._query(query, [list(tokens)], {"asked": asked}).arrow()

    def gaps(self) -> list[Gap]:
        """The cells that lack a piece of their curve, and so have no result; a store of an older version lists none."""
        self._current()
        if self._generation is None or self._generation.format != FORMAT:
            return []
        found: list[Gap] = []
        for (name,) in self.sql("select distinct experiment from ix.lost order by all").rows():
            query = f"""
                select cell_id, (select list(distinct s.name order by s.name)
                                 from members m join sweeps s using (sweep_id) where m.cell_id = x.cell_id) as sweeps
                from (select distinct cell_id from ix.lost where experiment = ?) x
                where not exists (select 1 from {quoted(name)} e where e.cell_id = x.cell_id and e.status <> 'running')
                order by cell_id"""
            found += [Gap(row.cell_id, name, tuple(row.sweeps or ())) for row in self.sql(query, [name]).rows()]
        return found

    def points(self, experiment: str, sweep_id: str) -> pa.Table:
        """Every point of a sweep, trained or not: `point`, `planned` (its cells), and the experiment's parameters.

        Of a point that a refined sweep has asked no cell of, only parameters on its axes are known; others are null.
        """
        known = self.sql(
            f"""select m.point, m.planned, c.* exclude (cell_id, seed, seed_mode)
                from (select point, count(*) as planned, min(cell_id) as cell_id
                      from members where sweep_id = ? group by point) m
                join ix.cells.{quoted(experiment)} c using (cell_id) order by m.point""",
            [sweep_id],
        ).arrow()
        if "decision" not in self.columns("plans"):  # an older version, which refined nothing
            return known
        query = """select arg_max(decision, sequence) as decision, arg_max(resolved, sequence) as resolved
                   from plans where sweep_id = ? and decision is not null"""
        (row,) = self.sql(query, [sweep_id]).rows()
        if row.decision is None:
            return known
        left = json.loads(row.decision).get("left")
        return pa.concat_tables([known, other_points(json.loads(row.resolved), left, known)]).sort_by("point")

    def traces(self, experiment: str, sweep_id: str) -> dict[str, int]:
        """How many rows of a sweep's cells each shard has, also segments and superseded rows, which no table shows.

        Rows that were taken back do not count.
        """
        self._check_version()
        rows = self.sql(
            f"""select r.shard, count(*) as "rows" from members m join ix.rows.{quoted(experiment)} r using (cell_id)
                where m.sweep_id = ? and not {retracted("r")} group by r.shard""",
            [sweep_id],
        ).rows()
        return {row.shard: row.rows for row in rows}

    def _check_version(self) -> None:
        """Refuses a store of an older version, whose index lacks what the caller asks for."""
        self._current()
        version = FORMAT if self._generation is None else self._generation.format
        if version != FORMAT:
            raise SwingbyError(
                f"the store in {self._layout.root} has version {version}; `swingby ingest` brings it up to {FORMAT}"
            )

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
        given = parameters.values() if isinstance(parameters, Mapping) else parameters or ()
        if sweep_ids := _reading_as.get() or sweeps_named(query, given):
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
                    self._connection = self._attached(generation)
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

    def _attached(self, generation: Generation) -> Database:
        return attached(attachments(self._layout.paths(generation)), generation.views)
