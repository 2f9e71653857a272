"""Sweeps over learning dynamics: grids become cells, cells become rows, rows become phase diagrams.

The nouns for scripts and notebooks are in `swingby.api`.
"""

from functools import cache


@cache
def _version() -> str:
    # Not at the top: what looks up installed packages takes longer to import than half of a short command.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("swingby")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"


def __getattr__(name: str) -> str:
    """`__version__`, which is looked up when it is asked for."""
    if name == "__version__":
        return _version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
