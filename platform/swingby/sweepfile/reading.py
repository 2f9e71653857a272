"""What the runs of a sweep read: axes without effect, and points that differ only in what is not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swingby.model.expression import Expression, ExpressionError, parse
from swingby.model.params import reads_of
from swingby.model.points import Points
from swingby.sweepfile.grid import Grid, place_of
from swingby.sweepfile.parameters import split
from swingby.sweepfile.yaml import Document, shown

_MOST = 1_000
"""Repeated points that are looked at: one fault tells of all that differ in the same axis."""


def check_reading(document: Document, grid: Grid, points: Points) -> tuple[str, ...]:
    """Notes a fault for each axis without effect, and for points that would be one training under several names.

    Returns:
        A sentence for each value of base that no point reads.
    """
    try:
        reading = _Reading(grid, points)
        dead = set[str]()
        for name in (name for axis in grid.axes for name in axis.names):
            if reading.nowhere(name):
                dead.add(split(name)[0])
                hint = "set what decides it otherwise, or take the axis out"
                document.fault(grid.paths[name], f"axis {name!r} has no effect: {reading.why_not(name)}", hint)
        for name, message, hint in reading.repeated(dead):
            document.fault(grid.paths[name], message, hint)
        return tuple(
            f"base.{name} has no effect: {reading.why_not(name)}" for name in grid.base if reading.nowhere(name)
        )
    except ExpressionError as error:
        document.fault(("experiment",), f"what {grid.experiment.name} reads is not known: {error}", "mend `read_where`")
        return ()


@dataclass
class _Reading:
    """At which points of a grid each parameter is read."""

    grid: Grid
    points: Points
    _conditions: dict[str, Expression] = field(default_factory=dict)
    _masks: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = self.grid.experiment.read_where
        self._conditions = {name: parse(text, self.grid.parameters.names) for name, text in texts.items()}

    def mask(self, parameter: str) -> np.ndarray:
        """Whether each point reads a parameter that not every run reads.

        Raises:
            ExpressionError: its condition is none at some point.
        """
        if parameter in reads_of(self.points.params).conditions:  # what is not read is null already
            column = self.points.columns.get(parameter)
            known = self.points.constants.get(parameter) is not None
            return np.full(len(self.points), known) if column is None else column.is_valid().to_numpy(False)
        if parameter not in self._masks:
            condition, points = self._conditions[parameter], self.points
            needed = [name for name, _ in condition.names if name in points.columns]
            groups = _grouped([points.codes(name) for name in needed], len(points))
            fixed = {name: points.constants[name] for name, _ in condition.names if name in points.constants}
            holds = []
            for first in np.unique(groups, return_index=True)[1].tolist():
                varying = {name: points.columns[name][first].as_py() for name in needed}
                holds.append(condition.holds({**fixed, **varying}))
            self._masks[parameter] = np.array(holds)[groups]
        return self._masks[parameter]

    def nowhere(self, name: str) -> bool:
        """Whether no point reads a parameter, or an entry of it, and no preset derives another one from it."""
        parameter = split(name)[0]
        return (
            parameter in self._conditions
            and parameter not in self.grid.looked_up
            and len(self.points) > 0
            and not self.mask(parameter).any()
        )

    def why_not(self, name: str) -> str:
        """Where a parameter is read, and how the points that decide it are."""
        condition = self._conditions[split(name)[0]]
        constants = self.points.constants
        here = [f"{other} is {shown(constants[other])}" for other, _ in condition.names if other in constants]
        return f"it is read where {condition.text}" + (f", and here {' and '.join(here)}" if here else "")

    def repeated(self, dead: set[str]) -> Iterator[tuple[str, str, str]]:
        """An axis, a message and a hint for points that differ in no parameter that both read.

        Args:
            dead: parameters that are counted as if they were read: there is a fault about them already.
        """
        columns = []
        varying = {name for name in self._conditions if name in self.points.columns} - dead
        unread = {name for name in varying if not self.mask(name).all()}
        if not unread:
            return
        for name in self.points.columns:
            codes = self.points.codes(name)
            columns.append(np.where(self.mask(name), codes + 1, 0) if name in unread else codes)
        groups = _grouped(columns, len(self.points))
        first = np.unique(groups, return_index=True)[1][groups]
        later = np.flatnonzero(first != np.arange(len(groups)))
        names = set[str]()
        for place in later[:_MOST].tolist():
            earlier = int(first[place])
            one, other = (self.grid.choice(self.grid.places[at]) for at in (earlier, place))
            differing = [name for name in other if one[name] != other[name]]
            if not names.isdisjoint(differing):
                continue
            reasons = sorted(name for name in unread if len({*self.points.codes(name)[[earlier, place]].tolist()}) > 1)
            name = next((name for name in differing if split(name)[0] in reasons), differing[0])
            names.add(name)
            why = "; ".join(f"{each} is read where {self._conditions[each].text}" for each in reasons)
            more = f" ({len(later):,} points repeat another one)" if len(later) > 1 else ""
            yield (
                name,
                f"{place_of(one)} and {place_of(other)} are the same training: {why}{more}",
                self._hint(name, one),
            )

    def _hint(self, name: str, chosen: Mapping[str, Any]) -> str:
        """How to keep one of several points that differ in an axis alone."""
        condition, value = self._conditions.get(name), chosen[name]
        if condition is None or not self.mask(name).any() or not isinstance(value, str | int | float):
            return "keep one of them by `where`, or take the axis out"
        text = str(value).lower() if isinstance(value, bool) else repr(value)
        return f"keep one of them: where: ({condition.text}) or {name} == {text}"


def _grouped(columns: list[np.ndarray], count: int) -> np.ndarray:
    """A number for each point, equal where all columns of codes are equal."""
    groups = np.zeros(count, np.int64)
    for codes in columns:
        groups = np.unique(groups * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return groups
