"""Sweeps over learning dynamics: grids become cells, cells become rows, rows become phase diagrams.

The nouns for scripts and notebooks are in `swingby.api`.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("swingby")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
