"""What the tables of a store and their columns mean, as descriptions and as `comment on` statements of DuckDB."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.model import registry
from swingby.model.experiment import Column, Experiment
from swingby.model.fields import values_of
from swingby.store.connection import Connection
from swingby.store.functions import learn_columns
from swingby.store.layout import Layout
from swingby.store.meanings import (
    BOUND,
    CELL,
    FITTED,
    LAST_STEP_MEANING,
    OUTCOME,
    POINT,
    RENAMING,
    TABLES,
    VALUE,
    VERSION,
    Meanings,
)
from swingby.store.sql import literal, quoted
from swingby.store.views import EXPRESSIONS, LAST_STEP, OUTCOMES_OF, RENAMED, SHARE_FIT, STEPS
from swingby.text import first_sentence, plain

POINTS, OUTCOMES, ALL = "_points", "outcomes_", "_all"
LONGEST = 1_000
"""Characters of a comment, at most."""

_remembered: dict[Path, tuple[int, Sequence[str]]] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means; `unit` is "" for a pure number, a text, or where none is declared."""

    meaning: str
    unit: str = ""

    @property
    def text(self) -> str:
        """The meaning with the unit in brackets, on one line; what is not printable is marked."""
        return plain(f"{self.meaning} [{self.unit}]".strip() if self.unit else self.meaning, LONGEST)


@dataclass(frozen=True, slots=True)
class Described:
    """What a table lists, and what its columns mean; columns of which nothing is declared are not named."""

    meaning: str
    columns: Mapping[str, Meaning]


def described(store: Connection) -> dict[str, Described]:
    """Every table of a store of which something is declared.

    Experiments and detectors say what theirs mean: those that are not installed here, or broken, have none.
    """
    tables, descriptions = store.tables(), dict[str, Described]()
    for name in tables:
        if name in TABLES:
            meaning, columns = TABLES[name]
            descriptions[name] = Described(meaning, _fixed(columns))
        elif (stem := name.removeprefix(OUTCOMES).removesuffix(ALL)) in registry.offered(registry.DETECTORS):
            descriptions |= _of_detector(name, stem)
    for (name,) in store.sql("select distinct experiment from sweeps order by all").rows():
        if name in tables:
            descriptions |= _of_experiment(store, name)
    if SHARE_FIT in tables:
        descriptions[SHARE_FIT] = Described(
            "the share of an outcome at every point of a refined sweep, fitted", _fixed(FITTED)
        )
    if RENAMED in tables:
        descriptions[RENAMED] = Described("names that sweeps were given here; `sweeps` has them", _fixed(RENAMING))
    if EXPRESSIONS in tables:
        descriptions |= _of_expressions(store, tables)
    kept = {table: {column for column, _ in columns} for table, columns in tables.items()}
    return {
        table: Described(of.meaning, {name: one for name, one in of.columns.items() if name in kept[table]})
        for table, of in descriptions.items()
        if table in kept
    }


def comments(store: Connection) -> list[str]:
    """The statements that write what tables and columns mean into DuckDB's catalogue, in one transaction.

    Each takes 1 ms: they are for connections on which somebody may look.
    """
    texts: list[str] = []
    for table, of in described(store).items():
        if of.meaning:
            texts.append(f"comment on view {quoted(table)} is {literal(plain(of.meaning, LONGEST))}")
        for column, column_meaning in of.columns.items():
            if column_meaning.text:
                texts.append(f"comment on column {quoted(table)}.{quoted(column)} is {literal(column_meaning.text)}")
    return ["begin", *texts, "commit"] if texts else []


def comments_of(data: Path, generation: int) -> Sequence[str]:
    """`comments` on a data folder, made once for each generation; none if that is not the newest any more."""
    with _lock:
        if _remembered.get(data, (None,))[0] != generation:
            with Connection(Layout(data)) as store:
                texts = comments(store)
                if store.generation != generation:
                    return ()
            _remembered[data] = generation, texts
        return _remembered[data][1]


def parameter_meaning(experiment: Experiment, name: str) -> str:
    """What a parameter means, or takes if that is not said; and where it is read, if not every run does."""
    condition, info = experiment.read_where.get(name), experiment.Params.model_fields[name]
    meaning = info.description or f"parameter: {values_of(info)}"
    return f"{meaning}; read where {condition}" if condition else meaning


def title_of(experiment: Experiment) -> str:
    """What an experiment is, in a sentence; "" if it does not say."""
    return experiment.title if isinstance(experiment, FunctionExperiment) else first_sentence(type(experiment).__doc__)


def experiment_of(store: Connection, name: str) -> Any:
    """The experiment with this name that the store has results of; None: nothing here says what it is.

    One that is a function is made of the declaration in its newest plan, with the columns that its results have.
    """
    query = "select resolved from sweeps where experiment = ? order by created desc"
    for (resolved,) in store.sql(query, [name]).rows():
        declared = json.loads(resolved).get("declared")
        if declared is not None:
            try:
                experiment = FunctionExperiment.of_declaration(declared)
                if name in store.names():
                    learn_columns(store, experiment)
            except (AttributeError, LookupError, RuntimeError, TypeError, ValueError):  # a plan of somebody else
                return None
            return experiment
    try:
        return registry.experiment(name) if registry.known(name) else None
    except SwingbyError:
        return None


def _of_experiment(store: Connection, name: str) -> dict[str, Described]:
    """The tables of an experiment's cells and of their recorded steps."""
    of = experiment_of(store, name)
    cell, curves, title = dict(_fixed(CELL)), dict[str, Meaning](), ""
    if of is not None:
        parameters = {key: Meaning(parameter_meaning(of, key)) for key in of.Params.model_fields}
        if STEPS in parameters:  # a parameter that is called so: the last step has another name
            cell[LAST_STEP] = Meaning(LAST_STEP_MEANING)
        curves = _declared(
            {**of.curves, **{key: one for added in of.recordings.values() for key, one in added.items()}}
        )
        cell |= {**parameters, **_declared(of.scalars), **curves}
        title = title_of(of)
    about = f"{title}: a row for each cell" if title else "a row for each cell"
    points = f"a row for each recorded step of a cell; join it with {name} by cell_id"
    return {name: Described(about, cell), f"{name}{POINTS}": Described(points, {**_fixed(POINT), **curves})}


def _of_detector(table: str, name: str) -> dict[str, Described]:
    try:
        detector = registry.detector(name)
    except SwingbyError:
        return {}
    meaning = first_sentence(type(detector).__doc__)
    older = "; the rows of every version" if table.endswith(ALL) else ""
    return {
        table: Described(f"{meaning}{older}", {**_fixed(VERSION), **_fixed(OUTCOME), **_declared(detector.outcomes)})
    }


def _of_expressions(store: Connection, tables: Iterable[str]) -> dict[str, Described]:
    """The tables of outcomes that sweep files write."""
    query = f"""select experiment, outcome, table_name, list(distinct expression order by expression) as texts
                from {EXPRESSIONS} where expression is not null group by all order by all"""
    meaning = "which expression each outcome of a sweep is that a sweep file writes"
    described_views = {EXPRESSIONS: Described(meaning, _fixed(BOUND))}
    outcomes: dict[str, dict[str, list[str]]] = {}
    for row in store.sql(query).rows():
        texts = outcomes.setdefault(f"{OUTCOMES_OF}{row.experiment}", {}).setdefault(row.outcome, [])
        texts += [text for text in row.texts if text not in texts]
        value = Meaning(f"the expression {row.texts[0]}")
        described_views[row.table_name] = Described(f"values of {row.texts[0]}", {**_fixed(VALUE), "value": value})
    for view, written in outcomes.items():
        columns = {
            name: Meaning(
                f"the expression {texts[0]}" if len(texts) == 1 else f"in each sweep one of: {', '.join(texts)}"
            )
            for name, texts in written.items()
        }
        described_views[view] = Described("outcomes that sweep files write: a row for each finished cell of a sweep",
                                {**_fixed(VALUE), **columns})  # fmt: skip
    return {
        **{name + ALL: Described(f"{of.meaning}; the rows of every version", {**_fixed(VERSION), **of.columns})
           for name, of in described_views.items()},
        **described_views,
    }  # fmt: skip


def _fixed(meanings: Meanings) -> dict[str, Meaning]:
    return {name: Meaning(meaning) for name, (_, meaning) in meanings.items()}


def _declared(columns: Mapping[str, Column]) -> dict[str, Meaning]:
    return {
        name: Meaning(one.meaning + (f": one of {', '.join(one.order)}" if one.order else ""), one.unit)
        for name, one in columns.items()
    }
