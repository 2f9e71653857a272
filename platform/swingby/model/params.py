"""Parameters of an experiment: a flat, frozen model of values that a typed column can hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError


def as_tuple(value: Any) -> Any:
    """A list, and each list within it, as a tuple; any other value as it is."""
    return tuple(as_tuple(item) for item in value) if isinstance(value, list | tuple) else value


Vector = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
"""A vector of finite floats; YAML lists are accepted."""
Matrix = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(as_tuple)]
"""A matrix as a tuple of rows; YAML lists of lists are accepted."""
Fault = tuple[str, str]
"""The parameter that a fault lies in, or an entry of a vector (`rates.1`), and a message that says what is allowed."""


INTRODUCED = "introduced_at"
"""Under this name a field says at which value it is left out of the identity."""


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


class UntypedParams(BaseModel):
    """Base of parameters without a `dtype`: flat, frozen, strict, finite, unknown names refused.

    A parameter is a string, bool, int, float (or None too), `Vector` or `Matrix`: what a typed column can hold.

    Raises (on construction):
        pydantic.ValidationError: has an entry for each fault, under the name of its parameter.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def _faults(self) -> Iterable[Fault]:
        """Faults that no parameter shows alone; asked once each parameter is valid by itself.

        The name begins with an underscore so that `faults` is free for a parameter.
        """
        return ()

    @model_validator(mode="after")
    def _checked(self) -> Self:
        """Raises for every fault at once."""
        details: list[InitErrorDetails] = []
        for place, message in self._faults():
            name, *entry = place.split(".")
            kind = PydanticCustomError("inconsistent", "{message}", {"message": message})
            details.append(InitErrorDetails(type=kind, loc=(name, *map(int, entry)), input=getattr(self, name)))
        if details:
            raise ValidationError.from_exception_data(type(self).__name__, details)
        return self

    def canonical(self) -> dict[str, Any]:
        """The parameters as plain JSON values, without those at their introduction default."""
        values = {name: plain(getattr(self, name)) for name in type(self).model_fields}
        for name, default in introduced(type(self)).items():
            if values[name] == default:
                del values[name]
        return values


class Params(UntypedParams):
    """Base of the parameters of an experiment that computes in the arithmetic of `dtype`."""

    dtype: Literal["float32", "float64"] = Field("float32", description="arithmetic of the run")
