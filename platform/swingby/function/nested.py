"""A function's parameters as people write them, and as flat columns: the one place that flattens and rebuilds them.

A dataclass, a pydantic model or a dictionary is a group: its parts are parameters of their own, such as `optim.lr`. An
enum is the name of its member, a path is its text, and lists and tuples are tuples. Which columns there are is said by
the function alone: a dictionary without entries has no columns, `**kwargs` has none, and the function gets them empty.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from swingby.errors import SwingbyError
from swingby.model.params import Matrix, Vector, as_tuple

NONE: Any = inspect.Parameter.empty
"""Stands for a default that is not there."""
ALLOWED = (
    "bool, int, float, str, Literal[...], an Enum, Path, list[...] or tuple[...] of these, swingby.Vector, "
    "swingby.Matrix, one of these | None, or a dataclass, a pydantic model or a dict of these"
)
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True)
class Leaf:
    """A parameter of one column.

    Attributes:
        kind: its type in the flat model.
        default: as the flat model has it; NONE: it has to be set.
        back: from a value of the flat model to what the function gets.
    """

    kind: Any
    default: Any
    back: Callable[[Any], Any]


@dataclass(frozen=True)
class Group:
    """A parameter with parts.

    Attributes:
        parts: by their names.
        make: from the values of the parts to what the function gets.
        join: the same of columns of values, which are not checked.
    """

    parts: Mapping[str, Leaf | Group]
    make: Callable[..., Any]
    join: Callable[..., Any]


Tree = Mapping[str, Leaf | Group]
"""The parameters of a function, by name."""


def tree_of(function: Callable[..., Any]) -> Tree:
    """The parameters of a function, all but its first.

    Raises:
        SwingbyError: one is not named, or has no type that columns could hold.
    """
    where = f"{Path(inspect.getfile(function)).name}, {function.__name__}()"
    _, *signature = inspect.signature(function).parameters.values() or (None,)
    hints = get_type_hints(function, include_extras=True)
    tree = dict[str, Leaf | Group]()
    for parameter in signature:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise SwingbyError(f"{where}: {parameter.name} has no name for callers; take the `/` behind it away")
        kind = hints.get(parameter.name, NONE)
        if kind is NONE and (parameter.default is NONE or parameter.default is None):
            raise SwingbyError(f"{where}: the parameter {parameter.name} has no type; allowed: {ALLOWED}")
        try:
            tree[parameter.name] = _node(kind, parameter.default)
        except _KindError as error:
            name = ".".join([parameter.name, *error.parts])
            raise SwingbyError(f"{where}: the parameter {name} {error}; allowed: {ALLOWED}") from None
    return tree


def open_places(function: Callable[..., Any], tree: Tree) -> dict[str, str]:
    """What to write where a name is wanted that no column has: for each group without parts, and for `**kwargs` at "".

    In a text, `{part}` stands for the name.
    """
    where = f"{Path(inspect.getfile(function)).name}, {function.__name__}()"
    places = {
        name: f"{where} gets {name} without entries; write each there with its default, such as "
        f'{name}: dict = {{{{"{{part}}": 1.0}}}}'
        for name in _bare_groups(tree)
    }
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            places[""] = (
                f"{where} gets nothing in {parameter}; write the parameter before it with its default, such as "
                "{part}: float = 1.0"
            )
    return places


def _bare_groups(tree: Tree, before: str = "") -> Iterator[str]:
    """The names of groups without parts."""
    for name, node in tree.items():
        if isinstance(node, Group):
            yield from _bare_groups(node.parts, f"{before}{name}.")
            if not node.parts:
                yield before + name


def leaves(tree: Tree, before: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every column of the parameters: `optim.lr` and the leaf."""
    for name, node in tree.items():
        if isinstance(node, Leaf):
            yield before + name, node
        else:
            yield from leaves(node.parts, f"{before}{name}.")


def rebuilt(tree: Tree, values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """What the function gets, from the values of all columns."""
    return {
        name: node.back(values[before + name])
        if isinstance(node, Leaf)
        else node.make(**rebuilt(node.parts, values, f"{before}{name}."))
        for name, node in tree.items()
    }


def rebuilt_columns(tree: Tree, rows: Sequence[Mapping[str, Any]], before: str = "") -> dict[str, Any]:
    """What a batched function gets: in place of each value an array with an entry for each row."""
    return {
        name: np.array([node.back(row[before + name]) for row in rows])
        if isinstance(node, Leaf)
        else node.join(**rebuilt_columns(node.parts, rows, f"{before}{name}."))
        for name, node in tree.items()
    }


def flat_value(value: Any) -> Any:
    """A value of Python as columns have it, a group as a dictionary; one that is so already stays as it is."""
    if isinstance(value, BaseModel):
        return {name: flat_value(item) for name, item in value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: flat_value(getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, PurePath):
        return str(value)
    return tuple(map(flat_value, value)) if isinstance(value, list | tuple) else value


class _KindError(Exception):
    """A type that no columns hold; `parts` lead to it."""

    def __init__(self, text: str, *parts: str) -> None:
        super().__init__(text)
        self.parts = parts


def _node(kind: Any, default: Any, whole: bool = True) -> Leaf | Group:
    """A parameter of a type and a default; `whole`: its default stays as it is written."""
    kind = _kind_of_value(default) if kind is NONE else kind
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    parts = _parts(bare, default)
    if parts is None:
        return _leaf(kind, default, whole)
    nodes = dict[str, Leaf | Group]()
    for name, (inner, value) in parts.items():
        if not (isinstance(name, str) and name.isidentifier()):
            raise _KindError(f"has the part {name!r}, which is no name")
        try:
            nodes[name] = _node(inner, value, whole=False)
        except _KindError as error:
            raise _KindError(str(error), name, *error.parts) from None
    if _is_a(bare, BaseModel):
        aliases = {info.alias: name for name, info in bare.model_fields.items() if info.alias}
        names = {name: alias for alias, name in aliases.items()}
        return Group(nodes, lambda **of: bare(**{names.get(k, k): v for k, v in of.items()}), bare.model_construct)
    make = bare if dataclasses.is_dataclass(bare) else dict
    return Group(nodes, make, make)  # type: ignore[arg-type]


def _parts(kind: Any, default: Any) -> dict[str, tuple[Any, Any]] | None:
    """The parts of a group, each with its type and default; None: it is none."""
    origin = _origin(kind)
    if _is_a(kind, BaseModel):
        parts = dict[str, tuple[Any, Any]]()
        for name, info in kind.model_fields.items():
            standard = NONE if info.is_required() else info.get_default(call_default_factory=True)
            about = Field(description=info.description, title=info.title)
            inner = Annotated[info.annotation, *info.metadata, about]
            parts[name] = inner, standard if default is NONE else getattr(default, name)
        return parts
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            one.name: (hints[one.name], _of_field(one) if default is NONE else getattr(default, one.name))
            for one in dataclasses.fields(kind)
            if one.init
        }
    if is_typeddict(kind):
        hints, values = get_type_hints(kind, include_extras=True), {} if default is NONE else default
        return {name: (inner, values.get(name, NONE)) for name, inner in hints.items()}
    if _is_a(origin, Mapping):
        if not isinstance(default, Mapping):
            raise _KindError(
                "is a dict without a default that says its entries, which no typed column holds; write one, such as "
                '{"lr": 0.1}'
            )
        of = get_args(kind)[1] if get_args(kind) and get_args(kind)[1] is not Any else NONE
        return {name: (of, value) for name, value in default.items()}
    if get_origin(kind) in (Union, types.UnionType) and any(_is_group(one) for one in get_args(kind)):
        raise _KindError("has parts, and may be None or another: give it a part that says whether it is used")
    return None


def _origin(kind: Any) -> Any:
    """The class of a type such as list[int]; another type as it is."""
    return get_origin(kind) or kind


def _is_a(kind: Any, *classes: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, classes)


def _is_group(kind: Any) -> bool:
    origin = _origin(kind)
    return _is_a(origin, BaseModel, Mapping) or dataclasses.is_dataclass(kind)


def _of_field(one: dataclasses.Field[Any]) -> Any:
    """The default of a dataclass's field."""
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory()
    return NONE if one.default is dataclasses.MISSING else one.default


def _kind_of_value(value: Any) -> Any:
    """The type of a default that stands for its parameter's."""
    if isinstance(value, PurePath):
        return Path
    if isinstance(value, list | tuple) and value:
        kinds = {_kind_of_value(item) for item in value}
        inner = float if kinds == {int, float} else kinds.pop() if len(kinds) == 1 else None
        if inner is None:
            raise _KindError("has entries of several types")
        return list[inner] if isinstance(value, list) else tuple[inner, ...]
    if value is None or value is NONE or isinstance(value, list | tuple):
        raise _KindError("has no type")
    return type(value)


def _leaf(kind: Any, default: Any, whole: bool) -> Leaf:
    flat, back = _flat(kind)
    if isinstance(default, int) and not isinstance(default, bool) and kind is float:
        default = float(default)
    if default is NONE or (whole and (back is None or _is_open_tuple(kind))):  # so ids from before lists keep
        return Leaf(flat, default, back or _same)
    try:
        value = TypeAdapter(flat, config=_STRICT).validate_python(flat_value(default))
    except ValidationError as error:
        raise _KindError(f"has the default {default!r}, which it may not have: {error.errors()[0]['msg']}") from None
    return Leaf(flat, value, back or _same)


def _is_open_tuple(kind: Any) -> bool:
    """Whether a type is tuple[..., ...] of one type, or this or None."""
    inner = [item for item in get_args(kind) if item is not type(None)]
    if get_origin(kind) in (Union, types.UnionType, Annotated):
        return _is_open_tuple(inner[0])
    return get_origin(kind) is tuple and ... in inner


def _same(value: Any) -> Any:
    return value


def _not_by_value(kind: type[Enum], value: Any) -> Any:
    """A value as it is; one that is the value of a member is refused with its name."""
    name = next((item.name for item in kind if item.value == value and type(item.value) is type(value)), None)
    if name is not None and value not in kind.__members__:
        raise PydanticCustomError("enum_name", "must be {name}, the name of what has this value", {"name": name})
    return value


def _flat(kind: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """The type of a column's values, and the way back to the function's; None: they are the same."""
    origin = _origin(kind)
    inner = get_args(kind)
    if get_origin(kind) is Annotated:
        if kind in (Vector, Matrix):
            return kind, None
        flat, back = _flat(inner[0])
        return Annotated[flat, *inner[1:]], back
    if get_origin(kind) in (Union, types.UnionType) and type(None) in inner and len(inner) == 2:
        flat, back = _flat(next(item for item in inner if item is not type(None)))
        return flat | None, None if back is None else lambda value: None if value is None else back(value)
    if get_origin(kind) is Literal and None in inner and len(inner) > 1:
        choices: Any = Literal[tuple(item for item in inner if item is not None)]
        return choices | None, None
    if _is_a(origin, Enum):
        names = Literal[tuple(item.name for item in origin)]
        return Annotated[names, BeforeValidator(partial(_not_by_value, origin))], origin.__getitem__
    if _is_a(origin, PurePath):
        return str, origin
    if _is_a(origin, Sequence) and origin is not str:
        if not inner:
            raise _KindError(f"is a {origin.__name__} whose entries have no type; write list[int], say")
        items = [_flat(item) for item in inner if item is not ...]
        fixed = issubclass(origin, tuple) and ... not in inner
        flat = tuple[*(item for item, _ in items)] if fixed else tuple[items[0][0], ...]
        backs = [back or _same for _, back in items]
        make: Callable[..., Any] = tuple if issubclass(origin, tuple) else list
        return Annotated[flat, BeforeValidator(as_tuple)], lambda value: make(
            back(item) for back, item in zip(backs if fixed else backs * len(value), value, strict=True)
        )
    if get_origin(kind) is not Literal and kind not in _PLAIN:
        raise _KindError(f"is {getattr(kind, '__name__', kind)}, which no typed column holds")
    return kind, None
