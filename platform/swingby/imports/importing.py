"""Imports: runs that were trained elsewhere become cells of an experiment without code, each exactly once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.imports.cells import Cells, cells_of
from swingby.imports.layout import ColumnRoles, layout_of
from swingby.imports.reading import RunsFile
from swingby.imports.summary import MOST_SHOWN, Imported
from swingby.imports.sweep import Presented, SweepOfCells, declaration, hashable, meanings, presented
from swingby.imports.tools.opening import open_runs
from swingby.imports.tools.run import Hints
from swingby.imports.writing import write
from swingby.model import registry
from swingby.model.cell import SeedMode
from swingby.options import option
from swingby.run.commit_lock import planning_lock
from swingby.store import Store, ingest
from swingby.store.sql import quoted
from swingby.store.tables import check_name
from swingby.sweepfile.loader import SLUG


@dataclass(frozen=True)
class ImportRequest:
    """What the user wants of an import.

    Attributes:
        experiment: the experiment's name, and that of the table with its cells; "": after the runs.
        roles: what the columns of the file mean.
        name: of the sweep; None: the experiment's.
        outcomes: what its maps draw, see `presented`; (): as before, else the first result.
        seed_mode: whether points share a seed's random draws; None: as before, or as the file says, else not.
        replace: take back cells that the file has with other values.
        hints: what is said of runs that are no rows of a table.
    """

    experiment: str
    roles: ColumnRoles = field(default_factory=ColumnRoles)
    name: str | None = None
    outcomes: tuple[str, ...] = ()
    seed_mode: SeedMode | None = None
    replace: bool = False
    hints: Hints = field(default_factory=Hints)

    @property
    def sweep(self) -> str:
        """The name of the sweep."""
        return self.name or self.experiment.replace("_", "-").strip("-")


@dataclass(frozen=True)
class Before:
    """What a data folder has of an experiment that was imported.

    Attributes:
        params: kind of each parameter; None: nothing was imported.
        mode: of the seeds.
        roles: "curve" or "scalar" for each result.
        meanings: what is said of each result.
        rows: of each cell with a final row, that row by the cell's id.
        presented: how the newest sweep of the name is shown; None: there is none.
        members: the cells of that sweep that have a final row.
        optional: the parameters that some runs had no value of.
    """

    params: Mapping[str, str] | None = None
    mode: SeedMode | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    presented: Presented | None = None
    members: Sequence[str] = ()
    optional: frozenset[str] = frozenset()


def import_runs(
    data: str | Path, path: Path | Sequence[Path], request: ImportRequest, dry_run: bool = False
) -> Imported:
    """Imports the runs of a file, or of what another tool left; a second import adds nothing.

    Args:
        data: the data folder, which is made if it is missing.
        path: a CSV, Parquet or JSON file: a row a step, or a row a run; or a file or folder of another tool; or several
            files.
        dry_run: write nothing.

    Raises:
        SwingbyError: the file cannot be read or has faults, which are named with their rows; the experiment is one that
            is installed or trained here; or cells have other values than before.
    """
    hints = replace(request.hints, params=bool(request.roles.params))
    with open_runs([path] if isinstance(path, Path) else path, hints) as file:
        if not request.experiment:
            request = replace(request, experiment=experiment_of(file))
        return _import(data, file, request, dry_run)


def _import(data: str | Path, file: RunsFile, request: ImportRequest, dry_run: bool) -> Imported:
    check_name(request.experiment, "experiment")
    if not SLUG.fullmatch(request.sweep):
        raise SwingbyError(
            f"{request.sweep!r} cannot name a sweep; allowed: up to 64 of a-z, 0-9 and -: {option('name')} gives one"
        )
    if request.experiment in registry.offered(registry.EXPERIMENTS):
        raise SwingbyError(
            f"the experiment {request.experiment!r} is installed: imported runs need a name of their own"
        )
    if dry_run and not (Path(data) / "swingby.json").exists():
        return _read(file, request, Before())[0]
    records = Records.open(data, create=not dry_run)
    if dry_run:
        with Store.open(records.data) as store:
            return _read(file, request, before(store, request))[0]
    with planning_lock(records, request.experiment):
        ingest(records)
        with Store.open(records.data) as store:
            there = before(store, request)
        imported, how = _read(file, request, there)
        if imported.changed and not request.replace:
            more = len(imported.differences) - MOST_SHOWN
            listed = "; ".join(imported.differences[:MOST_SHOWN]) + (f"; and {more:,} cells more" if more > 0 else "")
            raise SwingbyError(
                f"{file.path.name} has other values than were imported before: {listed}. Nothing was written; "
                f"{option('replace', True)} takes the earlier ones back"
            )
        write(records, imported, how, how == there.presented)
    return imported


def experiment_of(file: RunsFile) -> str:
    """A name for an experiment that nobody names: after the study of its runs, else after the file or folder."""
    stem = file.title or file.path.resolve().name.split(".")[0]
    plain = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_") or "imported"
    return f"runs_{plain}" if plain[0].isdigit() else plain


def before(store: Store, request: ImportRequest) -> Before:
    """What a data folder has of the experiment.

    Raises:
        SwingbyError: it is trained here, or the name is that of another experiment's sweep.
    """
    rows = store.sql("select sweep_id, name, experiment, resolved from sweeps order by created desc, sweep_id").rows()
    for row in rows:
        if row.name == request.sweep and row.experiment != request.experiment:
            raise SwingbyError(
                f"the sweep {row.name!r} here is one of experiment {row.experiment!r}: {option('name')} gives another"
            )
    imports = [(row, json.loads(row.resolved)) for row in rows if row.experiment == request.experiment]
    if not imports:
        return Before()
    if not all(resolved.get("imported") for _, resolved in imports):
        raise SwingbyError(
            f"the experiment {request.experiment!r} is trained here: imported runs need a name of their own"
        )
    newest, named = imports[0][1], next(((row, of) for row, of in imports if row.name == request.sweep), None)
    params = {name: of["type"] for name, of in newest["declared"]["params"].items()}
    columns = store.sql("select name, role from ix.columns where experiment = ?", [request.experiment]).rows()
    roles = {row.name: row.role for row in columns if row.role in ("curve", "scalar")}
    cells: dict[str, Mapping[str, Any]] = {}
    if request.experiment in store.names():
        columns = store.columns(request.experiment)
        kept = [name for name in ("cell_id", "seed", "status", *params, *roles) if name in columns]
        query = f"select {', '.join(map(quoted, kept))} from {quoted(request.experiment)} where status <> 'running'"
        cells = {row["cell_id"]: row for row in store.sql(query).arrow().to_pylist()}
    shown, members = None, list[str]()
    if named is not None:
        row, resolved = named
        shown = Presented(resolved["outcomes"], resolved["outcome"])
        listed = store.sql("select cell_id from members where sweep_id = ?", [row.sweep_id]).arrow()
        members = [cell for cell in listed["cell_id"].to_pylist() if cell in cells]
    optional = frozenset(name for name, of in newest["declared"]["params"].items() if of.get("optional"))
    return Before(params, newest["seed_mode"], roles, newest["declared"]["meanings"], cells, shown, members, optional)


def _read(file: RunsFile, request: ImportRequest, there: Before) -> tuple[Imported, Presented]:
    """What the file has beside what is there, and how the sweep is shown.

    Raises:
        SwingbyError: the file has faults, or other parameters than were imported before.
    """
    layout = layout_of(file, request.roles, there.params)
    if there.params is not None and set(layout.params) != set(there.params):
        raise SwingbyError(
            f"experiment {request.experiment!r} was imported with the parameters {', '.join(there.params)}, not "
            f"{', '.join(layout.params)}: import it under another name ({option('experiment')})"
        )
    values = {
        name: {row[name] for row in there.rows.values()} for name, kind in layout.params.items() if kind == "float"
    }
    cells = cells_of(file, layout, there.roles, values)
    mode: SeedMode = request.seed_mode or there.mode or cells.seed_mode or "independent"
    if there.mode is not None and mode != there.mode:
        raise SwingbyError(
            f"experiment {request.experiment!r} was imported with {option('seed_mode', there.mode)}, not {mode}"
        )
    params = there.params or layout.params
    of = FunctionExperiment.of_declaration(
        declaration(
            request.experiment,
            params,
            file.path.name,
            {**there.meanings, **meanings(file, layout, cells)},
            there.optional | layout.optional,
        )
    )
    how = presented(of, cells, request.outcomes) if request.outcomes or there.presented is None else there.presented
    _check_spelling([*layout.params, *cells.curves, *cells.scalars], [*(there.params or ()), *there.roles])
    names = list(of.Params.model_fields)
    rows = [*_cells(cells, names)]
    sweep = SweepOfCells.of_rows(of, request.sweep, mode, rows)
    id_of = dict(zip(sweep.rows, sweep.ids, strict=True))
    ids = [id_of[row] for row in rows]
    own_ids = frozenset(ids)
    earlier = [there.rows[cell] for cell in there.members if cell not in own_ids]
    if earlier:
        rows += [(tuple(hashable(row[name]) for name in names), row["seed"]) for row in earlier]
        sweep = SweepOfCells.of_rows(of, request.sweep, mode, rows)
    changed = dict(_changes(cells, ids, there))
    added = [place for place, cell_id in enumerate(ids) if cell_id not in there.rows]
    differences = [f"{_setting(names, rows[place])} ({why})" for place, why in changed.items()]
    return Imported(file, layout, cells, sweep, ids, added, list(changed), differences, len(earlier)), how


def _check_spelling(names: Sequence[str], before: Sequence[str]) -> None:
    """Refuses names that differ from those of earlier imports in upper and lower case alone.

    Raises:
        SwingbyError: names both.
    """
    spelt = {name.lower(): name for name in before}
    for name in names:
        other = spelt.get(name.lower(), name)
        if other != name:
            raise SwingbyError(
                f"the file has {name!r}, and earlier imports have {other!r}: upper and lower case are one name in "
                f"queries; rename the column, or leave it out ({option('ignored')})"
            )


def _cells(cells: Cells, names: Sequence[str]) -> list[tuple[tuple[Any, ...], int]]:
    """The values of the parameters and the seed of every cell."""
    columns = [map(hashable, cells.table[name].to_pylist()) for name in names]
    return list(zip(zip(*columns, strict=True), cells.table["seed"].to_pylist(), strict=True))


def _changes(cells: Cells, ids: Sequence[str], there: Before) -> list[tuple[int, str]]:
    """The places of cells that are there with other values, and the first difference of each in words."""
    changes = list[tuple[int, str]]()
    kept = ["status", "step", *cells.curves, *cells.scalars]
    for place, (cell_id, now) in enumerate(zip(ids, cells.table.select(kept).to_pylist(), strict=True)):
        was = there.rows.get(cell_id)
        if was is not None:
            other = next((name for name in kept if not _same(was.get(name) or None, now[name] or None)), None)
            if other is not None:
                changes.append((place, f"{other}: {_short(was.get(other))} before, {_short(now[other])} now"))
    return changes


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, NaN and NaN too."""
    if one == other:
        return True
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one != one and other != other


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} entries ending in {_short(value[-1])}" if value else "no entries"
    return "nothing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _setting(names: Sequence[str], row: tuple[tuple[Any, ...], int]) -> str:
    values, seed = row
    return ", ".join(f"{name} = {value}" for name, value in (*zip(names, values, strict=True), ("seed", seed)))
