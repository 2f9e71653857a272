"""Which points of a sweep share a panel: all by themselves, or those that differ in one parameter only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from swingby.sweepfile.parameters import split

Values = Mapping[str, Any]


class Lines(NamedTuple):
    """The lines of one panel: their points, ordered by the value that they differ in, and those values."""

    points: tuple[int, ...]
    values: tuple[tuple[Any, ...], ...]


def names_of(along: str, varying: Collection[str]) -> list[str]:
    """The varying names that an option means: `rates` stands for `rates`, and for `rates.0` and `rates.1`."""
    return [name for name in varying if along in (name, split(name)[0])]


def along(chosen: Sequence[str], axes: Sequence[Sequence[str]], varying: Mapping[int, Values]) -> list[Lines]:
    """A panel for every setting of what stands on other axes, a line in it for every value of the chosen names.

    Of a zip, in which others advance with the chosen ones, only points count at which all of these keep the value that
    the panel's first point has; so a zip can hold one sweep after the other, with the first row in common. A preset
    is never held: it has panels of its own.

    Args:
        chosen: names in which the lines of a panel differ.
        axes: the names that each axis of the sweep file advances together.
        varying: point -> name -> value, in the order of the grid.
    """
    zipped = [name for names in axes if set(names) & set(chosen) for name in names]
    held = [name for name in zipped if name not in chosen and name != "preset"]
    panels: dict[str, list[int]] = {}
    for point, values in varying.items():
        panels.setdefault(_key(values, [name for name in values if name not in (*chosen, *held)]), []).append(point)
    chosen_lines = []
    for points in panels.values():
        base = _key(varying[points[0]], held)
        kept = [point for point in points if _key(varying[point], held) == base]
        kept.sort(key=lambda point: _value(varying[point], chosen))
        chosen_lines.append(Lines(tuple(kept), tuple(_value(varying[point], chosen) for point in kept)))
    return chosen_lines


def _value(values: Values, names: Sequence[str]) -> tuple[Any, ...]:
    chosen = (values[name] for name in names)
    return tuple(tuple(value) if isinstance(value, list) else value for value in chosen)


def _key(values: Values, names: Sequence[str]) -> str:
    return repr([(name, values[name]) for name in names if name in values])
