"""Points of Gaussian clusters, and their second moments: of all, and of every mini-batch, from one pass over the draws.

The training of a net that is linear in x depends on its points only through their moments, and a point is
x = c + deviation z with a standard normal z. So for such nets the points themselves are never made: the sums of 1, z
and z z^T over each mini-batch and cluster are kept, and a cell's moments follow from its own centres and deviations.
Cells with the same streams share these sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..parts import in_parts
from ..shapes import Batching
from . import LANES, aligned
from .streams import STREAM, begin, normals, permute

Array = np.ndarray


@dataclass(frozen=True)
class Mixture:
    """The points of C cells: M Gaussian clusters of n points in s dimensions, one random stream a cluster.

    Attributes:
        n: points a cluster; N = M n of them in all.
        keys: of the random streams, (C, 1 + M, 2), uint64: that of the order of the points, then each cluster's.
        centres: of the clusters, (C, M, s).
        deviations: standard deviation along each dimension, the same in all clusters, (C, s).
        avoided: points closer to this one than `distance` are drawn again, (C, s).
        distance: (C,); where it is 0 no point is drawn again.
        bias: whether a constant 1 is the last coordinate in moments; k = s + bias.
    """

    n: int
    keys: Array
    centres: Array
    deviations: Array
    avoided: Array
    distance: Array
    bias: bool = False

    @property
    def points(self) -> int:
        """Points of a cell, N."""
        return self.n * self.centres.shape[1]


class MixtureDraws:
    """The draws of points and orders of C cells; cells with the same streams share one set of draws.

    U is the number of different sets of draws. Without `batching` all points come at once, in no order.

    Attributes:
        batches: mini-batches in an epoch.
        reshuffle: whether every epoch has mini-batches of its own.
        which: the number of each cell's set of draws, (C,).
    """

    def __init__(self, mixture: Mixture, batching: Batching | None = None) -> None:
        m = self._mixture = mixture
        self._size = batching.size if batching else m.points
        self.batches = -(-m.points // self._size)
        self.reshuffle = batching is not None and batching.reshuffle
        # Which points are drawn again depends on a cell's own centres: such a cell shares its draws with no other.
        owner = np.where(m.distance > 0, np.arange(1, len(m.distance) + 1), 0).astype(np.uint64)
        sets = np.concatenate([m.keys.reshape(len(m.keys), -1), owner[:, None]], axis=1)
        _, self._first, which = np.unique(sets, axis=0, return_index=True, return_inverse=True)
        self.which = which.reshape(-1)
        self._keys = m.keys[self._first]
        self._streams: Array | None = None
        self._z: Array | None = None

    def sums(self) -> Array:
        """Per mini-batch and cluster the sums of 1, z_p and z_p z_q (q <= p): (U, batches, M, 1 + s + s (s + 1) / 2).

        Each call is the next epoch; where the order is drawn once, it is every epoch.
        """
        m, (_, M, s) = self._mixture, self._mixture.centres.shape
        out = np.zeros((len(self._keys), self.batches, M, 1 + s + s * (s + 1) // 2))
        drawn, first = self._z is not None, self._first
        if self._z is None or self._streams is None:
            shape = (len(self._keys) if self.reshuffle else 1, M, m.n, s)
            self._z, self._streams = np.empty(shape), np.empty((len(self._keys), STREAM), np.uint64)
        z, streams = self._z, self._streams

        def compute(sets: slice) -> None:
            u, alone = first[sets], sets == slice(0, len(out))
            draws = z[sets] if self.reshuffle else z if alone else np.empty_like(z)
            groups = self._keys[sets], m.centres[u], m.deviations[u], m.avoided[u], m.distance[u]
            _epoch_sums(*groups, self._size, drawn, draws, streams[sets], out[sets])

        in_parts(compute, len(out))
        return out

    def moments(self, sums: Array) -> Array:
        """E[x x^T] of every mini-batch, with the constant last where there are biases: (C, batches, k, k), float64."""
        m, k = self._mixture, self._mixture.centres.shape[2] + self._mixture.bias
        out = np.empty((len(self.which), sums.shape[1], k, k))
        in_parts(lambda c: _moments(sums, self.which[c], m.centres[c], m.deviations[c], out[c]), len(out))
        return out

    def moments_in_lanes(self, sums: Array, rates: Array, dtype: np.dtype) -> Array:
        """The moments times each cell's rate (C,), sixteen cells side by side: (G, batches, k k, LANES)."""
        m, k = self._mixture, self._mixture.centres.shape[2] + self._mixture.bias
        groups = -(-len(self.which) // LANES)
        out = aligned((groups, sums.shape[1], k * k, LANES), dtype)
        _moments_in_lanes(sums, self.which, m.centres, m.deviations, rates, out)
        return out

    def points(self) -> Array:
        """Training points before any shuffle: (C, N, s), float64, cluster by cluster."""
        m, (C, M, s) = self._mixture, self._mixture.centres.shape
        out = np.empty((C, m.points, s))

        def compute(c: slice) -> None:
            groups = self._keys[self.which[c]], m.centres[c], m.deviations[c], m.avoided[c], m.distance[c]
            _points(*groups, np.empty((M, m.n, s)), out[c])

        in_parts(compute, C)
        return out


@njit(cache=True, nogil=True)
def _draw(keys: Array, centres: Array, deviation: Array, avoided: Array, distance: float, z: Array) -> None:
    """The z of a cell's points, (M, n, s): in the order of the stream, without those too close to `avoided`."""
    M, n, s = z.shape
    stream = np.empty(STREAM, np.uint64)
    for m in range(M):
        begin(keys[1 + m], stream)
        normals(stream, z[m].reshape(n * s))
        if distance > 0:
            kept = 0
            while True:
                for i in range(kept, n):
                    square = 0.0
                    for p in range(s):
                        square += (centres[m, p] + deviation[p] * z[m, i, p] - avoided[p]) ** 2
                    if math.sqrt(square) >= distance:
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
        # Two concepts, by far the most frequent, are written out.
        if s == 2:
            for i in range(n):
                part = sums[batch[m * n + i], m]
                x, y = z[m, i, 0], z[m, i, 1]
                part[0] += 1
                part[1] += x
                part[2] += y
                part[3] += x * x
                part[4] += x * y
                part[5] += y * y
            continue
        for i in range(n):
            part, at = sums[batch[m * n + i], m], 1 + s
            part[0] += 1
            for p in range(s):
                part[1 + p] += z[m, i, p]
                for q in range(p + 1):
                    part[at] += z[m, i, p] * z[m, i, q]
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
def _epoch_sums(
    keys: Array,
    centres: Array,
    deviations: Array,
    avoided: Array,
    distance: Array,
    size: int,
    drawn: bool,
    z: Array,
    streams: Array,
    out: Array,
) -> None:
    """The sums of an epoch, the first one where nothing is drawn yet.

    z (U, M, n, s) keeps the draws for later epochs; of one epoch alone, z (1, M, n, s) holds one set after the other.
    """
    N = z.shape[1] * z.shape[2]
    order, partners, batch = np.empty(N, np.int32), np.empty(N, np.int32), np.zeros(N, np.int32)
    for u in range(len(keys)):
        draws = z[u if len(z) == len(keys) else 0]
        if not drawn:
            _draw(keys[u], centres[u], deviations[u], avoided[u], distance[u], draws)
            begin(keys[u, 0], streams[u])
        if size < N:
            _batch_of(streams[u], size, order, partners, batch)
        _add_up(draws, batch, out[u])


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
            second = sums[m, 1 + s + p * (p + 1) // 2 + q]
            c, e, x, y = centres[m, p], centres[m, q], deviation[p], deviation[q]
            total += c * e * sums[m, 0] + c * y * sums[m, 1 + q] + e * x * sums[m, 1 + p] + x * y * second
    return total


@njit(cache=True, nogil=True)
def _moments(sums: Array, which: Array, centres: Array, deviations: Array, out: Array) -> None:
    for c in range(len(which)):
        for b in range(sums.shape[1]):
            batch = sums[which[c], b]
            size = batch[:, 0].sum()
            for p in range(out.shape[2]):
                for q in range(p + 1):
                    out[c, b, p, q] = out[c, b, q, p] = _entry(batch, centres[c], deviations[c], p, q) / size


@njit(cache=True, nogil=True)
def _moments_in_lanes(sums: Array, which: Array, centres: Array, deviations: Array, rates: Array, out: Array) -> None:
    k = round(math.sqrt(out.shape[2]))
    for c in range(len(which)):
        group, lane = c // out.shape[3], c % out.shape[3]
        for b in range(sums.shape[1]):
            batch = sums[which[c], b]
            size = batch[:, 0].sum()
            for p in range(k):
                for q in range(p + 1):
                    entry = rates[c] * (_entry(batch, centres[c], deviations[c], p, q) / size)
                    out[group, b, p * k + q, lane] = out[group, b, q * k + p, lane] = entry


@njit(cache=True, nogil=True)
def _points(
    keys: Array, centres: Array, deviations: Array, avoided: Array, distance: Array, z: Array, out: Array
) -> None:
    M, n, s = z.shape
    for c in range(len(keys)):
        _draw(keys[c], centres[c], deviations[c], avoided[c], distance[c], z)
        for m in range(M):
            for i in range(n):
                for p in range(s):
                    out[c, m * n + i, p] = centres[c, m, p] + deviations[c, p] * z[m, i, p]
