"""Contours: where a surface given on a grid passes a level, by marching squares with linear interpolation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Edge = tuple[str, int, int]
# Sides of a square by the pattern of its corners above the level: bit 0 lower left, 1 lower right, 2 upper right,
# 3 upper left; S, E, N, W are its sides. The saddles 5 and 10 are settled by the mean of the corners.
SIDES = {
    1: ("WS",), 2: ("SE",), 3: ("WE",), 4: ("EN",), 6: ("SN",), 7: ("WN",), 8: ("NW",), 9: ("NS",), 11: ("NE",),
    12: ("EW",), 13: ("ES",), 14: ("SW",), 5: ("WS", "EN"), 10: ("SE", "NW"),
}  # fmt: skip
SADDLES = {5: ("WN", "ES"), 10: ("SW", "NE")}


class ContourLine(NamedTuple):
    """A piece of a contour: x and y of its corners in order, each (N,), and whether it comes back to its start."""

    x: Floats
    y: Floats
    closed: bool


class Place(NamedTuple):
    """A corner of a contour as a row: the number of its line, its number along that line, and its position."""

    line: int
    order: int
    x: float
    y: float


def contour(x: ArrayLike, y: ArrayLike, values: ArrayLike, level: float = 0.5) -> list[ContourLine]:
    """The lines along which `values` pass `level`.

    Squares with a NaN corner have no line. A value equal to the level counts as above it.

    Args:
        x: positions of the columns, (X,), monotonic, in the coordinate in which lines should be straight.
        y: positions of the rows, (Y,).
        values: (Y, X).

    Raises:
        ValueError: shapes that do not fit.
    """
    x, y, values = (np.asarray(item, dtype=float) for item in (x, y, values))
    if values.shape != (len(y), len(x)):
        raise ValueError(f"values have shape {values.shape}; expected {(len(y), len(x))}")
    links: dict[Edge, list[Edge]] = defaultdict(list)
    for first, second in _pieces(values, level):
        links[first].append(second)
        links[second].append(first)
    crossing = {edge: _crossing(edge, x, y, values, level) for edge in links}
    lines = []
    for chain in _chains(links):
        at = np.array([crossing[edge] for edge in chain])
        lines.append(ContourLine(at[:, 0], at[:, 1], len(chain) > 2 and chain[0] == chain[-1]))
    return lines


def rows(lines: Sequence[ContourLine]) -> list[Place]:
    """The lines as rows, corner by corner."""
    corners = [zip(line.x.tolist(), line.y.tolist(), strict=True) for line in lines]
    return [Place(i, k, px, py) for i, line in enumerate(corners) for k, (px, py) in enumerate(line)]


def _pieces(values: Floats, level: float) -> list[tuple[Edge, Edge]]:
    """Every piece of a contour within a square, as the two edges of the grid that it joins."""
    pieces = []
    whole = np.stack([values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]])
    # Most squares of a fine grid lie wholly on one side, and have no line.
    crossed = (whole.min(axis=0) < level) & (whole.max(axis=0) >= level)
    for j, i in np.argwhere(crossed).tolist():
        corners = tuple(whole[:, j, i])
        pattern = sum(1 << bit for bit, corner in enumerate(corners) if corner >= level)
        sides = SIDES.get(pattern, ())
        if pattern in SADDLES and np.mean(corners) >= level:
            sides = SADDLES[pattern]
        edges: dict[str, Edge] = {"S": ("h", j, i), "N": ("h", j + 1, i), "W": ("v", j, i), "E": ("v", j, i + 1)}
        pieces += [(edges[pair[0]], edges[pair[1]]) for pair in sides]
    return pieces


def _crossing(edge: Edge, x: Floats, y: Floats, values: Floats, level: float) -> tuple[float, float]:
    """Where the level lies on an edge, by linear interpolation between its two ends."""
    kind, j, i = edge
    other = (j, i + 1) if kind == "h" else (j + 1, i)
    share = (level - values[j, i]) / (values[other] - values[j, i])
    if kind == "h":
        return float(x[i] + share * (x[i + 1] - x[i])), float(y[j])
    return float(x[i]), float(y[j] + share * (y[j + 1] - y[j]))


def _chains(links: dict[Edge, list[Edge]]) -> list[list[Edge]]:
    """Edges in the order in which a line visits them: open lines from their ends first, then the rings."""
    left = {edge: list(ends) for edge, ends in links.items()}
    chains = []
    for start in sorted(left, key=lambda edge: (len(links[edge]) != 1, edge)):
        while left[start]:
            chain = [start]
            while left[chain[-1]]:
                step = left[chain[-1]].pop(0)
                left[step].remove(chain[-1])
                chain.append(step)
            chains.append(chain)
    return chains
