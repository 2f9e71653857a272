"""Cells that cost nothing beside others: where cells are trained side by side, a round fills the lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swingby.select.boundary.surface import Indices, Numbers


@dataclass(frozen=True)
class Company:
    """Which points are trained together.

    Attributes:
        kind: of each point; cells of one kind can be trained side by side, (N,).
        lanes: how many cells of each kind cost as much as one, (kinds,).
    """

    kind: Indices
    lanes: Indices

    def beside(self, points: Indices, cells: Indices, seeds: int, scores: Numbers, turn: Indices, most: int) -> Indices:
        """Points for the free lanes beside the points of a round: those with the best scores, and those never visited.

        Args:
            points: of the round, one for each cell.
            cells: cells of each point so far, those of the round included, (N,).
            seeds: the most cells of a point.
            scores: of each point; 0 where a label is worth nothing, (N,).
            turn: the order of equally good points, (N,).
            most: the most points.
        """
        counts = np.bincount(self.kind[points], minlength=len(self.lanes))
        free = np.where(counts > 0, -counts % np.maximum(self.lanes, 1), 0)
        useful = np.flatnonzero((cells < seeds) & ((scores > 0) | (cells == 0)) & (free[self.kind] > 0))
        order = useful[np.lexsort([turn[useful], cells[useful], -scores[useful]])]
        # The rank of each among those of its kind, in this order.
        by_kind = order[np.argsort(self.kind[order], kind="stable")]
        starts = np.searchsorted(self.kind[by_kind], np.arange(len(self.lanes)))
        rank = np.empty(len(cells), np.int64)
        rank[by_kind] = np.arange(len(by_kind)) - starts[self.kind[by_kind]]
        return order[rank[order] < free[self.kind[order]]][:most]
