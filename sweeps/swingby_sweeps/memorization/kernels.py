"""Training of denoisers by compiled steps, sixteen nets side by side: each number of a net is a vector over cells.

A net takes rows of `inputs` numbers to d outputs: h = A x + a, then for each block h += U relu(V h + v) + u, then
F = B h + b. Its numbers lie one after the other in this order, a weight of n outputs as n rows of its inputs and then n
offsets: P (numbers, LANES). Rows go in fours.

Shapes: G groups of LANES cells; B points a step; d the dimension of the data.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from swingby_sweeps.dynamics.kernels import LANES, aligned
from swingby_sweeps.dynamics.kernels.products import DOWN, ERROR, HIDDEN, PLAIN, add_outer, products
from swingby_sweeps.dynamics.kernels.streams import normals, permute
from swingby_sweeps.dynamics.kernels.vector import add, load, memory, move, store

Array = np.ndarray
FEATURES = 5
"""Inputs that say the noise level: c = ln(sigma / sigma_data), and sine and cosine of c and of 2 c."""


class Sizes(NamedTuple):
    """The sizes of a net.

    Attributes:
        inputs: numbers that it takes: coordinates, features of the noise level, a place for each condition.
        width, blocks: units of a hidden layer, and residual blocks.
        outputs: coordinates d.
    """

    inputs: int
    width: int
    blocks: int
    outputs: int

    @property
    def numbers(self) -> int:
        """Weights and offsets of a net."""
        block = 2 * self.width * (self.width + 1)
        return self.width * (self.inputs + 1) + self.blocks * block + self.outputs * (self.width + 1)


def room(sizes: Sizes, rows: int, dtype: Any) -> Array:
    """Scratch of a step of so many rows: states before and after every block, units, and errors."""
    w = sizes.width
    each = (sizes.blocks + 1) * w + sizes.blocks * w + sizes.outputs + 2 * w
    return aligned((rows * each, LANES), dtype)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to(M: Any, to: int, at: int, count: int) -> None:
    for i in range(count):
        store(M, to + i, add(load(M, to + i), load(M, at + i)))


@njit(cache=True, nogil=True, error_model="numpy")
def forward(P: Any, X: Any, x: int, sizes: Sizes, M: Any, rows: int, T: Any, t: int) -> int:
    """Outputs at rows x.. of X; less the targets at t of T, where t >= 0. Returns where in M they begin.

    M holds the states before each block and after the last, then the units of each block, then the outputs.
    """
    inputs, w, blocks, d = sizes
    units, f = (blocks + 1) * rows * w, (2 * blocks + 1) * rows * w
    products(X, x, inputs, P, 0, inputs, 1, w * inputs, inputs, w, M, 0, rows, PLAIN, X, x, inputs, 0)
    at = w * (inputs + 1)
    for block in range(blocks):
        h, unit = block * rows * w, units + block * rows * w
        after = h + rows * w
        products(M, h, w, P, at, w, 1, at + w * w, w, w, M, unit, rows, HIDDEN, X, x, inputs, 0)
        at += w * (w + 1)
        products(M, unit, w, P, at, w, 1, at + w * w, w, w, M, after, rows, PLAIN, X, x, inputs, 0)
        at += w * (w + 1)
        _add_to(M, after, h, rows * w)
    h = blocks * rows * w
    if t >= 0:
        products(M, h, w, P, at, w, 1, at + d * w, w, d, M, f, rows, ERROR, T, t, d, d)
    else:
        products(M, h, w, P, at, w, 1, at + d * w, w, d, M, f, rows, PLAIN, X, x, inputs, 0)
    return f


@njit(cache=True, nogil=True, error_model="numpy")
def backward(P: Any, X: Any, x: int, sizes: Sizes, M: Any, rows: int, G: Any) -> None:
    """Add to G what the errors in M, where `forward` left them, say of the numbers: sums over the rows of e dF."""
    inputs, w, blocks, d = sizes
    units, f = (blocks + 1) * rows * w, (2 * blocks + 1) * rows * w
    error, through = f + rows * d, f + rows * d + rows * w
    at, h = w * (inputs + 1) + 2 * blocks * w * (w + 1), blocks * rows * w
    add_outer(M, h, w, M, f, d, d, G, at, 1, w, rows)
    _offsets(M, f, d, G, at + d * w, rows)
    products(M, f, d, P, at, 1, w, -1, d, w, M, error, rows, PLAIN, X, x, inputs, 0)
    for block in range(blocks - 1, -1, -1):
        h, unit = block * rows * w, units + block * rows * w
        at -= w * (w + 1)
        add_outer(M, unit, w, M, error, w, w, G, at, 1, w, rows)
        _offsets(M, error, w, G, at + w * w, rows)
        products(M, error, w, P, at, 1, w, -1, w, w, M, through, rows, DOWN, M, unit, w, 0)
        at -= w * (w + 1)
        add_outer(M, h, w, M, through, w, w, G, at, 1, w, rows)
        _offsets(M, through, w, G, at + w * w, rows)
        # The state is no longer asked for: the error that comes down takes its place.
        products(M, through, w, P, at, 1, w, -1, w, w, M, h, rows, PLAIN, X, x, inputs, 0)
        _add_to(M, error, h, rows * w)
    add_outer(X, x, inputs, M, error, w, w, G, 0, 1, inputs, rows)
    _offsets(M, error, w, G, w * inputs, rows)


@njit(cache=True, nogil=True, error_model="numpy")
def _offsets(M: Any, D: int, out: int, G: Any, g: int, rows: int) -> None:
    """Add the rows at D of M, (rows, out), to the row at g of G."""
    for o in range(out):
        total = load(G, g + o)
        for n in range(rows):
            total = add(total, load(M, D + n * out + o))
        store(G, g + o, total)


@njit(cache=True, nogil=True)
def _next_points(stream: Array, order: Array, partners: Array, place: int, chosen: Array) -> int:
    """The points of a step, in passes through the training set, each in a new order; where the pass has got to."""
    n = len(order)
    for b in range(len(chosen)):
        if place == n:
            permute(stream, order, partners[:n])
            place = 0
        chosen[b] = order[place]
        place += 1
    return place


@njit(cache=True, nogil=True)
def _fill(
    points: Array, labels: Array, chosen: Array, draws: Array, level: Array, lane: int, X: Array, T: Array
) -> None:
    """The inputs and targets of one cell's step, into lane `lane` of X (B, inputs, LANES) and T (B, d, LANES).

    Args:
        points, labels: (n, d), and the place of each one's condition, (n,); (0,) where there are none.
        chosen: the points of the step, (B,).
        draws: standard normal numbers (B, d + 1): a row's noise level, and its noise.
        level: sigma_data, and mean and standard deviation of ln(sigma / sigma_data).
    """
    d, data = points.shape[1], level[0]
    for b in range(len(chosen)):
        i, c = chosen[b], level[1] + level[2] * draws[b, 0]
        ratio = math.exp(c)
        # c_in, c_skip and c_out of [K] Table 1, from ratio = sigma / sigma_data.
        root = math.sqrt(1 + ratio * ratio)
        inward, skip, outward = 1 / (data * root), 1 / (1 + ratio * ratio), data * ratio / root
        for j in range(d):
            noisy = points[i, j] + data * ratio * draws[b, 1 + j]
            X[b, j, lane] = inward * noisy
            T[b, j, lane] = (points[i, j] - skip * noisy) / outward
        _features(c, X, d, lane, b)
        if len(labels):
            _label(labels[i], X, d, lane, b)


@njit(cache=True, nogil=True)
def _features(c: float, X: Array, at: int, lane: int, row: int) -> None:
    """Write the inputs that say the noise level c = ln(sigma / sigma_data)."""
    sine, cosine = math.sin(c), math.cos(c)
    X[row, at, lane], X[row, at + 1, lane], X[row, at + 2, lane] = c, sine, cosine
    X[row, at + 3, lane], X[row, at + 4, lane] = 2 * sine * cosine, 1 - 2 * sine * sine


@njit(cache=True, nogil=True)
def _label(label: Any, X: Array, d: int, lane: int, row: int) -> None:
    """Write the inputs that say the condition: 1 at its place."""
    for place in range(d + FEATURES, X.shape[1]):
        X[row, place, lane] = 0.0
    X[row, d + FEATURES + label, lane] = 1.0


@njit(cache=True, nogil=True)
def fill_inputs(x: Array, c: Array, labels: Array, scales: Array, X: Array) -> None:
    """The inputs at x (C, R, d) of noise levels c (R,) and conditions (C, R) or (C, 0), to X (G, R, inputs, LANES).

    scales (C, R): c_in of each.
    """
    C, R, d = x.shape
    lanes = X.shape[3]
    for cell in range(C):
        into, lane = X[cell // lanes], cell % lanes
        for row in range(R):
            for j in range(d):
                into[row, j, lane] = scales[cell, row] * x[cell, row, j]
            _features(c[row], into, d, lane, row)
            if labels.shape[1]:
                _label(labels[cell, row], into, d, lane, row)


_TINY = 1e-30
"""Moments below this become 0: those of a unit that is never active would end in denormal numbers, with which a
processor takes a hundred times as long."""
SETTINGS = 4
"""Numbers that say how a cell is trained: lr, lr x weight decay, 1 - decay of the running mean (1: none), momentum."""


@njit(cache=True, nogil=True, error_model="numpy")
def _adam(w: Array, g: Array, m: Array, v: Array, s: Array, scale: Any) -> None:
    """A step of Adam (0.9, 0.999, 1e-8) with decoupled weight decay; arrays (numbers, LANES), s (SETTINGS, LANES)."""
    tiny, zero = scale.dtype.type(_TINY), scale.dtype.type(0)
    for i in range(w.shape[0]):
        for lane in range(w.shape[1]):
            slope = scale[0] * g[i, lane]
            mean, square = scale[1] * m[i, lane] + scale[2] * slope, scale[3] * v[i, lane] + scale[4] * slope * slope
            m[i, lane] = mean = mean if abs(mean) > tiny else zero
            v[i, lane] = square = square if square > tiny else zero
            step = mean / (np.sqrt(square * scale[6]) + scale[7])
            w[i, lane] -= s[0, lane] * scale[5] * step + s[1, lane] * w[i, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _sgd(w: Array, g: Array, m: Array, s: Array, scale: Any) -> None:
    """A step of gradient descent with momentum and decoupled weight decay."""
    tiny, zero = scale.dtype.type(_TINY), scale.dtype.type(0)
    for i in range(w.shape[0]):
        for lane in range(w.shape[1]):
            mean = s[3, lane] * m[i, lane] + scale[0] * g[i, lane]
            m[i, lane] = mean = mean if abs(mean) > tiny else zero
            w[i, lane] -= s[0, lane] * mean + s[1, lane] * w[i, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _average(e: Array, w: Array, s: Array) -> None:
    """The running mean of the numbers, to the bit these themselves in a cell that has none."""
    for i in range(w.shape[0]):
        for lane in range(w.shape[1]):
            mean = e[i, lane] + s[2, lane] * (w[i, lane] - e[i, lane])
            e[i, lane] = mean if s[2, lane] < 1 else w[i, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def train(
    numbers: Array, moments: Array, means: Array, settings: Array, levels: Array, noises: Array, passes: Array,
    points: Array, labels: Array, orders: Array, starts: Array, places: Array, sizes: Sizes, adam: bool, work: Array,
    gradient: Array, inputs: Array, targets: Array, chosen: Array, scale: Array, first: int, last: int,
) -> None:  # fmt: skip
    """The steps first .. last - 1 of C cells in G groups, in place.

    Args:
        numbers, means: (G, numbers, LANES): the nets, and their running means.
        moments: (2, G, numbers, LANES).
        settings: (G, SETTINGS, LANES).
        levels: (C, 3), of `_fill`.
        noises, passes: streams (C, STREAM) of noise and of passes.
        points, labels, orders: of all cells, one after the other: (N, d), (N,) or (0,), (N,); those of cell c lie from
            starts[c] to starts[c + 1]. `orders` is the pass that the cell is in, and `places` (C,) how far it has got.
        work, gradient, inputs, targets, chosen, scale: scratch, as `Denoisers` makes it.
    """
    C, rows, lanes = len(levels), len(chosen), numbers.shape[2]
    X, T, M, slope = memory(inputs), memory(targets), memory(work), memory(gradient)
    draws, partners = np.empty((rows, sizes.outputs + 1)), np.empty_like(orders)
    scale[0], scale[1], scale[2], scale[3], scale[4] = 2 / (rows * sizes.outputs), 0.9, 1 - 0.9, 0.999, 1 - 0.999
    scale[7] = 1e-8
    for group in range(len(numbers)):
        P, s = move(memory(numbers), group * numbers.shape[1]), settings[group]
        cells = range(group * lanes, min(C, (group + 1) * lanes))
        averaged = False
        for lane in range(lanes):
            averaged |= s[2, lane] < 1
        inputs[:] = 0.0
        targets[:] = 0.0
        for step in range(first, last):
            for c in cells:
                of = slice(starts[c], starts[c + 1])
                places[c] = _next_points(passes[c], orders[of], partners, places[c], chosen)
                normals(noises[c], draws.reshape(-1))
                of_labels = labels[of] if len(labels) else labels
                _fill(points[of], of_labels, chosen, draws, levels[c], c - group * lanes, inputs, targets)
            gradient[:] = 0.0
            forward(P, X, 0, sizes, M, rows, T, 0)
            backward(P, X, 0, sizes, M, rows, slope)
            if adam:
                # The means begin at 0, which their correction takes away.
                scale[5], scale[6] = 1 / (1 - 0.9 ** (step + 1)), 1 / (1 - 0.999 ** (step + 1))
                _adam(numbers[group], gradient, moments[0, group], moments[1, group], s, scale)
            else:
                _sgd(numbers[group], gradient, moments[0, group], s, scale)
            if averaged:
                _average(means[group], numbers[group], s)


@njit(cache=True, nogil=True, error_model="numpy")
def outputs(numbers: Array, inputs: Array, sizes: Sizes, work: Array, block: int, out: Array) -> None:
    """out (G, R, d, LANES) = F at rows (G, R, inputs, LANES), `block` rows at a time, some fours; R is a multiple."""
    X, M = memory(inputs), memory(work)
    R, k, d = inputs.shape[1], inputs.shape[2], sizes.outputs
    for group in range(len(numbers)):
        P, F = move(memory(numbers), group * numbers.shape[1]), move(memory(out), group * R * d)
        for row in range(0, R, block):
            f = forward(P, X, (group * R + row) * k, sizes, M, block, X, -1)
            for i in range(block * d):
                store(F, row * d + i, load(M, f + i))


@njit(cache=True, nogil=True)
def two_nearest(samples: Array, points: Array, out: Array) -> None:
    """out (R, 2): distances of samples (R, d) to their nearest and second nearest of the points (n, d)."""
    for row in range(len(samples)):
        one, two = np.inf, np.inf
        for i in range(len(points)):
            total = 0.0
            for j in range(points.shape[1]):
                total += (samples[row, j] - points[i, j]) ** 2
            if total < one:
                one, two = total, one
            elif total < two:
                two = total
        out[row, 0], out[row, 1] = math.sqrt(one), math.sqrt(two)


@njit(cache=True, nogil=True)
def mean_distance(a: Array, b: Array, same: bool) -> float:
    """The mean distance of a row of a (R, d) to one of b (S, d); `same`: a is b, and no row is its own partner."""
    total, count = 0.0, 0
    for row in range(len(a)):
        for other in range(row + 1 if same else 0, len(b)):
            square = 0.0
            for j in range(a.shape[1]):
                square += (a[row, j] - b[other, j]) ** 2
            total += math.sqrt(square)
            count += 1
    return total / count
