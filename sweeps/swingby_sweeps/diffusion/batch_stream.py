"""The rows that each step trains on: images, times and noise, whatever number of processes share a batch."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell

from . import concepts
from .draws import sample_stream
from .params import DiffusionParams
from .schedule import antithetic_times

_ODD = 0x9E3779B97F4A7C15
"""Spreads the keys of dropout masks: 2**64 over the golden ratio, made odd."""


class Rows(NamedTuple):
    """Some rows of a batch: images (n, 3, P, P), conditions (n, 4), times (n,), noise (n, 3, P, P), mask keys (n,)."""

    images: Tensor
    conditions: Tensor
    times: Tensor
    noise: Tensor
    keys: Tensor


def require_equal_shares(batch_size: int, size: int, micro: int) -> None:
    """Refuse a batch that so many processes cannot share, each in so many parts.

    Raises:
        ValueError: its size is no multiple of them.
    """
    if batch_size % (size * micro):
        raise ValueError(
            f"batch_size = {batch_size} cannot be shared by {size} processes in {micro} parts each; "
            f"allowed: multiples of {size * micro}"
        )


class Feed:
    """The rows that one of several processes trains on, step by step.

    Row j of step k is sample k x batch + j of one stream: its image, noise and dropout masks depend on that number
    alone, its time on the one offset of the step. Images come in epochs, each shuffled anew.

    Args:
        cell: of the run.
        device: where the rows are wanted.
        rank, size: number of this process, and how many share a batch.
        micro: parts that the share of this process is cut into.

    Raises:
        ValueError: the batch cannot be shared out equally.
    """

    def __init__(self, cell: Cell, device: torch.device, rank: int = 0, size: int = 1, micro: int = 1) -> None:
        self.params = params = cast(DiffusionParams, cell.params)
        require_equal_shares(params.batch_size, size, micro)
        self.device, self._micro = device, micro
        share = params.batch_size // size
        self._rows = range(rank * share, (rank + 1) * share)
        self._keys = {name: cell.key(name) for name in ("images", "order", "times", "noise", "dropout")}
        self._images, self._conditions = training_set(params, self._keys["images"], device)
        self._epoch = -1, np.zeros(0, np.int64)
        self._ahead: tuple[int, Future[list[Rows]]] | None = None
        # While a GPU computes, a thread draws the rows of the next step; a CPU has no core to spare for that.
        self._drawer = ThreadPoolExecutor(1, "draws") if device.type == "cuda" else None

    def step(self, step: int) -> list[Rows]:
        """This process's rows of a step, part by part."""
        if self._drawer is None:
            return list(self._drawn(step))
        rows = self._ahead[1].result() if self._ahead and self._ahead[0] == step else list(self._drawn(step))
        self._ahead = step + 1, self._drawer.submit(lambda: list(self._drawn(step + 1)))
        return rows

    def close(self) -> None:
        """Ends the thread that draws ahead."""
        if self._drawer is not None:
            self._drawer.shutdown()

    def _drawn(self, step: int) -> Iterator[Rows]:
        offset = float(sample_stream(self._keys["times"], step).random())
        first_key = int.from_bytes(self._keys["dropout"][:8], "little")
        shape, size = (3, self.params.pixels, self.params.pixels), len(self._rows) // self._micro
        for low in range(self._rows.start, self._rows.stop, size):
            positions = step * self.params.batch_size + np.arange(low, low + size)
            noise = np.empty((size, *shape), np.float32)
            for place, position in enumerate(positions.tolist()):
                noise[place] = sample_stream(self._keys["noise"], position).standard_normal(shape)
            keys = [(first_key + _ODD * position) % 2**63 for position in positions.tolist()]
            chosen = self._sent(torch.from_numpy(self._chosen(positions)))
            yield Rows(
                self._images[chosen],
                self._conditions[chosen],
                self._sent(antithetic_times(offset, self.params.batch_size, low, low + size)),
                self._sent(torch.from_numpy(noise)),
                self._sent(torch.tensor(keys, dtype=torch.int64)),
            )

    def _chosen(self, positions: np.ndarray) -> np.ndarray:
        """The training image of each position: epochs of all images, each in an order of its own."""
        epochs, places = np.divmod(positions, len(self._images))
        chosen = np.empty(len(positions), np.int64)
        for epoch in np.unique(epochs).tolist():
            if self._epoch[0] != epoch:
                self._epoch = epoch, sample_stream(self._keys["order"], epoch).permutation(len(self._images))
            chosen[epochs == epoch] = self._epoch[1][places[epochs == epoch]]
        return chosen

    def _sent(self, drawn: Tensor) -> Tensor:
        """The numbers on the device where the rows are wanted.

        They go to a GPU by way of pinned memory: any other copy would wait until the GPU has done all that it was given
        before, and so would the next draws.
        """
        if self.device.type != "cuda":
            return drawn.to(self.device)
        return drawn.pin_memory().to(self.device, non_blocking=True)


def training_set(params: DiffusionParams, key: bytes, device: torch.device) -> tuple[Tensor, Tensor]:
    """All images that are trained on, class by class: (M, 3, P, P), and their conditions (M, 4); float32."""
    images, conditions = [], []
    for number in params.trained_classes:
        scenes = concepts.scenes(params, key, number, range(params.training_images))
        images.append(concepts.render(scenes, params, device))
        conditions.append(torch.as_tensor(concepts.conditions(scenes, params), dtype=torch.float32, device=device))
    return torch.cat(images), torch.cat(conditions)
