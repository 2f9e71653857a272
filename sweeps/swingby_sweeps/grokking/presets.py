"""Bundles of conventions: the net of [T] 6.4.3, and smaller ones on scikit-learn's digits that one core trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def digits(values: Values) -> dict[str, Any]:
    """The net of [T] Table 6.1 (a) for 256 of scikit-learn's digits: the defaults. L2 is ten times that of [T], so that
    the plateau ends well within the run."""
    return {}


def cheap(values: Values) -> dict[str, Any]:
    """For maps of many runs: half the points, 64 units, the whole training set a step, and larger steps."""
    return {
        "points": 128,
        "width": 64,
        "lr": 3e-3,
        "l2": 3e-3,
        "batch_size": _whole(values, 128),
        "epochs": 3000,
    }


def collapse(values: Values) -> dict[str, Any]:
    """For features at the end of training ([T] 3.5.3): weights of the usual size, and steps that become small."""
    return {
        "points": 200,
        "width": 96,
        "weight_scale": 1.0,
        "target_scale": 1.0,
        "schedule": "cosine",
        "batch_size": _whole(values, 200),
        "epochs": 8000,
    }


def thesis(values: Values) -> dict[str, Any]:
    """The net of [T] 6.4.3: 1,000 points of MNIST, 512 units. [T] says no size of the test set: all 10,000 images."""
    return {"images": "mnist", "points": 1000, "width": 512, "l2": 1e-4, "epochs": 2000}


def _whole(values: Values, points: int) -> int:
    """The size of the whole training set as set; the default where it is not, or where its own check refuses it."""
    count = values.get("points", points)
    return count if isinstance(count, int) and count > 0 else points
