"""What is recorded of SIM nets: losses and outputs at the test point, and the recordings on request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.nets import MomentNet, Net
from swingby_sweeps.dynamics.recorder import on_host

from . import task, theory
from .draws import params_of
from .recurrence import PsdCone

Array = np.ndarray


class Observer:
    """The curves of C cells, as `dynamics.recorder.Observe` asks for them.

    The training loss is L over the whole training set, whatever a step descends.

    Args:
        cells: of one shape.
        also: names of the recordings on request; `velocity` is for the symmetric family alone.
        whole: the whole training set, as `Net.loss` takes it.
        cone: told of every state, for the recurrence on W.
    """

    def __init__(
        self, cells: Sequence[Cell], also: Sequence[str], whole: torch.Tensor, cone: PsdCone | None = None
    ) -> None:
        params = params_of(cells)
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

    def __call__(self, net: Net, going: Array) -> dict[str, Array]:
        """Every curve's value, (C,) or (C, m), of the nets as they are; `going`: cells that are still recorded."""
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
        return {**on_host(values), **(self._velocity(net) if "velocity" in self._also else {})}

    def _velocity(self, net: Net) -> dict[str, Array]:
        """Eq 4.3's split of the informative block, (C, s^2) each, with the a_p of the cell's conventions."""
        assert isinstance(net, MomentNet)
        W = net.affine().mT.double().cpu().numpy()
        with np.errstate(over="ignore", invalid="ignore"):
            split = theory.velocity(W, self._a)
        return {name: values.reshape(len(W), -1) for name, values in split._asdict().items()}


_INPUTS = {"hierarchy": task.hierarchy, "centres": task.centres}
"""Further inputs that a recording on request looks at, (m, s)."""
