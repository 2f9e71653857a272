"""Nets of torchvision on small images; skipped where torchvision is not installed."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby.model.process_group import SpoiledError
from swingby_sweeps.features import vision
from swingby_sweeps.features.data import drawn
from tests.support import cells

SMALL = {"data": "digits", "net": "resnet18", "classes": 3, "n": 12, "batch_size": 6, "epochs": 2, "lr": 0.01}


@pytest.fixture(scope="module")
def torchvision() -> Any:
    """The package; beside a torch of another build its compiled parts are missing, which no net needs."""
    try:
        return pytest.importorskip("torchvision", reason="torchvision is not installed")
    except RuntimeError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float overlap) -> Tensor")
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        return pytest.importorskip("torchvision", reason="torchvision is not installed")


cell = partial(cells.cell, "features", **SMALL)


def row(of: Cell, **recording: Any) -> cells.Row:
    """What the experiment gives of a cell."""
    return cells.trained([of], Recording(**{"points": 3, **recording}))[0]


@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize("net", ["resnet18", "vgg16_bn"])
def test_a_net_of_torchvision_learns(net: str) -> None:
    """It trains, has 512 features and every number, and the same ones again."""
    own = cell(net=net, lr=0.001)
    found = row(own)
    assert found["status"] == "ok", found["message"]
    assert found["feature_count"] == 512
    assert found["train_loss"][-1] != found["train_loss"][0]
    assert 0 <= found["final_kappa_cka"] <= 1
    assert {**row(own), "seconds": 0} == {**found, "seconds": 0}


@pytest.mark.usefixtures("torchvision")
def test_the_stem_keeps_the_size_of_small_images() -> None:
    """The first convolution is 3 x 3 without stride, nothing is pooled behind it: 8 x 8 go in, 1 x 1 come out."""
    net: Any = vision.ImageNet("resnet18", 5)
    assert net.body.conv1.kernel_size == (3, 3)
    assert net.body.conv1.stride == (1, 1)
    assert isinstance(net.body.maxpool, nn.Identity)
    phi, f = net.eval()(torch.zeros(2, 3, 8, 8))
    assert phi.shape == (2, 512)
    assert f.shape == (2, 5)


@pytest.mark.usefixtures("torchvision")
def test_the_last_layer_alone_keeps_the_features() -> None:
    """Batch norm keeps the moments of the training points: no intensity changes; f - f_0 starts at 0."""
    found = row(cell(trained="last", centre_output=True, lr=1e-4), steps="every")
    assert len(found["step"]) == 5
    assert len(set(found["d_eff_intensity"])) == 1
    assert found["train_loss"][0] == pytest.approx(0.5)
    assert found["train_loss"][-1] < found["train_loss"][0]


@pytest.mark.usefixtures("torchvision")
def test_a_step_is_that_of_the_loss_itself() -> None:
    """One step by the written slope is one of SGD on the mean squared error, to rounding."""
    own = cell(dtype="float64", reduction="mean", batch_size=12, momentum=0.0)
    with vision.accelerated("cpu", 1) as accelerator:
        points = drawn(own)
        one = vision.OneNet(own, points, accelerator)
        before = one.last_weights()[0]
        one.advance(0, 1)
        after = one.last_weights()[0]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(own.stream("init").integers(2**63)))
        net = vision.ImageNet("resnet18", 3).double()
    p: Any = own.params
    assert np.array_equal(net.last.weight.detach().numpy(), before)
    order = torch.from_numpy(own.stream("order").permutation(12))
    _, f = net(vision.images(p, points[0].x)[order])
    optimizer = torch.optim.SGD(net.parameters(), lr=p.lr, weight_decay=p.weight_decay)
    nn.functional.mse_loss(f, torch.from_numpy(points[0].y)[order]).backward()
    optimizer.step()
    np.testing.assert_allclose(after, net.last.weight.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_crops_keep_the_size_and_are_of_the_stream() -> None:
    """Crops of padded images, some mirrored; an image in the middle of its crop is itself."""
    x = torch.arange(2 * 3 * 6 * 6, dtype=torch.float64).view(2, 3, 6, 6)
    one, two = (vision.augmented(x, np.random.default_rng(3), True) for _ in range(2))
    assert torch.equal(one, two)
    assert one.shape == x.shape
    many = torch.cat([vision.augmented(x, np.random.default_rng(seed), False) for seed in range(300)])
    assert any(torch.equal(crop, x[0]) for crop in many)
    assert len({float(crop.sum()) for crop in many}) > 50


def test_without_torchvision_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that brings it, and nets that need none."""
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(SwingbyError, match=r"swingby\[vision\].*net: mlp, cnn1d"):
        row(cell())


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_device_that_is_not_there_is_refused() -> None:
    """As anywhere else, no run goes on a CPU where a GPU was asked for."""
    with pytest.raises(SpoiledError, match="sees no GPU here"), vision.accelerated("cuda", 1):
        pass
