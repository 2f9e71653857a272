"""Pinned numbers of two cells: stored results stay what they are, or `stream_version` says that they do not."""

from __future__ import annotations

import numpy as np
import pytest

from swingby.model.cell import Cell
from swingby_sweeps.features.data import drawn
from swingby_sweeps.features.experiment import Features

from .test_net import cell, rows

NOISY = cell(7, dtype="float64", batch_norm=True, weight_decay=0.01, label_noise=0.2)
WAVES = cell(7, dtype="float64", net="cnn1d", channels=3, layers=2, loss="cross_entropy", activation="tanh")
PINS = {
    NOISY: {
        "train_loss": [1.41631917, 1.12666327, 0.803181527, 0.411500364, 0.595659216, 0.415247306],
        "test_accuracy": [0.255, 0.255, 0.269, 0.351, 0.419, 0.587],
        "kappa_cka": [0.210388701, 0.260337758, 0.387110868, 0.580923936, 0.211987309, 0.106579136],
        "train_containment": [0.867415462, 0.822509401, 0.762014306, 0.409126672, 0.75470146, 0.97236391],
        "nc1": [6.71671436, 6.68647678, 4.86702625, 3.05656559, 2.28505016, 2.2401182],
        "nc3": [1.64353519, 1.60814295, 1.46204349, 1.25453195, 1.1404239, 0.946873133],
    },
    WAVES: {
        "train_loss": [1.11302187, 1.11151413, 1.11003573, 1.1070418, 1.10169166, 1.09259389],
        "test_accuracy": [0.333, 0.333, 0.333, 0.333, 0.333, 0.401],
        "kappa_cka": [0.302986167, 0.31339372, 0.329230296, 0.373505897, 0.454721398, 0.36419882],
        "train_containment": [0.88757643, 0.881020667, 0.870048615, 0.84017743, 0.760576452, 0.769456015],
        "nc1": [9.47291163, 9.76099733, 10.5336069, 13.2447081, 10.8452871, 2.12431648],
        "nc3": [1.61245176, 1.60392567, 1.58946059, 1.54467731, 1.40801055, 1.05397014],
    },
}


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added; a change of any pin below needs a new
    stream version, and then new pins."""
    assert Features.stream_version == 1
    assert NOISY.cell_id == "e68a5fa02f348b3772097157d02946cc"
    assert WAVES.cell_id == "2beba50d38ac179641517ddddcf7d819"


def test_draws_are_pinned_exactly() -> None:
    """Points and labels are these, to the last bit."""
    train, test = drawn(NOISY)
    assert train.labels[:12].tolist() == [0, 1, 2, 0, 1, 2, 0, 0, 2, 0, 1, 0]
    assert train.x[0, :3].tolist() == [-0.01512458001109564, -0.679616798465542, -0.9127703380622302]
    assert test.labels[:6].tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("of", PINS, ids=["noisy labels", "waves"])
def test_curves_are_pinned(of: Cell) -> None:
    """Two short runs in float64, to rounding."""
    row = rows([of], points=6)[0]
    assert row["step"] == [0, 1, 2, 4, 7, 12]
    for name, expected in PINS[of].items():
        np.testing.assert_allclose(np.array(row[name], dtype=float), expected, rtol=1e-6, err_msg=name)
