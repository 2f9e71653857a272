"""Where the points of a sweep stand on its axes, and values of parameters as text."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from swingby.store.reader import Store
from swingby.sweepfile.parameters import PRESET, split

Value = bool | int | float | str | None


def plain(value: Value) -> str:
    """A value as text: 0.1, 64, yes, none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def scalar(value: Any) -> Value:
    """A value that can stand on an axis; a vector as its text."""
    return f"({', '.join(plain(scalar(v)) for v in value)})" if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """A parameter that varies in a sweep, and the values that it takes there.

    Attributes:
        name: the parameter as the sweep file writes it, such as "rates.1".
        values: distinct: numbers ascending, others in order of appearance; a vector is a tuple.
    """

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class SweepGrid:
    """Where every point of a sweep stands on each of its axes. A diagram lays two of the axes out: see `grid_of`.

    Attributes:
        axes: one for each parameter that varies, in the order of the sweep file.
        groups: of each axis the number of its group; the parameters of one group advance together.
        places: point -> index on each axis.
    """

    axes: tuple[SweepAxis, ...]
    groups: tuple[int, ...]
    places: Mapping[int, tuple[int, ...]]

    @classmethod
    def of(cls, groups: Sequence[Sequence[str]], parameters: Iterable[Mapping[str, Any]]) -> SweepGrid:
        """The grid of these points.

        Args:
            groups: the names of the parameters along each axis of the sweep file.
            parameters: a row a point: `point`, and the parameters that vary. What a row does not have is None.
        """
        points, columns = [], [(number, name, list[Any]()) for number, names in enumerate(groups) for name in names]
        for row in parameters:
            points.append(int(row["point"]))
            for _, name, values in columns:
                parameter, entry = split(name)
                value = row.get(parameter)
                if entry is not None:
                    value = value[entry] if isinstance(value, list | tuple) and entry < len(value) else None
                values.append(_hashable(value))
        axes = []
        for _, name, values in columns:
            distinct = list(dict.fromkeys(values))
            numbers = all(isinstance(value, int | float) for value in distinct)
            axes.append(SweepAxis(name, tuple(sorted(distinct) if numbers else distinct)))
        ranks = [{value: rank for rank, value in enumerate(axis.values)} for axis in axes]
        along = [[rank[value] for value in values] for rank, (_, _, values) in zip(ranks, columns, strict=True)]
        places = {point: tuple(indices[row] for indices in along) for row, point in enumerate(points)}
        return cls(tuple(axes), tuple(number for number, _, _ in columns), places)


def _hashable(value: Any) -> Any:
    """A parameter's value as the key of a dict: a vector as a tuple."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return str(value) if isinstance(value, dict) else value


def points_of(
    store: Store, experiment: str, sweep_id: str, axes: Sequence[Collection[str]], points: pa.Table | None = None
) -> list[dict[str, Any]]:
    """Every point of a sweep, trained or not: `point`, `planned` (its cells), and its parameters.

    Args:
        axes: the names along each axis; a point has its preset where one of them is that.
        points: some of the points, as the store has them; None: all.
    """
    rows = (store.points(experiment, sweep_id) if points is None else points).to_pylist()
    if not any(PRESET in names for names in axes):
        return rows
    named = store.sql("select point, preset from conventions where sweep_id = ?", [sweep_id]).rows()
    presets = {row.point: row.preset for row in named}
    return [{**row, PRESET: presets.get(row["point"])} for row in rows]


def groups_of(resolved: Mapping[str, Any]) -> list[list[str]]:
    """The names along each axis of a resolved sweep."""
    try:
        return [[str(name) for name in axis["names"]] for axis in resolved.get("axes") or ()]
    except (TypeError, KeyError):  # the plan of another program has something else there
        return []


def sweep_grid(store: Store, experiment: str, sweep_id: str) -> SweepGrid:
    """Where the points of a sweep stand, trained or not."""
    (row,) = store.sql("select resolved from sweeps where sweep_id = ?", [sweep_id]).rows()
    groups = groups_of(json.loads(row.resolved))
    return SweepGrid.of(groups, points_of(store, experiment, sweep_id, groups))
