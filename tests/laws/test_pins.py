"""Pinned cells of every experiment: their ids and numbers stay, or `stream_version` says that they do not.

Where a change is meant, raise it and run `python -m tests.support.pins`.
"""

from __future__ import annotations

import pytest

from swingby.model import registry
from tests.support import pins

EXPERIMENTS = sorted(registry.offered(registry.EXPERIMENTS))
CELLS = [(name, label) for name in EXPERIMENTS for label in pins.load(name).cells]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pins_are_those_of_the_version(name: str) -> None:
    """An experiment that says that its numbers are pinned has pins, of its present version."""
    experiment, pinned = registry.experiment(name), pins.load(name)
    assert experiment.pinned == bool(pinned.cells)
    assert not pinned.cells or pinned.stream_version == experiment.stream_version


@pytest.mark.parametrize(("name", "label"), CELLS, ids=["-".join(pin) for pin in CELLS])
def test_a_pinned_cell_stays(name: str, label: str) -> None:
    """Its id does not change, also when parameters are added; its numbers are the pinned ones, to rounding."""
    pinned = pins.load(name)
    pin = pinned.cells[label]
    assert pins.cell(name, label).cell_id == pin["cell_id"]
    for column, value in pins.numbers(name, label).items():
        assert pins.holds(pinned, pin["rows"][column], value), f"{column} is {value.tolist()}"
