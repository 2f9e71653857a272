"""Theory of two balanced scalar layers: u = w_2 w_1 follows u' = 2 a u (1 - u)."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def product(u_0: Array, a: Array, t: Array) -> Array:
    """u(t) = u_0 / (u_0 + (1 - u_0) exp(-2 a t)); the arguments broadcast."""
    return u_0 / (u_0 + (1 - u_0) * np.exp(-2 * a * t))


def half_time(u_0: float, a: float) -> float:
    """The time at which u reaches 1/2: log(1/u_0 - 1) / (2 a)."""
    return float(np.log(1 / u_0 - 1) / (2 * a))
