"""An experiment that costs next to nothing, and a detector for it: what is left is what the platform itself takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, OutcomeKind
from swingby.model.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment
from swingby.model.params import Params

POINTS = 8
LIST = pa.list_(pa.float64())


class TrivialParams(Params):
    """A place on a square."""

    x: float = 0.0
    y: float = 0.0


class Trivial(Experiment):
    """A falling curve of a few points whose height hangs on the place and the seed: one array for the whole batch."""

    name: ClassVar[str] = "trivial"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = TrivialParams
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "loss": Column(LIST, "what falls"),
    }
    scalars: ClassVar[Mapping[str, Column]] = {"final_loss": Column(pa.float64(), "what is left")}

    def shape(self, params: Any) -> str:
        return "all"

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        n = len(batch.cells)
        x, y, seed = np.array([(cell.params.x, cell.params.y, cell.seed) for cell in batch.cells]).T  # pyright: ignore
        # No draws of the cells' own: their generators cost more than all of this.
        loss = np.exp(-np.outer(1 + x, np.arange(POINTS))) + 0.1 * (y * np.sin(seed + 7 * x))[:, None]
        offsets = pa.array(np.arange(n + 1, dtype=np.int32) * POINTS)
        columns = {
            "cell_id": [cell.cell_id for cell in batch.cells],
            "from_step": np.zeros(n, np.int64),
            "to_step": np.full(n, POINTS - 1),
            "final": np.full(n, fill_value=True),
            "status": ["ok"] * n,
            "message": pa.nulls(n, pa.string()),
            "step": pa.ListArray.from_arrays(offsets, pa.array(np.tile(np.arange(POINTS), n))),
            "loss": pa.ListArray.from_arrays(offsets, pa.array(loss.ravel())),
            "final_loss": loss[:, -1],
        }
        types = {**SEGMENT_COLUMNS, **{name: one.type for name, one in {**self.curves, **self.scalars}.items()}}
        yield pa.table(columns, schema=pa.schema([(name, types[name]) for name in columns]))


class Fate(Detector):
    """Whether the curve ends above nothing."""

    name: ClassVar[str] = "trivial_fate"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("trivial",)
    outcomes: ClassVar[Mapping[str, Column]] = {"above": Column(pa.bool_(), "its last value is above 0")}
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"above": "yes_no"}
    needs: ClassVar[tuple[str, ...]] = ("loss",)

    def detect(self, table: pa.Table) -> pa.Table:
        last = table["loss"].combine_chunks().flatten().to_numpy().reshape(-1, POINTS)[:, -1]
        return pa.table({"cell_id": table["cell_id"], "above": last > 0})
