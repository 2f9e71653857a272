"""Sweeps over learning dynamics: grids become cells, cells become rows, rows become phase diagrams.

`experiment` makes an experiment of a function; `Sweep` and `Store` are the nouns for scripts and notebooks.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_HOMES = {
    "Column": "swingby.model.experiment",
    "Matrix": "swingby.model.params",
    "Results": "swingby.api",
    "Store": "swingby.api",
    "Sweep": "swingby.api",
    "Vector": "swingby.model.params",
    "experiment": "swingby.function.experiment",
}
"""Public names, imported only when they are asked for: a command needs few of them."""


@cache
def _version() -> str:
    # Not at the top: what looks up installed packages takes longer to import than half of a short command.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("swingby")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"


def __getattr__(name: str) -> Any:
    """`__version__`, the module `features` and the public names, which are looked up when they are asked for."""
    if name == "__version__":
        return _version()
    if name == "features":
        import swingby.features

        return swingby.features
    if name not in _HOMES:
        raise AttributeError(f"module 'swingby' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")
    from swingby.model import registry

    return registry.function(f"{_HOMES[name]}:{name}")


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, "features"]
