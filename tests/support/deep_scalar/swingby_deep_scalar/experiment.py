"""The experiment `deep_scalar`: two scalar layers that learn the identity from a balanced start."""

from __future__ import annotations

from typing import ClassVar

from swingby.model.experiment import Batch
from swingby_sweeps.dynamics.columns import LIST, Columns, columns_of
from swingby_sweeps.dynamics.shells import BatchExperiment

from . import presets
from .params import ScalarParams


class DeepScalar(BatchExperiment[ScalarParams]):
    """f(x) = w_2 w_1 x, trained on L = E[1/2 (f(x) - x)^2]."""

    name = "deep_scalar"
    stream_version = 1
    Params = ScalarParams
    presets: ClassVar = {"exact": presets.exact}
    one_thread = "torch"
    counted = "training_steps"
    curves = columns_of(LIST, product="u = w_2 w_1", loss="a (1 - u)^2 / 2")
    ends = ("product",)

    def shape(self, params: ScalarParams) -> str:
        """The parameters that the cells of a batch share: all but a, start and lr."""
        return f"{params.drive} {params.training_steps} {params.n} {params.batch_size} {params.dtype}"

    def train(self, batch: Batch[ScalarParams]) -> Columns:
        """Train the batch by the compiled kernels."""
        from .engine import train

        return train(batch.cells, batch.recording)
