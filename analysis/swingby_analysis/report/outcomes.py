"""The outcomes that can be drawn: of the sweep's file and of detectors, then scalars, else curves' last values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pyarrow as pa

from swingby.model import registry
from swingby.model.columns import scalar_outcomes
from swingby.model.detector import OutcomeKind
from swingby.model.experiment import Column
from swingby.sandbox.scalar import arrow_type
from swingby.store import Store
from swingby.store.lookup import Written, written_outcomes
from swingby_analysis.query import Query, ask

FINAL = "final_"
"""What the name of a curve's last value begins with."""
STATUS = Column(pa.string(), "how the run ended", order=("ok", "diverged"))
"""The column that every experiment has."""


@dataclass(frozen=True)
class Outcome:
    """One outcome: its name, how it is drawn, and its column.

    Attributes:
        detected: whether a detector gives it; the experiment itself does otherwise.
    """

    name: str
    kind: OutcomeKind
    column: Column
    detected: bool = True

    @property
    def title(self) -> str:
        """The title in figures and sentences."""
        return self.column.title or spoken(self.name)

    @property
    def unit(self) -> str:
        """Its unit, as it stands behind its title; "" for a pure number."""
        return f" / {self.column.unit}" if self.column.unit else ""


def outcomes_of(
    experiment: str, written: Mapping[str, Written] | None = None, diagram_outcome: str | None = None
) -> Mapping[str, Outcome]:
    """Every outcome of an experiment that a diagram can show, by name.

    Args:
        written: those of the sweep's file; they come first.
        diagram_outcome: what the sweep's diagram draws: a scalar of this name is an outcome, too.
    """
    outcomes = {
        name: Outcome(name, one.kind, Column(arrow_type(one.kind), one.expression))
        for name, one in (written or {}).items()
    }
    for detector in registry.detectors_for(experiment):
        outcomes |= {name: Outcome(name, kind, detector.outcomes[name]) for name, kind in detector.kinds.items()}
    if diagram_outcome is not None and diagram_outcome not in outcomes and registry.known(experiment):
        of = registry.experiment(experiment)
        scalars = scalar_outcomes(of)
        if diagram_outcome in scalars:
            outcomes[diagram_outcome] = Outcome(diagram_outcome, scalars[diagram_outcome], of.scalars[diagram_outcome])
    return outcomes


def asked_outcome(resolved: Mapping[str, Any]) -> str | None:
    """The outcome that a resolved sweep wants drawn; None if it names none."""
    return (resolved.get("diagram") or resolved).get("outcome")


def current(store: Store, sweep_id: str, resolved: Mapping[str, Any]) -> dict[str, Written]:
    """The outcomes that a resolved sweep writes, in its order: those of which the store has values."""
    there, expressions = written_outcomes(store, sweep_id), resolved.get("outcomes") or {}
    return {name: there[name] for name, text in expressions.items() if name in there and there[name].expression == text}


def with_written(
    store: Store, sweep_id: str, cells: pl.DataFrame, written: Mapping[str, Written]
) -> tuple[pl.DataFrame, dict[str, Query]]:
    """The cells with a column for each outcome of the sweep's file, and the query of each."""
    queries = {name: Query("written", (sweep_id, one.table)) for name, one in written.items()}
    for name, query in queries.items():
        values = ask(store, query).rename({"value": name})
        cells = cells.join(values, on=["cell_id", "shard"], how="left", maintain_order="left")
    return cells, queries


def among(cells: pl.DataFrame, conditions: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    """The cells, with each of some numbers (`Reported.among`) where it is asked alone, and null elsewhere."""
    there = [(name, known) for name, (known, _) in conditions.items() if {name, known} <= set(cells.columns)]
    return cells.with_columns(pl.when(pl.col(known).is_not_null()).then(pl.col(name)) for name, known in there)


def restricted(outcomes: Mapping[str, Outcome], conditions: Mapping[str, tuple[str, str]]) -> dict[str, Outcome]:
    """The outcomes, with what is left out of these numbers in their meaning."""
    kept = dict(outcomes)
    for name, (known, words) in conditions.items():
        if {name, known} <= set(outcomes):
            column = kept[name].column
            kept[name] = replace(kept[name], column=replace(column, meaning=f"{column.meaning}; {words}"))
    return kept


def drawable(
    experiment: str, final: Sequence[str] = (), written: Mapping[str, Written] | None = None
) -> dict[str, Outcome]:
    """Every column of a cell that a report can draw, by name: outcomes of file and detectors, scalars, and the status.

    Args:
        experiment: its name.
        final: the curves whose last values are among the columns; they stand before the status.
        written: the outcomes of the sweep's file.
    """
    offered = registry.experiment(experiment)
    columns = dict(offered.scalars)
    for name in final:
        curve = offered.curves[name]
        title = f"final {curve.title or spoken(name)}"
        columns[f"{FINAL}{name}"] = Column(
            pa.float64(), f"last recorded value of {name}: {curve.meaning}", curve.unit, title=title
        )
    scalars = {name: Outcome(name, kind, column, False) for name, column in columns.items() for kind in kind_of(column)}
    ended = {"status": Outcome("status", "category", STATUS, False)}
    detected = outcomes_of(experiment, written)
    return {**detected, **{name: one for name, one in (scalars | ended).items() if name not in detected}}


def kind_of(column: Column) -> list[OutcomeKind]:
    """How a scalar is drawn; [] for one that cannot be, such as a text with free content."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return ["yes_no"]
    if column.order:
        return ["category"]
    return ["number"] if pa.types.is_floating(kind) or pa.types.is_integer(kind) else []


def spoken(name: str) -> str:
    """The name of a column as words."""
    return name.replace("_", " ")
