"""A short cut through a large grid: what a point shares with those before it is not resolved and checked again.

It takes no decision of its own: wherever a point shows anything new (a value of a parameter, an answer of the preset,
an objection) it says so, and the point goes the whole way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from swingby.model.params import Params, Vector
from swingby.sweepfile.expression import Expression
from swingby.sweepfile.parameters import PRESET

Values = Mapping[str, Any]
_VECTOR = FieldInfo.from_annotation(Vector)  # type: ignore[arg-type]


class FastPath:
    """Checked parameters of points, from those of points that went the whole way.

    Points whose preset gave one answer differ in what the axes set and in nothing else. A parameter's own checks look
    at its value alone, so a value that passed once passes again; checks between parameters are made at every point.
    """

    def __init__(self, params: type[Params], where: Expression | None, axes: frozenset[str]) -> None:
        self._where, self._axes = where, axes - {PRESET}
        self._checks = checks_between(params)
        self._params = params
        self._vectors = frozenset(name for name in self._axes if _is_vector(params, name))
        self._checked: dict[str, dict[Any, Any]] = {name: {} for name in self._axes}
        self._shared: dict[int, tuple[Any, dict[str, Any], dict[str, Any]]] = {}

    def values(self, defaults: Values, own: Values) -> Values | bool | None:
        """The checked parameters; False where `where` leaves the point out; None where it is not known.

        Args:
            defaults: what the preset gave: the same object each time.
            own: what the file sets.
        """
        if id(defaults) not in self._shared:
            return None
        scratch, values, written = self._shared[id(defaults)]
        try:
            for name in self._axes:
                value = written[name] = own[name]
                values[name] = value if name in self._vectors and _floats(value) else self._checked[name][value]
            if PRESET in own:
                written[PRESET] = own[PRESET]
            if self._where is not None and not self._where.holds(written):
                return False
            for check in self._checks or ():
                if check(scratch) is not scratch:
                    return None
        except Exception:
            return None  # told on the whole way
        return values

    def learn(self, defaults: Values, own: Values, written: Values, params: Params) -> None:
        """A point that went the whole way: as written, and as checked."""
        if self._checks is None:
            return
        try:
            for name in self._axes:
                self._checked[name][own[name]] = getattr(params, name)
        except TypeError:
            return  # a value that cannot be looked up
        if id(defaults) not in self._shared:
            scratch, values = self._params.model_construct(), dict(params)
            object.__setattr__(scratch, "__dict__", values)
            self._shared[id(defaults)] = (scratch, values, dict(written))


def _is_vector(params: type[Params], name: str) -> bool:
    """Whether a parameter is any `Vector`: one that entries are put into is new at every point."""
    info = params.model_fields[name]
    checked = {field for one in params.__pydantic_decorators__.field_validators.values() for field in one.info.fields}
    return info.annotation == tuple[float, ...] and info.metadata == _VECTOR.metadata and not checked & {name, "*"}


def _floats(value: Any) -> bool:
    """Whether this is a vector as its check leaves it."""
    return type(value) is tuple and all(type(one) is float and isfinite(one) for one in value)


def checks_between(params: type[BaseModel]) -> list[Callable[[Any], Any]] | None:
    """The checks that a model makes of all its parameters together; None if it does what cannot be told apart so."""
    found = params.__pydantic_decorators__
    fields = [decorator.func for decorator in found.field_validators.values()]
    fields += [item.func for info in params.model_fields.values() for item in info.metadata if hasattr(item, "func")]
    models = [decorator.func for decorator in found.model_validators.values()]
    plain = (
        not (found.validators or found.root_validators or params.__private_attributes__)
        and all(decorator.info.mode == "after" for decorator in found.model_validators.values())
        and all(len(inspect.signature(check).parameters) == 1 for check in (*fields, *models))
        and all(getattr(params, name) is getattr(BaseModel, name) for name in ("__init__", "model_post_init"))
    )
    return models if plain else None
