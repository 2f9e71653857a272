"""Laws of the recorded split of W's velocity into growth, suppression and noise (eq 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim.experiment import Sim

SIM = Sim()
PARTS = ("growth", "suppression", "noise")


def run(*cells: Any, steps: Any = "every") -> list[dict[str, Any]]:
    (table,) = SIM.run(Batch(cells, Recording(steps, also=("jacobian", "velocity"))))
    return table.to_pylist()


def cell(seed: int = 0, **values: Any) -> Any:
    rest = {"model": "symmetric", "s": 3, "d": 4, "width": 5, "init_gain": 0.5, "dtype": "float64", "gd_steps": 200}
    return Sim.point("paper", **{**rest, **values}).cell(seed)


@pytest.mark.parametrize("power", [1, 2])
def test_the_recurrence_moves_by_the_recorded_velocity(power: int) -> None:
    """Each step of D.2 is lr (G - S - N) as recorded before it, uninformative directions included in the noise."""
    (row,) = run(cell(model="w_recurrence", drive="gd", lr=0.02, moment_power=power))
    W, G, S, N = (np.array(row[name]) for name in ("jacobian", *PARTS))
    np.testing.assert_allclose(np.diff(W, axis=0), 0.02 * (G - S - N)[:-1], rtol=0, atol=1e-14 * np.abs(W).max())
    assert np.abs(N).max() > 1e-3


def test_the_flow_moves_by_the_recorded_velocity() -> None:
    """Along the flow of U, W' is G - S - N in the time of eq 4.3, whatever the reduction, by central differences."""
    for reduction, speed in (("quarter_sum", 1.0), ("half_sum", 2.0)):
        (row,) = run(cell(drive="flow", lr=0.002, reduction=reduction, rtol=1e-10))
        W, G, S, N = (np.array(row[name]) for name in ("jacobian", *PARTS))
        slope = (W[:-4] - 8 * W[1:-3] + 8 * W[3:-1] - W[4:]) / (12 * 0.002 * speed)
        np.testing.assert_allclose(slope, (G - S - N)[2:-2], rtol=1e-5, atol=1e-6)


def test_each_cell_is_split_by_its_own_a_and_other_models_have_none() -> None:
    """Cells of one batch with other strengths have what they have alone; a linear net has nulls."""
    cells = [cell(seed, drive="flow", mu=(1.0, 1.5, mu)) for seed, mu in enumerate((2.0, 3.0))]
    for item, row in zip(cells, run(*cells, steps="log"), strict=True):
        (alone,) = run(item, steps="log")
        for name in PARTS:
            np.testing.assert_allclose(row[name], alone[name], rtol=1e-6, atol=1e-9)
    (linear,) = run(Sim.point("paper", drive="gd", d=2, gd_steps=5).cell(0))
    assert [linear[name] for name in PARTS] == [None] * 3
