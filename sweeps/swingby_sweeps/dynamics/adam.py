"""Adam for one flat vector of weights, compiled: a pass over memory a step."""

from __future__ import annotations

import numba
import numpy as np

Array = np.ndarray


class Adam:
    """Adam with weight decay as a part of the gradient, in place on a flat vector.

    m <- b1 m + (1 - b1) g, v <- b2 v + (1 - b2) g^2, w <- w - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps), where
    g is the gradient plus l2 w: the rule of `torch.optim.Adam(weight_decay=l2)`, in the arithmetic of the weights.

    Args:
        weights: flat and contiguous; changed by every step.
        l2: factor of the weights in the gradient.
        b1, b2, eps: decay of the mean and of the mean square of the gradient, and what is added to its root.
    """

    def __init__(self, weights: Array, l2: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> None:
        self._weights, self._l2, self._b1, self._b2, self._eps = weights, l2, b1, b2, eps
        self._m, self._v, self._steps = np.zeros_like(weights), np.zeros_like(weights), 0

    def step(self, gradient: Array, lr: float) -> None:
        """Change the weights by the gradient of a loss there, of the shape and type of the weights."""
        self._steps += 1
        rate = lr / (1 - self._b1**self._steps)
        spread = 1 / (1 - self._b2**self._steps)
        # Typed constants: a float64 among them would have every number converted there and back.
        numbers = (self._l2, self._b1, 1 - self._b1, self._b2, 1 - self._b2, rate, spread, self._eps)
        _step(self._weights, gradient, self._m, self._v, *map(self._weights.dtype.type, numbers))


@numba.njit(cache=True, error_model="numpy")
def _step(
    w: Array, g: Array, m: Array, v: Array,
    l2: float, b1: float, rest1: float, b2: float, rest2: float, rate: float, spread: float, eps: float,
) -> None:  # fmt: skip
    for i in range(w.size):
        slope = g[i] + l2 * w[i]
        m[i] = b1 * m[i] + rest1 * slope
        v[i] = b2 * v[i] + rest2 * slope * slope
        w[i] -= rate * m[i] / (np.sqrt(v[i] * spread) + eps)
