"""Rows of finished cells: list columns of curves, some of them cut short, and the first columns of final rows."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby_sweeps.dynamics import columns as shared
from swingby_sweeps.dynamics.columns import Columns

Array = np.ndarray


def lists(kept: Array, values: Array) -> pa.Array:
    """A list column from values (C, T), or (T,) for all cells alike: row c has those where kept (C, T) is true."""
    offsets = np.concatenate([[0], np.cumsum(kept.sum(1))])
    flat = np.broadcast_to(values, kept.shape)[kept]
    return shared.lists(offsets, pa.array(flat))


def final_rows(
    cells: Sequence[Cell], steps: Array, lengths: Array, messages: Sequence[str | None], status: Array
) -> Columns:
    """The first columns of final rows, and the recorded steps of each cell, the first `lengths` (C,) of `steps`."""
    rows = len(cells)
    return {
        "cell_id": pa.array([cell.cell_id for cell in cells]),
        "from_step": pa.array(np.zeros(rows, dtype=np.int64)),
        "to_step": pa.array(steps[np.maximum(lengths - 1, 0)]),
        "final": pa.array(np.ones(rows, dtype=bool)),
        "status": pa.array(status.tolist(), pa.string()),
        "message": pa.array(messages, pa.string()),
        "step": lists(np.arange(len(steps)) < lengths[:, None], steps),
    }


def table(columns: Columns, schema: pa.Schema, began: float) -> pa.Table:
    """The columns in the order and the types of a schema; `seconds` is each cell's share of the time since `began`."""
    rows = len(columns["cell_id"])
    columns["seconds"] = pa.array(np.full(rows, (time.perf_counter() - began) / rows))
    return shared.table(columns, schema)
