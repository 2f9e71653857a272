"""Pinned numbers of cells of modes and of linear nets, so that only a new `stream_version` moves a stored result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.model import registry
from swingby.model.cell import Cell, Point
from swingby.model.experiment import Batch, Experiment, Recording
from swingby_sweeps.layerwise.experiment import LinearNet, Modes


def cell(experiment: Experiment, **values: Any) -> Cell:
    """A cell of seed 7."""
    params = experiment.Params(**values)
    return Point(experiment.name, experiment.stream_version, params).cell(7)


UNEQUAL = cell(Modes(), modes=3, target=2.0, start=0.1, imbalance=0.05, spread=0.3, training_steps=100)
PARITY = cell(Modes(), system="parity3", drive="gd", start=0.1, spread=0.2, training_steps=200)
NET_FLOW = cell(LinearNet(), d=5, width=6, sigma=0.05, input_spectrum=0.5, training_steps=40)
NET_DESCENT = cell(
    LinearNet(), d=4, width=4, c=4, init="lambda", imbalance=0.3, sigma=0.1, drive="gd", training_steps=25
)
PINS: dict[Cell, dict[str, Any]] = {
    UNEQUAL: {
        "strength": [
            [0.007043951, 0.00630787253, 0.0133969761],
            [0.00963085086, 0.00678518859, 0.0138094823],
            [0.0123781879, 0.00727518012, 0.0142288904],
            [0.0780032691, 0.0144986712, 0.0198769489],
            [0.99987605, 0.411198935, 0.136957388],
        ],
        "loss": [1.96967876, 1.96224507, 1.95439338, 1.77873354, 0.323230333],
    },
    PARITY: {
        "strength": [
            [0.0020869992, 0.00572943754, 0.00274481626],
            [0.00219421217, 0.0058643608, 0.00281348415],
            [0.00230690707, 0.00600256075, 0.00288388437],
            [0.00567033838, 0.00914541574, 0.00450197444],
            [0.750448531, 0.613115373, 0.298421763],
        ],
        "loss": [0.496877708, 0.496772372, 0.496663182, 0.493794999, 0.116369947],
    },
    NET_FLOW: {
        "strength": [
            [7.24006749e-06, 0.000572946974, -0.00249562379],
            [0.000794611479, 0.000974310198, -0.00157307322],
            [0.00165197212, 0.00141356749, -0.000667784053],
            [0.0186782693, 0.0073164708, 0.00594292167],
            [0.964628796, 0.547703031, 0.127681876],
        ],
        "loss": [9.38539821, 9.37321127, 9.36010463, 9.14115567, 1.46339948],
        "effective_rank": [2.33017252, 2.03768343, 1.90924242, 1.95708381, 2.18174378],
    },
    NET_DESCENT: {
        "strength": [
            [0.00128898479, 0.00078474345, 0.0120102616],
            [0.0166622348, 0.0161097693, 0.0273720836],
            [0.0325673749, 0.0315133262, 0.0426513938],
            [0.163963907, 0.128174039, 0.121951754],
            [0.986126967, 0.864798089, 0.525449191],
        ],
        "loss": [6.97576808, 6.7627812, 6.54834728, 5.05586572, 0.151571126],
        "effective_rank": [3.80982552, 2.98512287, 3.06036714, 2.58492162, 2.51512292],
    },
}
"""Of each cell its values at five records, or the one of the run."""


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added; a change of any pin below needs a new
    stream version, and then new pins."""
    assert Modes.stream_version == LinearNet.stream_version == 1
    assert UNEQUAL.cell_id == "af8fd0da936fd2d4eef6d2136a1ec5f8"
    assert PARITY.cell_id == "c66f37c659fa7ca56d80c9de85a0f902"
    assert NET_FLOW.cell_id == "a1faa25e271d70be65ac889ae2d7e4a8"
    assert NET_DESCENT.cell_id == "f37e896ac6289cf92620cad21bbf6593"


@pytest.mark.parametrize("of", PINS, ids=["unequal", "parity", "net-flow", "net-descent"])
def test_curves_are_pinned(of: Cell) -> None:
    """Two short runs of each experiment in float64, to rounding: all records, or the last five."""
    (table,) = registry.experiment(of.point.experiment).run(Batch((of,), Recording(points=5)))
    (row,) = table.to_pylist()
    for name, expected in PINS[of].items():
        found = np.array(row[name], dtype=float)
        found = found[-5:] if found.ndim else found
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=name)
