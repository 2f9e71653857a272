"""Lines of theory in diagrams: where the model, calibrated on one skill, has a skill at half its strength."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridLine

from . import theory
from .calibration import Calibration, calibrated

NUMBER = "skills_learned"
"""The outcome that counts skills."""


def samples_and_units(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The units and the samples with which the first and the last skill are at half their strength, each by itself."""
    common, constants = resolved["common"], _constants(resolved)
    if constants is None:
        return []
    p = theory.frequencies(common["alpha"], common["skills"])
    (left, *_, right), (low, *_, high) = grid.x.edges, grid.rows_axis.edges
    lines = []
    for k in (1, common["skills"]):
        units, samples = constants.n_c * (k - 0.5), constants.half_samples / p[k - 1]
        if left < units < right:
            lines.append(GridLine(f"(5.9): skill {k} half expressed", [units, units], [low, high]))
        if low < samples < high:
            lines.append(GridLine(f"D_c: skill {k} half learned", [left, right], [samples, samples]))
    return lines


def corner(k: int, resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Both the units and the samples with which skill k is at half its strength: neither alone leads beyond."""
    common, constants = resolved["common"], _constants(resolved)
    if constants is None:
        return []
    p = theory.frequencies(common["alpha"], common["skills"])
    (left, *_, right), (low, *_, high) = grid.x.edges, grid.rows_axis.edges
    units, samples = max(left, constants.n_c * (k - 0.5)), max(low, constants.half_samples / p[k - 1])
    if units >= right or samples >= high:
        return []
    return [GridLine(f"(5.9) and D_c: skill {k} at half its strength", [units, units, right], [high, samples, samples])]


def units_of_skill(k: int, resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The units with which (5.9) has skill k at half its strength, for the bits that were calibrated."""
    known = [(place, calibrated(int(place), resolved["common"]["bits"])) for place in grid.rows_axis.positions]
    corners = ((constants.n_c * (k - 0.5), place) for place, constants in known if constants is not None)
    return [GridLine.through(f"(5.9): skill {k} half expressed", corners)]


def units_of_skills(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The units with which (5.9) has each skill at half its strength, for the bits that were calibrated."""
    return [line for k in range(1, resolved["common"]["skills"] + 1) for line in units_of_skill(k, resolved, grid)]


def each_number_of_samples_and_units(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """`corner` of the k-th skill where the map is of k skills learned, else `samples_and_units`."""
    corners = {k: corner(k, resolved, grid) for k in (1, 2, 3, 4)}
    return _by_number(corners, samples_and_units(resolved, grid))


def each_number_of_units(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """`units_of_skill` of the k-th skill where the map is of k skills learned, else `units_of_skills`."""
    return _by_number({k: units_of_skill(k, resolved, grid) for k in (1, 2, 3)}, units_of_skills(resolved, grid))


def _by_number(lines: Mapping[int, list[GridLine]], of_all: list[GridLine]) -> list[GridLine]:
    """The lines k over the map of whether k skills are learned, and those of all over the map of their number."""
    skill_lines = [line._replace(outcome=f"{NUMBER} > {k - 0.5}") for k, some in lines.items() for line in some]
    return [*skill_lines, *(line._replace(outcome=NUMBER) for line in of_all)]


def last_in_time(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """The exponent beyond which (5.2) has the rarest skill not at half its strength by the end of the run."""
    p, constants = resolved["common"], _constants(resolved)
    if constants is None:
        return []
    arguments = constants.inverse_b2, p["loss_factor"], p["lr"], p["target"], theory.start_strength(p["sigma"])
    least = theory.time_to(0.5, 1.0, *arguments) / p["training_steps"]
    (left, *_, right) = grid.x.edges
    exponents = np.linspace(left, right, 400)
    corners = []
    for place in grid.rows_axis.positions:
        rarest = np.array([theory.frequencies(alpha, int(place))[-1] for alpha in exponents])
        if rarest[-1] < least < rarest[0]:
            corners.append((float(np.interp(-least, -rarest, exponents)), place))
    return [GridLine.through("(5.2): the rarest skill at the end of the run", corners)]


def _constants(resolved: Mapping[str, Any]) -> Calibration | None:
    """What one skill takes under the parameters that all points share; None where it was not calibrated."""
    return calibrated(resolved["common"]["m"], resolved["common"]["bits"])
