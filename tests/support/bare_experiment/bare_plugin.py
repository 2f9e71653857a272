"""Experiments that no detector reads and that declare nothing of a report: one with curves alone, one with scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import Params

LIST = pa.list_(pa.float64())


class BareParams(Params):
    """Gradient descent on x * x / 2 with noise."""

    lr: float = Field(0.1, gt=0, description="learning rate")
    momentum: float = Field(0.0, ge=0, lt=1, description="momentum")
    noise: float = Field(0.0, ge=0, description="scale of the noise")
    length: int = Field(30, ge=1, description="length of the run")


def descent(cell: Cell, steps: np.ndarray) -> np.ndarray:
    """Where it is at these steps; a float a step."""
    assert isinstance(cell.params, BareParams)
    own, stream = cell.params, cell.stream("start")
    x, v = float(stream.normal()), 0.0
    places = [x]
    for _ in range(int(steps[-1])):
        v = own.momentum * v - own.lr * (x + own.noise * float(stream.normal()))
        x += v
        places.append(x)
    return np.array(places)[steps]


class Bare(Experiment):
    """Curves and nothing else."""

    name: ClassVar[str] = "bare"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = BareParams
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps"),
        "loss": Column(LIST, "x * x / 2", "J"),
        "spot": Column(LIST, "where it is"),
    }

    def shape(self, params: Any) -> str:
        """Cells of one length are alike."""
        return str(params.length)

    def steps(self, params: Any) -> int:
        """The length of a run."""
        return params.length

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """One final row a cell."""
        n, steps = len(batch.cells), batch.recording.at(self.steps(batch.cells[0].params))
        places = [descent(cell, steps) for cell in batch.cells]
        ends = {"from_step": [0] * n, "to_step": [int(steps[-1])] * n, "final": [True] * n}
        own = {"cell_id": [cell.cell_id for cell in batch.cells], "status": ["ok"] * n}
        curves = {"step": [steps] * n, "loss": [x * x / 2 for x in places], "spot": places}
        yield pa.table({**own, **ends, "message": pa.nulls(n, pa.string()), **curves, **self.scalars_of(places)})

    def scalars_of(self, places: Sequence[np.ndarray]) -> dict[str, Any]:
        """None."""
        return {}


class BareScalars(Bare):
    """The curves, and a scalar of each kind."""

    name: ClassVar[str] = "bare_scalars"
    scalars: ClassVar[Mapping[str, Column]] = {
        "last_loss": Column(pa.float64(), "loss at the end", "J"),
        "crossed": Column(pa.bool_(), "it crossed the minimum"),
        "side": Column(pa.string(), "the side on which it ends", order=("left", "right")),
    }

    def scalars_of(self, places: Sequence[np.ndarray]) -> dict[str, Any]:
        """Of where a run ends."""
        return {
            "last_loss": [float(x[-1] ** 2 / 2) for x in places],
            "crossed": [bool((x * x[0]).min() < 0) for x in places],
            "side": ["left" if x[-1] < 0 else "right" for x in places],
        }
