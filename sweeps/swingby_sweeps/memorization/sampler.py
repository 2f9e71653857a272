"""Samples of a denoiser: Heun's method on the probability flow ([K] Algorithm 1, without noise on the way)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

Array = np.ndarray
Denoiser = Callable[[Array, float], Array]
"""From noisy points (..., d) and their noise level to points without noise."""
RHO = 7.0
"""How much denser the noise levels are where they are low ([K] eq. 5)."""


def levels(low: float, high: float, steps: int) -> Array:
    """Noise levels from high to low, (steps,), and then 0 ([K] eq. 5)."""
    share = np.linspace(0, 1, steps)
    sigma = (high ** (1 / RHO) + share * (low ** (1 / RHO) - high ** (1 / RHO))) ** RHO
    return np.append(sigma, 0.0)


def sample(denoiser: Denoiser, noise: Array, sigmas: Array) -> Array:
    """From standard normal noise (..., d) to samples, along falling noise levels that end in 0."""
    x = sigmas[0] * noise
    for now, then in pairwise(sigmas.tolist()):
        slope = (x - denoiser(x, now)) / now
        euler = x + (then - now) * slope
        if then > 0:
            slope = (slope + (euler - denoiser(euler, then)) / then) / 2
            euler = x + (then - now) * slope
        x = euler
    return x
