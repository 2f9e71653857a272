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
from swingby_sweeps.dynamics.descent import BatchStream, Descent, FullBatchMoments, MomentBatches, PointBatches
from swingby_sweeps.dynamics.flow import ClosedForm, Flow
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.kernels.mixture import MixtureDraws
from swingby_sweeps.dynamics.kernels.points import PackedRelu, PointsDescent
from swingby_sweeps.dynamics.kernels.streams import keys
from swingby_sweeps.dynamics.nets import MomentNet, Net
from swingby_sweeps.dynamics.recorder import Recorder, on_host
from swingby_sweeps.dynamics.resident import ResidentDescent
from swingby_sweeps.dynamics.training import Stepper, Training

from . import draws, task, theory
from .hidden import Hidden
from .init import to_frame
from .params import DIVERGED_AT, Drive, SimParams
from .recurrence import PsdCone, Recurrence

Array = np.ndarray
Engine = Literal["compiled", "torch"]
TWIN_RTOL = 1e-6
"""Relative error of one adaptive step of a twin by gradient flow; its bumps count in hundredths of L_ref."""
_INPUTS = {"hierarchy": task.hierarchy, "centres": task.centres}
"""Further inputs of recordings on request, (m, s)."""


class Ready:
    """One cell with its draws, each of which is made when it is first read.

    Attributes:
        cell: the cell.
        moments: second moments (k, k), float64, of the whole training set.
    """

    def __init__(self, cell: Cell[SimParams], moments: Array | None = None, points: Array | None = None) -> None:
        """`moments`, `points`: if they are drawn already."""
        self.cell = cell
        if moments is not None:
            self.moments = moments
        if points is not None:
            self.points = points

    @property
    def params(self) -> SimParams:
        """The cell's parameters."""
        return self.cell.params

    @cached_property
    def points(self) -> Array | None:
        """Training points (streams `data/*`), (N, s); None where the cell trains on population moments."""
        population = self.params.drive != "sgd" and self.params.moments == "population"
        return None if population else task.draw_points(self.cell)

    @cached_property
    def moments(self) -> Array:
        return draws.whole_moments([self.cell])[0]


class Observer:
    """Computes the curves of C cells, as a `dynamics.recorder.Observe`.

    The training loss is L over the whole training set, whatever a step descends.

    Args:
        cells: of one shape.
        also: names of the recordings on request; `velocity` is for the symmetric family alone.
        whole: the whole training set, as `Net.loss` takes it.
        cone: observes every state, for the recurrence on W.
    """

    def __init__(
        self, cells: Sequence[Cell[SimParams]], also: Sequence[str], whole: torch.Tensor, cone: PsdCone | None = None
    ) -> None:
        params = [cell.params for cell in cells]
        p = params[0]
        self._s, self._whole, self._cone = p.s, whole, cone
        self._also = {name for name in also if name != "velocity" or p.starts_from_U}
        self._a = task.Signals.of(params).a
        inputs = {"test": lambda p: task.test_point(p)[None]}
        inputs |= {name: make for name, make in _INPUTS.items() if name in self._also}
        blocks = {name: np.stack([make(p) for p in params]) for name, make in inputs.items()}
        ends = np.cumsum([0, *[block.shape[1] for block in blocks.values()]])
        self._places = {name: slice(a, b) for name, a, b in zip(blocks, ends[:-1], ends[1:], strict=True)}
        points = task.with_constant(np.concatenate(list(blocks.values()), axis=1), p.bias)
        self._points = torch.as_tensor(points).to(whole.device, whole.dtype)
        self._hidden = Hidden(cells, whole, p.bias) if "features" in self._also else None

    def __call__(self, net: Net, going: Array) -> dict[str, Array]:
        """Every curve's present value, (C,) or (C, m); `going`: mask of the cells that are still recorded."""
        if self._cone is not None:
            self._cone.observe(net.parameters[0], going)
        s, places, points = self._s, self._places, self._points
        outputs = net.outputs(points)
        error = outputs.clone()
        error[:, :, :s].sub_(points[:, :, :s])
        losses = 0.5 * error.double().square().sum(2)
        values = {"ood_loss": losses[:, 0], "train_loss": net.loss(self._whole), "output": outputs[:, 0, :s]}
        if "jacobian" in self._also:
            values["jacobian"] = net.jacobian(points[:, 0]).flatten(1)
        if "hierarchy" in self._also:
            values["hierarchy_loss"] = losses[:, places["hierarchy"]]
        if "centres" in self._also:
            values["centre_output"] = outputs[:, places["centres"], :s].flatten(1)
        curves = on_host(values)
        if self._hidden is not None:
            curves |= self._hidden(net, going)
        if "velocity" in self._also:
            assert isinstance(net, MomentNet)
            W = net.affine().mT.double().cpu().numpy()
            with np.errstate(over="ignore", invalid="ignore"):
                split = theory.velocity(W, self._a)
            curves |= {name: term.reshape(len(W), -1) for name, term in split._asdict().items()}
        return curves


class SimTraining(Training):
    """A batch of SIM cells, in training.

    Attributes:
        ready: the cells with their draws.
        cone: how far the recorded W have left the cone, for the recurrence on W; else None.
        rank0: ranks of U_0 (numpy's tolerance: largest singular value x max(d, d') x 2.2e-16), symmetric family only.
        engine: the engine that trains the batch, "compiled" or "torch".
        drive: what drives it: that of the cells, or of the twin.
    """

    def __init__(
        self,
        ready: Sequence[Ready],
        recording: Recording,
        device: str = "cpu",
        engine: Engine | None = None,
        twin: Drive | None = None,
    ) -> None:
        """Draws the batch and its first weights.

        Args:
            ready: the cells, with what is drawn of them already.
            recording: what is recorded.
            device: as torch names it.
            engine: None for the faster one for these cells on this device.
            twin: trains the cells' twins instead, without sampling noise: one start, one training set, one length of
                the run in time, and this drive over the moments of the whole set.

        Raises:
            SwingbyError: the recording does not fit the drive.
        """
        self.ready, self.cells, p = list(ready), [item.cell for item in ready], ready[0].params
        self.drive: Drive = twin or p.drive
        self._twin = twin is not None
        self.engine: Engine = engine or ("compiled" if device == "cpu" and p.compiled else "torch")
        # Adaptive steps need more digits than a step of descent.
        self._number = "float64" if twin == "flow" else p.dtype
        self._dtype, self._device = getattr(torch, self._number), device
        layers, rotations = draws.layers(self.cells), draws.rotations(self.cells)
        self.rank0 = np.linalg.matrix_rank(layers[0][0]).tolist() if p.starts_from_U else [None] * len(self.cells)
        start = to_frame(p, layers, rotations)
        stepper, net, self._whole = self._relu(start) if p.model == "relu" else self._linear(start)
        self.cone = PsdCone(len(self.cells)) if p.model == "w_recurrence" else None
        observe = Observer(self.cells, recording.also, self._whole, self.cone)
        limit = DIVERGED_AT * task.Signals.of([cell.params for cell in self.cells]).l_ref
        try:
            steps = recording.at(p.total_steps, p.steps_per_epoch if p.drive == "sgd" else None)
        except ValueError as error:
            raise SwingbyError(f"record, with drive {p.drive}: {error}") from error
        recorder = Recorder(steps, observe, ("ood_loss", "train_loss"), limit, finite=("output",))
        super().__init__(net, stepper, recorder)

    def _tensor(self, values: Array) -> Tensor:
        return torch.as_tensor(values).to(self._device, self._dtype)

    def _linear(self, start: list[Array]) -> tuple[Stepper, Net, Tensor]:
        """Stepper, nets, and moments of the whole training set, for nets linear in x."""
        cells, p, compiled = self.cells, self.ready[0].params, self.engine == "compiled"
        if self._twin:
            moments = np.stack([item.moments for item in self.ready])
            stream = FullBatchMoments(draws.rates(cells), moments) if self.drive == "gd" else None
        else:
            stream = None if self.drive in ("flow", "closed_form") else draws.moment_stream(cells)
            moments = draws.whole_moments(cells) if stream is None else stream.whole
        self.ready = [Ready(cell, moment) for cell, moment in zip(cells, moments, strict=True)]
        whole = self._tensor(moments)
        if compiled and stream is not None:
            packed = LaneNet(p.net_shape, start, np.dtype(self._number))
            return LaneDescent(packed, stream, np.dtype(self._number)), packed, whole
        net = build(p, [self._tensor(part) for part in start])
        if stream is not None:
            return _descent(net, MomentBatches(stream, self._dtype, net.device)), net, whole
        if self.drive == "closed_form":
            return ClosedForm(net, whole, draws.rates(cells)), net, whole
        rtol = np.array([TWIN_RTOL if self._twin else cell.params.rtol for cell in cells])
        return (FlowKernel if compiled else Flow)(net, whole, draws.rates(cells), rtol), net, whole

    def _relu(self, start: list[Array]) -> tuple[Stepper, Net, Tensor]:
        """Stepper, nets, and the whole training set, for ReLU nets."""
        cells, p = self.cells, self.ready[0].params
        points, rates = MixtureDraws(draws.mixture(cells)).points(), draws.rates(cells)
        self.ready = [Ready(cell, points=cell_points) for cell, cell_points in zip(cells, points, strict=True)]
        whole, parameters = self._tensor(task.with_constant(points, p.bias)), [self._tensor(part) for part in start]
        if self.engine == "compiled":
            packed = PackedRelu(p.net_shape, parameters, p.batch_size)
            return PointsDescent(packed, whole, keys(cells, "order"), rates, p.batching), packed, whole
        net, orders = build(p, parameters), [task.order(cell) for cell in cells]
        return _descent(net, PointBatches(whole, orders, rates, p.batching)), net, whole

    def twins(self, also: Sequence[str]) -> list[Drive]:
        """The drives of the twins that are asked for among the recordings `also`, and that such cells have."""
        p = self.ready[0].params
        if p.model in ("relu", "w_recurrence"):
            return []
        drives: list[tuple[str, Drive, bool]] = [
            ("twin_gd", "gd", p.drive == "sgd"),
            ("twin_flow", "flow", p.drive in ("sgd", "gd")),
        ]
        return [drive for name, drive, has in drives if has and name in also]


def _descent(net: Net, stream: BatchStream) -> Descent:
    """Descent on the device of the nets."""
    return ResidentDescent(net, stream, capture=True) if net.device.type == "cuda" else Descent(net, stream)


def build(p: SimParams, parameters: Sequence[Tensor]) -> Net:
    """Nets of the model."""
    return (Recurrence if p.model == "w_recurrence" else nets.build)(p.net_shape, parameters)


def drawn(item: Ready) -> Array:
    """The training points of a cell that trains on points."""
    assert item.points is not None
    return item.points
