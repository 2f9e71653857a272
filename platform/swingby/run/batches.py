"""Batches: missing cells of one shape gathered into trials of a few seconds, seed by seed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from swingby.run.cost import Cost

UNMEASURED = 64
"""Most cells a batch where no cost is known: small enough that the first batches come back soon."""
SHARE = 16
"""Batches that each worker gets at least where no cost is known and cells are trained one after another."""
SHORTEST = 1.0
"""Seconds a batch is not cut below for the sake of more workers: a trial itself costs some 20 ms."""
TURNS = 4
"""Batches that each worker should get, so that all of them end at about the same time."""


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """One batch: its shape, the positions of its cells, and what it should take (None: unmeasured)."""

    shape: str
    positions: np.ndarray
    seconds: float | None


def choose(
    shapes: Sequence[str] | tuple[np.ndarray, Sequence[str]],
    costs: Mapping[str, Cost],
    most: Mapping[str, int],
    workers: int = 1,
    target: float = 5.0,
    lanes: Mapping[str, int] = MappingProxyType({}),
    together: bool = True,
    slow: Collection[str] = (),
) -> list[Chosen]:
    """Batches of the cells at positions 0, 1, ... whose shapes are given, in seed-major order.

    A batch keeps that order, and batches are sorted by their first cell: a sweep stopped half-way has some seeds of
    every point and not all seeds of some points.

    Args:
        shapes: the shape of each cell; or a number for each, and the shapes that the numbers stand for.
        costs: what a batch of each shape takes; empty if nothing was measured.
        most: the most cells that fit a batch of each shape.
        workers: how many batches run at once.
        target: seconds a batch should take.
        lanes: how many cells of each shape cost as much as one; no batch is smaller to keep to the target.
        together: whether a batch may take less than its cells one after another. Where no cost is known it then has
            every worker's share of them; else it is small, as cells that take an hour each may be in it.
        slow: shapes of unknown cost whose cells are known to take long.
    """
    of_shape = _by_shape(shapes)
    if costs:
        whole = sum(costs[shape].seconds(len(batch_cells)) for shape, batch_cells in of_shape.items())
        target = min(target, max(SHORTEST, whole / (workers * TURNS)))
    chosen = []
    for shape, positions in of_shape.items():
        cost = costs.get(shape)
        if cost is not None:
            size = cost.batch_size(target)
        elif together:
            size = min(UNMEASURED, -(-len(positions) // workers))
        else:
            size = 1 if shape in slow else min(UNMEASURED, len(positions) // (workers * SHARE))
        parts = _parts(positions, min(max(size, lanes.get(shape, 1)), most[shape]))
        chosen += [Chosen(shape, part, None if cost is None else cost.seconds(len(part))) for part in parts]
    return sorted(chosen, key=lambda batch: batch.positions[0])


def _by_shape(shapes: Sequence[str] | tuple[np.ndarray, Sequence[str]]) -> dict[str, np.ndarray]:
    """The positions of each shape's cells, in order."""
    if not isinstance(shapes, tuple):
        names, codes = np.unique(np.array(shapes, dtype=object), return_inverse=True)
        shapes = codes, names.tolist()
    codes, names = shapes
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(names) + 1))
    parts = {name: order[low:high] for name, (low, high) in zip(names, pairwise(edges), strict=True)}
    return {name: part for name, part in parts.items() if len(part)}


def _parts(positions: np.ndarray, size: int) -> list[np.ndarray]:
    """Consecutive parts of nearly equal length, none longer than `size`."""
    count = -(-len(positions) // max(size, 1))
    edges = [len(positions) * part // count for part in range(count + 1)]
    return [positions[low:high] for low, high in pairwise(edges)]
