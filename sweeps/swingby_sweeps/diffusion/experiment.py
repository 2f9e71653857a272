"""The experiment `diffusion`: one image diffusion run a cell, by as many processes as it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Experiment, Recording, Resources
from swingby.model.reported import Reported

from . import presets
from .columns import CURVES, RECORDINGS, SCALARS
from .params import CLASSES, DiffusionParams


class Diffusion(Experiment[DiffusionParams]):
    """Conditional image diffusion on two concepts, size and colour ([S] 5, G)."""

    name = "diffusion"
    stream_version = 1
    pinned = True
    Params = DiffusionParams
    presets: ClassVar = {"paper": presets.paper, "authors": presets.authors, "small": presets.small}
    default_preset = "authors"
    requires = dict.fromkeys(("torch", "diffusers", "accelerate", "safetensors", "PIL"), "swingby[diffusion]")
    read_where: ClassVar = {"judged": f"trained != {', '.join(CLASSES)!r}"}
    report = Reported(
        companions=(
            "learning_order", "color_first", "transient_bend", "bend", "transient_memorization",
            "color_first_by_trained", "transient_bend_by_trained",
        ),
        drawings=("concept_space", "concept_mse", "concept_speed", "training_loss", "sample_grid"),
        summary=f"{__package__}.summary:sentences",
        summed=("learning_order", "learning_order_by_trained"),
    )  # fmt: skip
    scalars, curves, recordings = SCALARS, CURVES, RECORDINGS
    spreads = True

    def shape(self, params: DiffusionParams) -> str:
        """What decides the cost of a run. Every run is a batch of its own, of whatever shape."""
        net = f"w{params.width}x{params.levels}l{params.layers}"
        return f"{params.pixels}px-{net}-b{params.batch_size}-{params.training_steps}"

    def run(self, batch: Batch[DiffusionParams]) -> Iterator[pa.Table]:
        """Train one cell after the other; each segment is on disk before the run goes on."""
        from .runner import trained

        for cell in batch.cells:
            yield from trained(cell, batch)

    def resources(self, params: DiffusionParams) -> Resources:
        """One core, or up to eight where fewer runs than cores are left."""
        return Resources(cpus=1.0, most_cpus=8.0)

    def work(self, params: DiffusionParams) -> float:
        """Multiplications of the convolutions, roughly, in units of 10^9."""
        depth = params.layers * params.levels
        return float(params.training_steps * params.batch_size * params.pixels**2 * params.width**2 * depth) * 1e-9

    def max_batch(self, params: DiffusionParams) -> int:
        """One: every run is a batch of its own."""
        return 1

    def steps(self, params: DiffusionParams) -> int:
        """The number of training steps."""
        return params.training_steps

    def length(self, params: DiffusionParams) -> str | None:
        """The parameter that holds the number of steps."""
        return "training_steps"

    def tolerance(self, params: DiffusionParams) -> float:
        """Relative error allowed in a replay: rounding differs with the number of threads and processes, and grows."""
        return 0.2

    def replay(self, cell: Cell[DiffusionParams], device: str = "cpu") -> Iterator[pa.Table]:
        """Train the cell again with every recording; 60 evaluations, since one at every step would take days."""
        yield from self.run(Batch((cell,), Recording("sqrt", 60, tuple(self.recordings)), device))
