"""Pinned numbers of cells of wide nets and of diagonal nets: only a new `stream_version` moves stored results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.model import registry
from swingby.model.cell import Cell, Point
from swingby.model.experiment import Batch, Experiment, Recording
from swingby_sweeps.scalar.sparse.experiment import SparseDiagonal
from swingby_sweeps.scalar.wide.experiment import WideScalar


def cell(experiment: Experiment, **values: Any) -> Cell:
    """A cell of seed 7."""
    params = experiment.Params(**values)
    return Point(experiment.name, experiment.stream_version, params).cell(7)


WIDE_THEOREM = cell(WideScalar(), width=40, divisor_power=0.5, target=3.0, training_steps=10)
WIDE_DESCENT = cell(
    WideScalar(), width=20, init="signs", mirrored=True, drive="gd", lr=0.3, lr_unit="end", training_steps=8
)
SPARSE_FLOW = cell(SparseDiagonal(), dimension=30, points=18, nonzeros=2, decay=0.05, training_steps=12)
SPARSE_DESCENT = cell(
    SparseDiagonal(), dimension=12, points=8, nonzeros=1, decay=0.1, drive="gd", duration=3.0, training_steps=12
)
PINS: dict[Cell, dict[str, Any]] = {
    WIDE_THEOREM: {
        "theta": [2.02406735, 2.22254057, 2.38171965, 2.50903212, 2.61061001],
        "aligned": [9.18392558, 9.44101741, 9.65078491, 9.82080096, 9.95785479],
        "loss": [0.476222272, 0.302221586, 0.191135299, 0.120524727, 0.0758122836],
    },
    WIDE_DESCENT: {
        "theta": [0.759475266, 0.831589594, 0.882089209, 0.917449513, 0.942207419],
        "aligned": [20.7718166, 20.8467326, 20.8993622, 20.9362963, 20.9621964],
        "loss": [0.0289260739, 0.0141810325, 0.0069514773, 0.00340729148, 0.0016699912],
    },
    SPARSE_FLOW: {
        "train_error": [0.442405608, 0.0421389284, 0.00742416479, 0.00516305779, 0.00293771297],
        "test_error": [0.739074251, 0.485535918, 0.367315167, 0.125184262, 0.00308238444],
        "critical": 0.0741682001,
        "test_time": 34.0490875,
    },
    SPARSE_DESCENT: {
        "train_error": [0.892974032, 0.523168387, 0.0535150177, 0.00829858957, 0.00289998305],
        "test_error": [0.928851031, 0.678348049, 0.263676743, 0.0932322639, 0.00974052444],
        "critical": 1.04790012,
        "test_time": 4.46098383,
    },
}
"""Of each cell its values at five records, or the one of the run."""


def test_the_identity_of_a_cell_is_pinned() -> None:
    """The id of a stored cell does not change, also when parameters are added; a change of any pin below needs a new
    stream version, and then new pins."""
    assert WideScalar.stream_version == SparseDiagonal.stream_version == 1
    assert WIDE_THEOREM.cell_id == "d55f734b93a9f951cf2af2a995b3bfbd"
    assert WIDE_DESCENT.cell_id == "aab92a5d0e63f3ea673311b518cdb8a7"
    assert SPARSE_FLOW.cell_id == "33a65131199413b97158fdbeaeefdc32"
    assert SPARSE_DESCENT.cell_id == "8f8d5fb92e08a5884d8ebe3f5ef734c3"


@pytest.mark.parametrize("of", PINS, ids=["wide-theorem", "wide-descent", "sparse-flow", "sparse-descent"])
def test_curves_are_pinned(of: Cell) -> None:
    """Two short runs of each experiment in float64, to rounding: all records, or the last five."""
    (table,) = registry.experiment(of.point.experiment).run(Batch((of,), Recording("every")))
    (row,) = table.to_pylist()
    for name, expected in PINS[of].items():
        found = np.array(row[name], dtype=float)
        found = found[-5:] if found.ndim else found
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=name)
