"""Fields of a model in words."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from swingby.model.fields import default_of, values_of


class Fields(BaseModel):
    """A field of each kind."""

    count: int = Field(3, ge=1, le=2000)
    rate: float = Field(gt=0)
    kind: Literal["sgd", "flow"] = "sgd"
    steps: list[Annotated[int, Field(ge=0)]] = []
    mark: Annotated[int, Field(ge=1)] | None = None


@pytest.mark.parametrize(
    ("name", "values", "default"),
    [
        ("count", "integer, 1 to 2,000", "3"),
        ("rate", "number, > 0", ""),
        ("kind", "`sgd`, `flow`", '"sgd"'),
        ("steps", "list of integer, 0 or more", "[]"),
        ("mark", "integer, 1 or more or null", "null"),
    ],
)
def test_a_field_is_told_in_words(name: str, values: str, default: str) -> None:
    """Bounds are told where they stand: of the field, of the members of a list, of one of two types."""
    info = Fields.model_fields[name]
    assert values_of(info, lambda word: f"`{word}`") == values
    assert default_of(info) == default
