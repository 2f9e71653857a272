"""Sweeps and cells by the names that people type, and the rows of a sweep as one table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.model import registry
from swingby.model.columns import STANDARD
from swingby.model.detector import OutcomeKind
from swingby.store.functions import adopt_declared, learn_columns
from swingby.store.reader import Store
from swingby.store.views import EXPRESSIONS, OF_SHARD, OUTCOMES_OF, quoted
from swingby.sweepfile.parameters import split
from swingby.sweepfile.sweep import Sweep
from swingby.text import fitted

SHORTEST_ID = 6
"""Digits of an id that are enough to name a sweep or a cell."""
STAMP = 8
"""Digits of an id that are shown."""
KINDS: Mapping[str, OutcomeKind] = {"BOOLEAN": "yes_no", "VARCHAR": "category"}
"""How outcomes of these types are drawn; any other one is a number."""


@dataclass(frozen=True, slots=True)
class KnownSweep:
    """A sweep that the store knows.

    Attributes:
        created: when its newest plan was made, in UTC.
        written: the name in its file, which is another one where it was renamed here.
        namesakes: the other sweeps of this name, the newest first.
        newest: whether none of them is newer.
    """

    sweep_id: str
    name: str
    experiment: str
    cells: int
    created: datetime
    written: str
    namesakes: tuple[KnownSweep, ...] = field(default=(), repr=False)
    newest: bool = True

    @property
    def stamp(self) -> str:
        """What tells it from others of its name: "1a2b3c4d of 2026-11-28 14:03"."""
        return stamp(self.sweep_id, self.created)

    @property
    def folder(self) -> str:
        """The name of a folder for what is drawn of it, which no other sweep here has."""
        return self.name if self.newest else f"{self.name}-{self.sweep_id[:STAMP]}"

    @property
    def choice(self) -> str:
        """Which sweep of its name this is, and how to name the others; "" where it is the only one."""
        if not self.namesakes:
            return ""
        others = ", ".join(one.stamp for one in self.namesakes)
        count = 1 + len(self.namesakes)
        return f"{count} sweeps are called {self.name}: this is {self.stamp}; in place of the name give {others}"


def stamp(sweep_id: str, created: datetime) -> str:
    """What tells a sweep from others of its name: the first digits of its id, and when its newest plan was made."""
    return f"{sweep_id[:STAMP]} of {created:%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class Written:
    """An outcome that a sweep file writes as an expression, as far as the store has it.

    Attributes:
        expression: its text.
        table: the derived table with its values: `cell_id`, `value`, and the shard of the row they were computed from.
        kind: how it is drawn.
    """

    expression: str
    table: str
    kind: OutcomeKind


def written_outcomes(store: Store, sweep_id: str) -> dict[str, Written]:
    """The outcomes that a sweep's file writes, by name: those of which the store has values."""
    experiment = store.sql("select any_value(experiment) as name from sweeps where sweep_id = ?", [sweep_id]).rows()
    view = f"{OUTCOMES_OF}{experiment[0].name}"
    if EXPRESSIONS not in store.names() or view not in store.names():
        return {}
    query = f"""select outcome, expression, table_name from {EXPRESSIONS}
                where sweep_id = ? and expression is not null order by outcome"""
    types, outcomes = store.columns(view), dict[str, Written]()
    for row in store.sql(query, [sweep_id]).rows():
        type_ = store.columns(row.table_name).get("value")
        if row.outcome in types and type_ is not None:
            outcomes[row.outcome] = Written(row.expression, row.table_name, KINDS.get(type_, "number"))
    return outcomes


def known_sweeps(store: Store) -> list[KnownSweep]:
    """Every sweep of the store, the newest first."""
    rows = store.sql(
        """select sweep_id, s.name, s.experiment, s.cells, s.created, p.written
           from sweeps s join (select sweep_id, any_value(name) as written from plans group by sweep_id) p
           using (sweep_id) order by created desc, sweep_id"""
    ).rows()
    known = [KnownSweep(row.sweep_id, row.name, row.experiment, row.cells, row.created, row.written) for row in rows]
    of_name: dict[str, list[KnownSweep]] = {}
    for one in known:
        of_name.setdefault(one.name, []).append(one)
    return [
        replace(one, namesakes=tuple(other for other in of_name[one.name] if other is not one),
                newest=of_name[one.name][0] is one)
        for one in known
    ]  # fmt: skip


def find_sweep(store: Store, sweep: str, sole: bool = False) -> KnownSweep:
    """The sweep behind a name, an id, the first digits of an id, or a sweep file.

    Of several sweeps of one name it is the newest, and standard error says so, once a process. A sweep that was renamed
    is also known by the name in its file, as long as no other sweep has it. An experiment that is a function is known
    to this process afterwards, without its code, with the columns that its results have.

    Args:
        sole: refuse a name that several sweeps have.

    Raises:
        SwingbyError: none fits, or an id's first digits fit several, or a name does and `sole` is set.
    """
    known = known_sweeps(store)
    sweep_row = _matching(known, sweep)
    if sweep_row.namesakes and sweep in (sweep_row.name, sweep_row.written):
        if sole:
            listed = ", ".join(one.stamp for one in (sweep_row, *sweep_row.namesakes))
            count = 1 + len(sweep_row.namesakes)
            raise SwingbyError(f"{count} sweeps are called {sweep}; name one by the first digits of its id: {listed}")
        if sweep_row.sweep_id not in _chosen:
            _chosen.add(sweep_row.sweep_id)
            sys.stderr.write(f"{fitted(sweep_row.choice, sys.stderr)}\n")
    (row,) = store.sql("select resolved from sweeps where sweep_id = ?", [sweep_row.sweep_id]).rows()
    adopt_declared(sweep_row.experiment, json.loads(row.resolved))
    if not registry.known(sweep_row.experiment):
        return sweep_row
    experiment = registry.experiment(sweep_row.experiment)
    if isinstance(experiment, FunctionExperiment) and sweep_row.experiment in store.names():
        learn_columns(store, experiment)
    return sweep_row


_chosen = set[str]()
"""Ids of the sweeps of which this process has said that they are the newest of their name."""


def _matching(known: Sequence[KnownSweep], sweep: str) -> KnownSweep:
    if sweep.endswith((".yaml", ".yml")):
        loaded = Sweep.load(sweep, confirm_above=None)
        matches = [item for item in known if item.sweep_id == loaded.sweep_id]
        if not matches:
            raise SwingbyError(f"{sweep} (sweep id {loaded.sweep_id}) has not been run here: swingby run {sweep}")
        return matches[0]
    named = [item for item in known if item.name == sweep] or [item for item in known if item.written == sweep]
    if named:
        return named[0]
    by_id = [item for item in known if len(sweep) >= SHORTEST_ID and item.sweep_id.startswith(sweep)]
    if len(by_id) > 1:
        raise SwingbyError(f"{sweep} fits several sweeps: {', '.join(item.sweep_id for item in by_id)}")
    if by_id:
        return by_id[0]
    raise SwingbyError(f"no sweep {sweep!r} here; {registry.nearest(sweep, sorted({item.name for item in known}))}")


def find_cell(store: Store, start: str) -> tuple[str, str]:
    """The full id of a cell, from its first digits, and its experiment.

    Raises:
        SwingbyError: none fits, or several do.
    """
    experiments = sorted({item.experiment for item in known_sweeps(store)})
    cells: list[tuple[str, str]] = []
    for name in (name for name in experiments if name in store.names()):
        query = f"select cell_id from {quoted(name)} where starts_with(cell_id, ?) limit 3"
        cells += [(row.cell_id, name) for row in store.sql(query, [start]).rows()]
    if not cells:
        raise SwingbyError(f"no cell {start!r} has a row here; ids: swingby sql 'select cell_id from members limit 5'")
    if len(cells) > 1:
        raise SwingbyError(
            f"{start!r} fits several cells ({', '.join(cell for cell, _ in cells)}, ...): give more digits"
        )
    return cells[0]


def sweep_rows(data: Path, sweep: str, points: bool = False) -> pa.Table:
    """Every cell of a sweep with its outcomes (or every recorded point), as one table.

    Raises:
        SwingbyError: no such sweep, or no data folder.
    """
    with sweep_stream(data, sweep, points) as tables:
        return pa.concat_tables(tables)


@contextmanager
def sweep_stream(data: Path, sweep: str, points: bool = False) -> Iterator[Iterator[pa.Table]]:
    """The rows of `sweep_rows`, some at a time; see `Store.stream`.

    Raises:
        SwingbyError: no such sweep, or no data folder.
    """
    with Store.open(data) as store:
        known = find_sweep(store, sweep)
        with store.stream(_rows_of(store, known, points), [known.sweep_id]) as tables:
            yield tables


def _rows_of(store: Store, known: KnownSweep, points: bool) -> str:
    """The query of `sweep_stream`; its parameter is the id of the sweep."""
    name = known.experiment
    if points:
        return (
            f"select p.* from {quoted(name + '_points')} p "
            "semi join members m on m.cell_id = p.cell_id and m.sweep_id = ?"
        )
    tables = [f"outcomes_{item.name}" for item in registry.detectors_for(name)]
    tables = [table for table in tables if table in store.names()]
    written = written_outcomes(store, known.sweep_id)
    outcomes = [f"{quoted(one.table)}.value as {quoted(outcome)}" for outcome, one in written.items()]
    outcomes += [
        f"{quoted(table)}.{quoted(column)}"
        for table in tables
        for column in store.columns(table)
        if column not in ("cell_id", OF_SHARD)
    ]
    joined = dict.fromkeys(map(quoted, [*tables, *(one.table for one in written.values())]))
    columns = _in_order(store, known, outcomes)
    # Outcomes of the very row that is the cell's result; which row that is, `e.shard` says already.
    joins = " ".join(
        f"left join {table} on {table}.cell_id = e.cell_id and {table}.{OF_SHARD} = e.shard" for table in joined
    )
    return (
        f"select {', '.join(columns)} from members m join {quoted(name)} e on e.cell_id = m.cell_id {joins} "
        "where m.sweep_id = ? order by m.point, e.seed"
    )


def _in_order(store: Store, known: KnownSweep, outcomes: Sequence[str]) -> list[str]:
    """The columns of a sweep's rows: parameters (those on axes first), outcomes, scalars, seed, curves, the rest."""
    (row,) = store.sql("select resolved from sweeps where sweep_id = ?", [known.sweep_id]).rows()
    resolved, types = json.loads(row.resolved), store.columns(known.experiment)
    on_axes = [split(name)[0] for axis in resolved["axes"] for name in axis["names"]]
    params = [*on_axes, *registry.experiment(known.experiment).Params.model_fields]
    params = [name for name in dict.fromkeys(params) if name in types]
    platforms = {*STANDARD, store.last_step(known.experiment)}
    results = [name for name in types if name not in platforms and name not in params]
    curves = [name for name in results if types[name].endswith("]")]
    scalars = [name for name in results if name not in curves]
    step = ["step"] if "step" in types else []
    first = [*params, *scalars, "seed", "status", *step, *curves]
    rest = [f"e.{quoted(name)}" for name in types if name not in first]

    def of(names: Iterable[str]) -> list[str]:
        return [f"e.{quoted(name)}" for name in names]

    return [*of(params), *outcomes, *of([*scalars, "seed", "status", *step, *curves]), "m.point", *rest]
