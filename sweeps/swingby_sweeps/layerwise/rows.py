"""Final rows of a batch whose curves are known at every recorded step, and what is kept of a cell that diverges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.columns import Columns, lists, rows_of

Array = np.ndarray
DIVERGED_AT = 1e6
"""A value beyond this many times its scale is a divergence."""


def final_rows(cells: Sequence[Cell], steps: Array, curves: Mapping[str, Array], size: Array, limit: str) -> Columns:
    """The curves and the first columns of final rows, with the status ok or diverged.

    Args:
        cells: of the batch.
        steps: the recorded steps, (T,).
        curves: of each name the values (C, T) or (C, T, m).
        size: what must stay at most `DIVERGED_AT`, in units of its scale, (C, T); no number counts as beyond.
        limit: that bound, as text for messages.
    """
    T = len(steps)
    beyond = ~(size <= DIVERGED_AT)
    beyond[:, 0] = False  # the start is kept, so that every cell has a curve
    diverged: Array = np.any(beyond, axis=1)
    kept = np.where(diverged, beyond.argmax(1), T)
    inside = np.arange(T) < kept[:, None]
    at = np.broadcast_to(steps, inside.shape)[inside]
    offsets = np.concatenate([[0], np.cumsum(kept)])
    messages = [
        f"{limit} after step {steps[n - 1]}, at or before step {steps[n]}; {n} recorded steps kept" if gone else None
        for gone, n in zip(diverged, kept, strict=True)
    ]
    columns: Columns = {
        "cell_id": pa.array([cell.cell_id for cell in cells]),
        "from_step": pa.array([0] * len(cells), pa.int64()),
        "to_step": pa.array(steps[kept - 1], pa.int64()),
        "final": pa.array([True] * len(cells)),
        "status": pa.array(np.where(diverged, "diverged", "ok").tolist(), pa.string()),
        "message": pa.array(messages, pa.string()),
        "step": lists(offsets, pa.array(at, pa.int64())),
    }
    for name, values in curves.items():
        columns[name] = lists(offsets, rows_of(values[inside]))
    return columns
