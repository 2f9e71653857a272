"""Compiled loops: gradient descent of diagonal nets."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray
_kernel: Any = numba.njit(cache=True, nogil=True, error_model="numpy")


@_kernel
def descend(w: Array, E: Array, S: Array, lr: Array, steps: Array, history: Array) -> None:
    """Gradient descent of R modes of L weights, w (R, L) in place; `history` (T, R, L) gets w at the recorded steps.

    w_l <- w_l + lr E (S - u) u / w_l, all layers at once, with u / w_l as the product of the other weights.
    """
    R, L = w.shape
    after = np.empty(L + 1)
    for r in range(R):
        history[0, r] = w[r]
        for place in range(1, len(steps)):
            for _ in range(steps[place - 1], steps[place]):
                after[L] = 1.0
                for layer in range(L - 1, -1, -1):
                    after[layer] = after[layer + 1] * w[r, layer]
                pull, before = lr[r] * E[r] * (S[r] - after[0]), 1.0
                for layer in range(L):
                    old = w[r, layer]
                    w[r, layer] = old + pull * before * after[layer + 1]
                    before *= old
            history[place, r] = w[r]
