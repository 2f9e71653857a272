"""The training loop of a batch: a stepper advances the nets between recorded steps, a recorder keeps their curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell

from .blas import one_blas_thread
from .columns import STUCK, Columns, finished, lost
from .nets import Net
from .recorder import Recorder

Array = np.ndarray
Watch = Callable[[int, list[Array]], None]
"""Called at each recorded step with its number and the parameters (float64, leading cell axis)."""


class Stepper(Protocol):
    """Advances the nets of a batch from one recorded step to the next.

    Attributes:
        failed: cells whose training cannot be continued, (C,), bool.
    """

    failed: Tensor

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        ...

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        ...


@contextmanager
def one_thread() -> Iterator[None]:
    """A context with one thread of torch and BLAS, and without autograd: cells are small, and other workers have the
    other cores.

    Numbers below the smallest normal float count as 0: with them, steps on decaying weights would take 8 times as long.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with torch.no_grad(), one_blas_thread():
            yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(False)


def ask_gpu() -> None:
    """Raise RuntimeError where CUDA answers this process with an error, whatever it is asked."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


class Training:
    """The training of a batch of cells.

    Attributes:
        net: the nets.
        recorder: the curves so far.
    """

    def __init__(self, net: Net, stepper: Stepper, recorder: Recorder) -> None:
        self.net, self.stepper, self.recorder = net, stepper, recorder

    @property
    def failed(self) -> Array:
        """Cells whose flow could not be integrated, shape (C,)."""
        return np.asarray(self.stepper.failed.cpu()) & ~self.recorder.diverged

    @property
    def parameters(self) -> list[Array]:
        """The current parameters, float64, with a leading cell axis."""
        return [parameter.double().cpu().numpy() for parameter in self.net.parameters]

    def run(self, watch: Watch | None = None) -> None:
        """Train to the end and record; a cell that diverges is frozen, without an effect on the others.

        Some nets are recorded a few states at a time. A cell that diverges at one of these is frozen after the last;
        nothing of it is recorded in between.
        """
        steps = [int(step) for step in self.recorder.steps]
        self._record(0, self.net, watch)
        together = self.net.together if watch is None else 1
        for first in range(1, len(steps), together):
            places, group = range(first, min(first + together, len(steps))), list[Net]()
            for place in places:
                self.stepper.advance(steps[place - 1], steps[place])
                self.recorder.close(self.failed)
                group.append(self.net.snapshot(group) if together > 1 else self.net)
            for place, net in zip(places, group, strict=True):
                self._record(place, net, watch)

    def _record(self, place: int, net: Net, watch: Watch | None) -> None:
        diverged = self.recorder.take(place, net)
        if bool(diverged.any()):
            self.stepper.freeze(diverged)
        if watch is not None:
            watch(int(self.recorder.steps[place]), self.parameters)


def final_rows(training: Training, cells: Sequence[Cell], limit: str) -> Columns:
    """The curves and the first columns of final rows, with the status ok, diverged or failed.

    Args:
        training: at its end.
        cells: of the batch.
        limit: the loss that counts as a divergence, as text for messages.
    """
    recorder, kept = training.recorder, training.recorder.length
    beyond = f"loss not finite or above {limit}"
    diverged = {
        c: lost(beyond, recorder.steps, recorder.diverged_place[c], kept[c])
        for c in np.flatnonzero(recorder.diverged).tolist()
    }
    failed = dict.fromkeys(np.flatnonzero(training.failed).tolist(), STUCK)
    return finished(cells, recorder.steps, kept, diverged, failed) | recorder.columns()
