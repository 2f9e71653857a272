"""One of the two sweeps that are compared: its plan, and every cell of it that has come to an end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from swingby.archive import recorded_results
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.imports.notice import imported_results
from swingby.model import registry
from swingby.model.detector import OutcomeKind
from swingby.run.outcomes import SHARD, derive, refresh
from swingby.store import Store
from swingby.store.lookup import KnownSweep, Written, find_sweep
from swingby.store.refined import only_refined
from swingby.store.sql import quoted
from swingby_analysis.query import Query, ask
from swingby_analysis.report.data import typed
from swingby_analysis.report.outcomes import asked_outcome, current, outcomes_of, with_written

CELL_COLUMNS = ("cell_id", "seed", "seed_mode", "status", "message", "shard")
"""Columns that the table of every experiment has, as far as they are read here."""
FINISHED = ("ok", "diverged")
"""Statuses of cells with a result."""


@dataclass(frozen=True)
class Side:
    """One sweep of the comparison.

    Attributes:
        letter: A or B.
        data: its data folder.
        store: the open store of that folder.
        sweep: the store's row of the sweep, with `resolved` as a dict.
        roles: what each column of its experiment is: parameter, scalar or curve.
        types: DuckDB's name of each column's type.
        cells: a row a cell that has come to an end: point, preset, seed, status, parameters, scalars, outcomes.
        kinds: the outcomes that its cells have, and whether each is yes/no, a number or a category.
        written: those of them that the sweep's file writes.
        in_progress: cells that have rows and no final one.
        origins: a row for each plan that computed cells of it.
        warnings: what a reader must know first.
        queries: the queries that read all this.
    """

    letter: str
    data: Path
    store: Store
    sweep: Mapping[str, Any]
    roles: Mapping[str, str]
    types: Mapping[str, str]
    cells: pl.DataFrame
    kinds: Mapping[str, OutcomeKind]
    written: Mapping[str, Written]
    in_progress: int
    origins: Sequence[Mapping[str, Any]]
    warnings: Sequence[str]
    queries: Sequence[Query]

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep as its newest plan has it."""
        return self.sweep["resolved"]

    @property
    def experiment(self) -> str:
        """The experiment that the sweep is over."""
        return self.sweep["experiment"]

    @property
    def planned(self) -> int:
        """How many cells the sweep has, finished or not."""
        return int(self.sweep["cells"])

    @property
    def ended(self) -> int:
        """How many of its cells have come to an end."""
        return self.cells.height

    @property
    def parameters(self) -> list[str]:
        """The parameters that its cells have as columns."""
        return [name for name, role in self.roles.items() if role == "parameter"]

    @property
    def axes(self) -> list[str]:
        """The parameters that vary in the sweep, as its sweep file names them."""
        return [name for axis in self.resolved["axes"] for name in axis["names"]]

    @property
    def title(self) -> str:
        """Letter, name and id of the sweep, such as "A (walks 0123456789abcdef)"."""
        return f"{self.letter} ({self.sweep['name']} {self.sweep['sweep_id']})"


def unfinished(*sides: Side) -> Iterator[str]:
    """A sentence for each side that is not finished: how far it is."""
    for side in sides:
        if side.ended < side.planned:
            pending = max(0, side.planned - side.ended - side.in_progress)
            rest = f"{side.in_progress:,} in progress, {pending:,} pending"
            yield f"{side.letter} is not finished: {side.ended:,} of {side.planned:,} cells have ended ({rest})."


def prepare(data: Path, sweeps: Sequence[str]) -> list[str]:
    """Ingests new records of a data folder and runs the detectors on new cells; returns a warning for what failed.

    Cells that the store has already can be compared even where this fails, as in a folder that may not be written.

    Raises:
        SwingbyError: there is no such data folder, or no such sweep in it.
    """
    records, failed = Records.open(data, create=False), list[str]()
    try:
        as_published = refresh(records)
        failed += [] if as_published is None else [f"{data}: {as_published}"]
    except SwingbyError as error:
        failed.append(f"{data}: new files were not taken into the store: {error}")
    with Store.open(records.data) as store:
        ids = [find_sweep(store, sweep).sweep_id for sweep in sweeps]
    try:
        derive(records, ids)
    except SwingbyError as error:
        failed.append(f"{data}: some outcomes could not be computed: {error}")
    return failed


def read(letter: str, store: Store, data: Path, sweep: str, warnings: Sequence[str] = ()) -> Side:
    """Reads everything but the curves of one sweep.

    Raises:
        SwingbyError: no such sweep, or no cell of it has come to an end.
    """
    known = find_sweep(store, sweep)
    queries = {"sweep": Query("sweep", (known.sweep_id,)), "columns": Query("diff/columns", (known.experiment,))}
    row = ask(store, queries["sweep"]).row(0, named=True)
    resolved = json.loads(row["resolved"])
    row = {**row, "resolved": resolved}
    types = store.columns(known.experiment)
    if not types:
        raise _no_cell(letter, row)
    roles = {name: role for name, role, _ in ask(store, queries["columns"]).iter_rows()}
    for name in _unrecorded(store, known, [name for name, role in roles.items() if role == "curve" and name in types]):
        del roles[name]
    columns = [name for name in types if name in CELL_COLUMNS or roles.get(name) in ("parameter", "scalar")]
    here = (known.sweep_id, known.experiment)
    queries |= {"cells": Query("diff/cells", (*here, tuple(columns)))}
    queries |= {"in progress": Query("diff/in_progress", here), "origins": Query("origins", here)}
    cells = ask(store, queries["cells"])
    if cells.is_empty():
        raise _no_cell(letter, row)
    cells, kinds, of_outcomes = _with_outcomes(store, known.sweep_id, known.experiment, cells)
    written = {name: one for name, one in current(store, known.sweep_id, resolved).items() if name not in cells.columns}
    cells, of_written = with_written(store, known.sweep_id, cells, written)
    kinds |= {name: one.kind for name, one in written.items()}
    of_outcomes += of_written.values()
    outcome = asked_outcome(resolved)
    if outcome is not None and outcome not in kinds and outcome in cells.columns:  # a scalar
        drawn = outcomes_of(known.experiment, diagram_outcome=outcome).get(outcome)
        kinds |= {} if drawn is None else {outcome: drawn.kind}
    notes = [
        str(one) for one in (recorded_results(store, known.sweep_id), imported_results(store, known.sweep_id)) if one
    ]
    refined = only_refined(store, known.sweep_id)
    if refined is not None:
        notes.append(
            f"it is {refined.spent}: only points and seeds that both sides have are compared, few where the side of "
            "the line was soon known."
        )
    return Side(
        letter=letter,
        data=data,
        store=store,
        sweep=row,
        roles=roles,
        types=types,
        cells=cells,
        kinds=kinds,
        written=written,
        in_progress=int(ask(store, queries["in progress"]).item()),
        origins=ask(store, queries["origins"]).to_dicts(),
        warnings=[*warnings, *(f"{letter}: {one}" for one in notes)],
        queries=[*queries.values(), *of_outcomes],
    )


def _unrecorded(store: Store, sweep: KnownSweep, curves: Sequence[str]) -> list[str]:
    """The curves that no cell of the sweep has recorded, where other sweeps over its cells have."""
    if sweep.experiment not in store.differing() or not curves:
        return []
    counts = ", ".join(f"count({quoted(name)}) as {quoted(name)}" for name in curves)
    condition = "cell_id in (select cell_id from members where sweep_id = ?)"
    counted = store.sql(f"select {counts} from {quoted(sweep.experiment)} where {condition}", [sweep.sweep_id])
    return [name for name, count in counted.arrow().to_pylist()[0].items() if not count]


def _no_cell(letter: str, sweep: Mapping[str, Any]) -> SwingbyError:
    return SwingbyError(
        f"{letter}: sweep {sweep['name']!r} has no finished cell yet, of {sweep['cells']:,}; `swingby run "
        f"{typed(sweep)}` trains them, `swingby status` shows how far it is"
    )


def _with_outcomes(
    store: Store, sweep_id: str, experiment: str, cells: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, OutcomeKind], list[Query]]:
    """The cells with the outcomes that the installed version of each detector wrote of the very row that stands for
    the cell; the kinds of these outcomes, and the queries."""
    kinds, queries = dict[str, OutcomeKind](), list[Query]()
    for detector in registry.detectors_for(experiment):
        table = f"outcomes_{detector.name}_all"
        names = [name for name in store.columns(table) if name in detector.kinds and name not in cells.columns]
        if not names:
            continue
        query = Query("diff/outcomes", (sweep_id, table, detector.version, ("cell_id", SHARD, *names)))
        outcomes = ask(store, query).rename({SHARD: "shard"})
        cells = cells.join(outcomes, on=["cell_id", "shard"], how="left", maintain_order="left")
        kinds |= {name: detector.kinds[name] for name in detector.kinds if name in names}
        queries.append(query)
    return cells, kinds, queries
