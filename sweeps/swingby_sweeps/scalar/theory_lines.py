"""Lines of theory in diagrams: each is a function of the resolved sweep and its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridAxis, GridLine

from .sparse.theory import points_needed
from .wide import theory

MANY = 400
"""Corners of a line."""


def regimes(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """K_inf/K_0 = 1.1 and 2, and 1/1.1 and 1/2: rho^2 - s0^2 = ratio^2 - 1."""
    lines = []
    for ratio in (theory.LAZY, theory.RICH):
        s0 = np.linspace(-1, 1, MANY)
        lines.append(_inside(grid, f"K_inf = {ratio:g} K_0", np.sqrt(ratio**2 - 1 + s0**2), s0))
        rho = np.geomspace(grid.x.edges[0], 1 / ratio, MANY)
        s0, label = np.sqrt(rho**2 + 1 - ratio**-2), f"K_inf = K_0 / {ratio:g}"
        lines += [_inside(grid, label, rho, s0), _inside(grid, label, rho, -s0)]
    return lines


def typical_regimes(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """S/Sigma_0 = sqrt 3 at the expected Sigma_0 = sd^2 p^(1-z), where K_inf = 2 K_0 for S_0 = 0, a line a width."""
    S = float(resolved["common"].get("target", 1.0))
    z = np.linspace(_y(grid).edges[0], _y(grid).edges[-1], MANY)
    lines = []
    for p in _widths(resolved):
        size = np.sqrt(S / math.sqrt(theory.RICH**2 - 1) * float(p) ** (z - 1))
        lines.append(_inside(grid, f"p = {p}: K_inf = 2 K_0 at the expected Sigma_0", size, z))
    return [line for line in lines if len(line.x) > 1]


def steps(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """lr E K_0 = 2 and 4; lr E K = 2 at the end of the flow, and 2 and 4 at the flattest solution; all at S_0 = 0."""
    rho = np.geomspace(_y(grid).edges[0], _y(grid).edges[-1], MANY)
    ones = np.ones(MANY)
    found = [
        _inside(grid, "at the start: lr E K_0 = 2 and 4", 2 * ones, rho),
        _inside(grid, "at the start: lr E K_0 = 2 and 4", 4 * ones, rho),
        _inside(grid, "at the end of the flow: lr E K_inf = 2", 2 / theory.kernel_ratio(rho, 0.0), rho),
        _inside(grid, "at the flattest solution: lr E K = 2 and 4", 2 / rho, rho),
        _inside(grid, "at the flattest solution: lr E K = 2 and 4", 4 / rho, rho),
    ]
    return [line for line in found if len(line.x) > 1]


def critical_start(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """alpha = sqrt(C*), C* the median over the tasks of nine seeds: to its right a run has to wait for the decay."""
    from swingby.model.cell import Point

    from .sparse import engine, kernels
    from .sparse.params import SparseParams
    from .sparse.theory import TESTED

    sizes = {
        name: resolved["common"][name] for name in ("dimension", "points", "nonzeros") if name in resolved["common"]
    }
    point = Point("sparse_diagonal", 1, SparseParams(**sizes))
    tasks = [engine.task(point.cell(seed)) for seed in range(9)]
    found = [kernels.critical(X, y, w, TESTED) for X, w, y in tasks]
    alpha, decay = math.sqrt(float(np.median(found))), np.geomspace(_y(grid).edges[0], _y(grid).edges[-1], MANY)
    return [_inside(grid, "alpha^2 = C*, median task", np.full(MANY, alpha), decay)]


def recovery(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The points that l1 recovery of k of d entries takes as d grows (`points_needed`)."""
    d = int(resolved["common"].get("dimension", 100))
    k = np.linspace(grid.x.edges[0], grid.x.edges[-1], MANY)
    needed = np.array([d * points_needed(min(1.0, at / d)) for at in k])
    return [_inside(grid, "points that l1 recovery takes (statistical dimension)", k, needed)]


def _widths(resolved: Mapping[str, Any]) -> list[int]:
    for axis in resolved["axes"]:
        if "width" in axis["names"]:
            return [value[axis["names"].index("width")] for value in axis["values"]]
    return [resolved["common"]["width"]]


def _y(grid: Grid) -> GridAxis:
    assert grid.y is not None, "a diagram of this page has two axes"
    return grid.y


def _inside(grid: Grid, label: str, x: Any, y: Any) -> GridLine:
    """The corners of a line that lie on the map; the first and the last may lie one beyond, which the map cuts."""
    left, right, low, high = grid.x.edges[0], grid.x.edges[-1], _y(grid).edges[0], _y(grid).edges[-1]
    kept = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if left <= a <= right and low <= b <= high]
    return GridLine(label, [a for a, _ in kept], [b for _, b in kept])
