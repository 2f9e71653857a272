"""The compiled steps of a parity net beside torch's, and its points beside their definition."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from swingby.model.cell import Cell, Point
from swingby.model.experiment import Recording
from swingby_sweeps.parity import kernels, task, theory
from swingby_sweeps.parity.engine import Net, rates
from swingby_sweeps.parity.params import ParityParams
from tests.support import cells

SMALL = {"skills": 2, "bits": 7, "width": 6, "sigma": 0.5, "batch_size": 9, "test_samples": 64}
params = partial(cells.params, "parity_net", "fast", **SMALL)


def cell_of(p: ParityParams) -> Cell[ParityParams]:
    """A cell of these parameters."""
    return Point("parity_net", 1, p).cell(0)


def inputs(p: ParityParams, ks: np.ndarray, codes: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The points as a net reads them, one-hot skill and bits, and their labels."""
    bits = (codes[:, None] >> np.arange(p.bits)) & 1
    own = np.stack([bits[i, p.m * k : p.m * (k + 1)] for i, k in enumerate(ks)])
    x = np.concatenate([np.eye(p.skills)[ks], bits], axis=1)
    return torch.tensor(x, dtype=torch.float64), torch.tensor(p.target * (-1.0) ** own.sum(1))


def parts(p: ParityParams, theta: np.ndarray) -> list[torch.Tensor]:
    """W1 (inputs, width), b1, w2 and b2 as torch's parameters."""
    rows = theta[:-1].reshape(-1, p.width)
    return [torch.tensor(part).requires_grad_() for part in (rows[:-2], rows[-2], rows[-1], theta[-1:])]


def output(weights: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """f of the points."""
    w1, b1, w2, b2 = weights
    return torch.relu(x @ w1 + b1) @ w2 + b2


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("samples", [None, 9, 31])
@pytest.mark.parametrize("bits", [6, 13])
def test_steps_are_those_of_torch(optimizer: str, samples: int | None, bits: int) -> None:
    """Twenty steps by autograd and torch's optimisers, on the batches that the net saw, give its weights."""
    p = params(optimizer=optimizer, samples=samples, bottleneck="time" if samples is None else "data", bits=bits,
               l2=0.01, schedule="cosine", lr=0.01, training_steps=20)  # fmt: skip
    net = Net(cell_of(p))
    weights = parts(p, net.theta)
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    descent = kind(weights, lr=p.lr, weight_decay=p.l2)
    for step, rate in enumerate(rates(p, 0, 20)):
        assert net.advance(step + 1)
        x, y = inputs(p, *net.batch)
        for group in descent.param_groups:
            group["lr"] = rate
        descent.zero_grad()
        (p.loss_factor / 2 * (output(weights, x) - y) ** 2).mean().backward()
        descent.step()
    mine = parts(p, net.theta)
    for one, other in zip(mine, weights, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("group", range(1, 7))
def test_every_grouping_of_bits_gives_the_same_gradient(group: int) -> None:
    """How bits are cut into groups changes the gradient by rounding alone."""
    p, draw = params(bits=11), np.random.default_rng(0)
    theta = draw.normal(size=(p.skills + p.bits + 2) * p.width + 1)
    ks, codes, masks = draw.integers(0, 2, 50), draw.integers(0, 2**11, 50), task.masks(2, 3)
    found = []
    for size in (group, 3):
        tables, spare = (kernels.room(2, p.width, p.bits, size) for _ in range(2))
        setting = kernels.Setting(p.bits, size, 5.0, 2.0, 0.0, False, 1e9)
        d_theta = np.empty_like(theta)
        kernels.gradient(theta, np.stack([ks, codes]), masks, setting, tables, spare, d_theta)
        found.append(d_theta)
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)


def test_points_are_as_frequent_and_fair_as_they_should_be() -> None:
    """Skills come with p_k, and every bit is set in half of the points: fresh ones and training sets alike."""
    p = params(skills=3, bits=10, samples=40_000, bottleneck="data", batch_size=40_000)
    drawn = Net(cell_of(p)).points
    free = params(skills=3, bits=10, batch_size=40_000)
    net = Net(cell_of(free))
    net.advance(1)
    for ks, codes in (drawn, net.batch):
        assert np.bincount(ks, minlength=3) / 40_000 == pytest.approx(theory.frequencies(0.6, 3), abs=0.012)
        assert ((codes[:, None] >> np.arange(10)) & 1).mean(0) == pytest.approx(0.5, abs=0.013)


def test_an_epoch_sees_every_point_once() -> None:
    """The batches of an epoch are a permutation of the training set, and of the next epoch another one."""
    p = params(samples=45, bottleneck="data")
    net = Net(cell_of(p))
    epochs = [np.concatenate([net.batch[1].copy() for _ in range(5) if net.advance(net.step + 1)]) for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(net.points[1])
    assert epochs[0].tolist() != epochs[1].tolist()


def test_the_strength_is_the_coefficient_of_the_skill() -> None:
    """On the test points R_k/S and the error are those of the outputs, computed by torch."""
    p = params()
    net = Net(cell_of(p))
    x, y = inputs(p, *net.test)
    with torch.no_grad():
        f = output(parts(p, net.theta), x)
    strength, error = net.strengths()
    assert strength == pytest.approx((f * y).reshape(2, 64).mean(1).numpy() / p.target**2)
    assert error == pytest.approx(((f - y) ** 2).reshape(2, 64).mean(1).numpy() / p.target**2)


def test_a_rate_beyond_stability_diverges_and_the_neighbours_go_on() -> None:
    """A cell whose error leaves its bounds says at which step, keeps what came before, and ends alone."""
    rows = cells.trained([cell_of(params(lr=lr, training_steps=200)) for lr in (5.0, 0.01)])
    assert [row["status"] for row in rows] == ["diverged", "ok"]
    assert "1e+06 S^2 at step" in rows[0]["message"]
    assert rows[0]["to_step"] == rows[0]["step"][-1] < 200


def test_training_ends_where_the_training_set_is_fitted() -> None:
    """After `stopped_step` nothing moves, and the error on the training set is below `stop_at`."""
    small = {"skills": 1, "m": 2, "bits": 4, "width": 20, "samples": 30, "batch_size": 30, "sigma": 0.2}
    p = params(**small, bottleneck="data", training_steps=4000)
    (row,) = cells.trained([cell_of(p)], Recording(points=30))
    assert row["stopped_step"] < 4000
    late = [loss for step, loss in zip(row["step"], row["train_loss"], strict=True) if step >= row["stopped_step"]]
    assert len(set(late)) == 1
    assert late[0] < 1e-3 * p.target**2
    assert row["counts"] == [30]
