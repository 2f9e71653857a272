"""Pinned numbers: stored results stay what they are, or `Linear.stream_version` says that they do not."""

from __future__ import annotations

from typing import Any

import pytest

from swingby.model.cell import Cell, Point
from swingby.model.experiment import Recording
from swingby_sweeps.linear.engine import fit
from swingby_sweeps.linear.experiment import Linear
from swingby_sweeps.linear.params import STREAM_VERSION, LinearParams

PINS: list[tuple[dict[str, Any], str, list[float]]] = [
    (
        {"features": "gaussian"},
        "9cf4dcae359c8c0b0ffd9da0e92b24e7",
        [0.490896004847, 0.0856903495884, 0.0307313298565, 0.0389388341419],
    ),
    (
        {"features": "rademacher"},
        "2038c8099f2aff269999bcb0c1daecf3",
        [0.49091483483, 0.0926977042896, 0.0231947903249, 0.0451420292745],
    ),
    (
        {"features": "fourier"},
        "48055904144a61997329c2ead620b743",
        [0.490267312734, 0.0851817858245, 0.0306644609321, 0.0848198506642],
    ),
    (
        {"features": "sine"},
        "294779f0da2486fbcdb8833b6612c8c3",
        [0.492133837939, 0.117095200625, 0.0246392017296, 0.22629833601],
    ),
    (
        {"features": "hermite"},
        "6250a358a4790b6acc66a906001bc3f4",
        [0.49278121656, 0.125161615845, 0.0710667201802, 0.621799270599],
    ),
    (
        {"features": "kernel", "pool": 60, "target": "labels"},
        "a728af0d8f08fdbe0a6d706d0633943c",
        [0.499600357876, 0.471049945284, 0.245000723948, 0.294082590969],
    ),
    (
        {"drive": "descent", "eta": 0.5, "ridge": 0.1},
        "4e020ab01bcfba0211797b7cffbce67b",
        [0.5, 0.048525712106, 0.0263461657282, 0.0286641309145],
    ),
    (
        {"spectrum": "two_level", "target": "power", "sigma_is": "variance"},
        "ef9732ee6bece00555b2da8ca246eb31",
        [0.801465172532, 0.376871459671, 0.202919740588, 0.198334992611],
    ),
]
"""Parameters of cells of seed 7 with four points; their ids; their test losses."""


def cell(values: dict[str, Any]) -> Cell:
    """One of these cells."""
    return Point("linear", STREAM_VERSION, LinearParams(n=20, p=50, points=4, **values)).cell(7)


def test_the_pins_are_those_of_this_version() -> None:
    """A change of any number needs a new stream version, and then new pins."""
    assert Linear.stream_version == 1


@pytest.mark.parametrize(("values", "cell_id", "losses"), PINS)
def test_cells_are_pinned(values: dict[str, Any], cell_id: str, losses: list[float]) -> None:
    """The id of a stored cell and the numbers of its curve do not change."""
    assert cell(values).cell_id == cell_id
    assert fit(cell(values), Recording("every")).curves["test_loss"] == pytest.approx(losses, rel=1e-9)
