"""Parameters as typed columns: which Arrow type holds each parameter of an experiment."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model.params import UntypedParams

_SCALARS: dict[Any, pa.DataType] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def parameter_schema(params: type[UntypedParams]) -> pa.Schema:
    """A field for each parameter: int64, double, string, bool, list<double> (`Vector`), list<list<double>> (`Matrix`).

    A parameter that may be None has a nullable field.

    Raises:
        SwingbyError: a parameter has a type that no column can hold; names it.
    """
    fields = []
    for name, info in params.model_fields.items():
        annotation, nullable = info.annotation, False
        if get_origin(annotation) in (Union, types.UnionType):
            nullable = type(None) in get_args(annotation)
            others = [item for item in get_args(annotation) if item is not type(None)]
            annotation = others[0] if len(others) == 1 else annotation
        column = _column(annotation)
        if column is None:
            allowed = "str, Literal, bool, int, float, Vector, Matrix, or one of these or None"
            what = f"{params.__name__}.{name} is {annotation}"
            raise SwingbyError(f"{what}, which no typed column holds; allowed: {allowed}")
        fields.append(pa.field(name, column, nullable))
    return pa.schema(fields)


def _column(annotation: Any) -> pa.DataType | None:
    """The Arrow type of one annotation, or None."""
    if hasattr(annotation, "__metadata__"):  # Annotated[tuple[float, ...], ...] inside `Vector | None`
        return _column(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        kinds = {type(value) for value in get_args(annotation)}
        return _SCALARS.get(kinds.pop()) if len(kinds) == 1 else None
    if get_origin(annotation) is tuple:
        item, *rest = get_args(annotation)
        inner = _column(item)
        return pa.list_(inner) if rest == [...] and inner is not None else None
    return _SCALARS.get(annotation)
