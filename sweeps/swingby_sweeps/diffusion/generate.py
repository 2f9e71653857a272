"""Images of the four classes at an evaluation; each image begins from the same noise at every evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from swingby.model.cell import Cell

from . import concepts
from .draws import sample_stream
from .params import CLASSES, DiffusionParams

TOGETHER = 128
"""Images generated at a time."""


class Generator:
    """Generates the images to judge: `judged_of` of each class, under the mean condition of the class ([S] G.3).

    Image i of a class begins from the same noise at every evaluation: between two evaluations only the network changes.
    Several processes share the images out.

    Args:
        cell: of the run.
        device: where images are made.
        rank, size: number of this process, and how many generate.
    """

    def __init__(self, cell: Cell, device: torch.device, rank: int = 0, size: int = 1) -> None:
        self.params = params = cast(DiffusionParams, cell.params)
        self.counts = params.judged_of
        means = torch.as_tensor(concepts.class_means(params), dtype=torch.float32, device=device)
        self.conditions = means.repeat_interleave(torch.tensor(self.counts, device=device), dim=0)
        self.rows = np.arange(rank, len(self.conditions), size)
        keys = [cell.key(f"generate/{name}") for name in CLASSES]
        places = [(key, index) for key, count in zip(keys, self.counts, strict=True) for index in range(count)]
        draws = 1 + (params.sampling_steps if params.sampler == "ancestral" else 0)
        shape = (draws, 3, params.pixels, params.pixels)
        noise = np.empty((len(self.rows), *shape), np.float32)
        for row, place in enumerate(self.rows.tolist()):
            noise[row] = sample_stream(*places[place]).standard_normal(shape)
        self.noise = torch.from_numpy(noise).to(device)

    def images(self, sample: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """The share of this process in the images, (n, 3, P, P); `sample` makes them of conditions and noise."""
        if not len(self.rows):
            return self.noise[:, 0]
        conditions = self.conditions[self.rows]
        parts = zip(conditions.split(TOGETHER), self.noise.split(TOGETHER), strict=True)
        return torch.cat([sample(condition, noise).float() for condition, noise in parts])

    def gathered(self, images: Tensor, accelerator: Accelerator) -> Sequence[Tensor]:
        """The images of all processes, class by class, on the CPU."""
        return gathered(images, self.rows, len(self.conditions), accelerator).split(self.counts)


def gathered(mine: Tensor, rows: np.ndarray, count: int, accelerator: Accelerator) -> Tensor:
    """The rows of all processes, (count, ...), on the CPU; `mine` are those of this one, of these numbers."""
    every = torch.zeros((count, *mine.shape[1:]), device=mine.device)
    every[rows] = mine
    if accelerator.num_processes > 1:
        every = cast(Tensor, accelerator.reduce(every, reduction="sum"))
    return every.cpu()
