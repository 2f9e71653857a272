"""Lines of theory in diagrams: each is a function of the resolved sweep and its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from swingby_analysis.grid import Grid, GridLine

from .unconstrained import theory

DIGITS = 10
"""Classes of the data of all diagrams with a line of theory."""


def root_of_width(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the target scale is 1/sqrt(width), the start of laziness in [T] 6.4.1 (there alpha = sqrt(p))."""
    corners = ((1 / math.sqrt(width), width) for width in grid.rows_axis.positions)
    return [GridLine.through("target scale = 1/sqrt(width)", corners).inside(grid)]


def constant_above(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The weight decay l from which on unconstrained features of C balanced classes are constant: N l = sqrt(N/C).

    Below it they are classes; a net that has to make its features by decayed weights can be constant before.
    """
    n = resolved["common"]["n"]
    decay = math.sqrt(n / DIGITS) / float(theory.threshold(n, 1, 1))
    across = [float(edge) for edge in (grid.x.edges[0], grid.x.edges[-1])]
    return [GridLine("unconstrained features are constant above", across, [decay, decay])]
