"""Bundles of conventions: nets that one core trains in seconds, the toy of [T] Figure 2.2, and the nets of [T] 2.4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def digits(values: Values) -> dict[str, Any]:
    """An MLP of 4 layers and 64 units on 1,000 of scikit-learn's digits: the defaults."""
    return {}


def cheap(values: Values) -> dict[str, Any]:
    """For maps of many runs: 3 layers of 32 units on digits."""
    return {"layers": 3, "width": 32}


def mixture(values: Values) -> dict[str, Any]:
    """Four Gaussian classes that overlap, in 16 dimensions."""
    return {"data": "mixture", "layers": 3, "width": 32, "lr": 0.1}


def toy(values: Values) -> dict[str, Any]:
    """The net of [T] Figure 2.2 on a step. [T] says nothing of its training; this learns one feature, as there."""
    return {
        "data": "step",
        "width": 1000,
        "lr": 0.02,
        "reduction": "mean",
        "batch_size": 20,
        "weight_decay": 1e-4,
    }


def mnist1d(values: Values) -> dict[str, Any]:
    """Three convolutions and two dense layers on 4,000 points of mnist1d."""
    return {"data": "mnist1d", "net": "cnn1d", "n": 4000, "layers": 2}


def resnet18(values: Values) -> dict[str, Any]:
    """ResNet18 as [T] 2.4 trains it on CIFAR10; [T] names no loss, batch size or reduction."""
    return {**_images(values), "net": "resnet18", "lr": 0.05}


def vgg16(values: Values) -> dict[str, Any]:
    """VGG16 as [T] 2.4 trains it on CIFAR10, with batch norm; [T] names no loss, batch size or reduction."""
    return {**_images(values), "net": "vgg16_bn", "lr": 0.01}


def _images(values: Values) -> dict[str, Any]:
    """Momentum .9, weight decay 1e-3, 200 epochs with drops every 60; of CIFAR100 600 epochs without."""
    data = values.get("data", "cifar10")
    longer = {"epochs": 600} if data == "cifar100" else {"epochs": 200, "drop_every": 60}
    points = 60_000 if data == "mnist" else 50_000
    return {"data": "cifar10", "n": points, "batch_size": 128, "augment": data != "mnist", **longer}
