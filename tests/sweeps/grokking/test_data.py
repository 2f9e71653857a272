"""Points that cells of `mlp_regimes` draw, and what is said of images that cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from swingby.errors import SwingbyError
from swingby_sweeps.dynamics import images
from swingby_sweeps.grokking import data
from swingby_sweeps.grokking.net import start
from tests.support import cells, pins


def points(**values: Any) -> tuple[data.Points, data.Points]:
    return data.drawn(cells.cell("mlp_regimes", **values))


def test_training_and_test_points_are_apart_and_are_all() -> None:
    """The digits that are not trained on are the test; all 1,797 are used."""
    train, test = points(points=300, input_scale=2.0)
    assert len(train.x) == 300
    assert len(test.x) == 1497
    both = np.concatenate([train.x, test.x])
    assert both.sum() == pytest.approx(2 * images.load("digits").pixels().sum())
    assert len(np.unique(both, axis=0)) == len(np.unique(images.load("digits").pixels(), axis=0))


def test_a_larger_share_of_random_labels_changes_further_labels() -> None:
    """Of a share s about 9 s / 10 of the labels change, all of them within those that a larger share changes."""
    true, some, many = (points(random_labels=share, points=1000)[0].digits for share in (0.0, 0.3, 1.0))
    changed, more = some != true, many != true
    assert changed.mean() == pytest.approx(0.27, abs=0.03)
    assert more.mean() == pytest.approx(0.9, abs=0.03)
    assert not (changed & ~more).any()
    assert np.array_equal(points(random_labels=1.0, points=1000)[1].digits, points(points=1000)[1].digits)


def test_targets_are_scaled_classes_or_numbers() -> None:
    """One-hot vectors of the target's scale, or numbers from -1 to 1 times it, each told by `accuracy`."""
    for target in ("classes", "number"):
        values = {"target": target, "target_scale": 3.0}
        p, (train, _) = cells.params("mlp_regimes", **values), points(**values)
        assert train.y.shape == (256, p.outputs)
        assert np.abs(train.y).max() == 3
        assert data.accuracy(p, train.y, train.digits) == 1
        assert data.accuracy(p, np.roll(train.y, 1, axis=0), train.digits) < 0.3


def test_mnist_without_torchvision_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torchvision is not installed, the message names the extra, and images that need none."""
    monkeypatch.setitem(sys.modules, "torchvision.datasets", None)
    images.load.cache_clear()
    with pytest.raises(SwingbyError, match=r"swingby\[vision\].*digits"):
        images.load("mnist")


def test_mnist_is_read_or_the_way_to_its_files_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Points are drawn from the training images and tested on the others; missing files are named with their folder."""

    def mnist(folder: str | Path, train: bool, download: bool) -> SimpleNamespace:
        assert not download
        if not (Path(folder) / "there").exists():
            raise RuntimeError("Dataset not found")
        images = torch.full((70 if train else 30, 28, 28), 255, dtype=torch.uint8)
        return SimpleNamespace(data=images, targets=torch.arange(len(images)) % 10)

    module = ModuleType("torchvision.datasets")
    module.MNIST = mnist  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "torchvision", ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, "torchvision.datasets", module)
    monkeypatch.setenv(images.variable("mnist"), str(tmp_path))
    images.load.cache_clear()
    with pytest.raises(SwingbyError, match=f"not in {tmp_path}.*download=True.*SWINGBY_MNIST"):
        images.load("mnist")
    (tmp_path / "there").touch()
    train, test = points(images="mnist", points=20)
    assert train.x.shape == (20, 784)
    assert test.x.shape == (30, 784)
    assert train.x.max() == 1
    images.load.cache_clear()


def test_draws_are_pinned_exactly() -> None:
    """Points, labels and initial weights are these, to the last bit, or there is a new `stream_version`."""
    mini_batches, numbers = (pins.cell("mlp_regimes", label) for label in ("mini-batches", "numbers"))
    train, test = data.drawn(numbers)
    assert train.digits[:12].tolist() == [5, 0, 4, 1, 1, 5, 6, 2, 8, 9, 0, 1]
    assert data.drawn(mini_batches)[0].digits[:12].tolist() == [6, 0, 0, 7, 0, 8, 6, 0, 8, 9, 6, 5]
    assert test.digits[:6].tolist() == [7, 5, 4, 1, 5, 4]
    assert start(mini_batches)[[0, 100, -1]].tolist() == [1.0419113387682635, -1.1042773340013883, 0.017050807300227178]
