"""Parameters of `linear` that are refused, with the field, what is wrong and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from swingby_sweeps.linear.params import LinearParams


@pytest.mark.parametrize(
    ("values", "field", "text"),
    [
        ({"dtype": "float32"}, "dtype", "allowed: float64"),
        ({"features": "kernel", "pool": 50, "n": 51}, "n", "without replacement of 50 images"),
        ({"features": "kernel", "kernel": "polynomial", "offset": -1.0}, "offset", "is not positive; allowed: 0"),
        ({"spectrum": "two_level", "d": 20, "p": 20}, "d", "allowed: less than p"),
        ({"spectrum": "explicit", "p": 3}, "rho", "0 intensities for 3 modes"),
        ({"spectrum": "explicit", "p": 2, "rho": [1.0, 1.0, 1.0]}, "rho", "3 intensities for 2 modes"),
        ({"spectrum": "explicit", "p": 2, "rho": [1.0, -1.0]}, "rho", "squared norm"),
        ({"spectrum": "explicit", "p": 2, "rho": [0.0, 0.0]}, "rho", "cannot all be 0"),
        ({"target": "labels"}, "target", "only images have labels"),
        ({"p": 9, "mode": 10}, "mode", "allowed: 1 to 9"),
        ({"amplitude": 0.0}, "amplitude", "is constant"),
        ({"target": "explicit"}, "coefficients", "0 coefficients for 2000 modes"),
        ({"target": "explicit", "coefficients": [0.0, 0.0]}, "coefficients", "is constant"),
    ],
)
def test_bad_parameters_are_refused(values: dict[str, Any], field: str, text: str) -> None:
    """The error is at the field, and names what is allowed."""
    with pytest.raises(ValidationError) as caught:
        LinearParams(**values)
    assert [(error["loc"], text in error["msg"]) for error in caught.value.errors()] == [((field,), True)]


def test_faults_are_told_together() -> None:
    """Every fault of a cell has its own entry."""
    values: dict[str, Any] = {"dtype": "float32", "target": "labels", "spectrum": "explicit"}
    with pytest.raises(ValidationError) as caught:
        LinearParams(**values)
    assert {error["loc"][0] for error in caught.value.errors()} == {"dtype", "target", "rho"}
