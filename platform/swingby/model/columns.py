"""Parameters as typed columns: which Arrow type holds each parameter of an experiment."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, Union, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel

from swingby.errors import SwingbyError
from swingby.model.detector import OutcomeKind, outcome_kind
from swingby.model.experiment import AFTER, SEGMENT_COLUMNS, Column, Experiment
from swingby.model.params import UntypedParams

_SCALARS: dict[Any, pa.DataType] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}

STANDARD = frozenset({
    *SEGMENT_COLUMNS, AFTER, "step", "last_step", "point", "seed", "seed_mode", "batch", "preset", "sweep_id",
    "recorded", "shard", "attempt",
})  # fmt: skip
"""Names of columns that every experiment's tables have, and that no parameter can have therefore."""


def parameter_schema(params: type[UntypedParams]) -> pa.Schema:
    """A field for each parameter: int64, double, string, bool, list<double> (`Vector`), list<list<double>> (`Matrix`).

    A parameter that may be None has a nullable field.

    Raises:
        SwingbyError: a parameter has a type that no column can hold, or one of the names `STANDARD`; names it.
    """
    fields = []
    for name, info in params.model_fields.items():
        if name in STANDARD:
            other = "batch_size" if name == "batch" else f"{name}_"
            raise SwingbyError(f"no parameter can be called {name!r}, as a column of every table is; call it {other}")
        annotation, nullable = info.annotation, False
        if get_origin(annotation) in (Union, types.UnionType):
            nullable = type(None) in get_args(annotation)
            others = [item for item in get_args(annotation) if item is not type(None)]
            annotation = others[0] if len(others) == 1 else annotation
        column = column_type(annotation)
        if column is None:
            allowed = "str, Literal, bool, int, float, Vector, Matrix, Integers, Texts, or one of these or None"
            what = f"{params.__name__}.{name} is {getattr(annotation, '__name__', annotation)}"
            raise SwingbyError(f"{what}, which no typed column holds{_instead(name, annotation)}; allowed: {allowed}")
        fields.append(pa.field(name, column, nullable))
    return pa.schema(fields)


def _instead(name: str, annotation: Any) -> str:
    """What to write in place of a type that a function may have, and a class may not."""
    kind = get_origin(annotation) or annotation
    if not isinstance(kind, type):
        return ""
    if issubclass(kind, Enum):
        return f": write {name}: Literal[{', '.join(repr(one.name) for one in kind)}]"
    if issubclass(kind, PurePath):
        return f": write {name}: str"
    if issubclass(kind, BaseModel | Mapping) or is_dataclass(kind):
        return f": write each of its parts as a parameter, such as {name}_lr"
    return ""


def row_schema(experiment: Experiment, recordings: Collection[str] | None = None) -> pa.Schema:
    """The columns of an experiment's table that an outcome may be computed from: a field for each, in its type.

    These are the parameters, `seed`, `status`, `steps`, the scalars, the curves, and the columns of recordings.

    Args:
        recordings: names of those that are recorded; None: all.

    Raises:
        SwingbyError: as `parameter_schema`.
    """
    recorded = [columns for name, columns in experiment.recordings.items() if recordings is None or name in recordings]
    results: dict[str, Column] = {}
    for columns in (experiment.scalars, experiment.curves, *recorded):
        results |= columns
    types = {field.name: field.type for field in parameter_schema(experiment.Params)}
    types |= {"seed": pa.int64(), "status": pa.string(), "steps": pa.int64(), "step": pa.list_(pa.int64())}
    if "steps" in experiment.Params.model_fields:
        types["last_step"] = pa.int64()
    return pa.schema(list((types | {name: column.type for name, column in results.items()}).items()))


def scalar_outcomes(experiment: Experiment) -> dict[str, OutcomeKind]:
    """The scalars of an experiment that a diagram can draw by their names, and how."""
    kinds: dict[str, OutcomeKind] = {}
    for name, column in experiment.scalars.items():
        kind = outcome_kind(column.type)
        if kind is not None:
            kinds[name] = kind
    return kinds


def column_type(annotation: Any) -> pa.DataType | None:
    """The Arrow type of an annotation without None; None: no column holds it."""
    if hasattr(annotation, "__metadata__"):  # Annotated[tuple[float, ...], ...] inside `Vector | None`
        return column_type(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        kinds = {type(value) for value in get_args(annotation)}
        return _SCALARS.get(kinds.pop()) if len(kinds) == 1 else None
    if get_origin(annotation) is tuple:
        item, *rest = get_args(annotation)
        inner = column_type(item)
        alike = rest == [...] or all(column_type(other) == inner for other in rest)
        return pa.list_(inner) if alike and inner is not None else None
    return _SCALARS.get(annotation)


def final_rows(
    cell_ids: Sequence[str], to_step: Any, status: Any, message: Any, columns: Mapping[str, Any]
) -> pa.Table:
    """Final rows from step 0 on, of cells that were not trained here; arrays have an entry a cell.

    Args:
        columns: what follows the `SEGMENT_COLUMNS`: curves and scalars.
    """
    count = len(cell_ids)
    first = pa.array(cell_ids, pa.string()), pa.repeat(pa.scalar(0, pa.int64()), count), to_step
    fixed = dict(zip(SEGMENT_COLUMNS, (*first, pa.repeat(pa.scalar(True), count), status, message), strict=True))
    return pa.table({**{name: values.cast(SEGMENT_COLUMNS[name]) for name, values in fixed.items()}, **columns})
