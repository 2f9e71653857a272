"""The numbers of parity nets stay what they are: where one moves, `stream_version` has to be raised."""

from __future__ import annotations

from typing import Any

import pytest

from swingby.model import registry
from swingby.model.cell import Point
from swingby.model.experiment import Batch, Recording

SMALL = {"skills": 2, "bits": 7, "width": 12, "batch_size": 20, "sigma": 0.3, "training_steps": 120, "test_samples": 50}
CELLS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "time": ({}, [0.010858706, -0.008083541, 24.818054295]),
    "data": ({"bottleneck": "data", "samples": 70}, [0.010819857, 0.110606545, 28.806768098]),
    "width": ({"bottleneck": "width"}, [0.005783506, -0.007160707, 24.92922567]),
}
"""What is set beside `SMALL`, and R_k/S of both skills at the end, then the loss."""


def final(name: str) -> list[float]:
    """R_k/S of both skills and the loss at the end of a cell, with seed 3."""
    experiment, values = registry.experiment("parity_net"), {**SMALL, **CELLS[name][0]}
    params = experiment.Params(**{**experiment.presets["fast"](values), **values})
    cell = Point("parity_net", experiment.stream_version, params).cell(3)
    (table,) = experiment.run(Batch((cell,), Recording(points=3)))
    (row,) = table.to_pylist()
    return [*row["strength"][-1], row["loss"][-1]]


@pytest.mark.parametrize("name", CELLS)
def test_the_numbers_stay(name: str) -> None:
    """One cell of each bottleneck, to what the order of sums may change."""
    assert final(name) == pytest.approx(CELLS[name][1], rel=1e-6)
