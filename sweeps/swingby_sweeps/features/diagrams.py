"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from swingby_analysis.grid import Grid, GridLine
from swingby_analysis.statements.diagram import Diagram, Lines, Map, none

from .unconstrained import theory

DIGITS = 10
"""Classes of the data of all diagrams with a line of theory."""
LEARNED = "final_train_accuracy >= 0.9"
OF_LEARNED = (
    "The colour of a tile is the median over the runs that learn nine tenths of their labels; other tiles have "
    "no colour."
)
REGIME = Map("regime", "category", "Which features are left", "most common regime")
KAPPA = Map("end_kappa", "median", "kappa of the test sample at the end", "median kappa", OF_LEARNED, LEARNED)
ACCURACY = Map("final_test_accuracy", "median", "Test accuracy at the end", "median test accuracy")
COLLAPSE = Map("collapse", "category", "Whether features collapse", "most common outcome")
NC1 = Map("final_nc1", "median", "NC1 at the end", "median NC1", OF_LEARNED, LEARNED)
LEAVES = Map("leaves", "share", "Who leaves the minimum feature regime", "leaves, of those that entered")


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


def _diagram(
    slug: str, heading: str, lines: Lines = none, maps: tuple[Map, ...] = (REGIME, KAPPA, ACCURACY)
) -> Diagram:
    return Diagram("features", f"features-{slug}", heading, maps, lines)


DIAGRAMS: tuple[Diagram, ...] = (
    _diagram("lr-decay", "Learning rate against weight decay at equal time: which features are left", constant_above),
    _diagram("gain-points", "Gain of the start against training points: which features are left"),
    _diagram("target-width", "Target scale against width: which features are left", root_of_width),
    _diagram("norm-loss", "Batch norm, loss and learning rate: which features are left"),
    _diagram("random-labels", "Layers against width under random labels: which features are left"),
    _diagram("noise-points", "Label noise against training points: which features are left"),
    _diagram("leaving", "Separation against weight decay: who leaves the minimum", maps=(LEAVES, REGIME, KAPPA)),
    _diagram(
        "collapse",
        "Learning rate against weight decay: neural collapse",
        constant_above,
        maps=(COLLAPSE, NC1, ACCURACY),
    ),
)
