"""Outcomes that sweep files write: each expression as a detector, and a record of what a sweep means by a name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from swingby.data.records import Records
from swingby.model import registry
from swingby.model.columns import row_schema
from swingby.model.detector import OUTCOME_NAME, Detector, expression_table
from swingby.model.experiment import Column
from swingby.sandbox.scalar import ScalarError, arrow_type, columns_of, evaluate, kind_of
from swingby.store import Store
from swingby.store.sql import quoted
from swingby.store.views import BINDING, EXPRESSIONS

VERSION = "1"
"""Raised whenever the value of an unchanged expression can change."""
Written = Mapping[str, Mapping[str, str]]
"""Sweep id -> name of an outcome -> its expression."""


class Expression(Detector):
    """A detector of one outcome, `value`: what an expression gives for a row. Made by `expression`."""

    outcome: str
    text: str
    schema: pa.Schema

    def __str__(self) -> str:
        return f"outcome {self.outcome!r}"

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and `value`; null where the expression cannot be computed."""
        (kind,) = self.kinds.values()
        return pa.table({"cell_id": table["cell_id"], "value": evaluate(self.text, self.held(table), kind)})

    def held(self, table: pa.Table) -> pa.Table:
        """The columns that it reads; one that no run recorded, which arrives without a type, in its declared one."""
        held = table.select(self.needs)
        for place, name in enumerate(self.needs):
            if pa.types.is_null(held[name].type) and name in self.schema.names:
                held = held.set_column(place, name, held[name].cast(self.schema.field(name).type))
        return held


def expression(experiment: str, outcome: str, text: str, schema: pa.Schema, name: str = "") -> Expression:
    """An expression as a detector; the derived table that it fills is that of `expression_table`.

    Args:
        outcome: what messages call it.
        schema: the columns of the experiment's table.
        name: of the detector; "" for that of its table.

    Raises:
        ScalarError: it is no expression, or none over such rows.
    """
    kind = kind_of(text, schema)
    fields = {
        "name": name or expression_table(experiment, text).removeprefix("outcomes_"),
        "version": VERSION,
        "experiments": (experiment,),
        "outcomes": {"value": Column(arrow_type(kind), text)},
        "kinds": {"value": kind},
        "needs": columns_of(text, schema.names),
    }
    detector = type("Expression", (Expression,), fields)()
    detector.outcome, detector.text, detector.schema = outcome, text, schema
    return detector


def schema_of(store: Store, experiment: str) -> pa.Schema:
    """The columns that an expression may name: as the experiment declares them, else as the store has them."""
    if registry.known(experiment):
        of = registry.experiment(experiment)
        if not getattr(of, "discovers", False):
            return row_schema(of)
    if experiment not in store.names():
        return pa.schema([])
    return store.sql(f"select * exclude (cell_id, shard) from {quoted(experiment)} limit 0").arrow().schema


@dataclass(frozen=True, slots=True)
class Task:
    """A detector that is to see the cells of sweeps; None: of all sweeps over the experiment."""

    experiment: str
    detector: Detector
    sweep_ids: tuple[str, ...] | None


def written_in(
    store: Store, sweep_ids: Sequence[str] | None, outcomes: Written
) -> dict[tuple[str, str], dict[str, str]]:
    """The outcomes that sweeps write, by (sweep id, experiment): as given, else as the sweep's last plan has them."""
    query = """select sweep_id, experiment, cast(json_extract(resolved, '$.outcomes') as varchar) as outcomes
               from sweeps where $every or list_contains($ids, sweep_id) order by all"""
    rows = store.sql(query, {"every": sweep_ids is None, "ids": list(sweep_ids or ())}).rows()
    sound_outcomes = {}
    for row in rows:
        named = outcomes.get(row.sweep_id)
        if named is None:
            planned: Any = json.loads(row.outcomes or "{}")
            named = planned if isinstance(planned, dict) else {}
        sound = {name: text for name, text in named.items() if isinstance(text, str) and OUTCOME_NAME.fullmatch(name)}
        sound_outcomes[row.sweep_id, row.experiment] = sound
    return sound_outcomes


def expression_tasks(
    written: Mapping[tuple[str, str], Mapping[str, str]], store: Store
) -> tuple[list[Task], list[str]]:
    """A task for each expression, whatever sweeps have it; and what is wrong with those that cannot be computed."""
    sweeps: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (sweep_id, experiment), named in written.items():
        for outcome, text in named.items():
            sweeps.setdefault((experiment, text), []).append((sweep_id, outcome))
    tasks, faults, schemas = list[Task](), list[str](), dict[str, pa.Schema]()
    for (experiment, text), names in sweeps.items():
        if experiment not in schemas:
            schemas[experiment] = schema_of(store, experiment)
        if not schemas[experiment].names:
            continue  # nothing was trained, and nobody knows its columns
        try:
            detector = expression(experiment, names[0][1], text, schemas[experiment])
        except ScalarError as error:
            hint = f" ({error.hint})" if error.hint else ""
            faults.append(f"any cell, of outcome {names[0][1]!r}: {error.message}{hint}")
            continue
        tasks.append(Task(experiment, detector, tuple(dict.fromkeys(sweep_id for sweep_id, _ in names))))
    return tasks, faults


def bind(records: Records, store: Store, written: Mapping[tuple[str, str], Mapping[str, str]]) -> str | None:
    """Records which expression each outcome of these sweeps is, unless the store knows; the name of the record."""
    query = f"select sweep_id, outcome, expression from {EXPRESSIONS} where expression is not null"
    rows = store.sql(query).rows() if set(BINDING) <= set(store.columns(EXPRESSIONS)) else []
    known = {(row.sweep_id, row.outcome): row.expression for row in rows}
    changed: list[tuple[str, str, str, str | None, str | None]] = []
    for (sweep_id, experiment), named in written.items():
        for name, text in named.items():
            if known.get((sweep_id, name)) != text:
                changed.append((sweep_id, name, experiment, text, expression_table(experiment, text)))
        removed = [name for of, name in known if of == sweep_id and name not in named]
        changed += [(sweep_id, name, experiment, None, None) for name in removed]
    if not changed:
        return None
    columns = {
        name: pa.array(values, pa.string()) for name, values in zip(BINDING, zip(*changed, strict=True), strict=True)
    }
    path = records.write_derived(EXPRESSIONS, VERSION, BINDING[:2], pa.table(columns))
    return f"{path.parent.name}/{path.name}"
