"""Thin curves: a few records of a few cells, in files that are not whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.archive.rounding import rounded, spread, thinned
from swingby.model.experiment import Experiment
from swingby.store import Store


def thin_curves(store: Store, of: Experiment, cell_ids: Sequence[str], points: int) -> list[dict[str, pa.Array | None]]:
    """The thin curves of these cells, in their order."""
    names = ", ".join(f'"{name}"' for name in of.curves)
    table = store.sql(
        f'select cell_id, {names} from "{of.name}" where list_contains($1, cell_id)', [list(cell_ids)]
    ).arrow()
    place = {cell_id: index for index, cell_id in enumerate(table["cell_id"].to_pylist())}
    found = []
    for cell_id in cell_ids:
        row = {name: table[name][place[cell_id]].values for name in of.curves}
        steps = 0 if row["step"] is None else len(row["step"])
        kept = spread(steps, points) if steps else np.arange(0)
        found.append({name: None if curve is None else thinned(curve, kept) for name, curve in row.items()})
    return found


def with_thin(
    table: pa.Table, thin: Sequence[Mapping[str, pa.Array | None]], places: np.ndarray, digits: int
) -> pa.Table:
    """The table with the curves of the cells at these places; null for all others."""
    for name in thin[0] if thin else ():
        values: list[Any] = [None] * table.num_rows
        for place, curves in zip(places.tolist(), thin, strict=True):
            curve = curves[name]
            values[place] = None if curve is None else curve.to_pylist()
        table = table.append_column(name, rounded(pa.array(values), digits))
    return table
