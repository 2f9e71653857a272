"""The curves of every point, median and band over its seeds, packed small enough to travel inside the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swingby_analysis.charts.bands import ValueScale
from swingby_analysis.charts.curves import FLOOR
from swingby_analysis.charts.trajectories import Place, marks_at, moving_until, round_time

CEILING = 1e6
"""Values above this, in their unit, and those that are not finite, are packed as this."""
DECLARED = ValueScale(log=True, low=FLOOR, high=CEILING)
"""The scale of curves that an experiment declares."""
FINENESS = 2000
"""Steps of a packed value from one end of a linear axis to the other."""


@dataclass(frozen=True)
class PointCurves:
    """The curves of one point over its seeds.

    Attributes:
        step: recorded steps, int (T,), increasing from 0.
        values: title of the curve -> (3, T): median, 10 % and 90 % quantile over the seeds, in its unit.
        path: (2, T): the median path in the plane, each entry in its unit; None where there is no plane.
        n: how many seeds the curves are over.
        quartiles: title of the curve -> (2, T): the quartiles over the seeds, in its unit.
    """

    step: np.ndarray
    values: Mapping[str, np.ndarray]
    path: np.ndarray | None
    n: int
    quartiles: Mapping[str, np.ndarray] = field(default_factory=dict)

    def finite_path(self) -> np.ndarray | None:
        """The path up to the first place that is not finite."""
        if self.path is None:
            return None
        return self.path[:, np.logical_and.accumulate(np.isfinite(self.path).all(axis=0))]

    def places(self, group: str = "") -> list[Place]:
        """The same as places."""
        path = self.finite_path()
        if path is None:
            return []
        steps = self.step[: path.shape[1]]
        return [Place(group, None, float(step), float(x), float(y)) for step, x, y in zip(steps, *path, strict=True)]


def differences(values: np.ndarray) -> list[Any]:
    """Whole numbers as the first and the differences after it, row by row: short to write, exact to undo."""
    whole = values.astype(np.int64)
    whole[..., 1:] -= whole[..., :-1].copy()
    return whole.tolist()


def packed_value(value: np.ndarray, scale: ValueScale = DECLARED, coarseness: int = 1) -> list[Any]:
    """Values as differences: of thousandths of a decade (0.12 %), or of what `unit_of` a linear scale says.

    What lies beyond the ends of the scale, or is not finite, is packed a little beyond them (`ValueScale.near`).
    With a coarseness a step is as many of these.
    """
    low, high = scale.near
    bounded = np.clip(np.where(np.isnan(value), high, value), low, high)
    return differences(np.round((1000 * np.log10(bounded) if scale.log else bounded / unit_of(scale)) / coarseness))


def packed_values(rows: Sequence[np.ndarray], scale: ValueScale = DECLARED, coarseness: int = 1) -> list[list[Any]]:
    """What `packed_value` gives of each of many arrays; those of one shape are packed together, which is faster."""
    packed_rows, of_shape = [list[Any]()] * len(rows), dict[tuple[int, ...], list[int]]()
    for place, row in enumerate(rows):
        of_shape.setdefault(row.shape, []).append(place)
    for places in of_shape.values():
        together = packed_value(np.stack([rows[place] for place in places]), scale, coarseness)
        for place, row in zip(places, together, strict=True):
            packed_rows[place] = row
    return packed_rows


def unit_of(scale: ValueScale) -> float:
    """The value that one step of a packed linear value stands for."""
    return (scale.high - scale.low) / FINENESS


def packed_path(path: np.ndarray) -> list[Any]:
    """Paths as differences of thousandths, bounded by 10 on either side."""
    return differences(np.round(1000 * np.clip(path, -10, 10)))


def packed(curves: Mapping[int, PointCurves], scales: Mapping[str, ValueScale] | None = None) -> dict[str, Any]:
    """The curves as the page's script reads them: shared lists of steps; of each point its values, path and marks.

    Args:
        curves: of each point.
        scales: of each curve, by title; None: all are declared ones.
    """
    steps: dict[tuple[int, ...], int] = {}
    points, names = {}, list(next(iter(curves.values())).values) if curves else []
    values = [
        packed_values([curve.values[name] for curve in curves.values()], (scales or {}).get(name, DECLARED))
        for name in names
    ]
    for (point, curve), *losses in zip(curves.items(), *values, strict=True):
        index = steps.setdefault(tuple(differences(curve.step)), len(steps))
        path, path_of = curve.finite_path(), dict[str, Any]()
        if path is not None and path.shape[1] > 1:
            step = curve.step[: path.shape[1]]
            every = round_time(moving_until(step, path))
            marks = marks_at(step, path, every)
            path_of = {"path": packed_path(path), "every": every, "marks": packed_path(marks)}
        points[str(point)] = {"steps": index, "losses": losses, **path_of}
    return {"steps": [list(step) for step in steps], "of": points}
