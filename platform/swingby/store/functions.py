"""Experiments that are functions, as far as declarations and the store tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from swingby.function.experiment import FunctionExperiment
from swingby.model import registry

if TYPE_CHECKING:
    from swingby.store.connection import Connection


def adopt_declared(experiment: str, resolved: Mapping[str, Any]) -> None:
    """Makes an experiment known to this process by what a resolved sweep declares of it, unless its code is known."""
    declared = resolved.get("declared")
    if declared is not None:
        known = registry.experiment(experiment) if registry.known(experiment) else None
        if known is None or (isinstance(known, FunctionExperiment) and known.function is None):
            registry.adopt(FunctionExperiment.of_declaration(declared))


def learn_columns(store: Connection, experiment: FunctionExperiment) -> None:
    """Tells an experiment that is a function which columns its results have."""
    types = store.columns(experiment.name)
    # In the order in which the function records them, since reports show the first ones.
    query = "select name, role from ix.columns where experiment = ? order by rowid"
    rows = store.sql(query, [experiment.name]).rows()
    curves, scalars = (
        {row.name: arrow_type(types[row.name]) for row in rows if row.role == role and row.name in types}
        for role in ("curve", "scalar")
    )
    experiment.learn(curves, scalars)


def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of a DuckDB type that results of functions have, or bytes, as in records of others."""
    if name.endswith("[]"):
        return pa.list_(arrow_type(name[:-2]))
    known = {"BOOLEAN": pa.bool_(), "VARCHAR": pa.string(), "BIGINT": pa.int64(), "BLOB": pa.binary()}
    return known.get(name, pa.float64())
