"""Reading the store: SQL on the newest published generation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from swingby.data.records import Records
from swingby.data.remote.address import is_address
from swingby.errors import SwingbyError
from swingby.store.connection import Connection, Rows
from swingby.store.database import Database, DatabaseError
from swingby.store.grid_points import other_points
from swingby.store.ingestion import ingest
from swingby.store.layout import CATALOGUE, FORMAT, Layout
from swingby.store.sql import query
from swingby.store.tables import storable, widest

if TYPE_CHECKING:
    pass


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


_held: ContextVar[dict[Path, Store] | None] = ContextVar("held", default=None)
"""The stores that `Store.held_open` keeps open for this thread, by their folders."""


class Store(Connection):
    """The newest published generation of a data folder: which cells are finished, and what queries say of them."""

    _commented: Database | None = None
    """The connection whose catalogue has comments."""

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

    def close(self) -> None:
        """Closes the files, unless they are held open; a later query opens them again."""
        if (_held.get() or {}).get(self._layout.root) is not self:
            super().close()

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Rows:
        """As of a `Connection`; a query that names DuckDB's catalogue finds there what tables mean, as comments."""
        if CATALOGUE.search(query):
            self._comment()
        return super().sql(query, parameters)

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

    def misfits(self, experiment: str, columns: Mapping[str, pa.DataType]) -> list[str]:
        """Which of these columns the experiment's table has in a type that does not go with theirs, in words."""
        there = self.columns(experiment)
        incoming = storable(pa.schema(list(columns.items())).empty_table())
        described = self._query("describe from incoming", None, {"incoming": incoming}).rows()
        return [
            f"its column {column.column_name!r} is {column.column_type}, and {there[column.column_name]} in the store"
            for column in described
            if column.column_name in there and widest(there[column.column_name], column.column_type) is None
        ]

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
        requested = pa.table({"cell_id": cell_ids, "place": pa.array(np.arange(len(cell_ids)))})
        rows = self._query(
            query("states", experiment),
            {"tokens": list(tokens), "failing": list(tokens if failing is None else failing)},
            {"asked": requested},
        ).arrow()
        place, done, failed = (rows[name].to_numpy() for name in ("place", "done", "failed"))
        letters[place] = np.where(done.astype(bool), "d", np.where(failed.astype(bool), "f", "m"))
        return letters

    def recordings_of(self, experiment: str, cell_ids: pa.Array) -> list[Any]:
        """The recordings of which these cells have results, and of how many: `recording` (tokens), `cells`."""
        self._check_version()
        return self._query(query("recordings", experiment), [], {"asked": pa.table({"cell_id": cell_ids})}).rows()

    def shards_of(self, experiment: str, cell_ids: Sequence[str], tokens: Sequence[str] = ()) -> pa.Table:
        """The shards that hold rows of these cells, except rows that were taken back: `cell_id`, `shard`.

        Args:
            tokens: what the rows are marked with, at least.
        """
        self._check_version()
        if experiment not in self.names():
            return pa.table({name: pa.array([], pa.string()) for name in ("cell_id", "shard")})
        requested = pa.table({"cell_id": pa.array(cell_ids, pa.string())})
        return self._query(query("shards_of", experiment), [list(tokens)], {"asked": requested}).arrow()

    def gaps(self) -> list[Gap]:
        """The cells that lack a piece of their curve, and so have no result; a store of an older version lists none."""
        self._current()
        if self._generation is None or self._generation.format != FORMAT:
            return []
        gaps: list[Gap] = []
        for (name,) in self.sql("select distinct experiment from ix.lost order by all").rows():
            gaps += [Gap(row.cell_id, name, tuple(row.sweeps or ())) for row in self.sql(query("gaps", name)).rows()]
        return gaps

    def points(self, experiment: str, sweep_id: str) -> pa.Table:
        """Every point of a sweep, trained or not: `point`, `planned` (its cells), and the experiment's parameters.

        Of a point that a refined sweep has asked no cell of, only parameters on its axes are known; others are null.
        """
        known = self.sql(query("points", experiment), [sweep_id]).arrow()
        if "decision" not in self.columns("plans"):  # an older version, which refined nothing
            return known
        newest = """select arg_max(decision, sequence) as decision, arg_max(resolved, sequence) as resolved
                    from plans where sweep_id = ? and decision is not null"""
        (row,) = self.sql(newest, [sweep_id]).rows()
        if row.decision is None:
            return known
        left = json.loads(row.decision).get("left")
        return pa.concat_tables([known, other_points(json.loads(row.resolved), left, known)]).sort_by("point")

    def traces(self, experiment: str, sweep_id: str) -> dict[str, int]:
        """How many rows of a sweep's cells each shard has, also segments and superseded rows, which no table shows.

        Rows that were taken back do not count.
        """
        self._check_version()
        rows = self.sql(query("traces", experiment), [sweep_id]).rows()
        return {row.shard: row.rows for row in rows}

    def _check_version(self) -> None:
        """Refuses a store of an older version, whose index lacks what the caller asks for."""
        self._current()
        version = FORMAT if self._generation is None else self._generation.format
        if version != FORMAT:
            raise SwingbyError(
                f"the store in {self._layout.root} has version {version}; `swingby ingest` brings it up to {FORMAT}"
            )
