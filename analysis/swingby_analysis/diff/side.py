"""One of the two sweeps that are compared: what it was asked to train, and every cell of it that has come to an end."""

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
from swingby.model import registry
from swingby.model.detector import OutcomeKind
from swingby.run.outcomes import SHARD, derive, refresh
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.query import Query, ask

OWN = ("cell_id", "seed", "seed_mode", "status", "message", "shard")
"""Columns that every experiment's table has, as far as they are read here."""
FINISHED = ("ok", "diverged")
"""Statuses of cells with a result."""


@dataclass(frozen=True)
class Side:
    """One sweep of the comparison.

    Attributes:
        letter: A or B.
        data: its data folder.
        store: which is open.
        sweep: the store's row of it, with `resolved` as a dict.
        roles: what each column of its experiment is: parameter, scalar or curve.
        types: what DuckDB calls the type of each column.
        cells: a row a cell that has come to an end: point, preset, seed, status, parameters, scalars, outcomes.
        kinds: the outcomes that it has, each with how it is drawn.
        begun: cells that have rows and no end yet.
        origins: which plans computed it.
        warnings: what a reader must know first.
        queries: what was asked.
    """

    letter: str
    data: Path
    store: Store
    sweep: Mapping[str, Any]
    roles: Mapping[str, str]
    types: Mapping[str, str]
    cells: pl.DataFrame
    kinds: Mapping[str, OutcomeKind]
    begun: int
    origins: Sequence[Mapping[str, Any]]
    warnings: Sequence[str]
    queries: Sequence[Query]

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep, as its plan keeps it."""
        return self.sweep["resolved"]

    @property
    def experiment(self) -> str:
        """What it is a sweep over."""
        return self.sweep["experiment"]

    @property
    def planned(self) -> int:
        """How many cells it has, finished or not."""
        return int(self.sweep["cells"])

    @property
    def ended(self) -> int:
        """How many of them have come to an end."""
        return self.cells.height

    @property
    def parameters(self) -> list[str]:
        """The parameters that its cells have as columns."""
        return [name for name, role in self.roles.items() if role == "parameter"]

    @property
    def axes(self) -> list[str]:
        """What varies in it, as its sweep file names it."""
        return [name for axis in self.resolved["axes"] for name in axis["names"]]

    @property
    def title(self) -> str:
        """Its letter, name and id."""
        return f"{self.letter} ({self.sweep['name']} {self.sweep['sweep_id']})"


def waited_for(*sides: Side) -> Iterator[str]:
    """Of each side that is not finished, how far it is."""
    for side in sides:
        if side.ended < side.planned:
            rest = max(0, side.planned - side.ended - side.begun)
            waiting = f"{side.begun:,} under way, {rest:,} not begun"
            yield f"{side.letter} is not finished: {side.ended:,} of {side.planned:,} cells have ended ({waiting})."


def prepare(data: Path, sweeps: Sequence[str]) -> list[str]:
    """Folds what is new in a data folder and shows the detectors the cells they have not seen; says what failed.

    What is kept already can be compared even where this fails, as in a folder that may not be written.

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
        failed.append(f"{data}: not every outcome could be told: {error}")
    return failed


def read(letter: str, store: Store, data: Path, sweep: str, warnings: Sequence[str] = ()) -> Side:
    """Everything but the curves of one sweep.

    Raises:
        SwingbyError: no such sweep, or no cell of it has come to an end.
    """
    found = find_sweep(store, sweep)
    queries = {"sweep": Query("diff/sweep", (found.sweep_id,)), "columns": Query("diff/columns", (found.experiment,))}
    row = ask(store, queries["sweep"]).row(0, named=True)
    tables = store.tables()
    if found.experiment not in tables:
        raise _nothing(letter, found.name, found.cells)
    roles = {name: role for name, role, _ in ask(store, queries["columns"]).iter_rows()}
    types = dict(tables[found.experiment])
    wanted = [name for name in types if name in OWN or roles.get(name) in ("parameter", "scalar")]
    here = (found.sweep_id, found.experiment)
    queries |= {"cells": Query("diff/cells", (*here, tuple(wanted)))}
    queries |= {"begun": Query("diff/begun", here), "origins": Query("diff/origins", here)}
    cells = ask(store, queries["cells"])
    if cells.is_empty():
        raise _nothing(letter, found.name, found.cells)
    cells, kinds, asked = _with_outcomes(store, found.sweep_id, found.experiment, cells)
    return Side(
        letter=letter,
        data=data,
        store=store,
        sweep={**row, "resolved": json.loads(row["resolved"])},
        roles=roles,
        types=types,
        cells=cells,
        kinds=kinds,
        begun=int(ask(store, queries["begun"]).item()),
        origins=ask(store, queries["origins"]).to_dicts(),
        warnings=[*warnings, *_recorded(letter, store, found.sweep_id)],
        queries=[*queries.values(), *asked],
    )


def _nothing(letter: str, name: str, cells: int) -> SwingbyError:
    return SwingbyError(
        f"{letter}: sweep {name!r} has no finished cell yet, of {cells:,}; `swingby run {name}` trains them, "
        "`swingby status` says how far it is"
    )


def _with_outcomes(
    store: Store, sweep_id: str, experiment: str, cells: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, OutcomeKind], list[Query]]:
    """The cells with what the installed version of each detector says of the very row that stands for the cell."""
    kinds, queries, tables = dict[str, OutcomeKind](), list[Query](), store.tables()
    for detector in registry.detectors_for(experiment):
        table = f"outcomes_{detector.name}_all"
        names = [name for name, _ in tables.get(table, ()) if name in detector.kinds and name not in cells.columns]
        if not names:
            continue
        query = Query("diff/outcomes", (sweep_id, table, detector.version, ("cell_id", SHARD, *names)))
        told = ask(store, query).rename({SHARD: "shard"})
        cells = cells.join(told, on=["cell_id", "shard"], how="left", maintain_order="left")
        kinds |= {name: detector.kinds[name] for name in detector.kinds if name in names}
        queries.append(query)
    return cells, kinds, queries


def _recorded(letter: str, store: Store, sweep_id: str) -> list[str]:
    found = recorded_results(store, sweep_id)
    return [] if found is None else [f"{letter}: {found}"]
