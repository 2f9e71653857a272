"""Stacked nets beside a plain loop of torch, and laws of their training."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.features.data import drawn
from swingby_sweeps.features.engine import Stack
from swingby_sweeps.features.experiment import Features
from tests.support import cells

from . import plain

SMALL = {"data": "mixture", "n": 40, "dims": 9, "classes": 3, "width": 6, "layers": 3, "batch_size": 12, "epochs": 4}
CASES: list[dict[str, Any]] = [
    {},
    {"batch_norm": True, "gain": 2.0},
    {"bias": False, "activation": "tanh", "batch_norm": True, "loss": "cross_entropy"},
    {"loss": "cross_entropy", "centre_output": True, "label_noise": 0.4},
    {"reduction": "mean", "target_scale": 0.1, "centre_output": True, "activation": "linear"},
    {"trained": "last", "batch_norm": True},
    {"net": "cnn1d", "channels": 3, "layers": 2},
    {"net": "cnn1d", "channels": 3, "layers": 1, "batch_norm": True, "dims": 13, "bias": False},
    {"data": "step", "drop_every": 2, "drop_factor": 0.3},
    {"layers": 1, "batch_norm": True},
]


cell = partial(cells.cell, "features", **SMALL)


def stack(batch: list[Cell]) -> Stack:
    return Stack(batch, [drawn(own) for own in batch])


def rows(batch: list[Cell], **recording: Any) -> list[cells.Row]:
    """What the experiment gives of these cells, in their order."""
    assert len({Features().shape(own.params) for own in batch}) == 1
    return cells.trained(batch, Recording(**{"points": 8, **recording}))


@pytest.mark.parametrize("values", CASES, ids=str)
def test_a_stack_trains_as_a_plain_loop_does(values: dict[str, Any]) -> None:
    """Features and outputs at the end are those of torch's modules, autograd and SGD, in float64, to rounding."""
    batch = [cell(seed, dtype="float64", lr=lr, **values) for seed, lr in ((1000, 0.05), (1001, 0.02))]
    with one_thread():
        trained = stack(batch)
        trained.advance(0, 9)
        on_train, on_test = trained.samples()
    for k, own in enumerate(batch):
        net, points = plain.trained(own, 9), drawn(own)
        with torch.no_grad():
            for sample, of in zip((on_train[k], on_test[k]), points, strict=True):
                x = torch.from_numpy(of.x)
                phi = net[:-1](x).numpy().reshape(len(x), -1)
                f = net(x).numpy()
                if own.params.model_dump()["centre_output"]:
                    f = f - plain.net(own)(x).numpy()
                np.testing.assert_allclose(sample.phi, phi, rtol=1e-8, atol=1e-10)
                np.testing.assert_allclose(sample.f, f, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("values", [{}, {"batch_norm": True}, {"net": "cnn1d"}, {"loss": "cross_entropy"}], ids=str)
@pytest.mark.parametrize("width", [5, 32, 64])
def test_a_batch_of_eight_is_eight_of_one(values: dict[str, Any], width: int) -> None:
    """Float32 weights are equal to the last bit alone and in a stack, whatever the width: rounding would grow."""
    batch = [
        cell(seed, width=width, data="digits", n=200, classes=10, batch_size=64, epochs=10, lr=lr, **values)
        for seed, lr in itertools.product((1000, 1001), (0.01, 0.02, 0.05, 0.1))
    ]
    with one_thread():
        whole = stack(batch)
        whole.advance(0, 30)
        for k in (0, 2, 7):  # both seeds, three rates, and both ends of the stack
            alone = stack([batch[k]])
            alone.advance(0, 30)
            assert np.array_equal(alone.last_weights()[0], whole.last_weights()[k])


@pytest.mark.parametrize("batch_norm", [False, True])
def test_the_last_layer_alone_keeps_the_features(batch_norm: bool) -> None:
    """Intensities and quality stay what they are to the last bit; the fit improves."""
    (row,) = rows([cell(trained="last", batch_norm=batch_norm, epochs=40)], also=("spectra",))
    for name in ("intensities", "qualities"):
        assert all(values == row[name][0] for values in row[name])
    assert row["utilizations"][0] != row["utilizations"][-1]
    assert row["train_loss"][-1] < 0.7 * row["train_loss"][0]
    assert len(set(row["d_eff_intensity"])) == 1


def test_a_centred_output_starts_at_zero() -> None:
    """f - f_0 is 0 at the start: the loss is that of an output of 0, and kappa does not exist."""
    (row,) = rows([cell(centre_output=True, gain=3.0)])
    assert row["train_loss"][0] == pytest.approx(0.5)
    assert row["output_variance"][0] == 0
    assert row["kappa_cka"][0] is None
    assert row["kappa_cka"][-1] is not None
    assert row["nc1"][0] is not None


def test_a_cell_that_diverges_leaves_its_neighbours_alone() -> None:
    """A learning rate that is far too large ends its own cell with a status and the records before; nothing is nan."""
    batch = [cell(lr=lr, epochs=30) for lr in (0.05, 300.0, 0.02)]
    found = rows(batch)
    assert [row["status"] for row in found] == ["ok", "diverged", "ok"]
    assert "recorded steps kept" in found[1]["message"]
    assert found[1]["step"][-1] == found[1]["to_step"] < 90
    for row, own in zip(found, batch, strict=True):
        if row["status"] == "ok":
            (alone,) = rows([own])
            assert {**alone, "seconds": 0} == {**row, "seconds": 0}
        numbers = [value for name in Features.curves for value in row[name] if value is not None]
        assert np.isfinite(numbers).all()


def test_a_start_that_overflows_diverges_at_the_start() -> None:
    """Weights whose products are no floats give a row without records."""
    (row,) = rows([cell(gain=1e4, layers=16)])
    assert row["status"] == "diverged"
    assert "at the start" in row["message"]
    assert row["step"] == []
    assert row["final_kappa_cka"] is None


def test_equal_time_takes_steps_by_the_learning_rate() -> None:
    """time = lr x steps."""
    assert [Features().steps(cell(time=3.0, lr=lr).params) for lr in (0.1, 0.03, 0.01)] == [30, 100, 300]


def test_kappa_is_one_less_evenness_times_containment() -> None:
    """The identity holds in every record, on both samples."""
    (row,) = rows([cell(epochs=20)], also=("spectra",))
    for prefix in ("", "train_"):
        product = np.array(row[f"{prefix}evenness"]) * np.array(row[f"{prefix}containment"])
        np.testing.assert_allclose(row[f"{prefix}kappa_cka"], 1 - product, atol=1e-12)
    assert row["learned_rank"] == [2] * len(row["step"])


def test_spectra_by_a_gram_matrix_are_those_of_the_library() -> None:
    """Effective dimensions and cumulative shares are those of an SVD, to rounding."""
    from swingby_sweeps.dynamics.metrics import measure

    with one_thread():
        own = cell(dtype="float64")
        trained = stack([own])
        trained.advance(0, 9)
        sample, points = trained.samples()[1][0], drawn(own)[1]
    expected = measure(sample.phi, sample.f, points.labels, trained.last_weights()[0]).numbers()
    (row,) = rows([own], steps="every")
    for name in ("d_eff_intensity", "d_eff_quality", "d_eff_utilization", "quality_at_classes", "constant_overlap"):
        assert row[name][9] == pytest.approx(expected[name], rel=1e-7), name
