"""When curves reach a level to stay: the start of the final stretch at or above it."""

from __future__ import annotations

import numpy as np

from swingby_analysis.signals import kernels
from swingby_analysis.signals.extrema import Floats, Ints


def arrived_at(values: Floats, level: float) -> Ints:
    """Record at which the final stretch with values >= level starts, (C, s); T where a curve ends below.

    Args:
        values: (C, T, s); NaN counts as below.
    """
    return kernels.final_stretch(~(values >= level))


def arrival_times(at: Ints, steps: Floats) -> Floats:
    """The steps of these records, (C, s); infinite for T, which stands for never."""
    return np.append(steps, np.inf)[at]
