"""Compiled kernels for the CPU, and the table that says which engine trains a cell.

| cells                                 | compiled by                | why there                                       |
|---------------------------------------|----------------------------|-------------------------------------------------|
| linear, one_layer, symmetric; sgd, gd | `lanes`: 16 cells a vector | steps on k x k moments: one net fills no vector |
| linear, one_layer, symmetric; flow    | `flow`: 16 cells a vector  | the same; every lane has a step of its own      |
| relu, up to 520 weights beyond W_1    | `points_lanes`: the same   | a weight is loaded once for four points         |
| relu, larger                          | `points_wide`              | matrix products, by BLAS                        |
| closed_form, w_recurrence; any GPU    | (torch)                    | little to gain; the reference                   |

`python -m tests.benchmarks` measures each row against the torch engine, and prints it.
"""

from __future__ import annotations

from typing import Literal

from swingby_sweeps.sim.params import SimParams


def engine_for(p: SimParams, device: str) -> Literal["compiled", "torch"]:
    """Which engine trains such cells there."""
    return "torch" if device != "cpu" or p.drive == "closed_form" or p.model == "w_recurrence" else "compiled"
