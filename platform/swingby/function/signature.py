"""The parameters of a function: from its signature, and from and to plain values for readers without its code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BeforeValidator, Field, create_model
from pydantic.fields import FieldInfo

from swingby.errors import SwingbyError
from swingby.function.nested import ALLOWED, NONE, flat_value, leaves, open_places, tree_of
from swingby.model.columns import column_type, parameter_schema
from swingby.model.params import INTRODUCED, READ_WHERE, Matrix, UntypedParams, Vector, as_tuple, reads_of

LISTS = {f"{one.__name__}[]": Annotated[tuple[one, ...], BeforeValidator(as_tuple)] for one in (bool, int, str)}
DEEPER = {f"{name}[]": Annotated[tuple[of, ...], BeforeValidator(as_tuple)] for name, of in LISTS.items()}
TYPES: Mapping[str, Any] = {
    "bool": bool, "int": int, "float": float, "str": str, "vector": Vector, "matrix": Matrix, **LISTS, **DEEPER,
}  # fmt: skip
"""The types of parameters by the names that a declaration gives them."""
BOUNDS = ("gt", "ge", "lt", "le")
"""The limits of a parameter that a declaration names."""
KEPT = {"added": INTRODUCED, "reads": READ_WHERE}
"""What else it names, and where a field has it."""


def params_of(
    function: Callable[..., Any],
    name: str,
    added: Mapping[str, Any] | None = None,
    reads: Mapping[str, str] | None = None,
) -> type[UntypedParams]:
    """The flat model of a function's parameters, all but its first.

    Args:
        added: parameters that cells from before did not have, each with the value that is what was done then.
        reads: the conditions under which parameters are read that not every point reads.

    Raises:
        SwingbyError: one is not named, has no type that a column could hold, or is added or not always read and has no
            default.
    """
    where = f"{Path(inspect.getfile(function)).name}, {function.__name__}()"
    fields: dict[str, Any] = {}
    tree = tree_of(function)
    for path, leaf in leaves(tree):
        kind, default, extra = leaf.kind, leaf.default, dict[str, Any]()
        for key, of in ((INTRODUCED, added or {}), (READ_WHERE, reads or {})):
            if path in of and default is NONE:
                word = "added parameter" if key == INTRODUCED else "parameter of reads"
                raise SwingbyError(f"{where}: the {word} {path} has no default")
            if path in of:
                extra[key] = flat_value(of[path])
        if READ_WHERE in extra:
            if default is not None and type(None) in get_args(kind):
                say = "null in SQL is what is not read: give it the default None, or a type without None"
                raise SwingbyError(f"{where}: the parameter of reads {path} may be None; {say}")
            kind = kind | None
        fields[path] = (kind, ... if default is NONE else Field(default, json_schema_extra=extra) if extra else default)
    for option, of in (("added", added), ("reads", reads)):
        for unknown in (of or {}).keys() - fields.keys():
            known = ", ".join(fields)
            raise SwingbyError(f"{where}: {option} names {unknown}, which is no parameter; there are {known}")
    try:
        model = create_model(f"{name}_params", __base__=UntypedParams, **fields)
        model.open_places = open_places(function, tree)
        parameter_schema(model)
        reads_of(model)
    except SwingbyError as error:
        raise SwingbyError(f"{where}: {error}") from None
    except (TypeError, NameError) as error:
        raise SwingbyError(f"{where}: {error}; allowed: {ALLOWED}") from None
    return model


def declared(info: FieldInfo) -> dict[str, Any]:
    """A parameter as plain JSON values."""
    kind: Any = info.annotation
    optional = type(None) in get_args(kind)
    if optional:
        kind = next(item for item in get_args(kind) if item is not type(None))
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    choices = list(get_args(kind)) if get_origin(kind) is Literal else []
    text = next((name for name, of in TYPES.items() if column_type(of) == column_type(kind)), "str")
    declaration: dict[str, Any] = {"type": text, "optional": optional, "description": info.description}
    if choices:
        declaration["choices"] = choices
    bounds = {
        name: getattr(item, name) for item in info.metadata for name in BOUNDS if getattr(item, name, None) is not None
    }
    if bounds:
        declaration["bounds"] = bounds
    if not info.is_required():
        declaration["default"] = info.get_default(call_default_factory=True)
    for name, key in KEPT.items():
        if isinstance(info.json_schema_extra, dict) and key in info.json_schema_extra:
            declaration[name] = info.json_schema_extra[key]
    return declaration


def params_declared(params: Mapping[str, Mapping[str, Any]]) -> type[UntypedParams]:
    """The model of parameters that `declared` told of, by name.

    Raises:
        KeyError, TypeError: a declaration lacks something.
    """
    fields: dict[str, Any] = {}
    for name, of in params.items():
        default = {"default": of["default"]} if "default" in of else {}
        bounds = {name: value for name, value in of.get("bounds", {}).items() if name in BOUNDS}
        extra = {key: of[name] for name, key in KEPT.items() if name in of} or None
        about: dict[str, Any] = {"description": of.get("description"), "json_schema_extra": extra}
        info = FieldInfo(annotation=None, **about, **bounds, **default)
        kind: Any = Literal[tuple(of["choices"])] if of.get("choices") else TYPES[of["type"]]
        fields[name] = (kind | None if of.get("optional") else kind, info)
    return create_model("Params", __base__=UntypedParams, **fields)
