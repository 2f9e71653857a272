"""Second moments of training points, computed from the points themselves."""

from __future__ import annotations

import numpy as np

from swingby_sweeps.sim.params import SimParams
from swingby_sweeps.sim.task import with_constant

Array = np.ndarray


def batch_moments(points: Array, size: int) -> Array:
    """E[x x^T] of every `size` consecutive points, and of the fewer points of a last batch; shape (batches, k, k)."""
    batches = [points[start : start + size] for start in range(0, len(points), size)]
    return np.stack([batch.T @ batch / len(batch) for batch in batches])


def sample_moments(p: SimParams, points: Array) -> Array:
    """A = E[x x^T] over the points (and the mean in the last row and column with bias), shape (k, k), k = s + bias."""
    x = with_constant(points, p.bias)
    return np.linalg.matrix_power(x.T @ x / len(x), p.moment_power)
