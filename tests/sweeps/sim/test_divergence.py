"""A cell that diverges comes back as such, with its curve up to there, and its neighbours never notice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim.experiment import Sim

ENGINES = ("compiled", "torch")
KINDS: dict[str, dict[str, Any]] = {
    "linear": {"layers": 2, "width": 16},
    "linear, deep, with bias": {"layers": 3, "width": 8, "bias": True},
    "linear, new orders": {"layers": 2, "width": 4, "shuffle": "every_epoch"},
    "relu": {"model": "relu", "layers": 2, "width": 8, "bias": True},
    "relu, deep, new orders": {"model": "relu", "layers": 3, "width": 5, "shuffle": "every_epoch"},
    "one layer": {"model": "one_layer"},
    "one layer with bias": {"model": "one_layer", "bias": True, "reduction": "mean"},
    "symmetric": {"model": "symmetric", "drive": "sgd", "init_gain": 0.5},
    "symmetric, gd": {"model": "symmetric", "drive": "gd", "init_gain": 0.5, "gd_steps": 60},
    "gd": {"drive": "gd", "layers": 2, "width": 8, "gd_steps": 60},
    "gd with bias": {"drive": "gd", "layers": 3, "width": 4, "bias": True, "gd_steps": 60},
}
TIMED: dict[str, dict[str, Any]] = {
    "flow": {"drive": "flow", "layers": 3, "width": 4},
    "flow with bias": {"drive": "flow", "layers": 2, "width": 4, "bias": True},
    "symmetric flow": {"model": "symmetric"},
    "closed form": {"model": "one_layer", "drive": "closed_form"},
}
"""Drives that no learning rate drives out of bounds: a cell can only begin there."""
COUNT, PLACE = 72, 37
"""Cells of a batch, and the one that diverges: it stands within the third of five vectors of sixteen, the last of which
is half full."""


@pytest.fixture(params=ENGINES, autouse=True)
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWINGBY_ENGINE", request.param)


def batch(values: dict[str, Any], lr: float = 0.05, count: int = COUNT, place: int = PLACE, **odd_one: Any) -> pa.Table:
    """`count` cells, of which number `place` has the learning rate `lr`, and what else it is told."""
    base = {"d": 2, "n": 32, "epochs": 6, "batch_size": 24, **values}
    usual, odd = Sim.point(**base), Sim.point(**{**base, "lr": lr, **odd_one})
    cells = tuple((odd if seed == place else usual).cell(seed) for seed in range(count))
    (table,) = Sim().run(Batch(cells, Recording(points=30, also=("jacobian", "hierarchy", "centres"))))
    return table


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_are_unchanged_to_the_last_bit(kind: str, dtype: str) -> None:
    """Beside a cell of learning rate 1e3 the others are, bit for bit, what they are beside a harmless one."""
    values = {**KINDS[kind], "dtype": dtype}
    with_it, without_it = (batch(values, lr).drop_columns(["seconds"]) for lr in (1e3, 0.05))
    others = np.arange(COUNT) != PLACE
    assert with_it["status"].to_pylist()[PLACE] == "diverged"
    assert set(without_it["status"].to_pylist()) == {"ok"}
    assert with_it.filter(others).equals(without_it.filter(others))


@pytest.mark.parametrize("kind", [*TIMED, *KINDS])
def test_a_start_out_of_bounds_leaves_the_neighbours_alone(kind: str) -> None:
    """Beside a cell whose first loss is beyond 1e6 L_ref the others are, bit for bit, what they were."""
    values = {"gd_steps": 40, "lr": 0.05, **(TIMED | KINDS)[kind], "init": "normal", "init_gain": 0.5}
    with_it, without_it = (batch(values, init_gain=gain).drop_columns(["seconds"]) for gain in (1e5, 0.4))
    others = np.arange(COUNT) != PLACE
    assert (with_it["status"].to_pylist()[PLACE], with_it["step"].to_pylist()[PLACE]) == ("diverged", [0])
    assert set(without_it["status"].to_pylist()) == {"ok"}
    assert with_it.filter(others).equals(without_it.filter(others))


@pytest.mark.parametrize("kind", KINDS)
def test_a_diverged_cell_keeps_its_curve_up_to_there(kind: str) -> None:
    """Its curves end at one step, all finite; its message says between which steps it left; it has no certificate."""
    row = batch(KINDS[kind], 1e3, count=4, place=2).to_pylist()[2]
    lengths = {len(row[name]) for name in ("step", "ood_loss", "train_loss", "output", "jacobian", "hierarchy_loss")}
    assert len(lengths) == 1
    assert 1 <= lengths.pop() < 30
    for name in ("ood_loss", "train_loss", "output", "jacobian", "hierarchy_loss", "centre_output"):
        assert np.isfinite(np.array(row[name])).all()
    assert row["to_step"] == row["step"][-1]
    assert row["final"]
    assert "L_ref after step" in row["message"]
    assert row["final_ood_loss"] == row["ood_loss"][-1]
    assert row["gradient_norm"] is None
    assert row["growth_rate"] is None


def test_a_loss_of_a_million_is_a_divergence_and_less_is_not() -> None:
    """One layer grows by |1 - lr a| a step: it diverges at the first recorded loss above 1e6 L_ref, not before."""
    values: dict[str, Any] = {
        "model": "one_layer",
        "drive": "gd",
        "moments": "population",
        "gd_steps": 40,
        "d": 2,
        "rotate": False,
        "dtype": "float64",
        "init": "explicit",
        "init_weights": ((0.0, 0.0), (0.0, 1.0)),
        "lr": 4.0,
        "sigma": (0.0, 0.0),
        "mu": (2.0, 1.0),
    }
    (table,) = Sim().run(Batch((Sim.point(**values).cell(0),), Recording("every")))
    (row,) = table.to_pylist()
    # a_1 = 2 and 1 - lr a_1 = -7: the output's error is 2 (-7)^t.
    growth = 2.0 * 49.0 ** np.arange(41)
    last = int(np.argmax(growth > 1e6 * 2.5))
    assert row["status"] == "diverged"
    assert row["step"] == list(range(last + 1))
    np.testing.assert_allclose(row["ood_loss"], growth[: last + 1], rtol=1e-12)
