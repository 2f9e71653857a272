"""The parameters of a function: from its signature, and from and to plain values for readers without its code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from swingby.errors import SwingbyError
from swingby.model.columns import parameter_schema
from swingby.model.params import INTRODUCED, Matrix, UntypedParams, Vector

TYPES: Mapping[str, Any] = {
    "bool": bool, "int": int, "float": float, "str": str, "vector": Vector, "matrix": Matrix,
}  # fmt: skip
"""The types of parameters by the names that a declaration gives them."""
BOUNDS = ("gt", "ge", "lt", "le")
"""The limits of a parameter that a declaration names."""
ALLOWED = "bool, int, float, str, Literal[...], swingby.Vector, swingby.Matrix, or one of these | None"


def params_of(function: Callable[..., Any], name: str, added: Mapping[str, Any] | None = None) -> type[UntypedParams]:
    """The model of a function's parameters, all but its first.

    Args:
        added: parameters that cells from before did not have, each with the value that is what was done then.

    Raises:
        SwingbyError: one is not named, has no type that a column could hold, or is added and has no default.
    """
    where = f"{Path(inspect.getfile(function)).name}, {function.__name__}()"
    _, *signature = inspect.signature(function).parameters.values() or (None,)
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in signature:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise SwingbyError(f"{where}: {parameter} is no parameter with a name; write each of them out")
        required = parameter.default is inspect.Parameter.empty
        default = ... if required else parameter.default
        kind = hints.get(parameter.name)
        if kind is None:
            if required or type(default) not in (bool, int, float, str):
                raise SwingbyError(f"{where}: the parameter {parameter.name} has no type; allowed: {ALLOWED}")
            kind = type(default)
        if isinstance(default, int) and not isinstance(default, bool) and kind is float:
            default = float(default)
        if added and parameter.name in added:
            if required:
                raise SwingbyError(f"{where}: the added parameter {parameter.name} has no default")
            default = Field(default, json_schema_extra={INTRODUCED: added[parameter.name]})
        fields[parameter.name] = (kind, default)
    for unknown in added or ():
        if unknown not in fields:
            raise SwingbyError(f"{where}: added names {unknown}, which is no parameter; there are {', '.join(fields)}")
    try:
        model = create_model(f"{name}_params", __base__=UntypedParams, **fields)
        parameter_schema(model)
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
    choices = list(get_args(kind)) if get_origin(kind) is Literal else []
    nested = str(kind).count("tuple")
    names = {of: name for name, of in TYPES.items() if isinstance(of, type)}
    type_ = type(choices[0]) if choices else kind
    text = names.get(type_) or ("matrix" if nested > 1 else "vector" if nested else "str")
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
    if isinstance(info.json_schema_extra, dict) and INTRODUCED in info.json_schema_extra:
        declaration["added"] = info.json_schema_extra[INTRODUCED]
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
        extra = {INTRODUCED: of["added"]} if "added" in of else None
        about: dict[str, Any] = {"description": of.get("description"), "json_schema_extra": extra}
        info = FieldInfo(annotation=None, **about, **bounds, **default)
        kind: Any = Literal[tuple(of["choices"])] if of.get("choices") else TYPES[of["type"]]
        fields[name] = (kind | None if of.get("optional") else kind, info)
    return create_model("Params", __base__=UntypedParams, **fields)
