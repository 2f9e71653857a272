"""The replay of a cell: trained again, recorded at every step with its weights, and compared with the store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.parquet import write_parquet
from swingby.data.records import Records
from swingby.model import registry
from swingby.model.needed import require
from swingby.store import Store
from swingby.store.lookup import find_cell
from swingby.store.sql import quoted
from swingby.store.status import planned_cell


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a stored curve and the replayed one, over the steps that both have.

    Attributes:
        column: the curve.
        points: recorded steps compared.
        largest: the largest absolute difference.
        relative: `largest` over the largest absolute value of the stored curve.
        equal: whether `relative` is within the experiment's tolerance for the cell.
    """

    column: str
    points: int
    largest: float
    relative: float
    equal: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay: the file with the full recording, and the differences from the store."""

    cell_id: str
    path: Path
    steps: int
    seconds: float
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Whether there was a curve to compare, and every curve agrees."""
        return bool(self.differences) and all(difference.equal for difference in self.differences)


def replay_cell(data: Path, start: str, out: Path | None = None, device: str = "cpu") -> Replay:
    """Trains the cell whose id begins with `start` again, records every step, and compares the curves.

    Raises:
        SwingbyError: no cell fits, several do, the installed experiment does not know the cell any more, or something
            that training needs is not installed.
    """
    records = Records.open(data, create=False)
    with Store.open(data) as store:
        cell_id, experiment = find_cell(store, start)
        stored = store.sql(f"select * from {quoted(experiment)} where cell_id = ?", [cell_id]).arrow()
    began = time.perf_counter()
    cell = planned_cell(records, cell_id, run_code=True)
    known = registry.experiment(experiment)
    require(known.requires, f"training {experiment}")
    table = pa.concat_tables(known.replay(cell, device))
    seconds = time.perf_counter() - began
    path = out if out is not None else Path(f"replay-{cell_id[:12]}.parquet")
    write_parquet(path.absolute(), table, {"cell_id": cell_id, "experiment": experiment, "replay": True})
    steps = sum(len(part) for part in table["step"].to_pylist() if part)
    differences = tuple(_differences(stored, table, known.tolerance(cell.params)))
    return Replay(cell_id, path, steps, seconds, differences)


def _differences(stored: pa.Table, fresh: pa.Table, tolerance: float) -> Iterator[Difference]:
    """The difference of each curve that both tables have; both hold one cell, `fresh` perhaps in segments."""
    old_steps = np.asarray(stored["step"][0].as_py() or [], dtype=np.int64)
    new_steps = np.concatenate([np.asarray(part, dtype=np.int64) for part in fresh["step"].to_pylist()])
    _, old_at, new_at = np.intersect1d(old_steps, new_steps, return_indices=True)
    for name in fresh.column_names:
        if name == "step" or name not in stored.column_names or not pa.types.is_list(fresh.schema.field(name).type):
            continue
        old, new = stored[name][0].as_py(), [item for part in fresh[name].to_pylist() for item in part or []]
        if old is None or len(old) != len(old_steps) or len(new) != len(new_steps):
            continue  # not recorded, or not one entry a step
        before, after = _rows(old)[old_at], _rows(new)[new_at]
        largest = float(np.max(np.abs(before - after), initial=0.0))
        scale = float(np.max(np.abs(before), initial=0.0))
        relative = largest / scale if scale > 0 else largest
        yield Difference(name, len(before), largest, relative, relative <= tolerance)


def _rows(curve: list[Any]) -> np.ndarray:
    """A curve as an array of shape (steps, values a step)."""
    return np.asarray(curve, dtype=np.float64).reshape(len(curve), -1)
