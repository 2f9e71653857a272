"""The grid as a figure sees it: axes with positions and tile edges, and facets for every parameter that is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

Value = bool | int | float | str | None
AxisKind = Literal["linear", "log", "ordinal"]


def plain(value: Value) -> str:
    """A value as a reader writes it: 0.1, 64, yes, none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def axis_kind(values: Sequence[Value]) -> AxisKind:
    """How distinct sorted values are spaced: "log" where their ratios are more even than their differences.

    Text, yes/no and a single value have no spacing: "ordinal".
    """
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) != len(values) or len(numbers) < 2:
        return "ordinal"
    if numbers[0] <= 0 or len(numbers) < 3:
        return "linear"
    steps = [b - a for a, b in pairwise(numbers)]
    ratios = [math.log(b / a) for a, b in pairwise(numbers)]
    return "log" if max(ratios) / min(ratios) < max(steps) / min(steps) else "linear"


@dataclass(frozen=True)
class GridAxis:
    """One axis of a diagram: distinct values in order, where they stand, and the edges of their tiles.

    Attributes:
        name: the parameter as the sweep file writes it, e.g. "mu.1".
        title: what a reader calls it.
        values: distinct, in drawing order (numbers ascending).
    """

    name: str
    title: str
    values: tuple[Value, ...]

    @classmethod
    def of(cls, name: str, title: str, values: Sequence[Value]) -> GridAxis:
        """The axis over the distinct ones of `values`: numbers ascending, anything else in order of appearance."""
        distinct = list(dict.fromkeys(values))
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in distinct):
            distinct.sort(key=lambda v: float(v or 0))
        return cls(name, title, tuple(distinct))

    @cached_property
    def kind(self) -> AxisKind:
        """linear, log or ordinal; see `axis_kind`."""
        return axis_kind(self.values)

    @cached_property
    def positions(self) -> tuple[float, ...]:
        """Where each value stands on the axis: itself, or its rank on an ordinal axis."""
        if self.kind == "ordinal":
            return tuple(float(rank) for rank in range(len(self.values)))
        return tuple(float(v) for v in self.values if v is not None)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The borders between tiles, one more than values: half-way on the axis as drawn, mirrored at both ends."""
        at = [self.ruler(p) for p in self.positions]
        if len(at) == 1:
            return (self.unruler(at[0] - 0.5), self.unruler(at[0] + 0.5))
        inner = [(a + b) / 2 for a, b in pairwise(at)]
        ends = [2 * at[0] - inner[0], *inner, 2 * at[-1] - inner[-1]]
        return tuple(self.unruler(e) for e in ends)

    @cached_property
    def narrowest(self) -> float:
        """The widest mark that fits every tile, centred at its value, as a share of the axis's length."""
        at, ends = [self.ruler(p) for p in self.positions], [self.ruler(e) for e in self.edges]
        return min((b - a for a, b in pairwise(at)), default=ends[-1] - ends[0]) / (ends[-1] - ends[0])

    def index(self, value: Value) -> int:
        """The rank of a value along the axis.

        Raises:
            ValueError: it is not one of the axis's values.
        """
        return self.values.index(value)

    def ruler(self, position: float) -> float:
        """A position in the coordinate in which the axis is drawn evenly."""
        return math.log(position) if self.kind == "log" else position

    def unruler(self, coordinate: float) -> float:
        """The inverse of `ruler`."""
        return math.exp(coordinate) if self.kind == "log" else coordinate


@dataclass(frozen=True)
class Grid:
    """Where every point of a sweep stands in its diagram.

    Attributes:
        x, y: the axes; `y` is None for a diagram along one parameter.
        facets: labels of the panels in drawing order; (“”,) where nothing else varies.
        places: point -> (index on x, index on y or 0, index of the facet).
        labels: point -> its name, where x and y do not tell it: parameters that advance with them are named too.
    """

    x: GridAxis
    y: GridAxis | None
    facets: tuple[str, ...]
    places: dict[int, tuple[int, int, int]]
    labels: Mapping[int, str] = field(default_factory=dict)

    def label(self, point: int) -> str:
        """The parameters of a point as a reader writes them."""
        if point in self.labels:
            return self.labels[point]
        i, j, f = self.places[point]
        parts = [f"{self.x.name} = {plain(self.x.values[i])}"]
        if self.y is not None:
            parts.append(f"{self.y.name} = {plain(self.y.values[j])}")
        if self.facets[f]:
            parts.append(self.facets[f])
        return ", ".join(parts)
