"""The experiment `deep_scalar`: two scalar layers that learn the identity from a balanced start."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import Params

from . import presets
from .params import ScalarParams

_LIST = pa.list_(pa.float64())


class DeepScalar(Experiment):
    """f(x) = w_2 w_1 x, trained on L = E[1/2 (f(x) - x)^2]."""

    name: ClassVar[str] = "deep_scalar"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = ScalarParams
    presets: ClassVar[Mapping[str, Any]] = {"exact": presets.exact}
    default_preset: ClassVar[str | None] = "exact"
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "product": Column(_LIST, "u = w_2 w_1"),
        "loss": Column(_LIST, "a (1 - u)^2 / 2"),
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "final_product": Column(pa.float64(), "last recorded u"),
        "seconds": Column(pa.float64(), "this cell's share of its batch's time", "s"),
    }

    def shape(self, params: Any) -> str:
        """The parameters that the cells of a batch share: all but a, start and lr."""
        return f"{params.drive} {params.training_steps} {params.n} {params.batch_size} {params.dtype}"

    def steps(self, params: Any) -> int:
        """The number of steps of a run."""
        return params.training_steps

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        from swingby_sweeps.dynamics.columns import table
        from swingby_sweeps.dynamics.training import one_thread

        from .engine import train

        began = time.perf_counter()
        with one_thread():
            trained = train(batch.cells, batch.recording)
        trained["seconds"] = pa.array([(time.perf_counter() - began) / len(batch.cells)] * len(batch.cells))
        yield table(trained, self.schema(batch.recording))
