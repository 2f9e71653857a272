"""Cells made again from rows of the store: which have predictions, their first weights, and their curves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from swingby.model.cell import Cell, Point

from ..init import Start
from ..params import STREAM_VERSION, SYMMETRIC_FAMILY, SimParams

Array = np.ndarray
PARAMETERS: tuple[str, ...] = (*SimParams.model_fields, "seed", "seed_mode")
"""The columns of the experiment's table that determine a cell."""


def has_theory(table: pa.Table) -> NDArray[np.bool_]:
    """Rows with predictions, (R,): results of the symmetric family, and of one layer without bias.

    A truncated set is left out: its a_p are not those of whole clusters. The rule reads whole columns, so that rows of
    deep nets cost nothing.
    """
    names = ("model", "status", "layers", "bias", "truncate")
    model, status, layers, bias, truncate = (np.array(table[name].to_pylist(), dtype=object) for name in names)
    one = (model == "one_layer") | ((model == "linear") & (layers == 1))
    # No value, in a row older than the parameter, counts as no.
    covered = np.isin(model, SYMMETRIC_FAMILY) | (one & ~bias.astype(bool))
    return covered & np.isin(status, ("ok", "diverged")) & ~truncate.astype(bool)


def cells_of(table: pa.Table) -> list[Cell | None]:
    """The cell of each row; None where this code would give the row's parameters another id.

    Such a row is from another version of the experiment, which drew its start in another way.
    """
    points: dict[str, Point | None] = {}
    cells: list[Cell | None] = []
    for row in table.select(["cell_id", *PARAMETERS]).to_pylist():
        seed, cell_id = row.pop("seed"), row.pop("cell_id")
        key = repr(row)
        if key not in points:
            # A parameter younger than the row is null in it, and has its default. Values may be invalid today.
            values = {name: row[name] for name in SimParams.model_fields if row[name] is not None}
            try:
                points[key] = Point("sim", STREAM_VERSION, SimParams(**values), row["seed_mode"] or "common")
            except ValidationError:
                points[key] = None
        point = points[key]
        cell = None if point is None or seed is None else point.cell(seed)
        cells.append(cell if cell is not None and cell.cell_id == cell_id else None)
    return cells


def first_weights(start: Start) -> Array:
    """W(0) in the informative frame: (d, d) for the symmetric family, (d, s) for one layer (its first s columns)."""
    if start.params.starts_from_U:
        U = _first_U(start)
        return U @ U.T
    return start.parameters[0].T


def ranks(start: Start) -> tuple[int, int]:
    """The rank of U_0, and that of its s informative rows, for the symmetric family (numpy's tolerance)."""
    U = _first_U(start)
    return int(np.linalg.matrix_rank(U)), int(np.linalg.matrix_rank(U[: start.params.s]))


def _first_U(start: Start) -> Array:
    return start.rotation.T @ start.layers[0][0]
