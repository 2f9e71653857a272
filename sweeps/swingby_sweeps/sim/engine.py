"""A batch of SIM cells of one shape, from draws to final weights: on a CPU by compiled kernels, else by torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics import nets
from swingby_sweeps.dynamics.descent import Descent, MomentBatches, PointBatches
from swingby_sweeps.dynamics.flow import ClosedForm, Flow
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.kernels.mixture import MixtureDraws
from swingby_sweeps.dynamics.kernels.points import PackedRelu, PointsDescent
from swingby_sweeps.dynamics.kernels.streams import keys
from swingby_sweeps.dynamics.nets import Net
from swingby_sweeps.dynamics.recorder import Recorder
from swingby_sweeps.dynamics.resident import ResidentDescent, ResidentMoments, ResidentPoints
from swingby_sweeps.dynamics.training import Stepper, Training

from . import draws, task
from .init import Start, to_frame
from .observe import Observer
from .params import SimParams
from .recurrence import PsdCone, Recurrence

Array = np.ndarray
Engine = Literal["compiled", "torch"]
DIVERGED_AT = 1e6
"""A loss above this many L_ref, or one that is not finite, is a divergence."""


class Ready:
    """One cell with what it draws, each thing when it is asked for.

    Attributes:
        cell: the cell.
        moments: second moments (k, k), float64, of the whole training set.
    """

    def __init__(self, cell: Cell, moments: Array | None = None, points: Array | None = None) -> None:
        """`moments`, `points`: where they were drawn already."""
        self.cell = cell
        if moments is not None:
            self.moments = moments
        if points is not None:
            self.points = points

    @classmethod
    def of(cls, cell: Cell) -> Ready:
        """A cell of which nothing is drawn yet."""
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
        return draws.whole_moments([self.cell])[0]


class SimTraining(Training):
    """A batch of SIM cells, in training.

    Attributes:
        ready: the cells with what they draw.
        cone: how far the recorded W have left the cone, for the recurrence on W.
        rank0: ranks of U_0 (numpy's tolerance: largest singular value x max(d, d') x 2.2e-16), symmetric family only.
        engine: what trains it: "compiled" or "torch".
    """

    def __init__(
        self, ready: Sequence[Ready], recording: Recording, device: str = "cpu", engine: Engine | None = None
    ) -> None:
        """`engine`: None for the faster one that there is for these cells on this device."""
        self.ready, self.cells, p = list(ready), [item.cell for item in ready], ready[0].params
        self.engine: Engine = engine or ("compiled" if device == "cpu" and p.compiled else "torch")
        self._dtype, self._device = getattr(torch, p.dtype), device
        layers, rotations = draws.layers(self.cells), draws.rotations(self.cells)
        self.rank0 = np.linalg.matrix_rank(layers[0][0]).tolist() if p.starts_from_U else [None] * len(self.cells)
        start = to_frame(p, layers, rotations)
        stepper, net, self._whole = self._relu(start) if p.model == "relu" else self._linear(start)
        self.cone = PsdCone(len(self.cells)) if p.model == "w_recurrence" else None
        observe = Observer(self.cells, recording.also, self._whole, self.cone)
        limit = DIVERGED_AT * task.Signals.of(draws.params_of(self.cells)).l_ref
        steps = _recorded_steps(p, recording)
        recorder = Recorder(steps, observe, ("ood_loss", "train_loss"), limit, finite=("output",))
        super().__init__(net, stepper, recorder)

    def _tensor(self, values: Array) -> Tensor:
        return torch.as_tensor(values).to(self._device, self._dtype)

    def _linear(self, start: list[Array]) -> tuple[Stepper, Net, Tensor]:
        """Stepper, nets and moments of the whole training set, of nets linear in x."""
        cells, p, compiled = self.cells, self.ready[0].params, self.engine == "compiled"
        stream = None if p.drive in ("flow", "closed_form") else draws.moment_stream(cells)
        moments = draws.whole_moments(cells) if stream is None else stream.whole
        self.ready = [Ready(cell, own) for cell, own in zip(cells, moments, strict=True)]
        whole = self._tensor(moments)
        if compiled and stream is not None:
            packed = LaneNet(p.net_shape, start, np.dtype(p.dtype))
            return LaneDescent(packed, stream, np.dtype(p.dtype)), packed, whole
        net = build(p, [self._tensor(part) for part in start])
        if stream is not None and net.device.type == "cuda":
            return ResidentDescent(net, ResidentMoments(stream, self._dtype, net.device), capture=True), net, whole
        if stream is not None:
            return Descent(net, MomentBatches(stream, self._dtype, net.device)), net, whole
        if p.drive == "closed_form":
            return ClosedForm(net, whole, draws.rates(cells)), net, whole
        rtol = np.array([q.rtol for q in draws.params_of(cells)])
        return (FlowKernel if compiled else Flow)(net, whole, draws.rates(cells), rtol), net, whole

    def _relu(self, start: list[Array]) -> tuple[Stepper, Net, Tensor]:
        """Stepper, nets and the whole training set of ReLU nets."""
        cells, p = self.cells, self.ready[0].params
        points, rates = MixtureDraws(draws.mixture(cells)).points(), draws.rates(cells)
        self.ready = [Ready(cell, points=own) for cell, own in zip(cells, points, strict=True)]
        whole, parameters = self._tensor(task.with_constant(points, p.bias)), [self._tensor(part) for part in start]
        if self.engine == "compiled":
            packed = PackedRelu(p.net_shape, parameters, p.batch_size)
            return PointsDescent(packed, whole, keys(cells, "order"), rates, p.batching), packed, whole
        net, orders = build(p, parameters), [task.order(cell) for cell in cells]
        if net.device.type == "cuda":
            return ResidentDescent(net, ResidentPoints(whole, orders, rates, p.batching), capture=True), net, whole
        return Descent(net, PointBatches(whole, orders, rates, p.batching)), net, whole

    def trained_on(self) -> list[Array]:
        """What the batch is trained on, with a leading cell axis: whole training sets, and the first step's data."""
        whole = self._whole.cpu().numpy()
        if isinstance(self.stepper, LaneDescent):
            return [whole, self.stepper.first_epoch()]
        if not isinstance(self.stepper, Descent):
            return [whole]
        first = self.stepper.stream.batch(0)
        return [whole, *(part.cpu().numpy() for part in (first if isinstance(first, tuple) else (first,)))]


def build(p: SimParams, parameters: Sequence[Tensor]) -> Net:
    """Nets of the model."""
    return (Recurrence if p.model == "w_recurrence" else nets.build)(p.net_shape, parameters)


def drawn(item: Ready) -> Array:
    """The points of a cell whose drive looks at points."""
    assert item.points is not None
    return item.points


def _recorded_steps(p: SimParams, recording: Recording) -> Array:
    try:
        return recording.at(p.total_steps, p.steps_per_epoch if p.drive == "sgd" else None)
    except ValueError as error:
        raise SwingbyError(f"record, with drive {p.drive}: {error}") from error
