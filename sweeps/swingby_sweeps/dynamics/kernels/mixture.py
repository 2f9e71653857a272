"""Second moments of training points: of all, and of every mini-batch, from one pass over what a cell draws.

A net that is linear in x meets its points only through moments, and a point is x = c + sigma z with a standard normal
z. So the points themselves are never made: per mini-batch and cluster the sums of 1, z and z z^T are kept, which cells
that share their draws share too, and a cell's moments follow from its own centres and sigma. The draws are those of
`task.draw_points` and `task.Order`, to the last bit; the moments differ from `task.batch_moments` by rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from swingby.model.cell import Cell
from swingby_sweeps.sim import task
from swingby_sweeps.sim.kernels.streams import STREAM, begin, keys, normals, permute
from swingby_sweeps.sim.kernels.vector import LANES
from swingby_sweeps.sim.params import SimParams

Array = np.ndarray


def _params(cell: Cell) -> SimParams:
    assert isinstance(cell.params, SimParams)
    return cell.params


class Draws:
    """What C cells of one shape draw of points and orders; each set of streams is drawn once, whoever shares it.

    Shapes: M clusters of n points, N = M n; U different sets of draws.

    Args:
        cells: of one shape.
        batch_size: points a mini-batch, the last one smaller; None: all points at once, in no order.
    """

    def __init__(self, cells: Sequence[Cell], batch_size: int | None) -> None:
        params = [_params(cell) for cell in cells]
        p = params[0]
        self._p, self._size = p, batch_size or p.points
        self.batches = -(-p.points // self._size)
        names = [*range(1, p.s + 1), *([0] if p.zero_cluster else [])]
        self._M = len(names)
        signals = task.Signals.of(params)
        self._test, self._deviations = signals.mu, np.sqrt(signals.variances)
        self._centres = np.zeros((len(cells), self._M, p.s))
        self._centres[:, np.arange(p.s), np.arange(p.s)] = self._test
        self._nearest = np.array([min(q.mu) / 2 if q.truncate else 0.0 for q in params])
        drawn = np.stack([keys(cells, name) for name in ("order", *(f"data/{name}" for name in names))], axis=1)
        # A truncated cell's points hang on its own centres: it shares them with nobody.
        told = np.concatenate([drawn.reshape(len(cells), -1), self._own()[:, None]], axis=1)
        _, self._first, self.which = np.unique(told, axis=0, return_index=True, return_inverse=True)
        self.which = self.which.reshape(-1)
        self._keys = drawn[self._first]
        self._streams: Array | None = None
        self._z: Array | None = None

    def _own(self) -> Array:
        return np.where(self._nearest > 0, np.arange(1, len(self._nearest) + 1), 0).astype(np.uint64)

    def sums(self) -> Array:
        """Per mini-batch and cluster the sums of 1, z_p and z_p z_q (q <= p): (U, batches, M, 1 + s + s (s + 1) / 2).

        Each call is the next epoch; where the order is drawn once, it is every epoch.
        """
        s, again = self._p.s, self._p.drive == "sgd" and self._p.shuffle == "every_epoch"
        out = np.zeros((len(self._keys), self.batches, self._M, 1 + s + s * (s + 1) // 2))
        truncated = self._centres[self._first], self._deviations[self._first], self._test[self._first]
        if self._z is None:
            shape = (len(self._keys) if again else 1, self._M, self._p.n, s)
            self._z, self._streams = np.empty(shape), np.empty((len(self._keys), STREAM), np.uint64)
            _drawn_sums(self._keys, *truncated, self._nearest[self._first], self._size, self._z, self._streams, out)
        else:
            assert self._streams is not None
            _next_sums(self._streams, self._size, self._z, out)
        return out

    def moments(self, sums: Array) -> Array:
        """E[x x^T] of every mini-batch, with the constant last where there are biases: (C, batches, k, k), float64."""
        k = self._p.s + self._p.bias
        out = np.empty((len(self.which), sums.shape[1], k, k))
        _moments(sums, self.which, self._centres, self._deviations, out)
        return out

    def foods(self, sums: Array, rates: Array, dtype: np.dtype) -> Array:
        """The moments times each cell's rate (C,), sixteen cells side by side: (G, batches, k k, LANES)."""
        k = self._p.s + self._p.bias
        groups = -(-len(self.which) // LANES)
        out = np.zeros((groups, sums.shape[1], k * k, LANES), dtype)
        _foods(sums, self.which, self._centres, self._deviations, rates, out)
        return out

    def points(self) -> Array:
        """Training points before any shuffle, as `task.draw_points`: (C, N, s), float64."""
        out = np.empty((len(self.which), self._p.points, self._p.s))
        own = self._keys[self.which], self._centres, self._deviations, self._test, self._nearest
        _points(*own, np.empty((self._M, self._p.n, self._p.s)), out)
        return out


@njit(cache=True, nogil=True)
def _draw(keys: Array, centres: Array, deviation: Array, test: Array, nearest: float, z: Array) -> None:
    """The z of a cell's points, (M, n, s): in the order of the stream, without those that truncation leaves out."""
    M, n, s = z.shape
    stream = np.empty(STREAM, np.uint64)
    for m in range(M):
        begin(keys[1 + m], stream)
        normals(stream, z[m].reshape(n * s))
        if nearest > 0:
            kept = 0
            while True:
                for i in range(kept, n):
                    square = 0.0
                    for p in range(s):
                        square += (centres[m, p] + deviation[p] * z[m, i, p] - test[p]) ** 2
                    if math.sqrt(square) >= nearest:
                        for p in range(s):
                            z[m, kept, p] = z[m, i, p]
                        kept += 1
                if kept == n:
                    break
                normals(stream, z[m, kept:].reshape((n - kept) * s))


@njit(cache=True, nogil=True)
def _add_up(z: Array, batch: Array, sums: Array) -> None:
    """Add 1, z and z z^T of every point to the sums of its mini-batch: sums (batches, M, ..), batch (N,)."""
    M, n, s = z.shape
    for m in range(M):
        if s == 2:
            for i in range(n):
                own = sums[batch[m * n + i], m]
                x, y = z[m, i, 0], z[m, i, 1]
                own[0] += 1
                own[1] += x
                own[2] += y
                own[3] += x * x
                own[4] += x * y
                own[5] += y * y
            continue
        for i in range(n):
            own, at = sums[batch[m * n + i], m], 1 + s
            own[0] += 1
            for p in range(s):
                own[1 + p] += z[m, i, p]
                for q in range(p + 1):
                    own[at] += z[m, i, p] * z[m, i, q]
                    at += 1


@njit(cache=True, nogil=True)
def _batch_of(stream: Array, size: int, order: Array, partners: Array, batch: Array) -> None:
    """The mini-batch of every point in the next order of a stream, (N,)."""
    permute(stream, order, partners)
    number, left = 0, size
    for i in range(len(order)):
        if left == 0:
            number, left = number + 1, size
        batch[order[i]] = number
        left -= 1


@njit(cache=True, nogil=True)
def _drawn_sums(
    keys: Array,
    centres: Array,
    deviations: Array,
    test: Array,
    nearest: Array,
    size: int,
    z: Array,
    streams: Array,
    out: Array,
) -> None:
    """The sums of the first epoch; z (U, M, n, s) keeps the draws, or one set of them after the other."""
    N = z.shape[1] * z.shape[2]
    order, partners, batch = np.empty(N, np.int32), np.empty(N, np.int32), np.zeros(N, np.int32)
    for u in range(len(keys)):
        own = z[u if len(z) == len(keys) else 0]
        _draw(keys[u], centres[u], deviations[u], test[u], nearest[u], own)
        begin(keys[u, 0], streams[u])
        if size < N:
            _batch_of(streams[u], size, order, partners, batch)
        _add_up(own, batch, out[u])


@njit(cache=True, nogil=True)
def _next_sums(streams: Array, size: int, z: Array, out: Array) -> None:
    """The sums of a further epoch, from draws that were kept."""
    N = z.shape[1] * z.shape[2]
    order, partners, batch = np.empty(N, np.int32), np.empty(N, np.int32), np.zeros(N, np.int32)
    for u in range(len(streams)):
        if size < N:
            _batch_of(streams[u], size, order, partners, batch)
        _add_up(z[u], batch, out[u])


@njit(cache=True, nogil=True)
def _entry(sums: Array, centres: Array, deviation: Array, p: int, q: int) -> float:
    """The sum of x_p x_q over a mini-batch, q <= p; p = s is the constant. sums (M, ..), centres (M, s)."""
    s, total = centres.shape[1], 0.0
    for m in range(len(sums)):
        if q == s:
            total += sums[m, 0]
        elif p == s:
            total += centres[m, q] * sums[m, 0] + deviation[q] * sums[m, 1 + q]
        else:
            own = sums[m, 1 + s + p * (p + 1) // 2 + q]
            c, e, x, y = centres[m, p], centres[m, q], deviation[p], deviation[q]
            total += c * e * sums[m, 0] + c * y * sums[m, 1 + q] + e * x * sums[m, 1 + p] + x * y * own
    return total


@njit(cache=True, nogil=True)
def _moments(sums: Array, which: Array, centres: Array, deviations: Array, out: Array) -> None:
    for c in range(len(which)):
        for b in range(sums.shape[1]):
            own = sums[which[c], b]
            size = own[:, 0].sum()
            for p in range(out.shape[2]):
                for q in range(p + 1):
                    out[c, b, p, q] = out[c, b, q, p] = _entry(own, centres[c], deviations[c], p, q) / size


@njit(cache=True, nogil=True)
def _foods(sums: Array, which: Array, centres: Array, deviations: Array, rates: Array, out: Array) -> None:
    k = round(math.sqrt(out.shape[2]))
    for c in range(len(which)):
        group, lane = c // out.shape[3], c % out.shape[3]
        for b in range(sums.shape[1]):
            own = sums[which[c], b]
            size = own[:, 0].sum()
            for p in range(k):
                for q in range(p + 1):
                    entry = rates[c] * (_entry(own, centres[c], deviations[c], p, q) / size)
                    out[group, b, p * k + q, lane] = out[group, b, q * k + p, lane] = entry


@njit(cache=True, nogil=True)
def _points(keys: Array, centres: Array, deviations: Array, test: Array, nearest: Array, z: Array, out: Array) -> None:
    M, n, s = z.shape
    for c in range(len(keys)):
        _draw(keys[c], centres[c], deviations[c], test[c], nearest[c], z)
        for m in range(M):
            for i in range(n):
                for p in range(s):
                    out[c, m * n + i, p] = centres[c, m, p] + deviations[c, p] * z[m, i, p]
