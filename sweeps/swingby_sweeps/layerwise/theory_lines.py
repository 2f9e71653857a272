"""Lines of theory in diagrams: each is a function of the resolved parameters, and names its equation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridLine
from swingby_sweeps.dynamics.overlap import WITHIN

from . import net_theory, theory


def stage_like(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """In the panel of each number of layers, where two modes overlap by 5 % (`theory.mode_overlap`).

    There the second mode is at 5 % of its target when the first is at 95 %, and times go as 1 / E: at the start a,
    E_2 / E_1 is the time to 5 % over the time to 95 %, of one mode. For two layers this is c = 19^((1 + x) / (1 - x)).
    """
    S, (low, *_, high) = float(resolved["common"]["target"]), grid.rows_axis.edges
    starts, lines = np.geomspace(low, high, 400), []
    for facet in grid.facets:
        layers = int(facet.removeprefix("layers = "))
        a = starts[starts**layers < WITHIN * S]
        ratios = theory.time_to(WITHIN, 1.0, S, a, layers) / theory.time_to(1 - WITHIN, 1.0, S, a, layers)
        corners = list(zip(ratios.tolist(), a.tolist(), strict=True))
        line = GridLine.through(f"eps* = {WITHIN} by theory", corners)
        lines.append(line.inside(grid)._replace(facet=facet))
    return lines


def numbers_of_stages(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The starts at which `theory.pairs_expected` is 1, 3 and 9: c = 19^((2 k + 1) / (alpha + 1))."""
    S = float(resolved["common"]["target"])
    lines = []
    for k in (1, 3, 9):
        corners = [(alpha, theory.start_of_pairs(k, alpha, S)) for alpha in grid.x.positions]
        lines.append(GridLine.through(f"(alpha + 1)/2 ln c / ln 19 - 1/2 = {k}", corners).inside(grid))
    return lines


def kernel_distances(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The targets of rank one at which `net_theory.kernel_distance` is 0.01, 0.1 and 0.3, by the size of the net."""
    imbalance, lines = float(resolved["common"]["imbalance"]), []
    for level in (0.01, 0.1, 0.3):
        corners = []
        for row in grid.rows_axis.positions:

            def less(target: float, n: int = int(row), level: float = level) -> float:
                return float(net_theory.kernel_distance(np.array([target]), np.array(imbalance), n)) - level

            if less(1e6) > 0:
                corners.append((_root(less), row))
        lines.append(GridLine.through(f"kernel distance {level:g} from a vanishing start", corners).inside(grid))
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
    return [GridLine.through("width = d", [(x, x) for x in grid.x.positions]).inside(grid)]
