"""The constants of the extended multilinear model, from nets of one skill.

`python -m tests.benchmarks.parity_calibration` prints them (two minutes).

[T] 5.2 calibrates one number for each bottleneck on a net with a single skill and predicts nets of five with it. The
constants here belong to the preset `fast`, and are from seeds that no sweep of this folder uses: predictions made with
them are put to the test on other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Calibration(NamedTuple):
    """What one skill of m bits takes.

    Attributes:
        inverse_b2: 1/B^2 of (5.2), the median over seeds.
        half_samples, half_width: training points and units at which the mean of R/S over seeds is one half.
    """

    inverse_b2: float
    half_samples: float
    half_width: float

    @property
    def printed_d_c(self) -> float:
        """D_c of (5.5) as printed: its R/S is one half at .75 D_c."""
        return self.half_samples / 0.75

    @property
    def d_c(self) -> float:
        """D_c of the mean law R/S = d/D_c: one half at .5 D_c."""
        return self.half_samples / 0.5

    @property
    def n_c(self) -> float:
        """N_c of (5.9): one half at .5 N_c."""
        return self.half_width / 0.5


CALIBRATED: Mapping[int, Calibration] = {
    2: Calibration(inverse_b2=5.97, half_samples=39.2, half_width=2.09),
    3: Calibration(inverse_b2=19.48, half_samples=166.2, half_width=3.75),
    4: Calibration(inverse_b2=42.98, half_samples=440.5, half_width=6.84),
}
"""What was printed, by the bits of a skill. All of it with the preset's 16 bits of input: see `calibrated`."""
BITS = 16
"""Bits of the input with which `CALIBRATED` was measured. D_c grows with them: [T] has 800 for 32, here it is 332."""


def calibrated(m: int, bits: int) -> Calibration | None:
    """The constants for skills of m of so many bits; None where no net of one skill was measured."""
    return CALIBRATED.get(m) if bits == BITS else None


def crossing(xs: Sequence[float], values: Sequence[float], level: float) -> float | None:
    """Where a curve first reaches the level, linear between its points; None if it never does."""
    above = np.flatnonzero(np.asarray(values) >= level)
    if not len(above):
        return None
    i = int(above[0])
    if i == 0:
        return float(xs[0])
    share = (level - values[i - 1]) / (values[i] - values[i - 1])
    return float(xs[i - 1] + share * (xs[i] - xs[i - 1]))
