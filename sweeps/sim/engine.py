"""The reference engine: one batch of cells of one shape, from draws to final weights, in torch on CPU or GPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from sweeps.sim import task
from sweeps.sim.cone import Cone
from sweeps.sim.flow import ClosedForm, Flow
from sweeps.sim.init import Start
from sweeps.sim.nets import build
from sweeps.sim.params import SimParams
from sweeps.sim.record import Probes, Recorder
from sweeps.sim.train import BatchMoments, BatchPoints, Descent, FixedMoments
from swingby.cells import Cell
from swingby.errors import SwingbyError
from swingby.experiment import Recording

Array = np.ndarray
Watch = Callable[[int, list[Array]], None]
"""Called at each recorded step with its number and the parameters (float64, leading cell axis, informative frame)."""


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread: a worker's cells are small, and its neighbours have the other cores. No autograd.

    Numbers below the smallest normal float count as 0: weights that decay for good would else take 8 times as long.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(before)
        torch.set_flush_denormal(False)


@dataclass(frozen=True)
class Ready:
    """One cell with what it draws: initial weights, and training points where its drive looks at any."""

    cell: Cell
    start: Start
    points: Array | None

    @classmethod
    def of(cls, cell: Cell) -> Ready:
        """Draw everything but the order of the points (streams `rotation`, `init/*`, `data/*`)."""
        p = cell.params
        assert isinstance(p, SimParams)
        population = p.drive != "sgd" and p.moments == "population"
        return cls(cell, Start.of(cell), None if population else task.draw_points(cell))

    @property
    def params(self) -> SimParams:
        """The cell's parameters."""
        return self.start.params

    @cached_property
    def moments(self) -> Array:
        """Second moments (k, k), float64, of the whole training set."""
        if self.points is None:
            return task.population_moments(self.params)
        return task.sample_moments(self.params, self.points)

    @property
    def rank0(self) -> int | None:
        """Rank of U_0 (numpy's tolerance: largest singular value x max(d, d') x 2.2e-16), for the symmetric family."""
        return int(np.linalg.matrix_rank(self.start.layers[0][0])) if self.params.starts_from_U else None


class Training:
    """A batch of prepared cells, in training.

    Attributes:
        recorder: the curves so far.
        net: the nets, in the informative frame.
        cone: how far the recorded W have left the cone, for the recurrence on W.
        failed: mask (C,) of cells whose flow could not be integrated.
    """

    def __init__(self, ready: Sequence[Ready], recording: Recording, device: str = "cpu") -> None:
        self.ready, p = ready, ready[0].params
        cells = [item.cell for item in ready]
        self._dtype, self._device = getattr(torch, p.dtype), device
        self.net = build(p, self._stacked([item.start.parameters for item in ready]))
        self.cone = Cone(len(ready)) if p.model == "w_recurrence" else None
        steps = _recorded_steps(p, recording)
        whole = self._points() if p.model == "relu" else self._tensor(np.stack([item.moments for item in ready]))
        probes = Probes(cells, recording.also, self._dtype, device)
        self.recorder = Recorder(cells, steps, recording.also, probes, whole)
        self._drive = self._make_drive(cells, whole)

    def _tensor(self, values: Array) -> Tensor:
        return torch.as_tensor(values).to(self._device, self._dtype)

    def _stacked(self, parameters: Sequence[list[Array]]) -> list[Tensor]:
        return [self._tensor(np.stack(parts)) for parts in zip(*parameters, strict=True)]

    def _points(self) -> Tensor:
        bias = self.ready[0].params.bias
        return self._tensor(np.stack([task.with_constant(drawn(item), bias) for item in self.ready]))

    def _make_drive(self, cells: Sequence[Cell], whole: Tensor) -> Descent | Flow | ClosedForm:
        p = self.ready[0].params
        match p.drive:
            case "sgd" if p.model == "relu":
                return Descent(self.net, BatchPoints(cells, whole))
            case "sgd":
                points = [drawn(item) for item in self.ready]
                return Descent(self.net, BatchMoments(cells, points, self._dtype, self._device))
            case "gd":
                moments = np.stack([item.moments for item in self.ready])
                return Descent(self.net, FixedMoments(cells, moments, self._dtype, self._device))
            case "flow":
                return Flow(self.net, cells, whole)
            case "closed_form":
                return ClosedForm(self.net, cells, whole)

    @property
    def failed(self) -> Array:
        """Cells whose flow could not be integrated, shape (C,)."""
        if isinstance(self._drive, Flow):
            return self._drive.failed.cpu().numpy() & ~self.recorder.diverged
        return np.zeros(len(self.ready), dtype=bool)

    @property
    def parameters(self) -> list[Array]:
        """The current parameters, float64, with a leading cell axis."""
        return [parameter.double().cpu().numpy() for parameter in self.net.parameters]

    def diet(self) -> list[Tensor]:
        """What the batch is trained on, with a leading cell axis: whole training sets, and the first step's food."""
        whole = self.recorder.whole
        if not isinstance(self._drive, Descent):
            return [whole]
        food = self._drive.feed.food(0)
        return [whole, *(food if isinstance(food, tuple) else (food,))]

    def run(self, watch: Watch | None = None) -> None:
        """Train to the end, recording as asked; a cell that diverges is frozen and its neighbours do not notice."""
        steps = [int(step) for step in self.recorder.steps]
        self._record(0, 0, watch)
        for place, (start, stop) in enumerate(itertools.pairwise(steps), start=1):
            self._drive.advance(start, stop)
            self.recorder.close(self.failed)
            self._record(place, stop, watch)

    def _record(self, place: int, step: int, watch: Watch | None) -> None:
        if self.cone is not None:
            self.cone.look(self.net.parameters[0], ~self.recorder.diverged)
        gone = self.recorder.take(place, self.net)
        if bool(gone.any()):
            self._drive.freeze(gone)
        if watch is not None:
            watch(step, self.parameters)


def drawn(item: Ready) -> Array:
    """The points of a cell whose drive looks at points."""
    assert item.points is not None
    return item.points


def _recorded_steps(p: SimParams, recording: Recording) -> Array:
    try:
        return recording.at(p.total_steps, p.steps_per_epoch if p.drive == "sgd" else None)
    except ValueError as error:
        raise SwingbyError(f"record, with drive {p.drive}: {error}") from error
