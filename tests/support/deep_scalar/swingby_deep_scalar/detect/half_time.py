"""The detector `half_time`: the time at which the product of the weights reaches one half, and that of theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, OutcomeKind
from swingby.model.experiment import Column

from .. import theory


class HalfTime(Detector):
    """The time at which u = 1/2, interpolated between records."""

    name: ClassVar[str] = "half_time"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("deep_scalar",)
    needs: ClassVar[tuple[str, ...]] = ("step", "product", "a", "start", "lr")
    outcomes: ClassVar[Mapping[str, Column]] = {
        "escapes": Column(pa.bool_(), "u reaches 1/2"),
        "half_time": Column(pa.float64(), "time at which u reaches 1/2; null if never", "time of the flow"),
        "predicted_half_time": Column(pa.float64(), "this time by theory: log(1/u_0 - 1) / (2 a)", "time of the flow"),
    }
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"escapes": "yes_no", "half_time": "number"}

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        rows = [_outcomes(row) for row in table.to_pylist()]
        schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in self.outcomes.items())])
        return pa.Table.from_pylist(rows, schema)


def _outcomes(row: Mapping[str, object]) -> dict[str, object]:
    outcomes: dict[str, object] = {"cell_id": row["cell_id"]}
    if any(row[name] is None for name in HalfTime.needs):
        return outcomes
    step, u = np.array(row["step"], dtype=np.float64), np.array(row["product"], dtype=np.float64)
    a, start, lr = (float(row[name]) for name in ("a", "start", "lr"))  # pyright: ignore[reportArgumentType]
    outcomes["predicted_half_time"] = theory.half_time(start**2, a)
    outcomes["escapes"] = escapes = bool((u >= 0.5).any())
    outcomes["half_time"] = float(np.interp(0.5, u, step) * lr) if escapes else None
    return outcomes
