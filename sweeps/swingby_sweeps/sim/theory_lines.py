"""Lines of theory in diagrams: each is a function of the resolved parameters, and names its equation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from swingby_analysis.grid import Grid, GridLine
from swingby_analysis.signals import bumps
from swingby_analysis.signals.contour import contour
from swingby_analysis.signals.extrema import Floats

from . import task, theory
from .detect.theory import CONSTANTS
from .params import SimParams


def parameters(common: Mapping[str, Any], **other: Any) -> SimParams:
    """A point's parameters from those that a sweep resolves for all of its points, and others; unchecked.

    Parameters that neither has are at their defaults; s is the length of mu, where mu is known.
    """
    values = {**common, **other}
    if "mu" in values:
        values["s"] = len(values["mu"])
    return SimParams.model_construct(**values)


def signals(common: Mapping[str, Any], **other: Any) -> Floats:
    """a_p of the population ([S] 4, `task.signal`), (s,)."""
    return task.signal(parameters(common, **other))


def steepest_rate(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """`theory.steepest_rate` at every depth; for ReLU nets this is the line of the linear net."""
    a = signals(resolved["common"])
    depths = [int(value or 0) for value in grid.rows_axis.values]
    corners = [(theory.steepest_rate(a, depth), float(depth)) for depth in depths]
    return [_within(grid, GridLine.through("lr = 2 / (L a_max), least curvature of a solution", corners))]


def plateau_and_steepness(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """`theory.plateau_gain` of the time of the run, and `theory.steep_gain`, where they are."""
    y = grid.rows_axis
    slow, steep = [], []
    for row, value in zip(y.positions, y.values, strict=True):
        p = parameters(resolved["common"], **{y.name: value})
        a, depth, stretch = task.signal(p), int(p.layers), p.width / p.d
        if depth > 2:
            slow.append((theory.plateau_gain(a, depth, stretch, p.time), row))
        if depth > 1:
            steep.append((theory.steep_gain(a, depth, stretch, p.lr), row))
    return [
        _within(grid, GridLine.through("time of the first plateau = time of the run", slow)),
        _within(grid, GridLine.through("lr x curvature at the start = 2", steep)),
    ]


def symmetric_start(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The predicted rise, and the borders of App. D's assumptions on the signals and on a typical start.

    D.5, a_2 - 3 a_1 >= a_1 / C, holds to the right of its line; D.4 (D.9), for a typical start, below its own.
    D.9: omega <= min(kappa - 1, 1 - kappa^(-1/2)) / (P K gamma d beta^2), with the most lenient constants.
    """
    common, y, c = resolved["common"], grid.rows_axis, CONSTANTS
    weak = float(signals(common, mu=(1.0, 1.0))[0])
    variance = float(signals(common, mu=(0.0, 0.0))[0])
    edge = math.sqrt(2 * (weak * (3 + 1 / c.C) - variance))
    apart = GridLine("App. D.5: signals apart (right of it)", [edge, edge], [y.edges[0], y.edges[-1]])
    room = min(c.kappa - 1, 1 - c.kappa**-0.5) / (c.P * c.K * common["d"])
    major, minor = _typical(common, y.name, 1.0)
    beta = max(major, minor) / min(major, minor)
    ratios = [float(ratio) for ratio in grid.x.positions]
    scales = [
        math.sqrt(room * weak / (float(signals(common, mu=(1.0, ratio)).max()) * beta**2) / min(major, minor))
        for ratio in ratios
    ]
    small = GridLine("App. D.4: start small (below it)", ratios, scales)
    return [*predicted_rise(resolved, grid), _within(grid, apart), _within(grid, small)]


def predicted_rise(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The contour on which the loss rises by 1 % of L_ref from a typical start, by eq 4.3 to leading order (`rise_at`).

    That rise is the detector's threshold where there is no noise.
    """
    common, y = resolved["common"], grid.rows_axis
    values = np.array(
        [
            [rise_at((1.0, float(ratio or 0)), common, y.name, float(scale or 0)) for ratio in grid.x.values]
            for scale in y.values
        ]
    )
    x_places, y_places = [grid.x.ruler(at) for at in grid.x.positions], [y.ruler(at) for at in y.positions]
    label = "eq 4.3, leading order, typical start: rise of 1 % of L_ref"
    return [
        GridLine(label, [grid.x.unruler(at) for at in line.x.tolist()], [y.unruler(at) for at in line.y.tolist()])
        for line in contour(x_places, y_places, values, bumps.FLOOR)
    ]


def _typical(common: Mapping[str, Any], scale_name: str, scale: float) -> tuple[float, float]:
    """w_pp(0) and w_12(0) of a typical start: means, but one standard deviation for w_12(0) of a normal start (E.1)."""
    start = theory.normal_start if scale_name == "init_gain" else theory.uniform_start
    return start(common["width"], scale)


def rise_at(mu: tuple[float, float], common: Mapping[str, Any], scale_name: str, scale: float) -> float:
    """`theory.predicted_rise` from a typical start."""
    return theory.predicted_rise(np.array(mu), signals(common, mu=mu), *_typical(common, scale_name, scale))


def bottleneck(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """d' = s: below it the product has rank below s, and is not the identity on s concepts."""
    x, y = grid.x, grid.rows_axis
    corners: list[tuple[float, float]] = []
    for value, (left, right) in zip(x.values, pairwise(x.edges), strict=True):
        # Under the first tile that is wide enough; above all tiles where none is.
        wide = [place for place, width in enumerate(y.values) if float(width or 0) >= float(value or 0)]
        level = y.edges[wide[0] if wide else -1]
        corners += [(left, level), (right, level)]
    return [GridLine.through("d' = s: below it the rank is too low", corners)]


def points_near(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """mu_1 / sigma at which one training point, in the mean, lies within min(mu) / 2 of the test point ([S] F.3).

    A cluster's points are normal about a centre that lies mu_1 (or mu_2) away; the squared distance to the test point
    over sigma^2 is non-central chi-squared with two degrees of freedom.
    """
    n, y = resolved["common"]["n"], grid.rows_axis

    def expected(ratio: float) -> float:
        reach = (ratio / 2) ** 2
        return n * float(sum(stats.ncx2.cdf(reach, 2, (away * ratio) ** 2) for away in (1.0, 2.0)))

    low, high = 0.5, 40.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > 1 else (low, middle)
    label = f"one training point within mu_1/2 of the test point: mu_1 = {low:.2g} sigma"
    distances = list(grid.x.positions)
    lines = [
        _within(grid, GridLine(label, distances, [at / low for at in distances])),
        _within(grid, GridLine("mu_1 = sigma", distances, distances)),
    ]
    return [line for line in lines if len(line.x) > 1 and y.values]


def spread_needed(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """`theory.spread_needed` of the time of the run."""
    heights = []
    for value in grid.x.values:
        p = parameters(resolved["common"], **({"epochs": value} if grid.x.name == "epochs" else {}))
        heights.append(theory.spread_needed(p.clusters, p.time))
    return [_within(grid, GridLine("sigma^2 T / C = 1, T the time of the run", list(grid.x.positions), heights))]


def relu_distance(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The lines of `points_near`, and that of `spread_needed`."""
    return [*points_near(resolved, grid), *spread_needed(resolved, grid)]


def _within(grid: Grid, line: GridLine) -> GridLine:
    """The part of a line inside the diagram."""
    x, y = grid.x, grid.rows_axis
    at = [(x.ruler(a), y.ruler(b)) for a, b in zip(line.x, line.y, strict=True)]
    box = [(x.ruler(x.edges[0]), x.ruler(x.edges[-1])), (y.ruler(y.edges[0]), y.ruler(y.edges[-1]))]
    kept: list[tuple[float, float]] = []
    for start, end in pairwise(at):
        piece = _clipped(start, end, box)
        if piece is not None:
            kept += [corner for corner in piece if not kept or corner != kept[-1]]
    return GridLine(line.label, [x.unruler(a) for a, _ in kept], [y.unruler(b) for _, b in kept])


def _clipped(
    start: tuple[float, float], end: tuple[float, float], box: Sequence[tuple[float, float]]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The part of a straight piece inside the box (Liang and Barsky 1984); None if there is none."""
    first, last = 0.0, 1.0
    for a, b, (low, high) in zip(start, end, box, strict=True):
        for step, room in ((a - b, a - low), (b - a, high - a)):
            if step == 0 and room < 0:
                return None
            if step != 0:
                first, last = (max(first, room / step), last) if step < 0 else (first, min(last, room / step))
    if first > last:
        return None
    ends = [tuple(a + t * (b - a) for a, b in zip(start, end, strict=True)) for t in (first, last)]
    return (ends[0][0], ends[0][1]), (ends[1][0], ends[1][1])
