"""Times at which strengths pass a level, and the table of a detector that looks at one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import expit, logit

from swingby.model.experiment import Column

Array = np.ndarray
Row = dict[str, Any]
EMERGED, FULL = 0.05, 0.95
"""Strengths from which on a mode has emerged, and is saturated ([T] Fig 3.4)."""
COARSE = 1.5
"""The most that logit(r) may move between two records for an overlap between them to be told to about 0.01."""


def passing(t: Array, r: Array, level: float) -> float:
    """The first time at which r (T,) is at `level` or above; infinite if never, 0 if from the start.

    Between records r is taken to be logistic in time, which is exact for two equal layers.
    """
    above = np.flatnonzero(r >= level)
    if not len(above):
        return np.inf
    place = int(above[0])
    if place == 0:
        return 0.0
    ends = r[[place - 1, place]]
    if ends[0] > 0 and ends[1] < 1:
        ends, level = logit(ends), logit(level)
    return float(t[place - 1] + (t[place] - t[place - 1]) * (level - ends[0]) / (ends[1] - ends[0]))


def overlap(r1: Array, r2: Array, logistic: bool) -> float:
    """The strength r2 of the later of two modes at the moment of r1 + r2 = 1; NaN if it cannot be told.

    It lies outside the run, or between two records over which a mode that is not `logistic` in time moves too far.
    """
    with np.errstate(divide="ignore"):
        x, y = (logit(np.clip(r, 0, 1 - 1e-16)) for r in (r1, r2))
        above = np.flatnonzero(x + y >= 0)
    if not len(above) or above[0] == 0:
        return np.nan
    place = int(above[0])
    moved = max(abs(curve[place] - curve[place - 1]) for curve in (x, y))
    if not moved < (np.inf if logistic else COARSE):
        return np.nan
    share = -(x + y)[place - 1] / ((x + y)[place] - (x + y)[place - 1])
    return float(expit(y[place - 1] + share * (y[place] - y[place - 1])))


def in_order(times: Array) -> bool | None:
    """Whether times ascend; infinite: not yet. None where two are still to come, and nothing speaks against."""
    if bool(np.any(times[1:] < np.maximum.accumulate(times[:-1]))):
        return False
    return None if np.isinf(times).sum() > 1 else True


def known(values: Array) -> list[float | None]:
    """Numbers as a list, NaN as null."""
    return [None if np.isnan(value) else float(value) for value in values]


def finite(values: Array) -> list[float | None]:
    """Numbers as a list, what is not finite as null."""
    return [float(value) if np.isfinite(value) else None for value in values]


def told(table: pa.Table, needs: tuple[str, ...], outcomes: Mapping[str, Column], of: Callable[[Row], Row]) -> pa.Table:
    """`cell_id` and the outcomes, a row for each row of the table; null where a row lacks what `of` reads.

    Args:
        needs: the columns without which a row has no outcome.
        of: the outcomes of a row.
    """
    rows = []
    for row in table.to_pylist():
        lacks = any(row.get(name) is None for name in needs)
        rows.append({"cell_id": row["cell_id"]} | ({} if lacks else of(row)))
    schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in outcomes.items())])
    return pa.Table.from_pylist(rows, schema)
