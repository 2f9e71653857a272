"""The queries of a sweep's cells, with their outcomes or without."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.store import Store
from swingby.store.sql import quoted
from swingby_analysis.query import Query, path_of, text_of


def cells_query(store: Store, experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells with their outcomes by every detector.

    Curves and matrices are left out, and of the outcomes those that are lists, which no diagram can show.
    """
    tables, bare = outcome_tables(store, experiment), bare_cells_query(experiment, sweep_id)
    if not tables:
        return bare
    lists = {name for table in tables for name, type_ in store.columns(table).items() if type_.endswith("[]")}
    bare = replace(bare, parameters=(sweep_id, experiment, tuple(sorted({*bare.arguments[2], *lists}))))
    # A join for each table: grouping the rows of all of them by cell takes twice as long.
    text = text_of("cells")
    join = next(line for line in text.splitlines() if line.startswith("left join"))
    joins = [join.replace("from outcomes)", f"from {quoted(table)}) {quoted(table)}") for table in tables]
    return Query(path_of("cells"), bare.parameters, inline=text.replace(join, "\n".join(joins)))


def outcome_tables(store: Store, experiment: str) -> tuple[str, ...]:
    """The tables of outcomes by the experiment's detectors that there are."""
    tables = (f"outcomes_{detector.name}" for detector in registry.detectors_for(experiment))
    return tuple(name for name in tables if name in store.names())


def bare_cells_query(experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells without any outcome; curves and matrices are left out."""
    kind = registry.experiment(experiment)
    curves = {name for columns in (kind.curves, *kind.recordings.values()) for name in columns}
    types = {field.name: field.type for field in parameter_schema(kind.Params)}
    types |= {name: column.type for name, column in kind.scalars.items()}
    matrices = {name for name, type_ in types.items() if pa.types.is_list(type_) and pa.types.is_list(type_.value_type)}
    return Query("bare_cells", (sweep_id, experiment, tuple(sorted({"recorded", *curves, *matrices}))))
