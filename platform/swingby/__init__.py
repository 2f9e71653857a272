"""Sweeps over learning dynamics: grids become cells, cells become rows, rows become phase diagrams."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swingby.api import Store, Sweep

__all__ = ["Store", "Sweep", "__version__"]

try:
    __version__ = version("swingby")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> object:
    # Sweep and Store are imported when asked for: `import swingby` stays free of DuckDB and Ray.
    if name in ("Store", "Sweep"):
        from swingby import api

        return getattr(api, name)
    raise AttributeError(f"module 'swingby' has no attribute {name!r}")
