"""Batches: missing cells of one shape gathered into trials of a few seconds, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from swingby.run.cost import Cost

UNMEASURED = 64
"""Cells a batch where no cost is known: small enough that the first batches come back soon."""
SHORTEST = 1.0
"""Seconds a batch is not cut below for the sake of more workers: a trial itself costs some 20 ms."""
TURNS = 4
"""Batches that each worker should get, so that all of them end at about the same time."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One batch: its shape, the positions of its cells, and what it should take (None: unmeasured)."""

    shape: str
    positions: tuple[int, ...]
    seconds: float | None


def choose(
    shapes: Sequence[str],
    costs: Mapping[str, Cost],
    most: Mapping[str, int],
    workers: int = 1,
    target: float = 5.0,
) -> list[Chosen]:
    """Batches of the cells at positions 0, 1, ... whose shapes are given, in seed-major order.

    A batch keeps that order, and batches are sorted by their first cell: a sweep stopped half-way has some seeds of
    every point and not all seeds of some points.

    Args:
        shapes: the shape of each cell.
        costs: what a batch of each shape takes; empty if nothing was measured.
        most: the most cells that fit a batch of each shape.
        workers: how many batches run at once.
        target: seconds a batch should take.
    """
    of_shape: dict[str, list[int]] = {}
    for position, shape in enumerate(shapes):
        of_shape.setdefault(shape, []).append(position)
    if costs:
        whole = sum(costs[shape].seconds(len(found)) for shape, found in of_shape.items())
        target = min(target, max(SHORTEST, whole / (workers * TURNS)))
    chosen = []
    for shape, positions in of_shape.items():
        cost = costs.get(shape)
        size = UNMEASURED if cost is None else cost.batch_size(target)
        parts = _parts(positions, min(size, most[shape]))
        chosen += [Chosen(shape, part, None if cost is None else cost.seconds(len(part))) for part in parts]
    return sorted(chosen, key=lambda batch: batch.positions[0])


def _parts(positions: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Consecutive parts of nearly equal length, none longer than `size`."""
    count = -(-len(positions) // max(size, 1))
    edges = [len(positions) * part // count for part in range(count + 1)]
    return [tuple(positions[low:high]) for low, high in pairwise(edges)]
