"""The curves of every point, median and band over its seeds, packed small enough to travel inside the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swingby_analysis.charts.bands import ValueScale
from swingby_analysis.charts.curves import FLOOR
from swingby_analysis.charts.trajectories import Place, even_time, time_marks

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

    def places(self, group: str = "") -> list[Place]:
        """The path as places, up to the first that is not finite."""
        if self.path is None:
            return []
        finite = np.logical_and.accumulate(np.isfinite(self.path).all(axis=0))
        return [
            Place(group, None, float(step), float(x), float(y))
            for step, x, y in zip(self.step[finite], *self.path[:, finite], strict=True)
        ]


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
    bounded = np.clip(np.nan_to_num(value, nan=high, posinf=high), low, high)
    return differences(np.round((1000 * np.log10(bounded) if scale.log else bounded / unit_of(scale)) / coarseness))


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
    points = {}
    for point, curve in curves.items():
        index = steps.setdefault(tuple(differences(curve.step)), len(steps))
        places, path_of = curve.places(), dict[str, Any]()
        if len(places) > 1:
            every = even_time(places)
            path, marks = (np.array([(at.x, at.y) for at in line]).T for line in (places, time_marks(places, every)))
            path_of = {"path": packed_path(path), "every": every, "marks": packed_path(marks)}
        values = [packed_value(rows, (scales or {}).get(name, DECLARED)) for name, rows in curve.values.items()]
        points[str(point)] = {"steps": index, "losses": values, **path_of}
    return {"steps": [list(step) for step in steps], "of": points}
