"""The fast path through a large grid: no answer of a preset, and no check of a value, is computed twice.

It makes no decision of its own: a point that shows anything new (a value of a parameter, an answer of the preset, a
fault) is resolved and checked in full.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from swingby.model.expression import Expression
from swingby.model.params import UntypedParams, Vector, reads_of
from swingby.sweepfile.parameters import PRESET

Values = Mapping[str, Any]
MOST = 20_000
"""Most answers that a memo keeps."""
_VECTOR = FieldInfo.from_annotation(Vector)  # type: ignore[arg-type]
_ABSENT = object()
"""Stands for a name that has no value."""


class _Watched(Mapping[str, Any]):
    """Values that note which names a function looks up, or that it iterates over all."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self.names = set[str]()
        self.iterated = False

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        self.iterated = True
        return iter(self._values)

    def __len__(self) -> int:
        self.iterated = True
        return len(self._values)


class Memo:
    """A function of named values, whose answers are kept by the values that it looks up; equal answers are one object.

    Which names it looks up may depend on the values: answers are kept by all names that were ever looked up, and
    forgotten where a new one is. The function must depend on nothing else.

    Args:
        ask: the function.
        varying: names whose values differ between calls; None: all.

    Attributes:
        used: the names that the function ever looked up.
    """

    def __init__(self, ask: Callable[[Values], Values], varying: frozenset[str] | None = None) -> None:
        self._ask, self._varying = ask, varying
        self._names: tuple[str, ...] = ()
        self.used = set[str]()
        self._answers: dict[tuple[Any, ...], Values] = {}
        self._same: dict[Any, Values] = {}

    def __call__(self, values: Values) -> tuple[Values, bool]:
        """The answer, and whether it will come again as the same object.

        Raises:
            Whatever the function raises; that is not remembered.
        """
        try:
            known = self._answers.get(tuple([values.get(name, _ABSENT) for name in self._names]))
        except TypeError:  # a value that cannot be hashed, such as a list
            return self._watched(values)[0], False
        if known is not None:
            return known, True
        if len(self._answers) >= MOST:
            return self._ask(values), False
        answer, watched = self._watched(values)
        if watched.iterated:
            return answer, False
        new = {name for name in watched.names if self._varying is None or name in self._varying} - {*self._names}
        if new:
            self._names += tuple(sorted(new))
            self._answers.clear()
        try:
            answer = self._same.setdefault(tuple((name, type(v), v) for name, v in answer.items()), answer)
            self._answers[tuple([values.get(name, _ABSENT) for name in self._names])] = answer
        except TypeError:
            return answer, False
        return answer, True

    def _watched(self, values: Values) -> tuple[Values, _Watched]:
        watched = _Watched(values)
        answer = self._ask(watched)
        self.used |= {*values} if watched.iterated else watched.names
        return answer, watched


class FastPath:
    """Checked parameters of points, from those of points that were checked in full.

    Points whose preset gave one answer differ in the parameters of the axes alone. A parameter's own checks depend on
    its value alone, so a value that passed once passes again; checks between parameters are made at every point.
    """

    def __init__(self, params: type[UntypedParams], where: Expression | None, axes: frozenset[str]) -> None:
        self._where, self._axes = where, axes - {PRESET}
        self._checks = checks_between(params)
        self._params = params
        self._vectors = frozenset(name for name in self._axes if _is_plain_vector(params, name))
        self._checked: dict[str, dict[Any, Any]] = {name: {} for name in self._axes}
        self._shared: dict[int, tuple[Any, dict[str, Any], dict[str, Any]]] = {}

    def values(self, defaults: Values, changes: Values) -> Values | bool | None:
        """The checked parameters; False where `where` leaves the point out; None where it has to be checked in full.

        Args:
            defaults: the answer of the preset: equal answers must be one object.
            changes: the values that the file sets.
        """
        if id(defaults) not in self._shared:
            return None
        scratch, values, written = self._shared[id(defaults)]
        try:
            for name in self._axes:
                value = written[name] = changes[name]
                # A vector that entries are put into is new at every point; its check accepts tuples of finite floats.
                plain = name in self._vectors and type(value) is tuple
                if plain and all(type(one) is float and isfinite(one) for one in value):
                    values[name] = value
                else:
                    values[name] = self._checked[name][value]
            if PRESET in changes:
                written[PRESET] = changes[PRESET]
            if self._where is not None and not self._where.holds(written):
                return False
            for check in self._checks or ():
                if check(scratch) is not scratch:
                    return None
        except Exception:
            return None  # checking in full reports it
        return values

    def learn(self, defaults: Values, changes: Values, written: Values, params: UntypedParams) -> None:
        """Remembers a point that was checked in full: its values as written, and as checked."""
        if self._checks is None:
            return
        try:
            for name in self._axes:
                self._checked[name][changes[name]] = getattr(params, name)
        except TypeError:
            return  # a value that cannot be hashed
        if id(defaults) not in self._shared:
            scratch, values = self._params.model_construct(), dict(params)
            object.__setattr__(scratch, "__dict__", values)
            self._shared[id(defaults)] = (scratch, values, dict(written))


def _is_plain_vector(params: type[UntypedParams], name: str) -> bool:
    """Whether a parameter is a `Vector` without further checks of its own."""
    info = params.model_fields[name]
    checked = {field for one in params.__pydantic_decorators__.field_validators.values() for field in one.info.fields}
    return info.annotation == tuple[float, ...] and info.metadata == _VECTOR.metadata and not checked & {name, "*"}


def checks_between(params: type[BaseModel]) -> list[Callable[[Any], Any]] | None:
    """The checks of a model on all parameters together; None if they cannot be separated from its other checks."""
    decorators = params.__pydantic_decorators__
    fields = [decorator.func for decorator in decorators.field_validators.values()]
    fields += [item.func for info in params.model_fields.values() for item in info.metadata if hasattr(item, "func")]
    models = [decorator.func for decorator in decorators.model_validators.values()]
    plain = (
        not reads_of(params).conditions  # what is not read becomes None
        and not (decorators.validators or decorators.root_validators or params.__private_attributes__)
        and all(decorator.info.mode == "after" for decorator in decorators.model_validators.values())
        and all(len(inspect.signature(check).parameters) == 1 for check in (*fields, *models))
        and all(getattr(params, name) is getattr(BaseModel, name) for name in ("__init__", "model_post_init"))
    )
    return models if plain else None
