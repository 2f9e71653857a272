"""Parameters of an experiment: a flat, frozen model of values that a typed column can hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from swingby.errors import SwingbyError
from swingby.model.expression import Expression, ExpressionError, parse


def as_tuple(value: Any) -> Any:
    """A list, and each list within it, as a tuple; any other value as it is."""
    return tuple(as_tuple(item) for item in value) if isinstance(value, list | tuple) else value


Vector = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
"""A vector of finite floats; YAML lists are accepted."""
Matrix = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(as_tuple)]
"""A matrix as a tuple of rows; YAML lists of lists are accepted."""
Integers = Annotated[tuple[int, ...], BeforeValidator(as_tuple)]
"""A list of integers."""
Texts = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""A list of texts."""
Fault = tuple[str, str]
"""The parameter that a fault lies in, or an entry of a vector (`rates.1`), and a message that says what is allowed."""


INTRODUCED = "introduced_at"
"""Under this name a field says at which value it is left out of the identity."""


READ_WHERE = "read_where"
"""Under this name a field says under which condition it is read."""


def added(default: Any, **field_options: Any) -> Any:
    """A parameter added after cells already existed: at this default it is left out of the identity."""
    return Field(default=default, json_schema_extra={INTRODUCED: default}, **field_options)


def plain(value: Any) -> Any:
    """A parameter's value as JSON has it, where -0 and 0 are one number."""
    if isinstance(value, float):
        return 0.0 if value == 0 else value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def introduced(params: type[BaseModel]) -> dict[str, Any]:
    """The parameters that were `added`, with the values at which they are left out of the identity."""
    extras = {name: info.json_schema_extra for name, info in params.model_fields.items()}
    return {
        name: plain(extra[INTRODUCED])
        for name, extra in extras.items()
        if isinstance(extra, dict) and INTRODUCED in extra
    }


@dataclass(frozen=True)
class Reads:
    """Which of its parameters a model reads at a point.

    Attributes:
        conditions: of the parameters that not every point reads, each after those that it speaks of.
        defaults: their defaults, as JSON has them: what is not read counts as that in the identity.
    """

    conditions: Mapping[str, Expression]
    defaults: Mapping[str, Any]

    def unread(self, values: Mapping[str, Any]) -> set[str]:
        """The parameters that are not read at a point. A condition that looks at one of them does not hold.

        Raises:
            ReadError: a condition is neither true nor false there, or a parameter is read and has no value.
        """
        seen = _Seen(values)
        for name, condition in self.conditions.items():
            try:
                read = condition.holds(seen)
            except _UnreadError:
                read = False
            except ExpressionError as error:
                raise ReadError(name, f"{name} is read where {condition.text}: {error}") from None
            if not read:
                seen.unread.add(name)
            elif values[name] is None and self.defaults[name] is not None:
                raise ReadError(name, f"{name} is read where {condition.text}, and has no value there")
        return seen.unread


class ReadError(ValueError):
    """What is read at a point is not known; `name` is the parameter."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class _UnreadError(Exception):
    """A condition looks at a parameter that is not read."""


class _Seen(dict[str, Any]):
    """The values of a point, of which some must not be looked at."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.unread = set[str]()

    def __contains__(self, name: object) -> bool:
        if name in self.unread:
            raise _UnreadError
        return super().__contains__(name)


@cache
def reads_of(params: type[BaseModel]) -> Reads:
    """Which parameters a model reads, as its fields say.

    Raises:
        SwingbyError: a condition cannot be read, or speaks of what is no parameter, or of itself.
    """
    extras = {name: info.json_schema_extra for name, info in params.model_fields.items()}
    texts = {
        name: extra[READ_WHERE] for name, extra in extras.items() if isinstance(extra, dict) and READ_WHERE in extra
    }
    conditions = {name: condition_of(name, str(text), extras) for name, text in texts.items()}
    try:
        order = list(
            TopologicalSorter({name: {n for n, _ in of.names} for name, of in conditions.items()}).static_order()
        )
    except CycleError as error:
        raise SwingbyError(f"{' and '.join(dict.fromkeys(error.args[1]))} are read where the others are") from None
    defaults = {name: plain(params.model_fields[name].default) for name in conditions}
    return Reads({name: conditions[name] for name in order if name in conditions}, defaults)


def condition_of(name: str, text: str, names: Collection[str]) -> Expression:
    """The condition under which a parameter is read, over the parameters of these names.

    Raises:
        SwingbyError: it cannot be read, or speaks of what is no parameter.
    """
    try:
        condition = parse(text, names)
    except ExpressionError as error:
        raise SwingbyError(f"{name} is read where {text!r}, which {error}") from None
    for other, _ in condition.names:
        if other not in names:
            raise SwingbyError(f"{name} is read where {text!r}; {other} is no parameter; there are {', '.join(names)}")
    return condition


class UntypedParams(BaseModel):
    """Base of parameters without a `dtype`: flat, frozen, strict, finite, unknown names refused.

    A parameter is a string, bool, int, float (or None too), `Vector` or `Matrix`: what a typed column can hold. One
    that is not read at a point is None there.

    Raises (on construction):
        pydantic.ValidationError: has an entry for each fault, under the name of its parameter.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    open_places: ClassVar[Mapping[str, str]] = {}
    """What to write in the code where a sweep names a parameter that is not there: below a group, or at ""."""

    def _faults(self) -> Iterable[Fault]:
        """Faults that no parameter shows alone; asked once each parameter is valid by itself.

        The name begins with an underscore so that `faults` is free for a parameter.
        """
        return ()

    @model_validator(mode="after")
    def _checked(self) -> Self:
        """Raises for every fault at once."""
        details: list[InitErrorDetails] = []
        for place, message in [*self._settled(), *self._faults()]:
            name, *entry = [place] if place in type(self).model_fields else place.rsplit(".", 1)
            kind = PydanticCustomError("inconsistent", "{message}", {"message": message})
            details.append(InitErrorDetails(type=kind, loc=(name, *map(int, entry)), input=getattr(self, name)))
        if details:
            raise ValidationError.from_exception_data(type(self).__name__, details)
        return self

    def _settled(self) -> Iterable[Fault]:
        """Makes None of what is not read; a fault for each parameter that is read and has no value."""
        reads = reads_of(type(self))
        if not reads.conditions:
            return
        try:
            unread = reads.unread(self.__dict__)
        except ReadError as error:
            yield error.name, str(error)
            return
        for name in unread:
            object.__setattr__(self, name, None)  # the model is frozen

    def canonical(self) -> dict[str, Any]:
        """The parameters as plain JSON values, without those at their introduction default."""
        values = {name: plain(getattr(self, name)) for name in type(self).model_fields}
        for name, default in reads_of(type(self)).defaults.items():
            values[name] = default if values[name] is None else values[name]
        for name, default in introduced(type(self)).items():
            if values[name] == default:
                del values[name]
        return values


class Params(UntypedParams):
    """Base of the parameters of an experiment that computes in the arithmetic of `dtype`."""

    dtype: Literal["float32", "float64"] = Field("float32", description="arithmetic of the run")
