"""Metrics of the features that a last layer reads, under the name by which users import them.

The platform has none. An installed package offers the class behind `cell.features` (`Package.metrics`), and the module
that it is offered from has every other name: those that `dir` lists.
"""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType
from typing import Any

from swingby.errors import SwingbyError
from swingby.model import registry


@cache
def last_layer() -> Any:
    """The class that measures a last layer for `cell.features`.

    Raises:
        SwingbyError: no installed package offers one, or it cannot be loaded.
    """
    if "features" not in registry.offered(registry.METRICS):
        text = "no installed package has metrics of features; install one that offers them, as swingby_sweeps does"
        raise SwingbyError("; ".join([text, *registry.perhaps_lost()]))
    return registry.load(registry.METRICS, "features")


@cache
def _module() -> ModuleType:
    last_layer()
    return sys.modules[registry.offered(registry.METRICS)["features"].value.partition(":")[0]]


def __getattr__(name: str) -> Any:
    """A public name of the metrics, from the package that offers them."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_module(), name)


def __dir__() -> list[str]:
    return [name for name in dir(_module()) if not name.startswith("_")]
