"""How far the output is from the nearest training centre."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals.kernels import Floats, compiled


@compiled
def nearest_centre(output: Floats, mu: Floats, origin: NDArray[np.bool_]) -> Floats:
    """Distance of the output to the nearest training centre mu_p e_p (or the origin where there is a cluster), (C, T).

    Args:
        output: (C, T, s).
        mu: (C, s).
        origin: (C,), whether a cluster sits at the origin.
    """
    curves, times, concepts = output.shape
    result = np.empty((curves, times))
    for row in range(curves):
        for t in range(times):
            square = 0.0
            for p in range(concepts):
                square += output[row, t, p] * output[row, t, p]
            nearest = square if origin[row] else np.inf
            for p in range(concepts):
                centre = mu[row, p]
                away = square - 2 * centre * output[row, t, p] + centre * centre
                # A distance that is not known must not be taken for the nearest.
                nearest = away if away < nearest or np.isnan(away) else nearest
            result[row, t] = np.sqrt(nearest) if nearest > 0 or np.isnan(nearest) else 0.0
    return result
