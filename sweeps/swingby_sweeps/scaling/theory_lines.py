"""Lines of theory in diagrams of scaling: each is a function of the resolved parameters, and names its equation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from swingby_analysis.grid import Grid, GridAxis, GridLine

from . import theory

NEAR = 0.05
"""The bias whose contour is drawn."""


def enough_skills(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The number of skills at which L_C is 5 % of the loss after the middle of the window, by theory's prefactor.

    The bias is L_C/L there (`theory.lost_loss`), and L + L_C a power of the time. The windows of the panels differ: the
    line is that of the last one.
    """
    common, y = resolved["common"], _y(grid)
    facets = grid.facet.values if grid.facet else (common["largest"],)
    time = float(facets[-1] or 0) / 10 ** (common["decades"] / 2)
    corners = []
    for alpha, row in zip(y.values, y.positions, strict=True):
        skills = _crossing(common, float(alpha or 0), time, (float(grid.x.edges[0]), float(grid.x.edges[-1])))
        if skills is not None:
            corners.append((skills, float(row)))
    label = f"L_C = {NEAR:g} L at T = {time:.0e}, by theory"
    return [GridLine(label, [x for x, _ in corners], [y for _, y in corners])] if len(corners) > 1 else []


def _crossing(common: Mapping[str, Any], alpha: float, time: float, ends: tuple[float, float]) -> float | None:
    """The number of skills within `ends` at which L_C/L is NEAR; None if there is none."""

    def above(log_skills: float) -> bool:
        skills, s = math.exp(log_skills), common["s"]
        c, pace = theory.lag(common["model"], s, common["r0"]), theory.pace(common["model"], s, common["lr"])
        lost = theory.lost_loss("time", alpha, skills, s, c)
        whole = theory.time_prefactor(alpha, skills, s, c, pace) * time ** (-alpha / (alpha + 1))
        return lost >= whole * NEAR / (1 + NEAR)

    low, high = (math.log(end) for end in ends)
    if not above(low) or above(high):
        return None
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.exp(low)


def equal_reach(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the time alone reaches as many skills as the width alone (`theory.reached` of their power laws).

    Below the line the width binds by theory, above it the time, where the data do not: what D samples reach alone is a
    line a panel, which a line over all panels cannot be.
    """
    common, y = resolved["common"], _y(grid)
    alpha, skills, s = common["alpha"], common["skills"], common["s"]
    c, pace = theory.lag(common["model"], s, common["r0"]), theory.pace(common["model"], s, common["lr"])
    prefactor = theory.time_prefactor(alpha, skills, s, c, pace)
    corners = []
    for time in grid.x.positions:
        width = theory.reached(alpha, skills, s, prefactor * float(time) ** (-alpha / (alpha + 1)))
        corners.append((float(time), width))
    inside = [corner for corner in corners if float(y.edges[0]) <= corner[1] <= float(y.edges[-1])]
    label = "time reaches as many skills as width, by theory"
    return [GridLine(label, [x for x, _ in inside], [y for _, y in inside])] if len(inside) > 1 else []


def stage_like(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the first pair of skills, and the fifth, has an overlap of 5 % (`theory.overlap`)."""
    common, y = resolved["common"], _y(grid)
    lines = []
    for k in (1, 5):
        corners = []
        for alpha, row in zip(y.values, y.positions, strict=True):
            ratio = (1 + 1 / k) ** (float(alpha or 0) + 1)
            start = common["s"] / (1 + 19 ** ((ratio + 1) / (ratio - 1)))
            if float(grid.x.edges[0]) <= start <= float(grid.x.edges[-1]):
                corners.append((start, float(row)))
        if len(corners) > 1:
            lines.append(GridLine(f"overlap of skills {k} and {k + 1} is 5 %", *map(list, zip(*corners, strict=True))))
    return lines


def _y(grid: Grid) -> GridAxis:
    assert grid.y is not None, "a diagram of this page has two axes"
    return grid.y
