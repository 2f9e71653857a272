"""Lines of theory in diagrams: each is a function of the resolved sweep and its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridLine

from .sparse.theory import points_needed
from .wide import theory

MANY = 400
"""Corners of a line."""


def regimes(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """K_inf/K_0 = 1.1 and 2, and 1/1.1 and 1/2: rho^2 - s0^2 = ratio^2 - 1."""
    lines = []
    for ratio in (theory.LAZY, theory.RICH):
        s0 = np.linspace(-1, 1, MANY)
        corners = zip(np.sqrt(ratio**2 - 1 + s0**2), s0, strict=True)
        lines.append(GridLine.through(f"K_inf = {ratio:g} K_0", corners).inside(grid))
        rho = np.geomspace(grid.x.edges[0], 1 / ratio, MANY)
        half = np.sqrt(rho**2 + 1 - ratio**-2)
        for s0 in (half, -half):
            corners = zip(rho, s0, strict=True)
            lines.append(GridLine.through(f"K_inf = K_0 / {ratio:g}", corners).inside(grid))
    return lines


def typical_regimes(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """S/Sigma_0 = sqrt 3 at the expected Sigma_0 = sd^2 p^(1-z), where K_inf = 2 K_0 for S_0 = 0, a line a width."""
    S = float(resolved["common"].get("target", 1.0))
    z = np.linspace(grid.rows_axis.edges[0], grid.rows_axis.edges[-1], MANY)
    lines = []
    for p in grid.values("width") or (resolved["common"]["width"],):
        size = np.sqrt(S / math.sqrt(theory.RICH**2 - 1) * float(p) ** (z - 1))
        label, corners = f"p = {p}: K_inf = 2 K_0 at the expected Sigma_0", zip(size, z, strict=True)
        lines.append(GridLine.through(label, corners).inside(grid))
    return [line for line in lines if len(line.x) > 1]


def steps(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """lr E K_0 = 2 and 4; lr E K = 2 at the end of the flow, and 2 and 4 at the flattest solution; all at S_0 = 0."""
    rho = np.geomspace(grid.rows_axis.edges[0], grid.rows_axis.edges[-1], MANY)
    ones = np.ones(MANY)
    lines_by_size = [
        ("at the start: lr E K_0 = 2 and 4", 2 * ones),
        ("at the start: lr E K_0 = 2 and 4", 4 * ones),
        ("at the end of the flow: lr E K_inf = 2", 2 / theory.kernel_ratio(rho, 0.0)),
        ("at the flattest solution: lr E K = 2 and 4", 2 / rho),
        ("at the flattest solution: lr E K = 2 and 4", 4 / rho),
    ]
    lines = [GridLine.through(label, zip(size, rho, strict=True)).inside(grid) for label, size in lines_by_size]
    return [line for line in lines if len(line.x) > 1]


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
    starts = [kernels.critical(X, y, w, TESTED) for X, w, y in tasks]
    alpha, ends = math.sqrt(float(np.median(starts))), grid.rows_axis.edges
    decay = np.geomspace(ends[0], ends[-1], MANY)
    return [GridLine.through("alpha^2 = C*, median task", ((alpha, at) for at in decay)).inside(grid)]


def recovery(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The points that l1 recovery of k of d entries takes as d grows (`points_needed`)."""
    d = int(resolved["common"].get("dimension", 100))
    k = np.linspace(grid.x.edges[0], grid.x.edges[-1], MANY)
    needed = np.array([d * points_needed(min(1.0, at / d)) for at in k])
    corners = zip(k, needed, strict=True)
    return [GridLine.through("points that l1 recovery takes (statistical dimension)", corners).inside(grid)]
