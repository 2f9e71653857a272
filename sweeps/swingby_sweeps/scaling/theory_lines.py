"""Lines of theory in diagrams of scaling: each is a function of the resolved parameters, and names its equation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from swingby_analysis.grid import Grid, GridAxis, GridLine

from . import theory

NEAR = 0.05
"""The bias, and the overlap, whose contour is drawn."""


def enough_skills(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The number of skills at which L_C is 5 % of the loss after the middle of the window, by theory's prefactor.

    The bias is L_C/L there (`theory.lost_loss`), and L + L_C a power of the time. Each panel has a window and a line of
    its own, and all lines are drawn in all panels.
    """
    common, y = resolved["common"], grid.rows_axis
    ends = float(grid.x.edges[0]), float(grid.x.edges[-1])
    lines = []
    for largest in grid.values("largest") or (common["largest"],):
        time = largest / 10 ** (common["decades"] / 2)
        crossings = [(_crossing(common, float(alpha or 0), time, ends), float(row)) for alpha, row in _rows(y)]
        corners = [(skills, row) for skills, row in crossings if skills is not None]
        lines.append(GridLine.through(f"T to {largest:.0e}: L_C = {NEAR:g} L, by theory", corners))
    return _drawn(lines)


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

    Below the line the width binds by theory, above it the time, where the data do not. What D samples reach alone is a
    level: beyond it there is more of both than of data.
    """
    common = resolved["common"]
    alpha, skills, s = common["alpha"], common["skills"], common["s"]
    c, pace = theory.lag(common["model"], s, common["r0"]), theory.pace(common["model"], s, common["lr"])
    prefactor = theory.time_prefactor(alpha, skills, s, c, pace)
    corners = []
    for time in grid.x.positions:
        width = theory.reached(alpha, skills, s, prefactor * float(time) ** (-alpha / (alpha + 1)))
        corners.append((float(time), width))
    lines = [GridLine.through("T reaches as many skills as N, by theory", corners).inside(grid)]
    by_data = theory.data_prefactor(alpha, skills, s, c)
    for data in grid.values("data") or (common["data"],):
        if data is not None:
            level = theory.reached(alpha, skills, s, by_data * data ** (-alpha / (alpha + 1)))
            beyond = [(time, level) for time, width in corners if width >= level]
            lines.append(GridLine.through(f"D = {data:g} reaches as many skills as N", beyond).inside(grid))
    return _drawn(lines)


def stage_like(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the first pair of skills, and the fifth, has an overlap of 5 % (`theory.overlap`)."""
    s, lines = resolved["common"]["s"], []
    for k in (1, 5):
        lags = [(theory.lag_of_overlap(float(alpha or 0), NEAR, k), row) for alpha, row in _rows(grid.rows_axis)]
        corners = [(s / (1 + c), row) for c, row in lags]
        lines.append(GridLine.through(f"overlap of skills {k} and {k + 1} is 5 %", corners).inside(grid))
    return _drawn(lines)


def _drawn(lines: Sequence[GridLine]) -> list[GridLine]:
    """The lines of two corners or more."""
    return [line for line in lines if len(line.x) > 1]


def _rows(y: GridAxis) -> list[tuple[Any, float]]:
    """The values of an axis, and where they stand."""
    return [(value, float(position)) for value, position in zip(y.values, y.positions, strict=True)]
