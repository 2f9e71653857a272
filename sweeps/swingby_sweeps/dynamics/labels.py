"""Labels of which a share is random."""

from __future__ import annotations

import numpy as np

from swingby.model.cell import Cell

Array = np.ndarray


def redrawn(cell: Cell, labels: Array, share: float, classes: int) -> Array:
    """Labels (n,) of which a share is drawn anew, all classes being equally likely; from the stream `labels`.

    All are drawn, in a random order, so that a larger share changes further labels and no other.
    """
    draws, n = cell.stream("labels"), len(labels)
    changed, others = draws.permutation(n), draws.integers(classes, size=n)
    changed = changed[: round(share * n)]
    labels = labels.copy()
    labels[changed] = others[changed]
    return labels
