"""Pinned numbers of two cells of free features, so that only a new `stream_version` moves a stored result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.model import registry
from swingby.model.cell import Cell, Point
from swingby.model.experiment import Batch, Experiment, Recording
from swingby_sweeps.features.unconstrained.experiment import Unconstrained


def cell(experiment: Experiment, **values: Any) -> Cell:
    """A cell of seed 7."""
    params = experiment.Params(**values)
    return Point(experiment.name, experiment.stream_version, params).cell(7)


FLOW = cell(Unconstrained(), classes=3, points_per_class=4, width=5, training_steps=80)
DESCENT = cell(
    Unconstrained(), classes=3, points_per_class=4, width=5, imbalance=2.0, drive="gd", momentum=0.5, training_steps=60
)
PINS: dict[Cell, dict[str, Any]] = {
    FLOW: {
        "loss": [0.501659969, 0.501110195, 0.500575324, 0.494147433, 0.0701365567],
        "weakest": [0.00413602547, 0.00420913604, 0.00431524393, 0.00532943197, 1.04199165],
        "nc1": [1.72099725, 1.57648743, 1.41015176, 0.291974281, 0.000335778836],
        "nc2": [0.492792075, 0.513059901, 0.529112759, 0.590721033, 0.223436262],
        "kappa_cka": [0.236129773, 0.252202227, 0.266762056, 0.253658939, 0.0249395764],
    },
    DESCENT: {
        "loss": [0.501676265, 0.501114817, 0.500290505, 0.488841523, 0.0406324327],
        "weakest": [0.00316630316, 0.003261755, 0.0034686703, 0.00414468435, 0.854942847],
        "nc1": [0.834504355, 0.780627547, 0.698032253, 0.082991574, 5.45352873e-05],
        "nc2": [0.396336104, 0.406355695, 0.4204931, 0.576664803, 0.0888278612],
        "kappa_cka": [0.247350173, 0.261108984, 0.276695529, 0.23328915, 0.0387018914],
    },
}
"""Of each cell its values at five records, or the one of the run."""


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added; a change of any pin below needs a new
    stream version, and then new pins."""
    assert Unconstrained.stream_version == 1
    assert FLOW.cell_id == "9a8590f41667987fb309f46e5852c78c"
    assert DESCENT.cell_id == "38c31ee7de24441dde1251259e676ff7"


@pytest.mark.parametrize("of", PINS, ids=["flow", "descent"])
def test_curves_are_pinned(of: Cell) -> None:
    """Two short runs of each experiment in float64, to rounding: all records, or the last five."""
    (table,) = registry.experiment(of.point.experiment).run(Batch((of,), Recording(points=5)))
    (row,) = table.to_pylist()
    for name, expected in PINS[of].items():
        found = np.array(row[name], dtype=float)
        found = found[-5:] if found.ndim else found
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=name)
