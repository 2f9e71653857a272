"""The grid as the selector of boundaries sees it: panels that tell nothing of each other, each with ordered axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swingby.select.boundary.kernel import Indices

LOOKS = 4
"""Draws of the low-discrepancy sequence for each point of a panel; points that none has hit come last."""


@dataclass(frozen=True)
class Space:
    """Points in panels, each panel a grid of the same shape of which points may be missing.

    Attributes:
        shape: points along each axis of a panel; (1,) for panels of a single point.
        panel: of each point, counted from 0, (N,).
        place: flat index of each point in its panel, (N,).
        seeds: the most cells that a point can get.
    """

    shape: tuple[int, ...]
    panel: Indices
    place: Indices
    seeds: int

    @classmethod
    def of(
        cls,
        groups: Sequence[Sequence[str]],
        columns: Mapping[str, Sequence[Any]],
        apart: Collection[str] = (),
        seeds: int = 1,
    ) -> Space:
        """The space of a sweep's points.

        An axis of numbers is ordered, its steps even in their rank; any other axis, and one that is to be kept apart,
        has a panel for each of its values. Parameters that advance together are one axis, ordered by the first of them
        that holds numbers, then by the next.

        Args:
            groups: the names along each axis.
            columns: the value of each name at each point.
            apart: names of axes that are kept apart, though they may be ordered.
            seeds: the most cells that a point can get.
        """
        count = len(next(iter(columns.values()), ()))
        ordered, panels = list[Indices](), list[Indices]()
        for names in groups:
            ranked = [ranks(columns[name]) for name in names]
            if any(is_ordered for _, is_ordered in ranked) and not set(names) & set(apart):
                ordered.append(_together([codes for codes, _ in sorted(ranked, key=lambda one: not one[1])]))
            else:
                panels += [codes for codes, _ in ranked]
        ordered = [codes for codes in ordered if count and codes.max() > 0]
        shape = tuple(int(codes.max()) + 1 for codes in ordered) or (1,)
        place = np.ravel_multi_index(tuple(ordered), shape) if ordered else np.zeros(count, np.int64)
        panel = np.zeros(count, np.int64)
        for codes in panels:
            panel = panel * (int(codes.max(initial=0)) + 1) + codes
        _, panel = np.unique(panel, return_inverse=True)
        return cls(shape, panel.astype(np.int64), np.asarray(place, np.int64), seeds)

    def __len__(self) -> int:
        return len(self.panel)

    @property
    def cells(self) -> int:
        """Cells of the whole grid."""
        return len(self) * self.seeds

    @cached_property
    def panels(self) -> tuple[Indices, ...]:
        """The points of each panel."""
        order = np.argsort(self.panel, kind="stable")
        edges = np.searchsorted(self.panel[order], np.arange(1, int(self.panel.max(initial=0)) + 1))
        return tuple(np.split(order, edges))

    @cached_property
    def spread(self) -> Indices:
        """All points in an order whose every beginning is spread over all panels and axes, (N,)."""
        visited = np.empty(math.prod(self.shape), dtype=np.int64)
        visited[spread_order(self.shape)] = np.arange(len(visited))
        turn = np.empty(len(self))
        for number, points in enumerate(self.panels):
            order = points[np.argsort(visited[self.place[points]], kind="stable")]
            turn[order] = (np.arange(len(points)) + (number + 0.5) / len(self.panels)) / len(points)
        return np.argsort(turn, kind="stable")

    @cached_property
    def turn(self) -> Indices:
        """The place of each point in `spread`, (N,)."""
        turn = np.empty(len(self), dtype=np.int64)
        turn[self.spread] = np.arange(len(self))
        return turn


def ranks(values: Sequence[Any]) -> tuple[Indices, bool]:
    """The rank of each value among the distinct ones, and whether they are numbers; others in order of appearance.

    Args:
        values: an array of numbers, or a list of anything.
    """
    if isinstance(values, np.ndarray):
        return np.unique(values, return_inverse=True)[1].astype(np.int64), True
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if numbers:
        return np.unique(np.asarray(values, dtype=float), return_inverse=True)[1].astype(np.int64), True
    known: dict[str, int] = {}
    return np.array([known.setdefault(repr(value), len(known)) for value in values], dtype=np.int64), False


def _together(columns: Sequence[Indices]) -> Indices:
    """The rank of each row of codes, ordered by the first column, then by the next."""
    joint = columns[0]
    for codes in columns[1:]:
        joint = np.unique(joint * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return joint.astype(np.int64)


def spread_order(shape: tuple[int, ...]) -> Indices:
    """The flat indices of a grid in the order in which an additive low-discrepancy sequence first visits them.

    The steps along the axes are powers of the generalized golden ratio g, with g ** (axes + 1) = g + 1.
    """
    count, golden = math.prod(shape), 2.0
    for _ in range(64):
        golden = (1 + golden) ** (1 / (len(shape) + 1))
    steps = golden ** -np.arange(1.0, len(shape) + 1)
    drawn = (0.5 + np.multiply.outer(np.arange(LOOKS * count), steps)) % 1
    visits = np.ravel_multi_index(tuple(np.minimum((drawn * shape).astype(np.int64), np.array(shape) - 1).T), shape)
    seen, first = np.unique(visits, return_index=True)
    return np.concatenate([seen[np.argsort(first)], np.setdiff1d(np.arange(count), seen)])
