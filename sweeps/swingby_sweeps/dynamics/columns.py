"""Declared columns, list columns and tables of finished cells; needs no torch."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Column

Array = np.ndarray
Columns = dict[str, pa.Array]
NUMBER, COUNT = pa.float64(), pa.int64()
LIST, ROWS = pa.list_(NUMBER), pa.list_(pa.list_(NUMBER))
FINAL = "final_"
"""What begins the name of the scalar that is a curve's last recorded value, unless an engine gives another."""
STUCK = "the flow needed steps below the resolution of time"
"""The message of a cell whose flow could not be followed."""


def columns_of(kind: pa.DataType, **meanings: str) -> dict[str, Column]:
    """A column of one type for each name, with what it means."""
    return {name: Column(kind, meaning) for name, meaning in meanings.items()}


def rows_of(values: Array) -> pa.Array:
    """A flat double array, or for (N, m) a list<double> array of N lists."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), pa.float64())
    return flat if values.ndim == 1 else lists(np.arange(len(values) + 1) * values.shape[1], flat)


def lists(offsets: Array, values: pa.Array) -> pa.Array:
    """A list array: list i holds values[offsets[i]:offsets[i + 1]]."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def offsets_of(lengths: Sequence[int] | Array) -> Array:
    """Where lists of these lengths begin and end in their values, (C + 1,)."""
    return np.concatenate([[0], np.cumsum(lengths)])


def prefixes(lengths: Array, values: Array) -> pa.Array:
    """A list column: list c holds the first lengths[c] of the values of cell c, from (C, T) or (C, T, m)."""
    offsets, T = offsets_of(lengths), values.shape[1]
    if offsets[-1] == len(lengths) * T:  # no copy
        return lists(offsets, rows_of(values.reshape(-1, *values.shape[2:])))
    return lists(offsets, rows_of(values[np.arange(T) < lengths[:, None]]))


def known(values: Any) -> pa.Array:
    """Numbers with null in place of NaN, which is how engines write that a value does not exist."""
    return pa.array(values, pa.float64(), from_pandas=True)


def last_of(curve: Any) -> pa.Array:
    """The last entry of each list of a list column; null where a list is empty."""
    ends = curve.offsets.to_numpy()
    places = np.where(ends[1:] > ends[:-1], ends[1:] - 1, -1)
    return curve.values.take(pa.array(places, mask=places < 0))


def lost(what: str, steps: Sequence[int] | Array, place: int, kept: int) -> str:
    """The message of a cell in which something was noticed at the recorded step of number `place`."""
    when = f"after step {steps[place - 1]}, at or before step {steps[place]}" if place else "at the start"
    return f"{what} {when}; {kept} recorded steps kept"


def cut_short(what: str, steps: Array, lengths: Array) -> dict[int, str]:
    """The message of each cell, by its place, of which fewer than all recorded steps were kept."""
    return {c: lost(what, steps, n, n) for c, n in enumerate(lengths.tolist()) if n < len(steps)}


def finished(
    cells: Sequence[Cell],
    steps: Array,
    lengths: Array,
    diverged: Mapping[int, str] | None = None,
    failed: Mapping[int, str] | None = None,
) -> Columns:
    """The columns that every final row begins with, and `step`: the first `lengths` (C,) of the recorded steps.

    Args:
        diverged, failed: messages of the cells that diverged or failed, by their places.
    """
    diverged, failed, places = diverged or {}, failed or {}, range(len(cells))
    status = ["failed" if c in failed else "diverged" if c in diverged else "ok" for c in places]
    at = np.concatenate([steps[:length] for length in lengths])
    return {
        "cell_id": pa.array([cell.cell_id for cell in cells]),
        "from_step": pa.array(np.zeros(len(cells), dtype=np.int64)),
        "to_step": pa.array(steps[np.maximum(lengths - 1, 0)]),
        "final": pa.array(np.ones(len(cells), dtype=bool)),
        "status": pa.array(status, pa.string()),
        "message": pa.array([failed.get(c, diverged.get(c)) for c in places], pa.string()),
        "step": lists(offsets_of(lengths), pa.array(at, pa.int64())),
    }


@dataclass(frozen=True, slots=True)
class Trained:
    """What became of one cell.

    Attributes:
        curves: by name, a value at each recorded step that is kept; `step` has these steps. NaN: there is no value.
        scalars: by name.
        diverged, failed: why it did; None if it did not.
    """

    curves: Mapping[str, Any]
    scalars: Mapping[str, Any]
    diverged: str | None = None
    failed: str | None = None

    def row(self, cell: Cell, names: Sequence[str]) -> dict[str, Any]:
        """The final row of the cell; `names`: the columns of its table, of which those that end a curve are filled."""
        steps = self.curves["step"]
        values = {name: _plain(value) for name, value in {**self.curves, **self.scalars}.items()}
        for name in names:
            curve = values.get(name.removeprefix(FINAL)) if name.startswith(FINAL) else None
            if curve and name not in values:
                values[name] = curve[-1]
        return {
            **values,
            "cell_id": cell.cell_id,
            "from_step": 0,
            "to_step": int(steps[-1]) if len(steps) else 0,
            "final": True,
            "status": "failed" if self.failed else "diverged" if self.diverged else "ok",
            "message": self.failed or self.diverged,
        }


def _plain(value: Any) -> Any:
    """A value as Arrow takes it."""
    if isinstance(value, np.ndarray):
        gaps = value.ndim == 1 and value.dtype.kind == "f" and bool(np.isnan(value).any())
        # Arrow's way takes ten times as long.
        return pa.array(value, from_pandas=True).to_pylist() if gaps else value.tolist()
    return None if isinstance(value, float) and np.isnan(value) else value


def table(columns: Columns, schema: pa.Schema, began: float | None = None) -> pa.Table:
    """The columns in the order and the types of a schema; a missing one becomes nulls, or the last value of its curve.

    `seconds` is each cell's share of the time since `began`, a reading of `time.perf_counter`, where that is given.
    """
    rows = len(columns["cell_id"])
    for name in schema.names:
        if name.startswith(FINAL) and name not in columns and name.removeprefix(FINAL) in columns:
            columns[name] = last_of(columns[name.removeprefix(FINAL)])
    if began is not None:
        columns["seconds"] = pa.array(np.full(rows, (time.perf_counter() - began) / rows))
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
