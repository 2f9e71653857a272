"""The structured identity mapping (SIM) task: clusters, test points and the second moments that drive linear nets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.shapes import Order

from .params import SimParams

Array = np.ndarray
_EVALUATED = 500
"""Points on which features are measured, of all clusters together."""
_NEAREST, _SHOWN = 50, 500
"""Numbers of training points in a cell's row, on request: the nearest to the test point, and all of them."""


class Signals(NamedTuple):
    """The numbers of the task for C cells with the same s.

    Attributes:
        mu: distances of the centres from the origin, (C, s); row c is x^ = sum_p mu_p e_p, the test point.
        variances: sigma_p^2, (C, s).
        a: sigma_p^2 + mu_p^2 / clusters ([S] 4, C.13 without its minus), (C, s), to the power moment_power: the
            numbers that drive the model.
        l_ref: 1/2 ||x^||^2, the unit of loss, (C,).
    """

    mu: Array
    variances: Array
    a: Array
    l_ref: Array

    @classmethod
    def of(cls, params: Sequence[SimParams]) -> Signals:
        """The numbers of cells with these parameters."""
        mu = np.array([p.mu for p in params], dtype=np.float64)
        sigma = np.array([p.sigma for p in params], dtype=np.float64)
        is_variance = np.array([p.sigma_is == "variance" for p in params])
        clusters, power = np.array([(p.clusters, p.moment_power) for p in params]).T
        variances = np.where(is_variance[:, None], sigma, sigma**2)
        a = variances + np.square(mu) / clusters[:, None]
        return cls(mu, variances, np.where(power[:, None] == 1, a, a**2), 0.5 * np.square(mu).sum(1))


def variances(p: SimParams) -> Array:
    """sigma_p^2, shape (s,)."""
    return Signals.of([p]).variances[0]


def signal(p: SimParams) -> Array:
    """a_p of `Signals`, shape (s,)."""
    return Signals.of([p]).a[0]


def test_point(p: SimParams) -> Array:
    """x^ = sum_p mu_p e_p, shape (s,): its informative coordinates."""
    return np.asarray(p.mu, dtype=np.float64)


def hierarchy(p: SimParams) -> Array:
    """x^(v) = sum_p v_p mu_p e_p (B.1), shape (2^s, s); bit p of the row's index is v_(p+1)."""
    v = np.arange(2**p.s)[:, None] >> np.arange(p.s)[None, :] & 1
    return v * test_point(p)


def centres(p: SimParams) -> Array:
    """The s cluster centres mu_p e_p, shape (s, s); the one at the origin is left out."""
    return np.diag(test_point(p))


def draw_points(cell: Cell[SimParams]) -> Array:
    """The training points in their s informative coordinates, before any shuffle; float64, shape (C n, s).

    Cluster p comes from stream `data/p`; the one at the origin, last, from `data/0`. Larger n extends smaller n.
    """
    p = cell.params
    return np.concatenate([_cluster(cell, p, name) for name in cluster_names(p)])


def cluster_names(p: SimParams) -> list[int]:
    """The number p of every cluster's stream `data/p`, in the order of the points."""
    return [*range(1, p.s + 1), *([0] if p.zero_cluster else [])]


def evaluation_points(cell: Cell[SimParams]) -> Array:
    """About 500 points of the clusters that no training sees, from streams `features/p`; float64, shape (N, s)."""
    p = cell.params
    each = -(-_EVALUATED // p.clusters)
    return np.concatenate([_cluster(cell, p, name, "features", each) for name in cluster_names(p)])


def _cluster(cell: Cell[SimParams], p: SimParams, name: int, streams: str = "data", n: int | None = None) -> Array:
    stream, n = cell.stream(f"{streams}/{name}"), p.n if n is None else n
    centre = centres(p)[name - 1] if name else np.zeros(p.s)
    kept: list[Array] = []
    # The loop ends: no centre is within min(mu)/2 of x^ (s >= 2), so at least half of all draws are kept.
    while missing := n - sum(map(len, kept)):
        points = centre + np.sqrt(variances(p)) * stream.standard_normal((missing, p.s))
        kept.append(points[far_enough(p, points)] if p.truncate else points)
    return np.concatenate(kept)


def far_enough(p: SimParams, points: Array) -> Array:
    """Mask (N,) of the points that the truncated variant keeps: those no closer to x^ than min(mu)/2 ([S] F.3)."""
    return np.linalg.norm(points - test_point(p), axis=-1) >= min(p.mu) / 2


def shown_points(p: SimParams, points: Array) -> Array:
    """At most 500 of the points (N, s), for drawings: the 50 nearest to x^, nearest first, then every n-th other."""
    by_distance = np.argsort(np.linalg.norm(points - test_point(p), axis=-1), kind="stable")
    near, far = by_distance[:_NEAREST], np.sort(by_distance[_NEAREST:])
    stride = max(1, -(-len(far) // (_SHOWN - _NEAREST)))
    return points[np.concatenate([near, far[::stride]])]


def order(cell: Cell[SimParams]) -> Order:
    """The order of the training points in each epoch, from the stream `order`: drawn once, or anew each epoch."""
    p = cell.params
    return Order(cell.stream("order"), p.points, p.batching.reshuffle)


def with_constant(points: Array, bias: bool) -> Array:
    """Points with a last coordinate of 1 where the net has biases: a bias is the weight of that coordinate."""
    return np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1) if bias else points


def population_moments(p: SimParams) -> Array:
    """diag(a) (and the mean mu/C with bias): the moments of infinitely many points, shape (k, k)."""
    A = np.diag(variances(p) + np.square(p.mu) / p.clusters)
    if p.bias:
        mean = test_point(p)[:, None] / p.clusters
        A = np.block([[A, mean], [mean.T, np.ones((1, 1))]])
    return np.linalg.matrix_power(A, p.moment_power)


def random_rotation(cell: Cell[SimParams]) -> Array:
    """R, orthogonal with determinant +1, uniformly distributed; identity without rotation. Shape (d, d).

    QR of a normal matrix from the stream `rotation`, with the signs of R's diagonal taken out, so that Q is unique.
    """
    p = cell.params
    return orthogonal(cell.stream("rotation").standard_normal((p.d, p.d))) if p.rotate else np.eye(p.d)


def orthogonal(drawn: Array) -> Array:
    """Q of QR with R's diagonal positive and, by the last column's sign, determinant +1; shapes (..., d, d)."""
    Q, upper = np.linalg.qr(drawn)
    Q = Q * np.where(np.diagonal(upper, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[..., None, :]
    Q[..., -1] *= np.where(np.linalg.det(Q) < 0, -1.0, 1.0)[..., None]
    return Q
