"""The databases the writer works on: an index, an open curve segment, and the segments sealed before it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from swingby.data.files import make_folder, sync_folder, write_whole
from swingby.errors import BrokenStoreError, plain_words
from swingby.model.detector import EXPRESSION_TABLE, OUTCOME_NAME
from swingby.model.experiment import AFTER
from swingby.store.apply.shards import resolve
from swingby.store.database import (
    BASE_MB,
    CURVES,
    ROW_GROUP,
    STORAGE,
    WRITER,
    Database,
    DatabaseError,
    MissingError,
    give_back,
    is_outside,
    writer,
)
from swingby.store.layout import FORMAT, REBUILD, UPGRADES, Layout, check_version
from swingby.store.packing import listed
from swingby.store.sql import literal, query, quoted, script, statements
from swingby.store.tables import Connection, ensure_experiment, fetch, indexed, widest
from swingby.store.views import (
    BINDING,
    CELL_COLUMNS,
    CURVE_COLUMNS,
    DERIVED_COLUMNS,
    EXPRESSIONS,
    OF_SHARD,
    OUTCOMES_OF,
    RENAMED,
    ROW_COLUMNS,
    Bound,
    Table,
    derived_views,
    experiment_views,
    outcome_views,
    renamed,
)


class Build:
    """One build; its files are open between the first `connection()` and `close()` or `discard()`.

    Attributes:
        number: of the build.
        segment: number of the open segment, while the files are open.
        upgraded_from: the version that the index had when it was opened, if that was an older one.
    """

    def __init__(self, layout: Layout, number: int) -> None:
        self._layout = layout
        self.number = number
        self.segment = 0
        self.upgraded_from: int | None = None
        self._connection: Database | None = None

    def connection(self) -> Database:
        """The connection, with the index attached as `ix` and the open segment as `seg`; made if need be.

        Raises:
            BrokenStoreError: the index, or what it names, cannot be used.
        """
        if self._connection is None:
            index = self._layout.index(self.number)
            make_folder(index.parent)
            self._connection = writer()
            self._open_index(self._connection, index)
            self._open_segment(self._connection)
            self._check_whole(self._connection)
        return self._connection

    def _open_index(self, connection: Connection, index: Path) -> None:
        try:
            _attach_made(connection, "ix", index, STORAGE)
            try:
                fetch(connection, "select format from ix.state")
            except MissingError:
                connection.execute("begin")
                connection.execute(script("index"))
                # A revision never comes again, not even in an index that was made anew: publications are skipped by it.
                connection.execute("insert into ix.state values (?, ?)", [FORMAT, time.time_ns()])
                connection.execute("commit")
            (version,) = fetch(connection, "select format from ix.state")[0]
            check_version(index, version)
            if version != FORMAT:
                _upgrade(connection, version)
                self.upgraded_from = version
        except (DatabaseError, ValueError, IndexError) as error:
            if is_outside(error):
                raise
            raise BrokenStoreError(f"the index {index} cannot be used: {plain_words(error)}; {REBUILD}") from error

    def _check_whole(self, connection: Connection) -> None:
        """Refuses an index that names rows of curve segments that are not there, as after a power cut.

        Raises:
            BrokenStoreError: which segment.
        """
        sealed = [number for number, _ in self._layout.sealed(self.number)]
        lacking = min(set(range(self.segment)) - set(sealed), default=None)
        for name in indexed(connection) if lacking is None else ():
            named = f"select 1 from ix.rows.{quoted(name)} anti join seg.shards using (shard) where curve >= ? limit 1"
            if fetch(connection, named, self.segment << 32):
                lacking = self.segment
        if lacking is not None:
            raise BrokenStoreError(f"curve segment {lacking} of {self._layout.root} lacks rows of the index; {REBUILD}")

    def settle(self) -> None:
        """Makes what was committed last through a power cut: DuckDB syncs what is in a log, and not its name."""
        sync_folder(self._layout.build(self.number))

    def _open_segment(self, connection: Connection) -> None:
        self.segment = 1 + max((number for number, _ in self._layout.sealed(self.number)), default=-1)
        _attach_made(connection, "seg", self._layout.segment(self.number, self.segment), CURVES)
        connection.execute(script("segment"))

    @contextmanager
    def room(self, size: int, rows: int) -> Iterator[None]:
        """While inside, DuckDB may use memory for `size` bytes of `rows` rows, and for no blocks written before.

        With a higher limit DuckDB would keep the blocks that it wrote, and memory would grow with the sweep.
        """
        under_way = min(size, size * ROW_GROUP // max(rows, 1))
        self._limit(f"{BASE_MB + 4 * under_way // 2**20}MB")
        try:
            yield
        finally:
            self._limit(WRITER["memory_limit"])

    def _limit(self, memory: str) -> None:
        with suppress(DatabaseError):  # more than that is in use now
            self.connection().execute(f"set memory_limit = '{memory}'")

    def seal(self) -> None:
        """Puts the open segment away for good, by one rename, and begins the next."""
        connection = self.connection()
        full = self._layout.segment(self.number, self.segment)
        _detach(connection, "seg", full)
        sealed = self._layout.sealed_folder(self.number) / full.name
        sealed.parent.mkdir(exist_ok=True)
        full.rename(sealed)
        sync_folder(sealed.parent)
        sync_folder(full.parent)
        self._open_segment(connection)

    def close(self) -> None:
        """Checkpoints and closes the files, which are then complete without their logs."""
        if self._connection is not None:
            _detach(self._connection, "ix", self._layout.index(self.number))
            _detach(self._connection, "seg", self._layout.segment(self.number, self.segment))
            self.settle()  # a log that came back would not fit its file any more
            give_back(self._connection)
            self._connection = None

    def discard(self) -> None:
        """Closes the files as they are; every commit is in them or in their logs."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def files(self) -> dict[str, Path]:
        """Alias for readers -> file, of every database; `segment` is the open one's number."""
        sealed = {f"seg{number}": path for number, path in self._layout.sealed(self.number)}
        index, segment = self._layout.index(self.number), self._layout.segment(self.number, self.segment)
        return {"ix": index, **sealed, f"seg{self.segment}": segment}

    def views(self) -> list[str]:
        """The `create view` statements over these files, under the aliases for readers."""
        connection = self.connection()
        sealed = self._layout.sealed(self.number)
        for number, path in sealed:
            _attach(connection, f"seg{number}", path, "read_only")
        tables, kinds = _catalogue(connection, f"seg{self.segment}")
        views = [view.replace("{renamed}", renamed(kinds.get(RENAMED, ()))) for view in statements("views")]
        for name, table in sorted(tables.items()):
            ragged = fetch(connection, "select name from ix.columns where experiment = ? and ragged", name)
            table.ragged = {curve for (curve,) in ragged}
            table.linked = bool(fetch(connection, f"select 1 from ix.links.{quoted(name)} limit 1"))
            table.differs = bool(fetch(connection, query("differs", name)))
            dropped = f"ix.rows.{quoted(name)} semi join ix.dropped.{quoted(name)} using (curve)"
            hidden = f"select 1 from {dropped} where final limit 1"
            table.hides = table.differs or bool(fetch(connection, hidden))
            views += experiment_views(name, table)
        for kind, columns in sorted(kinds.items()):
            versions = fetch(connection, f"select distinct version from ix.derived.{quoted(kind)}")
            (key,) = fetch(connection, "select key from ix.kinds where kind = ?", kind)[0]
            listed = [*key, *sorted(set(columns) - set(key) - set(DERIVED_COLUMNS))]
            hiding = {name: table for name, table in tables.items() if table.hides}
            if hiding:
                of = _experiments_of(connection, kind, columns)
                hiding = {name: table for name, table in hiding.items() if name in of}
            views += derived_views(kind, listed, [version for (version,) in versions], hiding)
        views += _outcome_views(connection, tables, kinds)
        for number, _ in sealed:
            connection.execute(f"detach seg{number}")
        return views


def _outcome_views(connection: Connection, tables: Mapping[str, Table], kinds: Mapping[str, list[str]]) -> list[str]:
    """The views with the outcomes that sweep files write; what does not fit, as in records of others, is left out."""
    if not set(BINDING) <= set(kinds.get(EXPRESSIONS, ())):
        return []
    query = f"""select distinct on (sweep_id, outcome) sweep_id, experiment, outcome, table_name
                from ix.derived.{EXPRESSIONS} where expression is not null order by sweep_id, outcome, version desc"""
    held = {name for name, columns in kinds.items() if {"cell_id", OF_SHARD, "value"} <= set(columns)}
    values = "database_name = 'ix' and schema_name = 'derived' and column_name = 'value'"
    types = dict(fetch(connection, f"select table_name, data_type from duckdb_columns() where {values}"))
    taken = {*kinds, *(f"{kind}_all" for kind in kinds), *tables, *(f"{name}_points" for name in tables)}
    bound = [
        Bound(*row)
        for row in ((sweep, of, name, table) for sweep, of, name, table in fetch(connection, query))
        if all(isinstance(item, str) for item in row)
        and row[1] in tables
        and f"{OUTCOMES_OF}{row[1]}" not in taken
        and OUTCOME_NAME.fullmatch(row[2])
        and row[2] not in ("sweep_id", "point", "cell_id", OF_SHARD)
        and EXPRESSION_TABLE.fullmatch(row[3])
        and row[3] in held
    ]
    return outcome_views(bound, types, tables)


def _experiments_of(connection: Connection, kind: str, columns: Sequence[str]) -> set[str]:
    """The experiments whose cells have outcomes of this kind."""
    if not {"cell_id", OF_SHARD} <= set(columns):
        return set()
    shards = f"select distinct {OF_SHARD} as shard from ix.derived.{quoted(kind)}"
    rows = fetch(connection, f"select distinct experiment from ix.shards semi join ({shards}) using (shard)")
    return {name for (name,) in rows}


def _catalogue(connection: Connection, open_segment: str) -> tuple[dict[str, Table], dict[str, list[str]]]:
    """The tables of every experiment, and the columns of every kind of derived records, in all attached databases.

    Args:
        open_segment: the alias for readers of the segment that is attached here as `seg`.
    """
    tables: dict[str, Table] = {}
    kinds: dict[str, list[str]] = {}
    for database, schema, name, column, type_ in fetch(connection, script("columns")):
        if schema == "derived":
            kinds.setdefault(name, []).append(column)
            continue
        table = tables.setdefault(name, Table())
        if schema == "cells" and column not in CELL_COLUMNS:
            table.parameters.append(column)
        elif schema == "rows" and column not in ROW_COLUMNS:
            table.scalars.append(column)
        elif schema == "curves":
            table.segments.setdefault(open_segment if database == "seg" else database, {})[column] = type_
            if column not in CURVE_COLUMNS:
                seen = listed(type_)
                table.curves[column] = widest(table.curves.get(column, seen), seen) or seen
    return tables, kinds


def _upgrade(connection: Connection, version: int) -> None:
    """Makes an index of an older version one of this, in one transaction, with a new revision."""
    connection.execute("begin")
    for step in range(version, FORMAT):
        connection.execute(script(UPGRADES[step]))
    for name in indexed(connection):  # of version 3
        connection.execute(f"alter table ix.rows.{quoted(name)} add column if not exists {AFTER} bigint")
        ensure_experiment(connection, name)
        several = f"select cell_id from ix.rows.{quoted(name)} group by cell_id having count(*) > 1"
        cells = pa.array([cell for (cell,) in fetch(connection, several)], pa.string())
        resolve(connection, name, pa.table({"cell_id": cells}))  # a row for each recording, where there was one
    connection.execute("update ix.state set format = ?, revision = revision + 1", [FORMAT])
    connection.execute("commit")


def _attach_made(connection: Connection, alias: str, path: Path, options: str) -> None:
    """Attaches a database, made if missing: aside, since a process that is killed meanwhile leaves half of it."""

    def make(temporary: Path) -> None:
        temporary.unlink()  # DuckDB takes no empty file for a new database
        _attach(connection, alias, temporary, options)
        _detach(connection, alias, temporary)

    if not path.exists():
        write_whole(path, make)
    _attach(connection, alias, path, options)


def _attach(connection: Connection, alias: str, path: Path, options: str) -> None:
    connection.execute(f"attach {literal(str(path))} as {alias} ({options})")


def _detach(connection: Connection, alias: str, path: Path) -> None:
    """Checkpoints and detaches a file, so that nothing of it is only in its log.

    Raises:
        BrokenStoreError: the log is still there, so that a copy of the file would lack rows.
    """
    connection.execute(f"checkpoint {alias}")
    connection.execute(f"detach {alias}")
    if path.with_name(f"{path.name}.wal").exists():
        raise BrokenStoreError(f"{path} still has a log after its checkpoint; {REBUILD}")
