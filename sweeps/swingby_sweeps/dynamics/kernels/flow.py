"""Gradient flow on the CPU, sixteen cells in step: Dormand-Prince 5(4) and the field of a net in one compiled loop.

As in `lanes`, each number of a net is a vector over the cells of a group, and shapes count vectors. Every lane has a
step of its own, and rests once it has arrived: the other lanes of its group never change its numbers.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from ..dormand_prince import GROW, SAFETY, SHRINK, TABLEAU
from ..flow import MOST_STEPS
from ..nets import Net
from . import LANES
from .vector import (
    add,
    add_product,
    fill,
    larger_size,
    less,
    less_one,
    load,
    memory,
    move,
    over,
    store,
    times,
    where,
    zero,
)

Array = np.ndarray
_kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy")
# Only kernels call these: nothing is compiled for Python.
_QUIET: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_part = numba.njit(nogil=True, error_model="numpy", **_QUIET)


@_part
def _dots(a: Any, b: Any, rows: int, columns: int, inner: int, out: Any) -> None:
    """out = a b^T, of shapes (rows, inner), (columns, inner), (rows, columns)."""
    for r in range(rows):
        for c in range(columns):
            total = zero(a)
            for i in range(inner):
                total = add_product(total, load(a, r * inner + i), load(b, c * inner + i))
            store(out, r * columns + c, total)


@_part
def _outer(a: Any, b: Any, inner: int, rows: int, columns: int, out: Any) -> None:
    """out = a^T b, of shapes (inner, rows), (inner, columns), (rows, columns)."""
    for r in range(rows):
        for c in range(columns):
            total = zero(a)
            for i in range(inner):
                total = add_product(total, load(a, i * rows + r), load(b, i * columns + c))
            store(out, r * columns + c, total)


@_part
def _product(a: Any, b: Any, rows: int, inner: int, columns: int, out: Any) -> None:
    """out = a b, of shapes (rows, inner), (inner, columns), (rows, columns)."""
    for r in range(rows):
        for c in range(columns):
            total = zero(a)
            for i in range(inner):
                total = add_product(total, load(a, r * inner + i), load(b, i * columns + c))
            store(out, r * columns + c, total)


@_part
def _plus(a: Any, b: Any, count: int) -> None:
    for i in range(count):
        store(a, i, add(load(a, i), load(b, i)))


@_part
def _copy(a: Any, b: Any, count: int) -> None:
    for i in range(count):
        store(a, i, load(b, i))


@_part
def _error_moments(F: Any, M: Any, k: int, d: int, s: int, T: Any, identity: bool, out: Any) -> None:
    """out = M (F - T), shapes (k, d), (k, k), (k, d); F becomes F - T. Nothing is read of T if it is the identity."""
    if identity:
        for r in range(s):
            store(F, r * d + r, less_one(load(F, r * d + r)))
    else:
        for i in range(k * d):
            store(F, i, less(load(F, i), load(T, i)))
    _product(M, F, k, k, d, out)


@_part
def _linear(
    y: Any,
    M: Any,
    T: Any,
    identity: bool,
    sizes: Array,
    room: int,
    s: int,
    bias: int,
    H: Any,
    D: Any,
    out: Any,
) -> None:
    """out = the gradient of L on y, times what M = -A carries; as `nets.LinearNet.push`.

    sizes (L + 1): k, widths, d. H has `room` for the images (k, width) after each layer; D twice the same.
    """
    k, last = sizes[0], len(sizes) - 1
    at = k * sizes[1]
    _copy(H, y, at)
    for layer in range(1, last):
        m, n, above = sizes[layer], sizes[layer + 1], move(H, layer * room)
        _dots(move(H, (layer - 1) * room), move(y, at), k, n, m, above)
        at += n * m
        if bias:
            _plus(move(above, (k - 1) * n), move(y, at), n)
            at += n
    now, then = D, move(D, room)
    _error_moments(move(H, (last - 1) * room), M, k, sizes[last], s, T, identity, now)
    for layer in range(last - 1, 0, -1):
        m, n = sizes[layer], sizes[layer + 1]
        if bias:
            at -= n
            _copy(move(out, at), move(now, (k - 1) * n), n)
        at -= n * m
        _outer(now, move(H, (layer - 1) * room), k, n, m, move(out, at))
        _product(now, move(y, at), k, n, m, then)
        now, then = then, now
    _copy(out, now, at)


@_part
def _symmetric(
    y: Any, M: Any, T: Any, identity: bool, sizes: Array, room: int, s: int, H: Any, D: Any, out: Any
) -> None:
    """As `nets.SymmetricNet.push` on y = U (d, w), of which the first k = s rows are `top`; sizes: k, w, d."""
    k, w, d, through = sizes[0], sizes[1], sizes[2], move(D, room)
    _dots(y, y, k, d, w, H)
    _error_moments(H, M, k, d, s, T, identity, D)
    _outer(D, y, k, d, w, out)
    _product(D, y, k, d, w, through)
    _plus(out, through, k * w)


@_part
def _move(y: Any, P: int, K: Any, weights: Array, count: int, h: Any, new: Any) -> None:
    """new = y + h times the sum over stages j < count of weights[j] k_j."""
    step = load(h, 0)
    for i in range(P):
        total = times(fill(y, weights[0]), load(K, i))
        for j in range(1, count):
            total = add_product(total, fill(y, weights[j]), load(K, j * P + i))
        store(new, i, add_product(load(y, i), step, total))


@_part
def _sums(y: Any, new: Any, P: int, error: Any, rtol: Any, atol: Any, sums: Any) -> None:
    """Of each lane, the sum of squares of error over tolerance; `error` is what y would get from `_move`, less y."""
    total, slack, low = zero(y), load(rtol, 0), load(atol, 0)
    for i in range(P):
        scale = add_product(low, slack, larger_size(load(y, i), load(new, i)))
        ratio = over(load(error, i), scale)
        total = add_product(total, ratio, ratio)
    store(sums, 0, total)


@_part
def _keep(y: Any, new: Any, count: int, accepted: Any) -> None:
    """y = new in the lanes where that is accepted."""
    flag = load(accepted, 0)
    for i in range(count):
        store(y, i, where(flag, load(new, i), load(y, i)))


@_part
def _begin(y: Array, slope: Array, P: int, rtol: Array, atol: Array, time: Array, step: Array) -> None:
    """First steps from the sizes of y and y' (Hairer, Norsett & Wanner, II.4, the first half of their recipe)."""
    for lane in range(LANES):
        size, speed = y.dtype.type(0), y.dtype.type(0)
        for i in range(P):
            scale = atol[lane] + rtol[lane] * abs(y[i, lane])
            size += (y[i, lane] / scale) ** 2
            speed += (slope[i, lane] / scale) ** 2
        first = y.dtype.type(0.01) * np.sqrt(size) / np.sqrt(speed)
        time[lane] = 0
        # At rest, or at 0, the recipe gives no step. Any small one will do: its error says how long the next may be.
        step[lane] = first if np.isfinite(first) and first > 0 else y.dtype.type(1e-6)


@_part
def _plan(time: Array, step: Array, failed: Array, until: Array, h: Array) -> bool:
    """The step each lane tries: 0 where it has arrived or failed. Whether any is on its way."""
    going = False
    for lane in range(LANES):
        left = until[lane] - time[lane]
        h[lane] = 0
        if left > 0 and not failed[lane]:
            h[lane], going = min(step[lane], left), True
    return going


@_part
def _judge(
    sums: Array, P: int, h: Array, time: Array, step: Array, failed: Array, until: Array, accepted: Array
) -> None:
    """Accept or refuse each lane's step (`accepted` 1 or 0), and choose the next."""
    real = sums.dtype.type
    for lane in range(LANES):
        accepted[lane] = 0
        if h[lane] == 0:
            continue
        ratio = np.sqrt(sums[lane] / real(P))
        if not np.isfinite(ratio):
            ratio = real(np.inf)
        last = step[lane] >= until[lane] - time[lane]
        # The error of a step is of order h^5. A ratio below 1e-10 would be cut by GROW anyway, and 0 has no power.
        factor = real(SAFETY) * max(ratio, real(1e-10)) ** real(-0.2)
        proposal = h[lane] * min(max(factor, real(SHRINK)), real(GROW))
        if ratio <= 1:
            accepted[lane] = 1
            time[lane] = until[lane] if last else time[lane] + h[lane]
            # A step that was cut short to land on a time is no reason to shorten the next one.
            step[lane] = max(proposal, step[lane]) if last else proposal
        else:
            step[lane] = proposal
            # A step that is lost in the rounding of the time never arrives; 1e-300 stands for time 0.
            failed[lane] = proposal <= 1e-15 * max(time[lane], 1e-300)


@_kernel
def _advance(
    y: Array,
    slope: Array,
    moments: Array,
    targets: Array,
    time: Array,
    step: Array,
    failed: Array,
    until: Array,
    rtol: Array,
    atol: Array,
    sizes: Array,
    room: int,
    s: int,
    bias: int,
    symmetric: bool,
    tableau: Array,
    work: Array,
    few: Array,
    out: Array,
) -> None:
    """Every group of cells, y and slope (G, P, LANES), to its times `until` (G, LANES); time < 0 before the first step.

    The targets are (G, k d, LANES), or an empty array for the identity. `work` is scratch for the images and stages of
    one group, `few` for three vectors. `out` (G LANES, P) gets the state, one row for each cell.
    """
    P = y.shape[1]
    H, h, accepted, sums = memory(work), few[0], few[1], few[2]
    D = move(H, len(sizes) * room)
    K = move(D, 2 * room)
    new = move(K, 7 * P)
    error, nothing = move(new, P), move(new, 2 * P)
    identity = len(targets) == 0
    for g in range(y.shape[0]):
        Y, M, k0 = move(memory(y), g * P), move(memory(moments), g * moments.shape[1]), move(memory(slope), g * P)
        T = move(memory(targets), g * targets.shape[1])
        started = time[g, 0] >= 0
        _copy(K, k0, P)
        _copy(new, Y, P)
        for _ in range(MOST_STEPS):
            if started and not _plan(time[g], step[g], failed[g], until[g], h):
                break
            # One place that calls the field, so that it is compiled once.
            for stage in range(1 if started else 0, 7 if started else 1):
                if started:
                    _move(Y, P, K, tableau[stage - 1], stage, memory(h), new)
                if symmetric:
                    _symmetric(new, M, T, identity, sizes, room, s, H, D, move(K, stage * P))
                else:
                    _linear(new, M, T, identity, sizes, room, s, bias, H, D, move(K, stage * P))
            if not started:
                _copy(k0, K, P)
                _begin(y[g], slope[g], P, rtol[g], atol[g], time[g], step[g])
                started = True
                continue
            _move(nothing, P, K, tableau[6], 7, memory(h), error)
            _sums(Y, new, P, error, move(memory(rtol), g), move(memory(atol), g), memory(sums))
            _judge(sums, P, h, time[g], step[g], failed[g], until[g], accepted)
            _keep(Y, new, P, memory(accepted))
            _keep(K, move(K, 6 * P), P, memory(accepted))
        _copy(k0, K, P)
        for lane in range(LANES):
            if time[g, lane] < until[g, lane]:
                failed[g, lane] = True
        for i in range(P):
            for lane in range(LANES):
                out[g * LANES + lane, i] = y[g, i, lane]


class FlowKernel:
    """Gradient flow with the arguments and, up to rounding, the steps of `flow.Flow`, whatever a cell's company.

    Attributes:
        failed: cells whose flow could not be followed, shape (C,), bool; they stay where they were.
    """

    def __init__(self, net: Net, moments: Tensor, time_per_step: Array, rtol: Array) -> None:
        self.net = net
        flat = np.concatenate([parameter.flatten(1).numpy() for parameter in net.parameters], axis=1)
        dtype = flat.dtype
        rtol = rtol.astype(dtype)
        self._y, M = _in_lanes(flat), _in_lanes(-moments.flatten(1).numpy())
        groups, P, _ = self._y.shape
        self._time_per_step = _in_lanes(time_per_step.astype(dtype))
        self._failed = np.zeros((groups, LANES), bool)
        self.failed = torch.from_numpy(self._failed).flatten()[: net.cells]
        time, step = np.full((groups, LANES), -1, dtype), np.zeros((groups, LANES), dtype)
        targets = np.zeros((0, 1, LANES), dtype) if net.target is None else _in_lanes(net.target.flatten(1).numpy())
        self._state: tuple[Any, ...] = (self._y, np.empty_like(self._y), M, targets, time, step, self._failed)
        # As in `flow.Flow`: 1e-3 rtol times the root mean square of the initial parameters.
        size = np.sqrt(np.square(flat).mean(1))
        atol = (1e-3 * rtol * np.where(size > 0, size, 1)).astype(dtype)
        # Cells that fill up the last group rest at 0, and their tolerance is 1: no error is divided by 0.
        self._tolerance: tuple[Any, ...] = (_in_lanes(rtol, 1), _in_lanes(atol, 1))
        shape, sizes = net.shape, np.array([net.shape.k, *net.shape.widths])
        room = int(sizes[0] * sizes.max())
        work = np.zeros(((len(sizes) + 2) * room + 10 * P, LANES), dtype)
        self._out = torch.from_numpy(np.empty((groups * LANES, P), dtype))
        self._rest: tuple[Any, ...] = (
            sizes, room, shape.s, int(shape.bias), shape.symmetric, TABLEAU.astype(dtype),
            work, np.empty((3, LANES), dtype), self._out.numpy(),
        )  # fmt: skip

    def advance(self, start: int, stop: int) -> None:
        """Integrate to the time of step `stop`."""
        _advance(*self._state, stop * self._time_per_step, *self._tolerance, *self._rest)
        sizes = [parameter[0].numel() for parameter in self.net.parameters]
        for parameter, values in zip(self.net.parameters, self._out.split(sizes, dim=1), strict=True):
            parameter.copy_(values[: self.net.cells].reshape(parameter.shape))

    def freeze(self, cells: Tensor) -> None:
        """Set the cells of a mask (C,) to zero weights that no longer move."""
        self.failed |= cells
        self._y.swapaxes(1, 2)[self._failed] = 0
        self.net.zero(cells)


def _in_lanes(rows: Array, missing: float = 0) -> Array:
    """Rows (C, P) as groups (G, P, LANES), or numbers (C,) as (G, LANES)."""
    padded = np.full((-(-len(rows) // LANES) * LANES, *rows.shape[1:]), missing, rows.dtype)
    padded[: len(rows)] = rows
    groups = padded.reshape(-1, LANES, *rows.shape[1:])
    return groups if rows.ndim == 1 else np.ascontiguousarray(groups.swapaxes(1, 2))
