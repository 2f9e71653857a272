"""The grid of a sweep: its axes, and where on them each point lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby.store import Store
from swingby.text import plain


def shown(value: Any) -> str:
    """A parameter's value, short."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return plain("(" + ", ".join(map(shown, value)) + ")", 40)
    return plain(value, 40)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis by its name, with its distinct values: numbers in order, others as they come."""

    name: str
    values: tuple[Any, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as they are shown."""
        return tuple(map(shown, self.values))

    def find(self, text: str) -> int:
        """The place of a value that somebody typed.

        Raises:
            SwingbyError: no such value.
        """
        for place, (value, label) in enumerate(zip(self.values, self.labels, strict=True)):
            if text in (label, str(value)) or _equal(text, value):
                return place
        raise SwingbyError(f"--at {plain(self.name)}={plain(text)}: {nearest(text, list(self.labels))}")


@dataclass(frozen=True)
class Grid:
    """All points of a sweep.

    Attributes:
        axes: those that advance together each for itself.
        together: of each axis, the number of the group it advances with.
        places: point -> place on each axis.
        planned: point -> cells.
    """

    axes: tuple[Axis, ...]
    together: tuple[int, ...]
    places: Mapping[int, tuple[int, ...]]
    planned: Mapping[int, int]

    def axis(self, name: str) -> int:
        """The number of the axis of that name.

        Raises:
            SwingbyError: no such axis.
        """
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise SwingbyError(f"--at: {plain(name)!r} is no axis of this sweep; {nearest(name, names)}")
        return names.index(name)


def _equal(text: str, value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and float(text) == value
    except ValueError:
        return False


def grid(store: Store, experiment: str, sweep_id: str, resolved: Mapping[str, Any]) -> Grid:
    """The grid of a sweep, of all points that it was planned with."""
    groups = _groups(resolved.get("axes"))
    rows = store.points(experiment, sweep_id).to_pylist()
    presets = _presets(store, sweep_id) if any("preset" in group for group in groups) else {}
    columns: list[tuple[str, int, list[Any]]] = []
    for number, group in enumerate(groups):
        for name in group:
            values = [presets.get(row["point"]) if name == "preset" else _entry(row, name) for row in rows]
            columns.append((name, number, values))
    axes = tuple(Axis(name, _distinct(values)) for name, _, values in columns)
    found = [{value: place for place, value in enumerate(axis.values)} for axis in axes]
    places = {
        row["point"]: tuple(known[values[at]] for known, (_, _, values) in zip(found, columns, strict=True))
        for at, row in enumerate(rows)
    }
    together = tuple(number for _, number, _ in columns)
    return Grid(axes, together, places, {row["point"]: row["planned"] for row in rows})


def _groups(axes: Any) -> list[list[str]]:
    """The names of the axes that advance together; none where somebody else's plan has something else there."""
    try:
        return [[str(name) for name in axis["names"]] for axis in axes or ()]
    except (TypeError, KeyError):
        return []


def _presets(store: Store, sweep_id: str) -> dict[int, str]:
    rows = store.sql("select point, preset from conventions where sweep_id = ?", [sweep_id]).rows()
    return {row.point: row.preset for row in rows}


def _entry(row: Mapping[str, Any], name: str) -> Any:
    """The parameter of that name, or the entry of a vector: rates.1 is the second of rates."""
    stem, dot, entry = name.partition(".")
    value = row.get(stem)
    if dot:
        value = value[int(entry)] if isinstance(value, list) and entry.isdecimal() and int(entry) < len(value) else None
    return _hashable(value)


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return str(value) if isinstance(value, dict) else value


def _distinct(values: Sequence[Any]) -> tuple[Any, ...]:
    found = tuple(dict.fromkeys(values))
    numbers = all(isinstance(value, int | float) for value in found)
    return tuple(sorted(found)) if numbers else found
