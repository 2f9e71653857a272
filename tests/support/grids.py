"""Grids of diagrams, made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from swingby_analysis.grid import Grid, GridAxis

Axis = tuple[str, Iterable[Any]]


def grid(x: Axis, y: Axis, facets: tuple[str, ...] = ("",)) -> Grid:
    """A grid over two axes, each its name and values, with these panels; its points are in the first."""
    across, up = (GridAxis(name, name, tuple(map(float, values))) for name, values in (x, y))
    rows = len(up.values)
    return Grid(across, up, facets, {i * rows + j: (i, j, 0) for i in range(len(across.values)) for j in range(rows)})
