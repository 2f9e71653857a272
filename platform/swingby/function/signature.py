"""The parameters of a function: from its signature, and from and to plain values for readers without its code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import create_model
from pydantic.fields import FieldInfo

from swingby.errors import SwingbyError
from swingby.model.columns import parameter_schema
from swingby.model.params import Matrix, UntypedParams, Vector

TYPES: Mapping[str, Any] = {
    "bool": bool, "int": int, "float": float, "str": str, "vector": Vector, "matrix": Matrix,
}  # fmt: skip
"""The types of parameters by the names that a declaration gives them."""
BOUNDS = ("gt", "ge", "lt", "le")
"""The limits of a parameter that a declaration names."""
ALLOWED = "bool, int, float, str, Literal[...], swingby.Vector, swingby.Matrix, or one of these | None"


def params_of(function: Callable[..., Any], name: str) -> type[UntypedParams]:
    """The model of a function's parameters, all but its first.

    Raises:
        SwingbyError: one is not named, or has no type that a column could hold.
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
        fields[parameter.name] = (kind, default)
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
    found: dict[str, Any] = {"type": text, "optional": optional, "description": info.description}
    if choices:
        found["choices"] = choices
    bounds = {
        name: getattr(item, name) for item in info.metadata for name in BOUNDS if getattr(item, name, None) is not None
    }
    if bounds:
        found["bounds"] = bounds
    if not info.is_required():
        found["default"] = info.get_default(call_default_factory=True)
    return found


def params_declared(params: Mapping[str, Mapping[str, Any]]) -> type[UntypedParams]:
    """The model of parameters that `declared` told of, by name.

    Raises:
        KeyError, TypeError: a declaration lacks something.
    """
    fields: dict[str, Any] = {}
    for name, of in params.items():
        default = {"default": of["default"]} if "default" in of else {}
        bounds = {name: value for name, value in of.get("bounds", {}).items() if name in BOUNDS}
        info = FieldInfo(annotation=None, description=of.get("description"), **bounds, **default)
        kind: Any = Literal[tuple(of["choices"])] if of.get("choices") else TYPES[of["type"]]
        fields[name] = (kind | None if of.get("optional") else kind, info)
    return create_model("Params", __base__=UntypedParams, **fields)
