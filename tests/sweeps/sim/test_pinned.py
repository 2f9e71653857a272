"""Pinned numbers of two cells: stored results stay what they are, or `Sim.stream_version` says that they do not."""

from __future__ import annotations

import numpy as np
import pytest

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import draw_layers

TRAINED = Sim.point("authors", d=3, width=4, layers=2, rotate=True, lr=0.1, n=100, epochs=5, dtype="float64").cell(7)


def test_the_pins_are_those_of_this_version() -> None:
    """A change of any number below needs a new stream version, and then new pins."""
    assert Sim.stream_version == 1


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added."""
    assert TRAINED.cell_id == "1aa8c924c3fc7bd396c968a980ba090e"


def test_draws_are_pinned_exactly() -> None:
    """Points, order and initial weights are these, to the last bit."""
    points = task.draw_points(TRAINED)
    assert points[[0, 100, 200]].tolist() == [
        [0.9177753398358268, 0.03959161526716493],
        [-0.07540333832359329, 2.1381607339999102],
        [-0.1272542164779187, -0.19677905548742433],
    ]
    assert task.order(TRAINED).next_epoch()[:8].tolist() == [44, 126, 25, 209, 195, 218, 88, 237]
    (first, first_bias), (second, _) = draw_layers(TRAINED)
    assert first_bias is not None
    assert first[0].tolist() == [0.4102579174632053, 0.2464415673956576, 0.480010020876822]
    assert first_bias[:2].tolist() == [0.16517784600746144, -0.43964244944699105]
    assert second[2].tolist() == [-0.47970139498376263, 0.38348450126740474, -0.01700579897916754, -0.4212359586273322]


def test_the_rotation_is_pinned() -> None:
    """The rotation goes through LAPACK, and is pinned to rounding."""
    expected = [-0.8735019435607119, 0.2570256566834001, -0.4134394349867051]
    np.testing.assert_allclose(task.random_rotation(TRAINED)[0], expected, rtol=1e-12)


SGD = {
    "step": [0, 1, 2, 3, 4, 7, 10, 15],
    "ood_loss": [
        1.17239423186,
        1.02714725915,
        0.892837702373,
        0.753432416891,
        0.6751838785,
        0.472918591779,
        0.360830837886,
        0.277431687688,
    ],
    "train_loss": [
        0.639265952813,
        0.547427400812,
        0.469840366395,
        0.393463884625,
        0.341988920763,
        0.220147405793,
        0.147731008252,
        0.088604887995,
    ],
}
FLOW = {
    "step": [0, 1, 2, 11, 60, 331, 1821, 10000],
    "ood_loss": [
        4.09180884864,
        4.07945148699,
        4.06662172736,
        3.92663881967,
        1.94069815168,
        0.364742665891,
        1.84393236610e-05,
        0.0,
    ],
}


@pytest.mark.parametrize(
    ("cell", "curves"),
    [(TRAINED, SGD), (Sim.point("authors", model="symmetric", s=3).cell(7), FLOW)],
    ids=["sgd", "symmetric flow"],
)
def test_curves_are_pinned(cell: Cell, curves: dict[str, list[float]]) -> None:
    """A trained curve and a flow are these, to 1e-6."""
    (table,) = Sim().run(Batch((cell,), Recording(points=8)))
    (row,) = table.to_pylist()
    for name, expected in curves.items():
        np.testing.assert_allclose(row[name], expected, rtol=1e-6, atol=1e-12)
