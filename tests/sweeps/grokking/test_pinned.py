"""Pinned numbers of two cells: stored results stay what they are, or `stream_version` says that they do not."""

from __future__ import annotations

import numpy as np
import pytest

from swingby.model.cell import Cell
from swingby_sweeps.grokking.data import drawn
from swingby_sweeps.grokking.experiment import MlpRegimes
from swingby_sweeps.grokking.net import start

from .test_net import cell, trained

MINI_BATCHES = cell(7)
NUMBERS = cell(7, preset="collapse", random_labels=0.5, target="number", subtract_start=True)
PINS = {
    MINI_BATCHES: {
        "test_accuracy": [0.0865110985, 0.0870802504, 0.0870802504, 0.0893568583, 0.0887877063, 0.0717131474],
        "train_loss": [29.6007058, 27.9648876, 26.6920215, 24.1384573, 20.7337276, 12.2225811],
        "weight_norm": [1.0, 0.999476106, 0.999021489, 0.997126198, 0.991295492, 0.97630761],
        "feature_change": [0.0, 0.164379047, 0.230470076, 0.37081086, 0.504776369, 0.640228493],
        "kappa": [0.290355696, 0.296050495, 0.300843488, 0.310434388, 0.314227447, 0.353597229],
        "d_eff": [6.81855425, 6.67479107, 6.60036051, 6.55077688, 6.65351431, 6.76475232],
    },
    NUMBERS: {
        "test_accuracy": [0.100739898, 0.0506545248, 0.100739898, 0.100739898, 0.093340922, 0.0865110985],
        "train_loss": [0.387654321, 0.383575558, 0.377294391, 0.363081753, 0.341161795, 0.30761581],
        "kappa": [np.nan, 0.619334828, 0.674813004, 0.767435866, 0.739383591, 0.670007741],
        "d_eff": [5.11485193, 5.13473245, 5.16493153, 5.23805815, 5.32109713, 5.33453548],
    },
}


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added; a change of any pin below needs a new
    stream version, and then new pins."""
    assert MlpRegimes.stream_version == 1
    assert MINI_BATCHES.cell_id == "83f1ab8866d810a74a63f16609d06386"
    assert NUMBERS.cell_id == "4c2536be3e806d53cd69f6b02d44c30c"


def test_draws_are_pinned_exactly() -> None:
    """Points, labels and initial weights are these, to the last bit."""
    points, test = drawn(NUMBERS)
    assert points.digits[:12].tolist() == [5, 0, 4, 1, 1, 5, 6, 2, 8, 9, 0, 1]
    assert drawn(MINI_BATCHES)[0].digits[:12].tolist() == [6, 0, 0, 7, 0, 8, 6, 0, 8, 9, 6, 5]
    assert test.digits[:6].tolist() == [7, 5, 4, 1, 5, 4]
    assert start(MINI_BATCHES)[[0, 100, -1]].tolist() == [1.0419113387682635, -1.1042773340013883, 0.017050807300227178]


@pytest.mark.parametrize("of", PINS, ids=["mini-batches", "numbers"])
def test_curves_are_pinned(of: Cell) -> None:
    """Two short runs in float64, to rounding."""
    row = trained(of, 6)
    assert row["step"] == [0, 1, 2, 6, 19, 60]
    for name, expected in PINS[of].items():
        np.testing.assert_allclose(np.array(row[name], dtype=float), expected, rtol=1e-6, err_msg=name)
