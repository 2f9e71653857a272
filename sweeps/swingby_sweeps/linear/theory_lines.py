"""Lines of theory in diagrams: each is a function of the resolved sweep and its grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridLine
from swingby_analysis.signals.contour import contour

from . import theory
from .detect.overfitting import BENIGN, MALIGNANT, PARTIAL, TEMPERED
from .detect.phases import LEARNED

MANY = 61
"""Points along each axis on which boundaries are computed."""


def kinds_of_fit(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """V = 0.2 and 2, and B = 0.05 and 0.5 for a target in a strong mode and in the tail, over tail and p.

    B and V are E_0 sum (1 - L)^2 c^2/|c|^2 and E_0 - 1; all panels have all lines, and both levels one label.
    """
    common = resolved["common"]
    n, d = common["n"], common["d"]

    def numbers(tail: float, p: float) -> tuple[float, float, float]:
        modes = round(p)
        rho = np.array([1.0, tail / (modes - d)])
        L = theory.learnability(rho, theory.two_level_kappa(n, modes, d, tail))
        e0 = theory.overfitting(n, np.repeat(L, (d, modes - d)))
        return e0 - 1, e0 * (1 - L[0]) ** 2, e0 * (1 - L[1]) ** 2

    lines = []
    for which, name, levels in (
        (0, "V", (BENIGN, TEMPERED)),
        (1, "B of a strong mode", (PARTIAL, MALIGNANT)),
        (2, "B of a mode of the tail", (PARTIAL, MALIGNANT)),
    ):
        label = f"{name} = {' and '.join(f'{level:g}' for level in levels)}"
        for level in levels:
            lines += _contours(grid, label, lambda x, y, at=which: numbers(x, y)[at], level)
    return lines


def times(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """eta t = ln 10, where a mode of intensity 1 is learned, n ln 2/T, where noise is half fitted, and the tail beyond
    which its learnability is below `LEARNED`."""
    y, common = grid.rows_axis, resolved["common"]
    tails = np.geomspace(float(y.edges[0]), float(y.edges[-1]), MANY)
    learned = theory.signal_time(1.0)
    fitted = [theory.noise_time(common["n"], tail) for tail in tails]
    x = np.geomspace(float(grid.x.edges[0]), float(grid.x.edges[-1]), MANY)
    most = theory.two_level_tail(common["n"], common["p"], common["d"], LEARNED)
    return [
        GridLine.through("signal: eta t = ln 10", ((learned, tail) for tail in tails)).inside(grid),
        GridLine(f"signal: L = {LEARNED:g}", x.tolist(), [most] * MANY),
        GridLine.through("noise: eta t = n ln 2 / T", zip(fitted, tails, strict=True)).inside(grid),
    ]


def best_ridges(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The ridge of least expected error for each size of the noise, a line for each target.

    Where the error still falls towards the end of the grid, there is no best ridge within it, and no line.
    """
    common = resolved["common"]
    rho = theory.power_intensities(common["p"], common["alpha"])
    ends = float(grid.x.edges[0]), float(grid.x.edges[-1])
    sizes = np.geomspace(float(grid.rows_axis.edges[0]), float(grid.rows_axis.edges[-1]), MANY)
    lines = []
    for beta in map(float, grid.values("beta")):
        c = theory.power_intensities(common["p"], beta)
        variances = [theory.variance(float(sigma), common["sigma_is"]) for sigma in sizes]
        best = [theory.best_ridge(rho, c, common["n"], variance, ends) for variance in variances]
        corners = [(at, sigma) for at, sigma in zip(best, sizes, strict=True) if 1.02 * ends[0] < at < ends[1] / 1.02]
        lines.append(GridLine.through(f"least error by theory, beta = {beta:g}", corners).inside(grid))
    return lines


def _contours(grid: Grid, label: str, value: Callable[[float, float], float], level: float) -> list[GridLine]:
    """Where a function of the two parameters crosses a level; both axes are logarithmic."""
    x, y = (np.linspace(math.log(axis.edges[0]), math.log(axis.edges[-1]), MANY) for axis in (grid.x, grid.rows_axis))
    low = math.log(min(float(value) for value in grid.rows_axis.values if value is not None))
    y = np.linspace(low, y[-1], MANY)
    values = np.array([[value(math.exp(a), math.exp(b)) for a in x] for b in y])
    return [GridLine(label, list(np.exp(line.x)), list(np.exp(line.y))) for line in contour(x, y, values, level)]
