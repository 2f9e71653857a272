"""What one cell records, thinned to a budget while it is recorded: bounded memory, however long the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NUMBERS = 4_000_000
"""About so many numbers a cell keeps at most, where its entries are large vectors or matrices."""
FEWEST = 64
"""Entries that are kept however large they are."""


@dataclass
class Track:
    """The recorded steps of a cell, and its curves: a value at each of these steps, or None.

    Attributes:
        steps: increasing.
        curves: name -> a value for each of the steps.
        numbers: how many steps had been recorded before each of them.
        count: steps that were recorded in all.
        length: records in a stretch; it doubles as often as the budget asks for.
        settled: entries at the begin that stay, since a row has them.
    """

    steps: list[int] = field(default_factory=list)
    curves: dict[str, list[Any]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    count: int = 0
    length: int = 1
    settled: int = 0

    def add(self, step: int, values: Mapping[str, Any]) -> None:
        """Adds values to a step: the last one, or a later one, which then begins."""
        if not self.steps or step > self.steps[-1]:
            self.steps.append(step)
            self.numbers.append(self.count)
            self.count += 1
            for curve in self.curves.values():
                curve.append(None)
        for name, value in values.items():
            curve = self.curves.get(name)
            if curve is None:
                curve = self.curves[name] = [None] * len(self.steps)
            curve[-1] = value

    def budget(self, entries: int) -> int:
        """How many entries are kept: fewer than were asked for, where each is large."""
        size = sum(np.size(next((value for value in curve if value is not None), 0)) for curve in self.curves.values())
        return max(min(FEWEST, entries), min(entries, NUMBERS // max(size, 1)))

    def thin(self, entries: int) -> None:
        """Leaves at most so many entries, if there are more.

        The first quarter of the budget is kept record by record. What follows is cut into stretches of equally many
        records, of each of which there stay the first and the last, and of every curve the first and the last value,
        the least and the greatest (M4: Jugel et al. 2014). Stretches double in length when the budget is full. Extremes
        are those of curves of numbers; of more than a 64th of the budget of curves, those that were recorded first.
        """
        if len(self.steps) <= entries:
            return
        head, index = max(entries // 4, self.settled), np.array(self.numbers)
        numeric = [name for name, curve in self.curves.items() if _is_numeric(curve)][: max(1, entries // 64)]
        others = [name for name in self.curves if name not in numeric][: entries // 32]
        series = [np.array([np.nan if v is None else v for v in self.curves[name]], float) for name in numeric]
        present = [np.array([v is not None and v == v for v in self.curves[name]]) for name in others]
        kept = np.arange(len(index))
        while True:
            stretch = np.where(index[kept] < head, index[kept], head + (index[kept] - head) // self.length)
            part = of_stretches(stretch, [values[kept] for values in series], [there[kept] for there in present])
            if len(part) <= entries:
                break
            kept, self.length = kept[part], 2 * self.length
        self.take(kept[part].tolist())

    def take(self, places: list[int]) -> None:
        """Keeps the entries at these places alone."""
        self.steps = [self.steps[at] for at in places]
        self.numbers = [self.numbers[at] for at in places]
        self.curves = {name: [curve[at] for at in places] for name, curve in self.curves.items()}


def of_stretches(stretch: np.ndarray, series: list[np.ndarray], present: list[np.ndarray]) -> np.ndarray:
    """The places that stay of stretches: increasing.

    Args:
        stretch: the stretch of each entry, (n,), not decreasing.
        series: curves of numbers, (n,) each; NaN: no value.
        present: of each other curve, where it has a value, (n,) each.
    """
    starts = np.flatnonzero(np.diff(stretch, prepend=stretch[0] - 1))
    of = np.cumsum(np.diff(stretch, prepend=stretch[0]) != 0)
    places = [starts, np.append(starts[1:], len(stretch)) - 1]
    for values in series:
        there = np.flatnonzero(~np.isnan(values))
        for sign in (1, -1):
            signed = np.where(np.isnan(values), np.inf, sign * values)
            least = np.minimum.reduceat(signed, starts)
            places.append(_first(np.flatnonzero((signed == least[of]) & ~np.isnan(values)), of))
        places += [_first(there, of), _first(there[::-1], of)]
    for mask in present:
        there = np.flatnonzero(mask)
        places += [_first(there, of), _first(there[::-1], of)]
    return np.unique(np.concatenate(places))


def _first(places: np.ndarray, of: np.ndarray) -> np.ndarray:
    """The first of these places in each stretch."""
    return places[np.unique(of[places], return_index=True)[1]]


def _is_numeric(curve: list[Any]) -> bool:
    """Whether all values are numbers, or true or false."""
    return all(value is None or isinstance(value, int | float) for value in curve)
