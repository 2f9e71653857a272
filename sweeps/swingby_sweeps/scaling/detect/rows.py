"""Rows of the experiment's table for detectors: parameters, curves, and the outcomes as a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector

from .. import theory

Array = np.ndarray
Row = Mapping[str, Any]
PARAMETERS = ("model", "bottleneck", "alpha", "skills", "s", "r0", "lr", "data", "width", "drawn")
"""The parameters that a curve's theory reads."""


class RowDetector(Detector):
    """A detector that looks at one row at a time; a row without a parameter or a curve has no outcomes."""

    optional: tuple[str, ...] = ("skills", "data", "width")
    """The columns that may be null."""

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        given = [name for name in self.needs if name not in self.optional]
        rows = [
            self.outcomes_of(row) if all(row[name] is not None for name in given) else {}
            for row in table.select(list(self.needs)).to_pylist()
        ]
        columns = {
            name: pa.array([row.get(name) for row in rows], column.type) for name, column in self.outcomes.items()
        }
        return pa.table({"cell_id": table["cell_id"].cast(pa.string()), **columns})

    @abstractmethod
    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one row; those that are left out are null."""


def lag(row: Row) -> float:
    """c of `theory.lag`."""
    return theory.lag(row["model"], row["s"], row["r0"])


def pace(row: Row) -> float:
    """`theory.pace`."""
    return theory.pace(row["model"], row["s"], row["lr"])


def curve(row: Row, name: str) -> Array:
    """A curve of the row; what is null in it as NaN."""
    return np.array([np.nan if value is None else value for value in row[name]], dtype=np.float64)


def known(**outcomes: float | int | str | bool | None) -> dict[str, Any]:
    """The outcomes that can be told: numbers that are not finite are left out."""
    return {name: value for name, value in outcomes.items() if not isinstance(value, float) or np.isfinite(value)}
