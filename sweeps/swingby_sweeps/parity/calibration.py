"""The constants of the extended multilinear model, from nets of one skill.

`python -m swingby_sweeps.parity.calibration` prints them (two minutes).

[T] 5.2 calibrates one number for each bottleneck on a net with a single skill and predicts nets of five with it. The
constants here belong to the preset `fast`, and are from seeds that no sweep of this folder uses: predictions made with
them are put to the test on other seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from swingby.model.cell import Point
from swingby.model.experiment import Recording

from . import presets, theory
from .params import ParityParams

Array = np.ndarray
SEEDS = range(1000, 1020)
SAMPLES = {2: (10, 80), 3: (80, 500), 4: (250, 1500)}
"""Sizes of training sets between which a skill of m bits is learned."""
WIDTHS = (2, 3, 4, 5, 6, 8, 12, 16, 24)


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
"""What this module printed, by the bits of a skill. All of it with the preset's 16 bits of input: see `calibrated`."""
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


def calibrate(m: int, seeds: Sequence[int] = SEEDS) -> Calibration:
    """Train nets of one skill of m bits under `fast`, and read off their constants."""
    from .engine import train

    def strengths(seed: int, points: int, **values: object) -> tuple[list[int], list[float], ParityParams]:
        values = {"skills": 1, "m": m, **values}
        p = ParityParams.model_validate({**presets.fast(values), **values})
        row = train(Point("parity_net", 1, p).cell(seed), p, Recording(points=points))
        return row["step"], [strength[0] for strength in row["strength"]], p

    def end(seeds: Sequence[int], **values: object) -> float:
        return float(np.mean([strengths(seed, 3, **values)[1][-1] for seed in seeds]))

    found = []
    for seed in seeds:
        steps, strength, p = strengths(seed, 200, training_steps=20_000 * 2**m // 32)
        half = crossing(steps, strength, 0.5)
        start = theory.start_strength(p.sigma)
        found.append(np.inf if half is None else theory.inverse_b2(half, 1.0, p.loss_factor, p.lr, p.target, start))
    samples = np.unique(np.geomspace(*SAMPLES[m], 8).round().astype(int)).tolist()
    by_samples = [end(seeds, bottleneck="data", samples=D) for D in samples]
    by_width = [end(seeds, bottleneck="width", width=N) for N in WIDTHS]
    half_samples, half_width = crossing(samples, by_samples, 0.5), crossing(WIDTHS, by_width, 0.5)
    return Calibration(float(np.median(found)), half_samples or np.inf, half_width or np.inf)


if __name__ == "__main__":
    for m in SAMPLES:
        sys.stdout.write(f"{m}: {calibrate(m)}\n")
