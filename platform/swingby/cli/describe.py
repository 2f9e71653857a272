"""The verb `describe`: the columns of a table with types, units and meanings, and the parameters of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, table
from swingby.cli.guide import first_sentence
from swingby.errors import SwingbyError
from swingby.model import registry

if TYPE_CHECKING:  # every verb imports this module, and few describe
    from swingby.model.experiment import Column, Experiment

POINTS, OUTCOMES = "_points", "outcomes_"


def names(incomplete: str) -> list[str]:
    """Completions of what can be described."""
    return [name for name in _known() if name.startswith(incomplete)]


def describe(
    name: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT|TABLE",
            help="An experiment, a detector, or a table that a query can name.",
            show_default=False,
            autocompletion=names,
        ),
    ],
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Describes an experiment or a table: parameters, columns, types, units and what each means.

    An experiment has a table of its name with a row for each cell, and EXPERIMENT`_points` with a row for each recorded
    step; a detector has the table `outcomes_`DETECTOR. An experiment that is a function, or was imported, is as the
    data folder has it.

    Example:

        swingby describe sweeps
    """
    from swingby.store.meanings import OUTCOME, POINT, TABLES

    experiments, detectors = registry.offered(registry.EXPERIMENTS), registry.offered(registry.DETECTORS)
    if name not in TABLES and name not in experiments and (own := _in_folder(data, name.removesuffix(POINTS))):
        experiments = {**experiments, own: None}
    if name in TABLES:
        meaning, columns = TABLES[name]
        say(f"{name}: {meaning}")
        _show(columns, {})
    elif name in experiments:
        _experiment(registry.experiment(name))
    elif name.endswith(POINTS) and (stem := name.removesuffix(POINTS)) in experiments:
        of = registry.experiment(stem)
        say(f"{name}: a row for each recorded step of a cell; join it with {stem} by cell_id")
        say("a recording has its columns where it was asked for and has an entry for each step")
        curves = {**of.curves, **{key: one for added in of.recordings.values() for key, one in added.items()}}
        _show(POINT, {key: replace(one, type=getattr(one.type, "value_type", one.type)) for key, one in curves.items()})
    elif (stem := name.removeprefix(OUTCOMES)) in detectors:
        detector = registry.detector(stem)
        say(f"{OUTCOMES}{stem}: {first_sentence(type(detector).__doc__)} (version {detector.version})")
        say(f"outcomes of cells of {', '.join(detector.experiments)}")
        _show(OUTCOME, detector.outcomes)
    else:
        raise SwingbyError(f"there is no {name!r} to describe; {registry.nearest_offered(name, _known())}")


def _in_folder(data: Path, name: str) -> str | None:
    """The name, if it is that of an experiment without a package whose cells the folder has; it is known afterwards."""
    from swingby.data.remote.address import DATA_MARK
    from swingby.store import Store
    from swingby.store.lookup import find_sweep

    if not (data / DATA_MARK).exists():
        return None
    with Store.open(data) as store:
        rows = store.sql("select sweep_id from sweeps where experiment = ? order by created desc", [name]).rows()
        if rows:
            find_sweep(store, rows[0].sweep_id)
    return name if rows and registry.known(name) else None


def _known() -> list[str]:
    from swingby.store.meanings import TABLES

    experiments = sorted(registry.offered(registry.EXPERIMENTS))
    detectors = [f"{OUTCOMES}{name}" for name in sorted(registry.offered(registry.DETECTORS))]
    return [*experiments, *(f"{name}{POINTS}" for name in experiments), *detectors, *TABLES]


def _experiment(of: Experiment) -> None:
    from swingby.model.fields import default_of, values_of
    from swingby.model.params import Params
    from swingby.store.meanings import CELL

    say(f"{of.name}: {getattr(of, 'title', '') or first_sentence(type(of).__doc__)}")
    if of.presets:
        say(f"presets: {', '.join(of.presets)}; where a sweep names none: {of.default_preset or 'none'}")
    say("\nparameters, as a sweep file names them")
    rows, fields = [], of.Params.model_fields
    for name, info in {**{name: fields[name] for name in fields if name not in Params.model_fields}, **fields}.items():
        condition = of.read_where.get(name)
        meaning = (info.description or "") + (f"; read where {condition}" if condition else "")
        rows.append((name, values_of(info), default_of(info), meaning))
    table(("parameter", "values", "default", "meaning"), rows)
    say(f"\ntable {of.name}: a row for each cell; it has all parameters, and")
    _show(CELL, of.scalars)
    say(f"\nand curves, a list for each cell; {of.name}{POINTS} has a row for each recorded step")
    _show({}, of.curves)
    for name, columns in of.recordings.items():
        say(f"\nadded by record: {{also: [{name}]}}")
        _show({}, columns)
    for detector in registry.detectors_for(of.name):
        say(f"\ntable {OUTCOMES}{detector.name}: {first_sentence(type(detector).__doc__)}")
        _show({}, detector.outcomes)


def _show(fixed: Mapping[str, tuple[str, str]], columns: Mapping[str, Column]) -> None:
    from swingby.model.fields import sql_type

    rows: list[Iterable[Any]] = [(name, type_, "", meaning) for name, (type_, meaning) in fixed.items()]
    rows += [(name, sql_type(one.type), one.unit, one.meaning) for name, one in columns.items()]
    table(("column", "type", "unit", "meaning"), [list(row) for row in rows])
