"""Lines of theory in diagrams: each is a function of the resolved parameters, and names its equation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridAxis, GridLine

from . import net_theory

LEVEL = 0.05
"""The overlap from which on two modes are no stages ([T] Fig 3.4)."""


def pair_rule(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The start of two layers at which two modes overlap by 5 %: c = 19^((1 + x) / (1 - x)), x = E_2 / E_1 (3.13)."""
    S = float(resolved["common"]["target"])
    corners = [(x, _start(S, (1 / LEVEL - 1) ** ((1 + x) / (1 - x)))) for x in grid.x.positions if x < 1]
    return [_inside(grid, f"two layers: eps* = {LEVEL}", corners)]


def numbers_of_stages(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The starts at which `theory.pairs_expected` is 1, 3 and 9: c = 19^((2 k + 1) / (alpha + 1))."""
    S = float(resolved["common"]["target"])
    lines = []
    for k in (1, 3, 9):
        corners = [(alpha, _start(S, (1 / LEVEL - 1) ** ((2 * k + 1) / (alpha + 1)))) for alpha in grid.x.positions]
        lines.append(_inside(grid, f"{k} stages: (alpha + 1)/2 ln c / ln 19 - 1/2", corners))
    return lines


def _start(S: float, c: float) -> float:
    """Equal weights of two layers with S / u(0) - 1 = c."""
    return float(np.sqrt(S / (1 + c)))


def kernel_distances(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The targets of rank one at which `net_theory.kernel_distance` is 0.01, 0.1 and 0.3, by the size of the net."""
    imbalance, lines = float(resolved["common"]["imbalance"]), []
    for level in (0.01, 0.1, 0.3):
        corners = []
        for row in _y(grid).positions:

            def less(target: float, n: int = int(row), level: float = level) -> float:
                return float(net_theory.kernel_distance(np.array([target]), np.array(imbalance), n)) - level

            if less(1e6) > 0:
                corners.append((_root(less), row))
        lines.append(_inside(grid, f"kernel distance {level:g} from a vanishing start", corners))
    return lines


def _root(less: Callable[[float], float]) -> float:
    """Where a rising function is 0, between 1e-6 and 1e6: by bisection of the logarithm."""
    low, high = -6.0, 6.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if less(10.0**middle) > 0 else (middle, high)
    return 10.0 ** ((low + high) / 2)


def wide_enough(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """width = d = c: from here on the determinant of a balanced square net keeps its sign; below, modes are missing."""
    return [_inside(grid, "width = d", [(x, x) for x in grid.x.positions])]


def _y(grid: Grid) -> GridAxis:
    assert grid.y is not None, "a diagram of this page has two axes"
    return grid.y


def _inside(grid: Grid, label: str, corners: Sequence[tuple[float, float]]) -> GridLine:
    """The corners of a line that lie within the tiles of the diagram."""
    (left, *_, right), (low, *_, high) = grid.x.edges, _y(grid).edges
    kept = [(x, y) for x, y in corners if left <= x <= right and low <= y <= high]
    return GridLine(label, [x for x, _ in kept], [y for _, y in kept])
