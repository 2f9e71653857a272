"""The grid of a diagram from a resolved sweep: x and y as it asks, and a panel for every combination of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from swingby.model import registry
from swingby.sweepfile.parameters import split
from swingby_analysis.charts.axes import Grid, GridAxis, Value, plain

TITLES: Mapping[str, str] = {
    "mu": "distance of cluster {}",
    "sigma": "spread of concept {}",
    "layers": "number of layers",
    "width": "hidden width",
    "d": "dimension of the space",
    "s": "number of concepts",
    "lr": "learning rate",
    "init_gain": "gain of the initialisation",
    "init_high": "upper end of the initialisation",
}
"""Short names of the parameters that diagrams are drawn over; any other is called by its description."""


@dataclass(frozen=True)
class _Axis:
    """An axis of the sweep: one parameter, or several that advance together, and the values they take."""

    names: tuple[str, ...]
    values: list[tuple[Value, ...]]


def grid_of(resolved: Mapping[str, Any], parameters: Iterable[Mapping[str, Any]]) -> Grid:
    """The grid of a sweep.

    Args:
        resolved: the resolved sweep; without a diagram, x and y are its first two axes.
        parameters: a row a point: `point`, and the parameters that vary. Points that have no row are not placed.
    """
    axes = [_Axis(tuple(a["names"]), [tuple(map(scalar, value)) for value in a["values"]]) for a in resolved["axes"]]
    firsts = [axis.names[0] for axis in axes[:2]]
    diagram: Mapping[str, Any] = resolved["diagram"] or dict(zip(("x", "y"), firsts, strict=False))
    x_name, y_name = diagram.get("x"), diagram.get("y")
    x, y = _grid_axis(x_name, axes, resolved), _grid_axis(y_name, axes, resolved)
    others = [axis for axis in axes if x_name not in axis.names and y_name not in axis.names]
    others.sort(key=lambda axis: diagram.get("facet") not in axis.names)  # the facet that was asked for comes first
    panels = list(product(*(axis.values for axis in others)))
    places, labels = {}, {}
    zipped = any(len(axis.names) > 1 for axis in axes)
    for row in parameters:
        own = {name: _value(row, name) for axis in axes for name in axis.names}
        if zipped:
            labels[int(row["point"])] = ", ".join(f"{name} = {plain(value)}" for name, value in own.items())
        panel = tuple(tuple(own[name] for name in axis.names) for axis in others)
        places[int(row["point"])] = (
            0 if x is None else x.index(own[x.name]),
            0 if y is None else y.index(own[y.name]),
            panels.index(panel),
        )
    grid = _used(x or GridAxis("point", "the only point", (0,)), y, [_label(others, panel) for panel in panels], places)
    return replace(grid, labels=labels)


def _used(x: GridAxis, y: GridAxis | None, labels: Sequence[str], places: Mapping[int, tuple[int, int, int]]) -> Grid:
    """The grid without the panels in which nothing stands."""
    used = sorted({panel for _, _, panel in places.values()})
    rank = {panel: index for index, panel in enumerate(used)}
    kept = {point: (i, j, rank[panel]) for point, (i, j, panel) in places.items()}
    return Grid(x, y, tuple(labels[panel] for panel in used), kept)


def _grid_axis(name: str | None, axes: Sequence[_Axis], resolved: Mapping[str, Any]) -> GridAxis | None:
    for axis in axes:
        if name in axis.names:
            values = [value[axis.names.index(name)] for value in axis.values]
            return GridAxis.of(name, axis_title(name, resolved["experiment"]), values)
    return None


def axis_title(name: str, experiment: str) -> str:
    """What a reader calls a parameter, and in brackets how the sweep file writes it."""
    parameter, entry = split(name)
    if parameter in TITLES:
        meaning = TITLES[parameter].format("" if entry is None else entry + 1).strip()
    else:
        field = registry.experiment(experiment).Params.model_fields.get(parameter)
        meaning = "" if field is None else (field.description or "").split(";")[0].split(":")[0]
    return f"{meaning} ({name})" if 0 < len(meaning) <= 60 and meaning != name else name


def _label(axes: Sequence[_Axis], panel: Sequence[tuple[Value, ...]]) -> str:
    pairs = [pair for axis, value in zip(axes, panel, strict=True) for pair in zip(axis.names, value, strict=True)]
    return ", ".join(f"{name} = {plain(value)}" for name, value in pairs)


def scalar(value: Any) -> Value:
    """A value that can stand on an axis; a vector as its text."""
    return f"({', '.join(plain(scalar(v)) for v in value)})" if isinstance(value, list | tuple) else value


def _value(row: Mapping[str, Any], name: str) -> Value:
    parameter, entry = split(name)
    return scalar(row[parameter] if entry is None else row[parameter][entry])
