"""What SIM says of the parameters that its runs read holds for every model, drive and start."""

from __future__ import annotations

import pytest

from swingby.sweepfile.sweep import Sweep
from swingby_sweeps.sim.experiment import Sim
from tests.support.experiment_laws import is_moved_by_nothing_that_it_does_not_read

SWEEPS = {
    "nets": """
base: {d: 2, n: 6, epochs: 2, batch_size: 4, gd_steps: 3, dtype: float64}
axes:
  zip:
    - model: [linear, linear, linear, linear, linear, relu]
      drive: [sgd, gd, gd, flow, flow, sgd]
      moments: [sample, sample, population, sample, population, sample]
  layers: [1, 2]
  init: [default, normal, uniform]
record: {points: 3, also: [jacobian, hierarchy, centres, points]}
""",
    "one-layer": """
base: {model: one_layer, d: 2, n: 6, epochs: 2, batch_size: 4, gd_steps: 3, dtype: float64}
axes:
  zip:
    - drive: [sgd, gd, closed_form, closed_form]
      moments: [sample, population, sample, population]
  init: [default, normal]
record: {points: 3}
""",
    "symmetric": """
base: {d: 2, n: 6, epochs: 2, batch_size: 4, gd_steps: 3, dtype: float64}
axes:
  zip:
    - model: [symmetric, symmetric, symmetric, w_recurrence, w_recurrence]
      drive: [sgd, gd, flow, gd, gd]
      moments: [sample, sample, population, sample, population]
  init: [normal, uniform]
record: {points: 3, also: [velocity]}
""",
}


@pytest.mark.parametrize("name", SWEEPS)
def test_what_is_not_read_moves_nothing(name: str) -> None:
    """Every parameter that is said not to be read may have any value: no curve and no scalar differs by a bit."""
    sweep = Sweep.parse(f"name: {name}\nexperiment: sim\n{SWEEPS[name]}", name)
    is_moved_by_nothing_that_it_does_not_read(Sim(engine="torch"), sweep)


def test_the_law_notices_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A declaration that the learning rate is not read fails, and names it."""
    monkeypatch.setattr(Sim, "read_where", {"lr": "drive == 'sgd'"})
    sweep = Sweep.parse(f"name: near-miss\nexperiment: sim\n{SWEEPS['one-layer']}", "near-miss")
    with pytest.raises(AssertionError, match="'lr'"):
        is_moved_by_nothing_that_it_does_not_read(Sim(engine="torch"), sweep)
