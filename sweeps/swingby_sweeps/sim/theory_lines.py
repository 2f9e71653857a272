"""The lines that theory draws into diagrams: each a function of the resolved parameters, with its equation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from swingby_analysis.grid import Grid, GridAxis, GridLine
from swingby_analysis.signals.contour import contour
from swingby_analysis.signals.extrema import Floats

RISE = 0.01
"""Rise of the OOD loss over L_ref from which on it counts as a descent's end (the detector's tau without noise)."""
LENIENT: Mapping[str, float] = {"K": 20.0, "C": 10.0, "P": 2.0, "kappa": 2.0}
"""The most lenient constants that App. D.1 allows, as the detector `theory` has them."""


def signals(common: Mapping[str, Any], **other: Any) -> Floats:
    """a_p = sigma_p^2 + mu_p^2 / C of the population ([S] 4)."""
    given = {**common, **other}
    mu, sigma = np.asarray(given["mu"], dtype=float), np.asarray(given["sigma"], dtype=float)
    variance = sigma if given["sigma_is"] == "variance" else sigma**2
    return variance + mu**2 / (len(mu) + bool(given["zero_cluster"]))


def steepest_rate(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """lr = 2 / (L a_max): above it descent settles on no solution.

    At every solution of L linear layers the largest curvature is at least L a_p, for each p: the slopes of the output
    along e_p have squared length sum_l |p_l|^2 |q_(l-1)|^2 with p_l . q_l = 1, so at least L (as in Mulayoff and
    Michaeli 2020 for the flattest minimum). For ReLU nets this is the line of the linear net.
    """
    largest = float(signals(resolved["common"]).max())
    depths = [float(value or 0) for value in _y(grid).values]
    corners = [(2 / (depth * largest), depth) for depth in depths]
    return [_within(grid, GridLine("lr = 2 / (L a_max), least curvature of a solution", *_columns(corners)))]


def plateau_and_steepness(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The gains below which a start stays on its first plateau, and above which it is too steep.

    A normal start of gain g stretches by g in each layer, but by g sqrt(h / d) in the first, whose fan-in is d and not
    the width h. Layers that grow alike follow k' = a_p k^(L - 1) (Saxe et al. 2014) from k = g (h / d)^(1 / 2L), so the
    slowest concept takes 1 / ((L - 2) a_min k^(L - 2)); that is the time of the run on the first line. The largest
    curvature at the start is a_max g^(2 (L - 1)) (1 + (L - 1) h / d); on the second line that times lr is 2.
    """
    common, y = resolved["common"], _y(grid)
    a, total = signals(common), _time(common)
    slow, steep = [], []
    for row, value in zip(y.positions, y.values, strict=True):
        own = {**common, y.name: value}
        depth, stretch = float(own["layers"]), float(own["width"]) / float(own["d"])
        if depth > 2:
            least = (1 / ((depth - 2) * a.min() * total)) ** (1 / (depth - 2))
            slow.append((least / stretch ** (1 / (2 * depth)), row))
        if depth > 1:
            curved = common["lr"] * a.max() * (1 + (depth - 1) * stretch)
            steep.append(((2 / curved) ** (1 / (2 * (depth - 1))), row))
    return [
        _within(grid, GridLine("time of the first plateau = time of the run", *_columns(slow))),
        _within(grid, GridLine("lr x curvature at the start = 2", *_columns(steep))),
    ]


def symmetric_start(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The predicted rise, and what App. D assumes of a typical start and of the signals."""
    return [*predicted_rise(resolved, grid), *_assumptions(resolved, grid)]


def predicted_rise(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where eq 4.3, to leading order, has the loss rise by 1 % of L_ref from a typical start; see `rise_at`."""
    common, y = resolved["common"], _y(grid)
    values = np.array(
        [
            [rise_at((1.0, float(ratio or 0)), common, y.name, float(scale or 0)) for ratio in grid.x.values]
            for scale in y.values
        ]
    )
    found = contour([grid.x.ruler(at) for at in grid.x.positions], [y.ruler(at) for at in y.positions], values, RISE)
    label = "eq 4.3, leading order, typical start: rise of 1 % of L_ref"
    return [
        GridLine(label, [grid.x.unruler(at) for at in line.x.tolist()], [y.unruler(at) for at in line.y.tolist()])
        for line in found
    ]


def _assumptions(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """D.5, a_2 - 3 a_1 >= a_1 / C, holds to the right of its line; D.4 (D.9) of a typical start below its own.

    D.9: omega <= min(kappa - 1, 1 - kappa^(-1/2)) / (P K gamma d beta^2), with the most lenient constants.
    """
    common, y = resolved["common"], _y(grid)
    weak = float(signals(common, mu=(1.0, 1.0))[0])
    variance = float(signals(common, mu=(0.0, 0.0))[0])
    edge = math.sqrt(2 * (weak * (3 + 1 / LENIENT["C"]) - variance))
    apart = GridLine("App. D.5: signals apart (right of it)", [edge, edge], [y.edges[0], y.edges[-1]])
    room = min(LENIENT["kappa"] - 1, 1 - LENIENT["kappa"] ** -0.5) / (LENIENT["P"] * LENIENT["K"] * common["d"])
    major, minor = _typical(common, y.name, 1.0)
    beta = max(major, minor) / min(major, minor)
    ratios = [float(ratio) for ratio in grid.x.positions]
    scales = [
        math.sqrt(room * weak / (float(signals(common, mu=(1.0, ratio)).max()) * beta**2) / min(major, minor))
        for ratio in ratios
    ]
    return [_within(grid, apart), _within(grid, GridLine("App. D.4: start small (below it)", ratios, scales))]


def _typical(common: Mapping[str, Any], scale_name: str, scale: float) -> tuple[float, float]:
    """w_pp(0) and w_12(0) of a typical start: means, but one standard deviation for w_12(0) of a normal start (E.1)."""
    width = common["width"]
    if scale_name == "init_gain":
        return scale**2, scale**2 / math.sqrt(width)
    return width * scale**2 / 3, width * scale**2 / 4


def rise_at(mu: tuple[float, float], common: Mapping[str, Any], scale_name: str, scale: float) -> float:
    """The predicted rise over L_ref, to leading order in w_12; nan where signals are equal, or all is learned at once.

    While the stronger major entry w follows w' = 2 a_1 w (1 - w), w_12 grows at a_1 + a_2 - w (3 a_1 + a_2) / 2 and
    goes as w^((a_1 + a_2) / (2 a_1)) (1 - w)^((a_1 - a_2) / (4 a_1)). Meanwhile the loss over L_ref, less what the
    weaker concept leaves, is (mu_1^2 (1 - w)^2 - 2 mu_1 mu_2 w_12 (2 - w)) / ||x^||^2: it rises from the least value of
    that to 0, and by less where the weaker concept grows meanwhile: the larger the start, the sooner.
    """
    a_2, a_1 = sorted(signals(common, mu=mu).tolist())
    mu_2, mu_1 = sorted(mu)
    major, minor = _typical(common, scale_name, scale)
    if a_1 - a_2 < 1e-12 or major >= 1:
        return math.nan
    left = np.geomspace(1e-9, 1 - major, 400)
    grown = ((1 - left) / major) ** ((a_1 + a_2) / (2 * a_1)) * (left / (1 - major)) ** ((a_1 - a_2) / (4 * a_1))
    loss = (mu_1 * left) ** 2 - 2 * mu_1 * mu_2 * minor * grown * (1 + left)
    return max(0.0, -float(loss.min())) / (mu_1**2 + mu_2**2)


def bottleneck(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """d' = s: below it the product has rank below s, and is not the identity on s concepts."""
    x, y = grid.x, _y(grid)
    corners: list[tuple[float, float]] = []
    for value, (left, right) in zip(x.values, pairwise(x.edges), strict=True):
        # Under the first tile that is wide enough; above all tiles where none is.
        wide = [place for place, width in enumerate(y.values) if float(width or 0) >= float(value or 0)]
        level = y.edges[wide[0] if wide else -1]
        corners += [(left, level), (right, level)]
    return [GridLine("d' = s: below it the rank is too low", *_columns(corners))]


def points_near(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """mu_1 / sigma at which one training point, in the mean, lies within min(mu) / 2 of the test point ([S] F.3).

    A cluster's points are normal about a centre that lies mu_1 (or mu_2) away; the squared distance to the test point
    over sigma^2 is non-central chi-squared with two degrees of freedom.
    """
    n, y = resolved["common"]["n"], _y(grid)

    def expected(ratio: float) -> float:
        reach = (ratio / 2) ** 2
        return n * float(sum(stats.ncx2.cdf(reach, 2, (away * ratio) ** 2) for away in (1.0, 2.0)))

    low, high = 0.5, 40.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > 1 else (low, middle)
    label = f"one training point within mu_1/2 of the test point: mu_1 = {low:.2g} sigma"
    lines = [_within(grid, GridLine(label, list(grid.x.positions), [at / low for at in grid.x.positions]))]
    for ratio in (1.0,):
        text = "mu_1 = sigma"
        lines.append(_within(grid, GridLine(text, list(grid.x.positions), [at / ratio for at in grid.x.positions])))
    return [line for line in lines if len(line.x) > 1 and y.values]


def spread_needed(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """sigma^2 T / C = 1: what a piece of a ReLU net that meets one cluster alone takes to learn along its spread.

    Of all points a share 1/C are that cluster's, and across the way to its centre their second moment is sigma^2, so
    the rate in the time of the flow of L is sigma^2 / C, up to a factor of order 1 for the other layers.
    """
    common = resolved["common"]
    clusters = int(common["s"]) + bool(common["zero_cluster"])
    heights = []
    for value in grid.x.values:
        own = {**common, "epochs": value} if grid.x.name == "epochs" else common
        heights.append(math.sqrt(clusters / _time(own)))
    return [_within(grid, GridLine("sigma^2 T / C = 1, T the time of the run", list(grid.x.positions), heights))]


def relu_distance(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Lines of one distance, and the spread that takes the time of the run."""
    return [*points_near(resolved, grid), *spread_needed(resolved, grid)]


def _time(common: Mapping[str, Any]) -> float:
    """Time of the flow of L in a whole run of SGD: steps x lr under half_sum."""
    clusters = int(common.get("s") or len(common["mu"])) + bool(common["zero_cluster"])
    factor = {"half_sum": 1.0, "mean": 2.0 / common["d"], "quarter_sum": 0.5}[common["reduction"]]
    return common["epochs"] * math.ceil(clusters * common["n"] / common["batch_size"]) * common["lr"] * factor


def _y(grid: Grid) -> GridAxis:
    assert grid.y is not None, "a diagram of this page has two axes"
    return grid.y


def _columns(corners: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in corners], [y for _, y in corners]


def _within(grid: Grid, line: GridLine) -> GridLine:
    """The part of a line that the diagram holds, cut where it leaves."""
    x, y = grid.x, _y(grid)
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
