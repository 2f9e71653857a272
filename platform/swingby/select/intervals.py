"""Wilson's interval of a share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def wilson(k: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's score interval for k successes in n trials (Wilson 1927), elementwise; (0, 1) where n = 0.

    Raises:
        ValueError: not 0 <= k <= n, or a confidence outside (0, 1).
    """
    from scipy.special import ndtri

    k, n = np.broadcast_arrays(np.asarray(k, dtype=float), np.asarray(n, dtype=float))
    if not 0 < confidence < 1 or np.any((k < 0) | (k > n)):
        raise ValueError("wilson takes 0 <= k <= n and a confidence between 0 and 1")
    square = ndtri((1 + confidence) / 2) ** 2
    # Both ends from k and n - k alike, so that the mirror image is exact; 0 and 1 are exact at k = 0 and k = n.
    total = n + square
    spread = np.sqrt(square) * np.sqrt(np.where(n > 0, k * (n - k) / np.maximum(n, 1), 0) + square / 4)
    low = np.where(k == 0, 0.0, (k + square / 2 - spread) / total)
    high = np.where(k == n, 1.0, 1 - ((n - k) + square / 2 - spread) / total)
    return np.where(n == 0, 0.0, low), np.where(n == 0, 1.0, high)
