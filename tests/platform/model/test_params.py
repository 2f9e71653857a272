"""The base of parameters: faults between several of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest
from pydantic import ValidationError, create_model

from swingby.errors import SwingbyError
from swingby.function.signature import params_of
from swingby.model.columns import parameter_schema
from swingby.model.params import Fault, Integers, Texts, UntypedParams, Vector


class Pair(UntypedParams):
    """Two bounds and a vector between them."""

    low: float = 0.0
    high: float = 1.0
    between: Vector = ()

    def _faults(self) -> Iterator[Fault]:
        if self.low > self.high:
            yield "low", f"low = {self.low:g}; allowed: up to {self.high:g}"
        for index, value in enumerate(self.between):
            if value > self.high:
                yield f"between.{index}", f"between.{index} = {value:g}; allowed: up to {self.high:g}"


def test_every_fault_between_parameters_is_told_at_its_place() -> None:
    """Faults come together, each with its parameter, or its entry of a vector, its text and the value there."""
    with pytest.raises(ValidationError) as caught:
        Pair(low=2.0, between=(0.5, 3.0))
    found = [(fault["loc"], fault["msg"], fault["input"]) for fault in caught.value.errors()]
    assert found == [
        (("low",), "low = 2; allowed: up to 1", 2.0),
        (("between", 1), "between.1 = 3; allowed: up to 1", (0.5, 3.0)),
    ]


def test_parameters_without_faults_are_taken() -> None:
    """What no check speaks against is taken as it is."""
    assert Pair(between=(0.5,)).canonical() == {"low": 0.0, "high": 1.0, "between": [0.5]}


def test_lists_of_a_class_keep_their_type() -> None:
    """A list of integers has integers in its identity and its column, and takes no others."""

    class Lists(UntypedParams):
        widths: Integers = (16,)
        names: Texts = ()

    assert Lists(widths=[4, 8], names=["a"]).canonical() == {"widths": [4, 8], "names": ["a"]}  # type: ignore[arg-type]
    assert [str(field.type) for field in parameter_schema(Lists)] == ["list<item: int64>", "list<item: string>"]
    with pytest.raises(ValidationError):
        Lists(widths=(4.0,))  # type: ignore[arg-type]


def test_a_parameter_may_be_called_faults() -> None:
    """The hook takes no name that a user's function could have."""

    def train(run: Path, faults: int = 2) -> float:
        return faults

    assert params_of(train, "train")().canonical() == {"faults": 2}


class _Kind(Enum):
    SGD = 1
    ADAM = 2


@pytest.mark.parametrize(
    ("kind", "instead"),
    [
        (_Kind, "p: Literal['SGD', 'ADAM']"),
        (Path, "write p: str"),
        (dict[str, float], "such as p_lr"),
        (UntypedParams, "such as p_lr"),
        (set, "no typed column holds; allowed"),
    ],
)
def test_a_class_reads_what_to_write_in_place_of_a_type(kind: type, instead: str) -> None:
    """Of the types that a function may have and a class may not."""
    with pytest.raises(SwingbyError, match=re.escape(instead)):
        parameter_schema(create_model("Other", __base__=UntypedParams, p=(kind, ...)))
