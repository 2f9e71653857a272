"""A batch of cells of one shape, from draws to final weights: on a CPU by compiled kernels, else by torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.flow import ClosedForm, Flow
from swingby_sweeps.sim.init import Start, to_frame
from swingby_sweeps.sim.kernels import draws, engine_for
from swingby_sweeps.sim.kernels.flow import FlowKernel
from swingby_sweeps.sim.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.sim.kernels.moments import Draws
from swingby_sweeps.sim.kernels.points import PackedRelu, PointsDescent, one_blas_thread
from swingby_sweeps.sim.nets import Net, build
from swingby_sweeps.sim.params import SimParams
from swingby_sweeps.sim.psd_cone import Cone
from swingby_sweeps.sim.record import Probes, Recorder
from swingby_sweeps.sim.resident import ResidentDescent, ResidentMoments, ResidentPoints
from swingby_sweeps.sim.train import BatchPoints, Descent, FeedMoments, Foods, whole_moments

Array = np.ndarray
Engine = Literal["compiled", "torch"]
Watch = Callable[[int, list[Array]], None]
"""Called at each recorded step with its number and the parameters (float64, leading cell axis, informative frame)."""


class Drive(Protocol):
    """What moves the nets of a batch from one recorded step to the next."""

    def advance(self, start: int, stop: int) -> None:
        """Take the steps start, ..., stop - 1."""
        ...

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        ...


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of torch and BLAS: a worker's cells are small, and its neighbours have the other cores. No autograd.

    Numbers below the smallest normal float count as 0: weights that decay for good would else take 8 times as long.
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


class Ready:
    """One cell with what it draws, each thing when it is asked for.

    Attributes:
        cell: the cell.
        moments: second moments (k, k), float64, of the whole training set.
    """

    def __init__(self, cell: Cell, moments: Array | None = None, points: Array | None = None) -> None:
        """`moments` and `points`: what was drawn already."""
        self.cell = cell
        if moments is not None:
            self.moments = moments
        if points is not None:
            self.points = points

    @classmethod
    def of(cls, cell: Cell) -> Ready:
        """Of one cell."""
        return cls(cell)

    @property
    def params(self) -> SimParams:
        """The cell's parameters."""
        p = self.cell.params
        assert isinstance(p, SimParams)
        return p

    @cached_property
    def start(self) -> Start:
        """Initial weights (streams `rotation`, `init/*`)."""
        return Start.of(self.cell)

    @cached_property
    def points(self) -> Array | None:
        """Training points (streams `data/*`), (N, s), where the cell's drive looks at any."""
        population = self.params.drive != "sgd" and self.params.moments == "population"
        return None if population else task.draw_points(self.cell)

    @cached_property
    def moments(self) -> Array:
        return whole_moments([self.cell])[0]


class Training:
    """A batch of cells, in training.

    Attributes:
        ready: the cells with what they draw.
        recorder: the curves so far.
        net: the nets, in the informative frame.
        cone: how far the recorded W have left the cone, for the recurrence on W.
        rank0: ranks of U_0 (numpy's tolerance: largest singular value x max(d, d') x 2.2e-16), symmetric family only.
        engine: what trains it: "compiled" or "torch".
    """

    def __init__(
        self, ready: Sequence[Ready], recording: Recording, device: str = "cpu", engine: Engine | None = None
    ) -> None:
        """`engine`: None for the faster one that there is for these cells on this device."""
        self.ready, cells, p = list(ready), [item.cell for item in ready], ready[0].params
        self.engine = engine or engine_for(p, device)
        self._dtype, self._device = getattr(torch, p.dtype), device
        layers, rotations = draws.layers(cells), draws.rotations(cells)
        self.rank0 = np.linalg.matrix_rank(layers[0][0]).tolist() if p.starts_from_U else [None] * len(cells)
        start = to_frame(p, layers, rotations)
        self._drive, self.net, whole = self._relu(cells, start) if p.model == "relu" else self._linear(cells, start)
        self.cone = Cone(len(cells)) if p.model == "w_recurrence" else None
        steps = _recorded_steps(p, recording)
        probes = Probes(cells, recording.also, self._dtype, device)
        self.recorder = Recorder(cells, steps, recording.also, probes, whole)

    def _tensor(self, values: Array) -> Tensor:
        return torch.as_tensor(values).to(self._device, self._dtype)

    def _linear(self, cells: Sequence[Cell], start: list[Array]) -> tuple[Drive, Net, Tensor]:
        """Drive, nets and moments of the whole training set, of nets linear in x."""
        p, compiled = self.ready[0].params, self.engine == "compiled"
        foods = None if p.drive in ("flow", "closed_form") else Foods(cells)
        moments = whole_moments(cells) if foods is None else foods.whole
        self.ready = [Ready(cell, own) for cell, own in zip(cells, moments, strict=True)]
        whole = self._tensor(moments)
        if compiled and foods is not None:
            packed = LaneNet(p, start, np.dtype(p.dtype))
            return LaneDescent(packed, foods, np.dtype(p.dtype)), packed, whole
        net = build(p, [self._tensor(part) for part in start])
        if foods is not None and net.device.type == "cuda":
            return ResidentDescent(net, ResidentMoments(foods, self._dtype, net.device), capture=True), net, whole
        if foods is not None:
            return Descent(net, FeedMoments(foods, self._dtype, net.device)), net, whole
        kind = ClosedForm if p.drive == "closed_form" else FlowKernel if compiled else Flow
        return kind(net, cells, whole), net, whole

    def _relu(self, cells: Sequence[Cell], start: list[Array]) -> tuple[Drive, Net, Tensor]:
        """Drive, nets and the whole training set of ReLU nets."""
        p, points = self.ready[0].params, Draws(cells, None).points()
        self.ready = [Ready(cell, points=own) for cell, own in zip(cells, points, strict=True)]
        whole, parameters = self._tensor(task.with_constant(points, p.bias)), [self._tensor(part) for part in start]
        if self.engine == "compiled":
            packed = PackedRelu(p, parameters)
            return PointsDescent(packed, cells, whole), packed, whole
        net = build(p, parameters)
        if net.device.type == "cuda":
            return ResidentDescent(net, ResidentPoints(cells, whole), capture=True), net, whole
        return Descent(net, BatchPoints(cells, whole)), net, whole

    @property
    def failed(self) -> Array:
        """Cells whose flow could not be integrated, shape (C,)."""
        if isinstance(self._drive, Flow | FlowKernel):
            return np.asarray(self._drive.failed.cpu()) & ~self.recorder.diverged
        return np.zeros(len(self.ready), dtype=bool)

    @property
    def parameters(self) -> list[Array]:
        """The current parameters, float64, with a leading cell axis."""
        return [parameter.double().cpu().numpy() for parameter in self.net.parameters]

    def diet(self) -> list[Array]:
        """What the batch is trained on, with a leading cell axis: whole training sets, and the first step's food."""
        whole = self.recorder.whole.cpu().numpy()
        if isinstance(self._drive, LaneDescent):
            return [whole, self._drive.food()]
        if not isinstance(self._drive, Descent):
            return [whole]
        food = self._drive.feed.food(0)
        return [whole, *(part.cpu().numpy() for part in (food if isinstance(food, tuple) else (food,)))]

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
