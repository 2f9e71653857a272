"""A detector that looks at one run at a time, and how it reads a run's curves and writes its outcomes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector

Array = np.ndarray
Row = Mapping[str, Any]
"""The columns of a run that a detector needs, and `cell_id`; one that is missing is None."""


class RowDetector(Detector):
    """A detector whose outcomes of a run follow from that run's row alone.

    Attributes:
        required: the columns without which a row has no outcomes.
    """

    required: ClassVar[tuple[str, ...]] = ()

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        rows = (
            self.outcomes_of(row) if all(row[name] is not None for name in self.required) else {}
            for row in table.select(["cell_id", *self.needs]).to_pylist()
        )
        return self.table(table["cell_id"], rows)

    @abstractmethod
    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one row; those that are left out are null."""


def curve(values: Any) -> Array:
    """A curve of a row; what is null in it as NaN."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def known(**outcomes: float | int | str | bool | None) -> dict[str, Any]:
    """The outcomes that can be told: numbers that are not finite are left out."""
    return {name: value for name, value in outcomes.items() if not isinstance(value, float) or np.isfinite(value)}
