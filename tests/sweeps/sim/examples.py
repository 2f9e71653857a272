"""Small sweeps of the experiment, finished in seconds, on which laws over everything installed are tried."""

from __future__ import annotations

from pathlib import Path

from swingby.run.driver import run_sweep
from swingby.sweepfile.sweep import Sweep

SYMMETRIC = """
name: example-symmetric
experiment: sim
base: {model: symmetric, drive: gd, d: 2, s: 2, mu: [1.0, 2.0], n: 50, gd_steps: 300, lr: 0.05, init: uniform}
axes: {init_high: [0.1, 0.4]}
seeds: 3
record: {points: 40, also: [jacobian, centres, velocity]}
outcome: non_monotone
"""
LINEAR = """
name: example-linear
experiment: sim
base: {model: linear, d: 3, s: 2, mu: [1.0, 2.0], n: 40, epochs: 6, batch_size: 16, lr: 0.05}
axes: {layers: [2, 3], width: [3, 4]}
seeds: 2
record: {points: 40, also: [hierarchy, centres, points, jacobian]}
diagram: {x: width, y: layers, outcome: transient_memorization}
"""
ONE_LAYER = """
name: example-one-layer
experiment: sim
base: {model: one_layer, d: 2, s: 2, n: 40, epochs: 4, batch_size: 16}
axes: {mu.1: [1.5, 2.5]}
seeds: 2
outcome: outcome
"""


def write(data: Path) -> list[Sweep]:
    """Leaves a data folder with these sweeps, trained here; gives them."""
    sweeps = [Sweep.parse(text, "example.yaml") for text in (SYMMETRIC, LINEAR, ONE_LAYER)]
    for sweep in sweeps:
        run_sweep(sweep, data, local=True, pilot=False)
    return sweeps
