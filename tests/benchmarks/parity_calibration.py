"""The constants of `parity.calibration`: nets of one skill under the preset `fast`.

`python -m tests.benchmarks.parity_calibration` prints them (two minutes).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from swingby.model.cell import Point
from swingby.model.experiment import Recording
from swingby_sweeps.parity import presets, theory
from swingby_sweeps.parity.calibration import Calibration, crossing
from swingby_sweeps.parity.engine import train
from swingby_sweeps.parity.params import ParityParams

SEEDS = range(1000, 1020)
SAMPLES = {2: (10, 80), 3: (80, 500), 4: (250, 1500)}
"""Sizes of training sets between which a skill of m bits is learned."""
WIDTHS = (2, 3, 4, 5, 6, 8, 12, 16, 24)


def calibrate(m: int, seeds: Sequence[int] = SEEDS) -> Calibration:
    """Train nets of one skill of m bits under `fast`, and read off their constants."""

    def strengths(seed: int, points: int, **values: object) -> tuple[list[int], list[float], ParityParams]:
        values = {"skills": 1, "m": m, **values}
        p = ParityParams.model_validate({**presets.fast(values), **values})
        curves = train(Point("parity_net", 1, p).cell(seed), Recording(points=points)).curves
        return curves["step"], [strength[0] for strength in curves["strength"]], p

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
