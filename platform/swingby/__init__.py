"""Sweeps over learning dynamics: grids become cells, cells become rows, rows become phase diagrams.

`experiment` makes an experiment of a function; `Sweep` and `Store` are the nouns for scripts and notebooks.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    __version__ = version("swingby")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

_HOMES = {
    "Column": "swingby.model.experiment",
    "Matrix": "swingby.model.params",
    "Store": "swingby.api",
    "Sweep": "swingby.api",
    "Vector": "swingby.model.params",
    "experiment": "swingby.function.experiment",
}
"""Public names, imported only when they are asked for: a command needs few of them."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'swingby' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
