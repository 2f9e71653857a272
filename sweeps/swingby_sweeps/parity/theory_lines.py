"""Lines of theory in diagrams: where the model, calibrated on one skill, has a skill at half its strength."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridAxis, GridLine

from . import theory
from .calibration import CALIBRATED


def samples_and_units(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The units and the samples with which the first and the last skill are at half their strength, each by itself."""
    common, constants = resolved["common"], CALIBRATED[resolved["common"]["m"]]
    p = theory.frequencies(common["alpha"], common["skills"])
    (left, *_, right), (low, *_, high) = grid.x.edges, _y(grid).edges
    lines = []
    for k in (1, common["skills"]):
        units, samples = constants.n_c * (k - 0.5), constants.half_samples / p[k - 1]
        if left < units < right:
            lines.append(GridLine(f"(5.9): skill {k} half expressed", [units, units], [low, high]))
        if low < samples < high:
            lines.append(GridLine(f"D_c: skill {k} half learned", [left, right], [samples, samples]))
    return lines


def units_of_skills(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The units with which (5.9) has each skill at half its strength, for the bits that were calibrated."""
    bits = [(place, int(place)) for place in _y(grid).positions if int(place) in CALIBRATED]
    return [
        GridLine(
            f"(5.9): skill {k} half expressed",
            [CALIBRATED[m].n_c * (k - 0.5) for _, m in bits],
            [place for place, _ in bits],
        )
        for k in range(1, resolved["common"]["skills"] + 1)
    ]


def last_in_time(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The exponent beyond which (5.2) has the rarest skill not at half its strength by the end of the run."""
    p, constants = resolved["common"], CALIBRATED[resolved["common"]["m"]]
    own = constants.inverse_b2, p["loss_factor"], p["lr"], p["target"], theory.start_strength(p["sigma"])
    least = theory.time_to(0.5, 1.0, *own) / p["training_steps"]
    (left, *_, right) = grid.x.edges
    exponents = np.linspace(left, right, 400)
    corners = []
    for place in _y(grid).positions:
        rarest = np.array([theory.frequencies(alpha, int(place))[-1] for alpha in exponents])
        if rarest[-1] < least < rarest[0]:
            corners.append((float(np.interp(-least, -rarest, exponents)), place))
    return [GridLine("(5.2): the rarest skill at the end of the run", [x for x, _ in corners], [y for _, y in corners])]


def _y(grid: Grid) -> GridAxis:
    assert grid.y is not None, "a diagram of this page has two axes"
    return grid.y
