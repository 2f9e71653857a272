"""Records curves at the steps of a `Recording`, notices divergence, and turns what it recorded into list columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from swingby.model.cell import Cell
from swingby_sweeps.sim import task, theory
from swingby_sweeps.sim.nets import MomentNet, Net
from swingby_sweeps.sim.params import SimParams

Array = np.ndarray
DIVERGED_AT = 1e6
"""A loss above this many L_ref, or one that is not finite, is a divergence."""


class Probes:
    """The inputs a batch is asked about: the test point; on request the hierarchy of test points and the centres."""

    def __init__(self, cells: Sequence[Cell], also: Sequence[str], dtype: torch.dtype, device: str) -> None:
        kinds = {"test": lambda p: task.test_point(p)[None]}
        if "hierarchy" in also:
            kinds["hierarchy"] = task.hierarchy
        if "centres" in also:
            kinds["centres"] = task.centres
        blocks = {name: np.stack([make(_params(cell)) for cell in cells]) for name, make in kinds.items()}
        bounds = np.cumsum([0, *[block.shape[1] for block in blocks.values()]])
        self.places = {name: slice(a, b) for name, a, b in zip(blocks, bounds[:-1], bounds[1:], strict=True)}
        points = task.with_constant(np.concatenate(list(blocks.values()), axis=1), _params(cells[0]).bias)
        self.points = torch.as_tensor(points).to(device, dtype)


class Recorder:
    """Curves of C cells at the recorded steps.

    `whole` is the whole training set as `Net.loss` takes it: the training loss is L, whatever a step descends.

    Attributes:
        steps: the recorded steps, shape (T,).
        length: how many of them each cell has, shape (C,): all, or those up to where it diverged.
        diverged: which cells diverged, shape (C,).
        diverged_place: the number of the recorded step at which that was noticed, shape (C,).
    """

    def __init__(self, cells: Sequence[Cell], steps: Array, also: Sequence[str], probes: Probes, whole: Tensor) -> None:
        p = _params(cells[0])
        self.steps, self._also, self._probes, self.whole, self._s = steps, tuple(also), probes, whole, p.s
        shape = (len(steps), len(cells))
        widths = {"output": p.s, "jacobian": p.s**2, "hierarchy_loss": 2**p.s, "centre_output": p.s**2}
        widths |= dict.fromkeys(theory.Velocity._fields, p.s**2)
        if not p.starts_from_U:
            self._also = tuple(name for name in also if name != "velocity")
        asked = {"output", *(column for name in self._also for column in _COLUMNS[name])}
        signals = task.Signals.of([_params(cell) for cell in cells])
        self._a = signals.a
        # Step by step: a step's numbers come together, and lie together until the end.
        self._taken = {"ood_loss": np.full(shape, np.nan), "train_loss": np.full(shape, np.nan)}
        self._taken |= {name: np.full((*shape, width), np.nan) for name, width in widths.items() if name in asked}
        self.length = np.zeros(len(cells), dtype=np.int64)
        self.diverged = np.zeros(len(cells), dtype=bool)
        self._closed = np.zeros(len(cells), dtype=bool)
        self.diverged_place = np.zeros(len(cells), dtype=np.int64)
        self._limit = DIVERGED_AT * signals.l_ref

    def take(self, place: int, net: Net) -> Tensor:
        """Record the state of `net` as recorded step number `place`; a mask (C,), on the CPU: who diverged just now."""
        entry = self._look(net)
        losses = np.stack([entry["ood_loss"], entry["train_loss"]])
        finite = np.isfinite(losses).all(0) & np.isfinite(entry["output"]).all(1)
        with np.errstate(invalid="ignore"):
            fine = finite & (losses <= self._limit).all(0)
        going = ~self._closed
        keep = going & finite
        for name, values in entry.items():
            np.copyto(self._taken[name][place], values, where=keep if values.ndim == 1 else keep[:, None])
        self.length[keep] = place + 1
        self.diverged |= going & ~fine
        self.diverged_place[going & ~fine] = place
        self._closed |= ~fine
        return torch.from_numpy(going & ~fine)

    def close(self, cells: Array) -> None:
        """Record the cells of a mask (C,) no more."""
        self._closed |= cells

    def _look(self, net: Net) -> dict[str, Array]:
        s, places, points = self._s, self._probes.places, self._probes.points
        outputs = net.outputs(points)
        error = outputs.clone()
        error[:, :, :s].sub_(points[:, :, :s])
        losses = 0.5 * error.double().square().sum(2)
        entry = {"ood_loss": losses[:, 0], "train_loss": net.loss(self.whole), "output": outputs[:, 0, :s]}
        if "jacobian" in self._also:
            entry["jacobian"] = net.jacobian(points[:, 0]).flatten(1)
        if "hierarchy" in self._also:
            entry["hierarchy_loss"] = losses[:, places["hierarchy"]]
        if "centres" in self._also:
            entry["centre_output"] = outputs[:, places["centres"], :s].flatten(1)
        return {**_on_host(entry), **(self._velocity(net) if "velocity" in self._also else {})}

    def _velocity(self, net: Net) -> dict[str, Array]:
        """Eq 4.3's split of the informative block, (C, s^2) each, with the a_p of the cell's conventions."""
        assert isinstance(net, MomentNet)
        W = net.affine().mT.double().cpu().numpy()
        with np.errstate(over="ignore", invalid="ignore"):
            split = theory.velocity(W, self._a)
        return {name: values.reshape(len(W), -1) for name, values in split._asdict().items()}

    def columns(self) -> dict[str, pa.Array]:
        """One list column a curve, `step` among them."""
        kept = np.arange(len(self.steps)) < self.length[:, None]
        offsets = np.concatenate([[0], np.cumsum(self.length)])
        steps = np.broadcast_to(self.steps, kept.shape)[kept]
        columns: dict[str, pa.Array] = {"step": lists(offsets, pa.array(steps, pa.int64()))}
        for name, values in self._taken.items():
            columns[name] = lists(offsets, rows_of(np.ascontiguousarray(values.swapaxes(0, 1))[kept]))
        return columns

    def last_step(self) -> Array:
        """The last recorded step of each cell (0 if there is none), shape (C,)."""
        return self.steps[np.maximum(self.length - 1, 0)]

    def final(self, name: str) -> list[float | None]:
        """The last recorded value of a scalar curve, a cell each."""
        last = self._taken[name][np.maximum(self.length - 1, 0), np.arange(len(self.length))]
        return [float(value) if length else None for value, length in zip(last, self.length, strict=True)]


_COLUMNS = {
    "jacobian": ("jacobian",),
    "hierarchy": ("hierarchy_loss",),
    "centres": ("centre_output",),
    "velocity": theory.Velocity._fields,
    # No curve: a column of the finished row.
    "points": (),
}


def _on_host(entry: dict[str, Tensor]) -> dict[str, Array]:
    """The same numbers, (C,) or (C, m) each, as float64 arrays; from a GPU by one transfer, for each is a wait."""
    if next(iter(entry.values())).device.type == "cpu":
        return {name: values.double().numpy() for name, values in entry.items()}
    rows = [values.double().reshape(len(values), -1) for values in entry.values()]
    parts = torch.cat(rows, dim=1).cpu().split([row.shape[1] for row in rows], dim=1)
    return {name: part.reshape(entry[name].shape).numpy() for name, part in zip(entry, parts, strict=True)}


def rows_of(values: Array) -> pa.Array:
    """A flat double array, or for (N, m) a list<double> array of N lists."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1), pa.float64())
    return flat if values.ndim == 1 else lists(np.arange(len(values) + 1) * values.shape[1], flat)


def lists(offsets: Array, values: pa.Array) -> pa.Array:
    """A list array: list i holds values[offsets[i]:offsets[i + 1]]."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def _params(cell: Cell) -> SimParams:
    assert isinstance(cell.params, SimParams)
    return cell.params
