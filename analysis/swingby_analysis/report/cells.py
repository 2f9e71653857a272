"""The queries of a sweep's cells, with their outcomes or without."""

from __future__ import annotations

import pyarrow as pa

from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.store import Store
from swingby_analysis.query import Query


def cells_query(store: Store, experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells with their outcomes by every detector; curves and matrices are left out."""
    tables = (f"outcomes_{detector.name}" for detector in registry.detectors_for(experiment))
    outcomes = tuple(name for name in tables if name in store.names())
    bare = bare_cells_query(experiment, sweep_id)
    return Query("cells", (sweep_id, experiment, outcomes, bare.parameters[-1])) if outcomes else bare


def bare_cells_query(experiment: str, sweep_id: str) -> Query:
    """The query of a sweep's cells without any outcome; curves and matrices are left out."""
    kind = registry.experiment(experiment)
    curves = {name for columns in (kind.curves, *kind.recordings.values()) for name in columns}
    types = {field.name: field.type for field in parameter_schema(kind.Params)}
    types |= {name: column.type for name, column in kind.scalars.items()}
    matrices = {name for name, type_ in types.items() if pa.types.is_list(type_) and pa.types.is_list(type_.value_type)}
    return Query("bare_cells", (sweep_id, experiment, tuple(sorted({"recorded", *curves, *matrices}))))
