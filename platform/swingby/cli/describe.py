"""The verb `describe`: the columns of a table with types, units and meanings, and the parameters of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, sweep_names, table
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.text import first_sentence

if TYPE_CHECKING:  # every verb imports this module, and few describe
    from swingby.model.experiment import Column, Experiment
    from swingby.store import Store

POINTS, OUTCOMES = "_points", "outcomes_"


def names(incomplete: str) -> list[str]:
    """Completions of what can be described without a data folder."""
    return [name for name in _known() if name.startswith(incomplete)]


def named(incomplete: str) -> list[str]:
    """Completions of everything that can be described."""
    before, slash, begun = incomplete.rpartition("/")
    folder = Path(before + slash or ".")
    files = folder.glob("*.py") if folder.is_dir() else ()
    matches = sorted(f"{before}{slash}{file.name}" for file in files if file.name.startswith(begun))
    return [*names(incomplete), *matches, *sweep_names(incomplete)]


def describe(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="An experiment, a table, a sweep, a sweep file, or a Python file with an experiment (FILE:FUNCTION).",
            show_default=False,
            autocompletion=named,
        ),
    ],
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Describes an experiment, a table or a sweep: parameters, columns, types, units and what each means.

    An experiment has a table of its name with a row for each cell, and EXPERIMENT`_points` with a row for each recorded
    step; a detector has the table `outcomes_`DETECTOR. The columns of a function are known from its first results on:
    they are looked up in the data folder, and so are sweeps, imported runs, and tables that no package offers.

    Example:

        swingby describe sweeps

    Of a function: `swingby describe train.py`, `swingby describe my-first.yaml`.
    """
    if name.endswith((".yaml", ".yml")):
        _sweep(name, data)
    elif ".py" in name and name.partition(":")[0].endswith(".py"):
        from swingby.function.load import from_file

        file, _, function = name.partition(":")
        _experiment(from_file(Path(file), function or None), data)
    elif not (_offered(name, data) or _kept(name, data)):
        raise SwingbyError(f"there is no {name!r} to describe; {registry.nearest_offered(name, _known(data))}")


def _offered(name: str, data: Path) -> bool:
    """Describes what an installed package offers, or every store has; False: nothing of this name."""
    from swingby.store.meanings import OUTCOME, POINT, TABLES

    experiments, detectors = registry.offered(registry.EXPERIMENTS), registry.offered(registry.DETECTORS)
    if name in TABLES:
        meaning, columns = TABLES[name]
        say(f"{name}: {meaning}")
        _show(columns, {})
    elif name in experiments:
        _experiment(registry.experiment(name), data)
    elif name.endswith(POINTS) and (stem := name.removesuffix(POINTS)) in experiments:
        of = registry.experiment(stem)
        say(f"{name}: a row for each recorded step of a cell; join it with {stem} by cell_id")
        say("a recording has its columns where it was asked for and has an entry for each step")
        curves = {**of.curves, **{key: one for added in of.recordings.values() for key, one in added.items()}}
        _show(POINT, {key: replace(one, type=getattr(one.type, "value_type", one.type)) for key, one in curves.items()})
    elif (stem := name.removeprefix(OUTCOMES)) in detectors:
        detector = registry.detector(stem)
        say(f"{OUTCOMES}{stem}: {first_sentence(type(detector).__doc__)} (version {detector.version})")
        general = f"every experiment with the columns {', '.join(detector.columns)}"
        say(f"outcomes of cells of {general if detector.columns else ', '.join(detector.experiments)}")
        _show(OUTCOME, detector.outcomes)
    else:
        return False
    return True


def _kept(name: str, data: Path) -> bool:
    """Describes a sweep, an experiment or a table of the data folder; False: it has nothing of this name.

    A name that no result has yet may be a named sweep of a package.
    """
    store = _store(data)
    if store is not None:
        from swingby.store.comments import described, experiment_of
        from swingby.store.lookup import known_sweeps

        with store:
            sweeps = known_sweeps(store)
            of = {sweep.experiment: sweep.experiment for sweep in sweeps}
            of |= {sweep.name: sweep.experiment for sweep in reversed(sweeps)}
            tables = store.tables()
            if name in of and (experiment := experiment_of(store, of[name])) is not None:
                if name != experiment.name:
                    say(f"sweep {name}")
                _experiment(experiment, data)
                return True
            if name in tables:
                about = described(store).get(name)
                say(f"{name}: {about.meaning if about and about.meaning else 'nothing is declared of it'}")
                columns = about.columns if about else {}
                rows = [
                    (key, type_, columns[key].unit if key in columns else "",
                     columns[key].meaning if key in columns else "")
                    for key, type_ in tables[name]
                ]  # fmt: skip
                table(("column", "type", "unit", "meaning"), rows)
                return True
    from swingby.sweepfile.sweep import named_sweeps

    if name in named_sweeps():
        _sweep(name, data)
        return True
    return False


def _sweep(name: str, data: Path) -> None:
    """Describes a sweep by its file, or by the name of a packaged one."""
    from swingby.sweepfile.sweep import Sweep

    sweep = Sweep.load(name, confirm_above=None)
    say(f"sweep {sweep.name}: {sweep.title or ''}".rstrip(": "))
    _experiment(sweep.experiment, data)


def _store(data: Path) -> Store | None:
    """The store of a data folder; None where nothing was ever published."""
    if not (data / "store" / "pointer.json").is_file():
        return None
    from swingby.store import Store

    return Store.open(data)


def _known(data: Path | None = None) -> list[str]:
    from swingby.store.meanings import TABLES

    experiments = sorted(registry.offered(registry.EXPERIMENTS))
    detectors = [f"{OUTCOMES}{name}" for name in sorted(registry.offered(registry.DETECTORS))]
    known = [*experiments, *(f"{name}{POINTS}" for name in experiments), *detectors, *TABLES]
    store = None if data is None else _store(data)
    if store is not None:
        from swingby.store.lookup import known_sweeps

        with store:
            known += [name for name in store.tables() if name not in known and not name.endswith("_all")]
            known += [sweep.name for sweep in known_sweeps(store)]
    return list(dict.fromkeys(known))


def _experiment(of: Experiment, data: Path) -> None:
    from swingby.function.experiment import FunctionExperiment
    from swingby.model.fields import default_of, values_of
    from swingby.model.params import Params
    from swingby.store.comments import title_of
    from swingby.store.meanings import CELL
    from swingby.store.views import LAST_STEP, STEPS

    say(f"{of.name}: {title_of(of)}".rstrip(": "))
    if of.presets:
        say(f"presets: {', '.join(of.presets)}; where a sweep names none: {of.default_preset or 'none'}")
    say("\nparameters, as a sweep file names them")
    rows, fields = [], of.Params.model_fields
    for name, info in {**{name: fields[name] for name in fields if name not in Params.model_fields}, **fields}.items():
        condition = of.read_where.get(name)
        meaning = "; ".join(filter(None, [info.description, condition and f"read where {condition}"]))
        rows.append((name, values_of(info), default_of(info), meaning))
    table(("parameter", "values", "default", "meaning"), rows)
    if isinstance(of, FunctionExperiment) and not _learned(of, data):
        say(f"\ntable {of.name}: its columns are known from the first results on; there are none in {data}")
        if of.meanings:
            table(("column", "unit", "meaning"), [(name, one.unit, one.meaning) for name, one in of.meanings.items()])
        return
    say(f"\ntable {of.name}: a row for each cell; it has all parameters, and")
    renamed = {STEPS: LAST_STEP} if STEPS in fields else {}
    _show({renamed.get(name, name): column for name, column in CELL.items()}, of.scalars)
    say(f"\nand curves, a list for each cell; {of.name}{POINTS} has a row for each recorded step")
    _show({}, of.curves)
    for name, columns in of.recordings.items():
        say(f"\nadded by record: {{also: [{name}]}}")
        _show({}, columns)
    for detector in registry.detectors_for(of.name):
        say(f"\ntable {OUTCOMES}{detector.name}: {first_sentence(type(detector).__doc__)}")
        _show({}, detector.outcomes)


def _learned(of: Any, data: Path) -> bool:
    """Whether a function's columns are known, from its results in the data folder if there are any."""
    store = _store(data)
    if store is not None:
        from swingby.store.functions import learn_columns

        with store:
            if of.name in store.names():
                learn_columns(store, of)
    return bool(of.scalars) or len(of.curves) > 1


def _show(fixed: Mapping[str, tuple[str, str]], columns: Mapping[str, Column]) -> None:
    from swingby.model.fields import sql_type

    rows: list[Iterable[Any]] = [(name, type_, "", meaning) for name, (type_, meaning) in fixed.items()]
    rows += [(name, sql_type(one.type), one.unit, one.meaning) for name, one in columns.items()]
    table(("column", "type", "unit", "meaning"), [list(row) for row in rows])
