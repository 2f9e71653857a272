"""Three bundles of conventions: of the code behind Fig 5.1, of the text of [T] C.3, and one that trains in a second.

Each maps the values that are set for a point to defaults for all other parameters, by the bottleneck alone. Where the
sources leave something open: `figures` says nothing of the steps of the width experiment, and either .0005 or .005 of
its L2; its data runs are 1e5 epochs of batches near 2000, here 1e5 steps. The text has sigma .001, its table .01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]

_LARGE = {"width": 1000, "bits": 32, "batch_size": 4000, "test_samples": 20_000}


def figures(values: Values) -> dict[str, Any]:
    """The conventions of the code behind Fig 5.1."""
    match values.get("bottleneck"):
        case "data":
            settings = {"lr": 0.05, "sigma": 0.001, "batch_size": 2000, "training_steps": 100_000}
            settings |= {"schedule": "halved", "halve_every": 10_000}
        case "width":
            settings = {"optimizer": "adam", "lr": 0.05, "sigma": 0.05, "l2": 0.0005, "training_steps": 20_000}
        case _:
            settings = {"lr": 0.02, "sigma": 0.01, "training_steps": 20_000}
    return {**_LARGE, **settings}


def text(values: Values) -> dict[str, Any]:
    """The conventions of the text of C.3."""
    match values.get("bottleneck"):
        case "data":
            settings = {"lr": 0.05, "batch_size": 2000, "training_steps": 500_000}
            settings |= {"schedule": "halved", "halve_every": 50_000}
        case "width":
            settings = {"optimizer": "adam", "lr": 0.001, "l2": 5e-5, "training_steps": 500_000}
        case _:
            settings = {"lr": 0.05, "training_steps": 30_000}
    return {**_LARGE, "sigma": 0.001, **settings}


def fast(values: Values) -> dict[str, Any]:
    """A narrower net on fewer bits and smaller batches, which trains in about a second."""
    match values.get("bottleneck"):
        case "data":
            return {"lr": 0.05, "training_steps": 40_000, "stop_at": 1e-3}
        case "width":
            settings = {"optimizer": "adam", "lr": 0.01, "sigma": 0.05, "l2": 5e-5, "training_steps": 6000}
            return settings | {"schedule": "cosine"}
        case _:
            return {}
