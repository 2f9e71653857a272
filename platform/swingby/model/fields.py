"""Fields of a model and types of columns, in words."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, Literal

import pyarrow as pa
from pydantic.fields import FieldInfo

from swingby.model.params import READ_WHERE, Matrix, Vector

_SQL = {
    pa.int64(): "BIGINT",
    pa.int32(): "INTEGER",
    pa.float64(): "DOUBLE",
    pa.float32(): "FLOAT",
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BLOB",
}


def values_of(info: FieldInfo, mark: Callable[[str], str] = str) -> str:
    """The values that a field takes; `mark` is applied to words that are written as they stand."""
    kind: Any = info.annotation
    extra = info.json_schema_extra
    if isinstance(extra, dict) and READ_WHERE in extra and info.default is not None:
        kind = typing.get_args(kind)[0]  # None is what is not read
    return _bounded(_kind_of(kind, mark), info.metadata)


def _bounded(text: str, metadata: Iterable[Any]) -> str:
    """A type in words with the bounds of its values."""
    bounds = {
        name: getattr(item, name)
        for item in metadata
        for name in ("gt", "ge", "lt", "le")
        if getattr(item, name, None) is not None
    }
    signs = {"gt": "> {}", "ge": "{} or more", "lt": "< {}", "le": "at most {}"}
    if set(bounds) == {"ge", "le"}:
        return f"{text}, {bounds['ge']:,} to {bounds['le']:,}"
    return ", ".join([text, *(signs[name].format(f"{bound:,}") for name, bound in bounds.items())])


def default_of(info: FieldInfo) -> str:
    """The default of a field as YAML has it; "" for none."""
    return "" if info.is_required() else json.dumps(info.get_default(call_default_factory=True))


def sql_type(type_: pa.DataType) -> str:
    """The type that a column of this Arrow type has in SQL."""
    if pa.types.is_list(type_):
        return f"{sql_type(type_.value_type)}[]"
    return _SQL.get(type_, str(type_).upper())


def _kind_of(annotation: Any, mark: Callable[[str], str]) -> str:
    """A type in words."""
    names = {bool: "true, false", int: "integer", float: "number", str: "text", NoneType: "null"}
    if annotation in names:
        return names[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated and isinstance(inner[1], FieldInfo):
        return _bounded(_kind_of(inner[0], mark), inner[1].metadata)
    if origin is Literal:
        return ", ".join(mark(str(value)) for value in inner)
    if origin in (UnionType, typing.Union):
        return " or ".join(_kind_of(part, mark) for part in inner)
    for alias, words in ((Vector, "list of numbers"), (Matrix, "list of lists of numbers")):
        if annotation in (alias, typing.get_args(alias)[0]):
            return words
    if origin is typing.Annotated:
        return _kind_of(inner[0], mark)
    return f"list of {_kind_of(inner[0], mark)}" if origin in (list, tuple) else str(annotation)
