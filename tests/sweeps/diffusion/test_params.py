"""Parameters of `diffusion` that are refused, with the field, what is wrong and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from swingby_sweeps.diffusion.params import DiffusionParams

FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"trained": ""}, "trained", "no class is trained; allowed, with commas between: red-big"),
    ({"size_mean": 0.2}, "size_mean", "allowed: at least radius_floor = 0.1"),
    ({"pixels": 18}, "pixels", "allowed: multiples of 4"),
    ({"norm_groups": 7}, "norm_groups", "does not divide width = 64; allowed: divisors of width"),
    ({"gamma_min": 11.0}, "gamma_min", "allowed: less than gamma_max = 10"),
    ({"dtype": "float64"}, "dtype", "float32 alone"),
]


@pytest.mark.parametrize(("values", "field", "text"), FAULTS)
def test_bad_parameters_are_refused(values: dict[str, Any], field: str, text: str) -> None:
    """The error is at the field, and names what is allowed."""
    with pytest.raises(ValidationError) as caught:
        DiffusionParams(**values)
    (fault,) = caught.value.errors()
    assert fault["loc"] == (field,)
    assert text in fault["msg"]


def test_faults_are_told_together() -> None:
    """Every fault of a cell has its own entry."""
    values: dict[str, Any] = {name: value for given, _, _ in FAULTS for name, value in given.items()}
    with pytest.raises(ValidationError) as caught:
        DiffusionParams(**values)
    assert [fault["loc"][0] for fault in caught.value.errors()] == [field for _, field, _ in FAULTS]
