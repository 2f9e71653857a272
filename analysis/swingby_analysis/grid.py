"""The grid of a sweep: its axes, where its points stand on them, and the diagram that lays two of them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise, product
from typing import Any, Literal, NamedTuple

from swingby.model import registry
from swingby.store.sweep_grid import SweepGrid, Value, plain, scalar
from swingby.sweepfile.parameters import split

AxisKind = Literal["linear", "log", "ordinal"]
DECADES = 10.0
"""How many times the least number above 0 the largest has to be for an axis with 0 to be ordinal."""


def axis_kind(values: Sequence[Value]) -> AxisKind:
    """How distinct sorted values are spaced: "log" where their ratios are more even than their differences.

    Text, yes/no and a single value have no spacing: "ordinal". Neither have 0 and decades above it, such as values
    of weight decay: on an axis of numbers all but the last would stand at 0.
    """
    numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) != len(values) or len(numbers) < 2:
        return "ordinal"
    if numbers[0] == 0 and len(numbers) > 2:
        above = numbers[1:]
        decades = len(above) == 2 or axis_kind(above) == "log"
        return "ordinal" if decades and above[-1] / above[0] >= DECADES else "linear"
    if numbers[0] <= 0 or len(numbers) < 3:
        return "linear"
    steps = [b - a for a, b in pairwise(numbers)]
    ratios = [math.log(b / a) for a, b in pairwise(numbers)]
    return "log" if max(ratios) / min(ratios) < max(steps) / min(steps) else "linear"


@dataclass(frozen=True)
class GridAxis:
    """One axis of a diagram: distinct values in order, where they stand, and the edges of their tiles.

    Attributes:
        name: the parameter as the sweep file writes it, such as "rates.1".
        title: what an axis of a figure is called.
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
        labels: point -> its label, where x and y do not say enough: parameters that advance with them are in it too.
        sweep: where the points stand on all axes of the sweep, in the order of `places`; None for a grid of no sweep.
        facet: the axis that the diagram has a panel for each value of; None if it asks for none.
    """

    x: GridAxis
    y: GridAxis | None
    facets: tuple[str, ...]
    places: dict[int, tuple[int, int, int]]
    labels: Mapping[int, str] = field(default_factory=dict)
    sweep: SweepGrid | None = None
    facet: str | None = None

    @property
    def rows_axis(self) -> GridAxis:
        """The axis y, of a diagram of two axes.

        Raises:
            ValueError: the diagram runs along one parameter only.
        """
        if self.y is None:
            raise ValueError("a map needs two axes; a diagram along one parameter is drawn as a line")
        return self.y

    def values(self, name: str) -> tuple[Any, ...]:
        """The values of an axis of the sweep, drawn or not; none of a parameter that does not vary."""
        axes = self.sweep.axes if self.sweep else ()
        return next((axis.values for axis in axes if axis.name == name), ())

    def label(self, point: int) -> str:
        """The parameters of a point, such as "width = 64, rate = 0.1"."""
        if point in self.labels:
            return self.labels[point]
        return self._labels_by_place[self.places[point]]

    @cached_property
    def _labels_by_place(self) -> Mapping[tuple[int, int, int], str]:
        """The label of every place; figures, table and panel show each."""
        return {place: self._label_at(*place) for place in self.places.values()}

    def _label_at(self, i: int, j: int, f: int) -> str:
        parts = [f"{self.x.name} = {plain(self.x.values[i])}"]
        if self.y is not None:
            parts.append(f"{self.y.name} = {plain(self.y.values[j])}")
        if self.facets[f]:
            parts.append(self.facets[f])
        return ", ".join(parts)


class GridLine(NamedTuple):
    """A line over a map of the grid, in the positions of its axes.

    Attributes:
        label: what the legend calls it.
        x, y: its corners.
        facet: the label of the panel that it belongs to; None for all.
        outcome: that of the map that it belongs to; None for all maps of a diagram.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    facet: str | None = None
    outcome: str | None = None

    @classmethod
    def through(cls, label: str, corners: Iterable[tuple[float, float]]) -> GridLine:
        """The line through corners (x, y)."""
        points = [(float(x), float(y)) for x, y in corners]
        return cls(label, [x for x, _ in points], [y for _, y in points])

    def inside(self, grid: Grid) -> GridLine:
        """The line through those of its corners that lie within the tiles of a diagram of two axes."""
        (left, *_, right), (low, *_, high) = grid.x.edges, grid.rows_axis.edges
        corners = zip(self.x, self.y, strict=True)
        return self.through(self.label, ((x, y) for x, y in corners if left <= x <= right and low <= y <= high))


def grid_of(resolved: Mapping[str, Any], parameters: Iterable[Mapping[str, Any]]) -> Grid:
    """The grid of a sweep as its diagram shows it.

    Args:
        resolved: the resolved sweep; without a diagram, x and y are its first two axes.
        parameters: a row a point: `point`, and the parameters that vary. Points that have no row are not placed.
    """
    groups: list[tuple[str, ...]] = [tuple(axis["names"]) for axis in resolved["axes"]]
    taken = [[tuple(map(scalar, value)) for value in axis["values"]] for axis in resolved["axes"]]
    sweep, places, labels = SweepGrid.of(groups, parameters), dict[int, tuple[int, int, int]](), dict[int, str]()
    at = {
        point: {axis.name: scalar(axis.values[index]) for axis, index in zip(sweep.axes, indices, strict=True)}
        for point, indices in sweep.places.items()
    }
    for names, values in zip(groups, taken, strict=True):  # where a point does not read one, it is null there
        there = dict.fromkeys(tuple(settings[name] for name in names) for settings in at.values())
        values += [value for value in there if value not in values]
    firsts = [names[0] for names in groups[:2]]
    diagram: Mapping[str, Any] = resolved["diagram"] or dict(zip(("x", "y"), firsts, strict=False))

    def drawn(name: str | None) -> GridAxis | None:
        for names, values in zip(groups, taken, strict=True):
            if name in names:
                title, column = axis_title(name, resolved["experiment"]), names.index(name)
                return GridAxis.of(name, title, [value[column] for value in values])
        return None

    x, y = drawn(diagram.get("x")), drawn(diagram.get("y"))
    others = [(names, values) for names, values in zip(groups, taken, strict=True)
              if diagram.get("x") not in names and diagram.get("y") not in names]  # fmt: skip
    others.sort(key=lambda other: diagram.get("facet") not in other[0])  # the facet that was asked for comes first
    panel_names = [name for names, _ in others for name in names]
    panels = [tuple(chain.from_iterable(joint)) for joint in product(*(values for _, values in others))]
    for point, settings in at.items():
        if any(len(names) > 1 for names in groups):
            labels[point] = _settings(settings)
        panel = panels.index(tuple(settings[name] for name in panel_names))
        places[point] = (
            0 if x is None else x.index(settings[x.name]),
            0 if y is None else y.index(settings[y.name]),
            panel,
        )
    used = sorted({panel for _, _, panel in places.values()})  # no panel in which nothing stands
    facets = tuple(_settings(dict(zip(panel_names, panels[panel], strict=True))) for panel in used)
    places = {point: (i, j, used.index(panel)) for point, (i, j, panel) in places.items()}
    x = x or GridAxis("point", "the only point", (0,))
    return Grid(x, y, facets, places, labels, sweep, diagram.get("facet"))


def _settings(values: Mapping[str, Value]) -> str:
    """Parameters with their values, such as "width = 64, rate = 0.1"."""
    return ", ".join(f"{name} = {plain(value)}" for name, value in values.items())


def axis_title(name: str, experiment: str) -> str:
    """The title of a parameter (of its field; else its description) and in brackets how the sweep file writes it.

    A {} in the title stands for the number of an entry, counted from 1.
    """
    parameter, entry = split(name)
    info = registry.experiment(experiment).Params.model_fields.get(parameter)
    if info is None:
        return name
    description = (info.description or "").split(";")[0].split(":")[0]
    meaning = info.title.format("" if entry is None else entry + 1).strip() if info.title else description
    return f"{meaning} ({name})" if 0 < len(meaning) <= 60 and meaning != name else name
