"""A model of DuckDB and of what the store keeps in it, so small that a hundred thousand histories can be told.

The platform's own writer (`Ingest`, `Writer`, `Build`, `Layout`) runs on it unchanged: files, logs, checkpoints,
seals, copies and the pointer are as they are. Of DuckDB's promises the model has these, and no more: a commit is in the
log once it returns, but the log's name lasts only if its folder is synced; a checkpoint changes the file at one moment,
then removes the log; a log that does not fit its file is damage. A statement that the model does not know is an error,
and every so many histories the real store is asked about the same records (`history.py`).
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from swingby.data.records import Plan, Records
from swingby.data.records.retractions import Retraction
from swingby.errors import SwingbyError
from swingby.store.layout import Layout
from swingby.store.sql import script
from tests.simulate.world import World

NAME = "walk"
"""The one experiment."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a shard, as the index has it."""

    cell: str
    first: int
    last: int
    after: int | None
    final: bool
    status: str | None
    attempt: int
    sweep: str
    run: str
    shard: str
    place: int
    recorded: tuple[str, ...]
    finished: str
    curve: int = 0


class BrokenError(Exception):
    """A promise is broken."""


# what is kept


def index() -> dict[str, Any]:
    """An index without records."""
    return {
        "state": None, "plans": {}, "shards": {}, "bad": {}, "records": {}, "retractions": {}, "taken": set(),
    }  # fmt: skip


def _create(state: dict[str, Any]) -> None:
    state.update(index())


def _begin(state: dict[str, Any], version: int, revision: int) -> None:
    state["state"] = [version, revision]


def _revise(state: dict[str, Any]) -> None:
    state["state"][1] += 1


def _set(state: dict[str, Any], table: str, key: str, value: Any) -> None:
    state[table][key] = value


def _drop(state: dict[str, Any], table: str, key: str) -> None:
    state[table].pop(key, None)


def _add(state: dict[str, Any], table: str, key: str, value: Any) -> None:
    """As an insert: the same twice is there twice."""
    state[table].setdefault(key, []).append(value)


def _take(state: dict[str, Any], pairs: Iterable[tuple[str, str]]) -> None:
    state["taken"].update(pairs)


CHANGES: Mapping[str, Callable[..., None]] = {
    "create": _create, "begin": _begin, "revise": _revise, "set": _set, "drop": _drop, "add": _add, "take": _take,
}  # fmt: skip


class Base:
    """An attached database: a file and its log."""

    def __init__(self, world: World, path: str, empty: Callable[[], dict[str, Any]]) -> None:
        self._world, self.path = world, path
        world.seam()
        disks, self.log = world.disks, f"{path}.wal"
        self.number = 0
        self.state: dict[str, Any] = {} if empty is index else empty()
        try:
            content = disks.node(path).data
        except FileNotFoundError:
            disks.create(path)
            self._write()
            content = b""
        if content:
            self.number, self.state = _unpickled(content, path)
        self._replay()

    def _replay(self) -> None:
        try:
            log = self._world.disks.node(self.log).data
        except FileNotFoundError:
            return
        parts = _parts(log)
        if parts and parts[0] != self.number:
            raise duckdb.IOException(f"the log of {self.path} is not its own")
        for changes in parts[1:]:
            for name, arguments in changes:
                CHANGES[name](self.state, *arguments)

    def append(self, changes: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        """A commit: it is in the log, and the log's content lasts."""
        disks = self._world.disks
        self._world.seam()
        node = disks.create(self.log)
        start = b"" if node.data else pickled(self.number)
        disks.write(node, node.data + start + pickled(list(changes)))
        self._world.seam()
        node.sync()

    def checkpoint(self) -> None:
        """The file has everything, and the log goes."""
        self.number += 1
        self._write()
        self._world.seam()
        try:
            self._world.disks.unlink(self.log)
        except FileNotFoundError:
            return

    def _write(self) -> None:
        self._world.seam()
        node = self._world.disks.node(self.path)
        self._world.disks.write(node, pickled((self.number, self.state)))
        node.sync()


def pickled(value: Any) -> bytes:
    """A value as bytes, of a length that does not hang on which equal texts are one object: a tear's place does."""
    sink = io.BytesIO()
    pickler = pickle.Pickler(sink)
    pickler.fast = True
    pickler.dump(value)
    return sink.getvalue()


def _unpickled(content: bytes, path: str) -> Any:
    try:
        return pickle.loads(content)
    except (pickle.UnpicklingError, EOFError, ValueError, IndexError, AttributeError, ImportError, KeyError) as error:
        raise duckdb.IOException(f"{path} is no database") from error


def _parts(log: bytes) -> list[Any]:
    """What a log holds, up to where it is torn."""
    found, at = list[Any](), 0
    stream = io.BytesIO(log)
    while at < len(log):
        try:
            found.append(pickle.load(stream))
        except Exception:  # a torn pickle raises whatever its bytes happen to mean
            break
        at = stream.tell()
    return found


class Connection:
    """The part of DuckDB's connection that the writer uses."""

    world: World

    def __init__(self, **_: Any) -> None:
        self._bases: dict[str, Base] = {}
        self._pending: dict[str, list[tuple[str, tuple[Any, ...]]]] | None = None
        self._found: list[tuple[Any, ...]] = []

    def base(self, alias: str) -> Base:
        """An attached database."""
        return self._bases[alias]

    def change(self, alias: str, name: str, *arguments: Any) -> None:
        """Changes a database, in the transaction if there is one."""
        CHANGES[name](self._bases[alias].state, *arguments)
        if self._pending is None:
            self._bases[alias].append([(name, arguments)])
        else:
            self._pending.setdefault(alias, []).append((name, arguments))

    def execute(self, query: str, given: Sequence[Any] = ()) -> Connection:
        """Runs a statement that the model knows.

        Raises:
            NotImplementedError: it does not know this one.
        """
        self._found = self._answer(query, list(given)) or []
        return self

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        return self._found

    def close(self) -> None:
        """What was not committed is gone."""
        self._bases.clear()

    def _answer(self, query: str, given: list[Any]) -> list[tuple[Any, ...]] | None:
        if query.startswith("set "):
            return None
        if match := re.fullmatch(r"attach '(.+)' as (\w+) \((.*)\)", query):
            empty = index if match[2] == "ix" else lambda: {"shards": {}}
            self._bases[match[2]] = Base(self.world, match[1], empty)
            return None
        if match := re.fullmatch(r"(checkpoint|detach) (\w+)", query):
            if match[1] == "checkpoint":
                self._bases[match[2]].checkpoint()
            else:
                del self._bases[match[2]]
            return None
        if query in ("begin", "commit", "rollback"):
            return self._transaction(query)
        state = self._bases["ix"].state
        segment = self._bases["seg"].state if "seg" in self._bases else {}
        if query == script("index"):
            return self.change("ix", "create")
        if query == script("segment"):
            return None
        if query == "insert into ix.state values (?, ?)":
            return self.change("ix", "begin", *given)
        if query in ("select format from ix.state", "select revision from ix.state"):
            if not state or state["state"] is None:
                raise duckdb.CatalogException("there is no table ix.state")
            return [(state["state"]["format" not in query],)]
        if query == "update ix.state set revision = revision + 1":
            return self.change("ix", "revise")
        if query == "select shard, stamp from ix.bad":
            return [(key, stamp) for key, (_, stamp) in state["bad"].items()]
        if query == "delete from ix.bad where shard = ?":
            return self.change("ix", "drop", "bad", given[0])
        if query.startswith("insert into ix.bad "):
            return self.change("ix", "set", "bad", given[0], tuple(given[1:]))
        if query.startswith("insert into ix.records "):
            return self.change("ix", "add", "records", given[0], 1)
        known = {
            "select 'plans/' || plan_id || '.parquet' from ix.plans": [
                f"plans/{one}.parquet" for one in state["plans"]
            ],
            "select record from ix.retractions": state["retractions"],
            "select shard from ix.shards": state["shards"],
            "from ix.records": state["records"],
        }
        if query in known:
            return [(name,) for name in known[query]]
        if query == 'select coalesce(sum("rows"), 0) from seg.shards':
            return [(sum(rows for _, rows in segment["shards"].values()),)]
        if query.startswith("select table_name from duckdb_tables()"):
            return [(NAME,)]
        if query.startswith(f'select 1 from ix.rows."{NAME}" anti join seg.shards'):
            rows = (row for every in state["shards"].values() for of_shard in every for row in of_shard)
            return [(1,) for row in rows if row.curve >= given[0] and row.shard not in segment["shards"]][:1]
        raise NotImplementedError(f"the model of DuckDB does not know: {query}")

    def _transaction(self, query: str) -> None:
        if query == "begin":
            self._pending = {}
            return
        pending, self._pending = self._pending or {}, None
        for alias, changes in pending.items():
            if query == "commit":
                self._bases[alias].append(changes)
            else:
                self._bases[alias] = Base(self.world, self._bases[alias].path, index)


# applying records


def _created(plan: Plan) -> tuple[str, ...]:
    return plan.created, str(plan.provenance), str(plan.header()["batches"])


def _apply_plan(connection: Connection, plan: Plan, name: str) -> None:
    cells = tuple(plan.table["cell_id"].to_pylist())
    value = (plan.sweep_id, plan.name, plan.sequence, plan.recording.tokens, cells, _created(plan))
    connection.change("ix", "set", "plans", name, value)


def _replaced(connection: Connection, plan: Plan, name: str) -> bool:
    known = connection.base("ix").state["plans"].get(name)
    return known is not None and known[5] != _created(plan)


def _apply_retraction(connection: Connection, key: str, retraction: Retraction) -> None:
    connection.change("ix", "add", "retractions", key, retraction.reason)
    pairs = zip(retraction.table["cell_id"].to_pylist(), retraction.table["shard"].to_pylist(), strict=True)
    connection.change("ix", "take", list(pairs))


def _piece(name: str, size: int, header: Any, table: pa.Table) -> Any:
    """A shard taken apart."""
    columns = ("cell_id", "from_step", "to_step", "after_step", "final", "status", "attempt")
    run = f"{name[:-17]}@{header.host}:{header.pid}"
    rows = [
        Row(*values, header.sweep_id, run, name, place, header.recorded, header.finished)  # pyright: ignore[reportCallIssue]
        for place, values in enumerate(zip(*(table[column].to_pylist() for column in columns), strict=True))
    ]
    counted = SimpleNamespace(num_rows=len(rows), schema="rows", found=rows)
    return SimpleNamespace(
        name=name, experiment=header.experiment, rows=counted, curves=SimpleNamespace(schema="curves"), size=size
    )


def _apply_curves(connection: Connection, segment: int, pieces: Sequence[Any]) -> dict[str, int]:
    known = connection.base("seg").state["shards"]
    numbers: dict[str, int] = {}
    for piece in pieces:
        if piece.name not in known:
            first = max((low + rows for low, rows in known.values()), default=0)
            connection.change("seg", "set", "shards", piece.name, (first, piece.rows.num_rows))
        numbers[piece.name] = (segment << 32) + known[piece.name][0]
    return numbers


def _apply_rows(connection: Connection, pieces: Sequence[Any], numbers: Mapping[str, int]) -> None:
    for piece in pieces:
        rows = [
            Row(**{**{name: getattr(row, name) for name in Row.__slots__}, "curve": numbers[piece.name] + row.place})
            for row in piece.rows.found
        ]
        connection.change("ix", "add", "shards", piece.name, rows)


APPLY = SimpleNamespace(
    Piece=SimpleNamespace,
    apply_plan=_apply_plan,
    reapply_plan=_apply_plan,
    replaced=_replaced,
    apply_retraction=_apply_retraction,
    apply_derived=lambda connection, key, header, table: None,
    piece=_piece,
    make_tables=lambda connection, piece: None,
    apply_curves=_apply_curves,
    apply_rows=_apply_rows,
)
"""Stands in for `swingby.store.apply`."""


# reading


def lost_rows(rows: Sequence[Row]) -> set[Row]:
    """The rows of a cell that go on from what is in no row any more, by the rules of `store/sql/resolve.sql`."""
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.first, row.shard, row.place)):
        runs.setdefault((row.sweep, row.run), []).append(row)
    stretches: list[list[Row]] = []
    for of_run in runs.values():
        before: Row | None = None
        for row in of_run:
            goes_on = before is not None and row.after is not None and before.first <= row.after <= before.last
            if before is None or (row.after is not None and not goes_on):
                stretches.append([])
            stretches[-1].append(row)
            before = row
    sound: list[int] = []
    while True:
        more = [
            k
            for k, rows_ in enumerate(stretches)
            if k not in sound
            and (
                rows_[0].after is None
                or any(
                    stretches[q][0].sweep == rows_[0].sweep
                    and stretches[q][0].first <= rows_[0].after <= max(row.last for row in stretches[q])
                    and (stretches[q][0].attempt < rows_[0].attempt or (stretches[q][0].run == rows_[0].run and q < k))
                    for q in sound
                )
            )
        ]
        if not more:
            return {row for k, rows_ in enumerate(stretches) if k not in sound for row in rows_}
        sound += more


def heads(rows: Sequence[Row], taken: set[tuple[str, str]]) -> dict[tuple[str, ...], Row]:
    """The result of a cell for each recording, by the rules of `store/sql/resolve.sql`."""
    there = [row for row in rows if (row.cell, row.shard) not in taken]
    lost = lost_rows(there)
    found: dict[tuple[str, ...], Row] = {}
    for row in sorted((row for row in there if row not in lost), key=_age):
        found.setdefault(row.recorded, row)
    return found


def _age(row: Row) -> tuple[Any, ...]:
    return (
        not row.final,
        row.final and row.status == "failed",
        0 if row.final else -row.attempt,
        row.finished if row.final else "~",
        0 if row.final else -row.last,
        row.shard,
        row.place,
    )


class SimStore:
    """A reader of the newest published generation."""

    world: World

    def __init__(self, layout: Layout) -> None:
        self.layout: Layout | None = layout
        self.state: dict[str, Any] = {}
        self.segments: dict[str, Any] = {}
        self.number = 0
        self._move_on()
        self.world.happened()

    def _move_on(self) -> None:
        """Reads the newest generation, as the real one does before each query."""
        layout = self.layout
        if layout is None:
            return
        before = 0
        while True:
            newest = layout.newest()
            if newest is None:
                raise SwingbyError(f"nothing was ever ingested in {layout.root}")
            try:
                states = {name: self._read(path) for name, path in layout.paths(newest).items()}
            except FileNotFoundError as error:
                if newest.number == before:
                    raise BrokenError(f"a reader finds a generation without {error.filename}") from error
                before = newest.number  # as the real one: another generation may be published meanwhile
                continue
            self.state, self.segments, self.number = states.pop("ix"), states, newest.number
            return

    def _read(self, path: Path) -> dict[str, Any]:
        self.world.seam()
        try:
            return pickle.loads(self.world.disks.node(str(path)).data)[1]
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError) as error:
            raise BrokenError(f"a reader finds {path.name} half-written") from error

    @classmethod
    def open(cls, data: Any) -> SimStore:
        """The store of a data folder."""
        return cls(Layout(Records.open(data, create=False).data))

    @staticmethod
    def release_held() -> None:
        """Nothing is held open."""

    def __enter__(self) -> SimStore:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def rows(self) -> dict[str, list[Row]]:
        """Every row, by its cell."""
        found: dict[str, list[Row]] = {}
        for every in self.state["shards"].values():
            for of_shard in every:
                for row in of_shard:
                    found.setdefault(row.cell, []).append(row)
        return found

    def whole(self) -> bool:
        """Whether each row has its curve in a segment."""
        return all(
            row.shard in self.segments.get(f"seg{row.curve >> 32}", {"shards": {}})["shards"]
            for rows in self.rows().values()
            for row in rows
        )

    def states(self, experiment: str, ids: pa.Array, tokens: Sequence[str], failing: Any = None) -> np.ndarray:
        """As the real one."""
        self._move_on()
        rows, letters = self.rows(), []
        for cell in ids.to_pylist():
            there = [row for row in rows.get(cell, []) if (cell, row.shard) not in self.state["taken"]]
            lost = lost_rows(there)
            final = [row for row in there if row.final and row not in lost and set(tokens) <= set(row.recorded)]
            done = any(row.status != "failed" for row in final)
            letters.append("d" if done else "f" if final else "m")
        return np.array(letters, "U1")

    def shards_of(self, experiment: str, cells: Sequence[str], tokens: Sequence[str] = ()) -> pa.Table:
        """As the real one."""
        self._move_on()
        rows = self.rows()
        pairs = sorted({(cell, row.shard) for cell in cells for row in rows.get(cell, [])} - self.state["taken"])
        names = ("cell_id", "shard")
        return pa.table({name: pa.array([pair[k] for pair in pairs], pa.string()) for k, name in enumerate(names)})

    def misfits(self, *_: Any) -> list[str]:
        """None."""
        return []

    def sql(self, query: str, given: Any = ()) -> Any:
        """The sweeps that have some of these cells (`retract.AFFECTED`), and nothing else."""
        from swingby.maintenance.retract import AFFECTED

        assert query == AFFECTED, query
        self._move_on()
        found: dict[str, tuple[str, set[str]]] = {}
        for sweep_id, name, _, _, cells, _ in self.state["plans"].values():
            found.setdefault(sweep_id, (name, set()))[1].update(cells)
        wanted = set(given["cells"]) or found.get(given["sweep"], ("", set()))[1]
        affected = [
            SimpleNamespace(sweep_id=sweep_id, name=name, cells=len(cells & wanted))
            for sweep_id, (name, cells) in sorted(found.items())
            if cells & wanted
        ]
        return SimpleNamespace(rows=lambda: affected)

    @classmethod
    def of(cls, state: dict[str, Any]) -> SimStore:
        """A reader of this state."""
        store = cls.__new__(cls)
        store.state, store.segments, store.number, store.layout = state, {}, 0, None
        return store

    def answer(self) -> dict[str, Any]:
        """What it says, apart from when and how that came: what a store made again has to say, too."""
        every = {
            cell: {" ".join(tokens): (row.shard, row.status, row.final) for tokens, row in sorted(of_cell.items())}
            for cell, rows in sorted(self.rows().items())
            if (of_cell := heads(rows, self.state["taken"]))
        }
        return {
            "cells": every,
            "plans": {name: value[:5] for name, value in sorted(self.state["plans"].items())},
            "shards": {name: len(times) for name, times in sorted(self.state["shards"].items())},
            "records": {name: len(times) for name, times in sorted(self.state["records"].items())},
            "retractions": {name: len(times) for name, times in sorted(self.state["retractions"].items())},
        }


class Memory(Connection):
    """A connection whose databases are in memory."""

    def __init__(self) -> None:
        super().__init__()
        self._bases = {"ix": SimpleNamespace(state=index()), "seg": SimpleNamespace(state={"shards": {}})}  # type: ignore

    def change(self, alias: str, name: str, *arguments: Any) -> None:
        CHANGES[name](self._bases[alias].state, *arguments)


def made_of(records: Records) -> dict[str, Any]:
    """What a store has to say that is made of these records, without any protocol."""
    memory = Memory()
    for plan in records.plans():
        _apply_plan(memory, records.read_plan(plan), plan)
    for name in records.retractions():
        _apply_retraction(memory, f"retractions/{name}", records.read_retraction(name))
    for name in records.shards():
        piece = _piece(name, 0, *records.read_shard(name))
        _apply_rows(memory, [piece], _apply_curves(memory, 0, [piece]))
    for name in records.derived():
        memory.change("ix", "add", "records", f"derived/{name}", 1)
    return SimStore.of(memory.base("ix").state).answer()
