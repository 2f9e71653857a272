"""The detector on trained nets: what theory says of a run is what it reads off the run's own records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim.detect.descents import Descents
from swingby_sweeps.sim.experiment import Sim

SYMMETRIC = {
    "model": "symmetric", "drive": "flow", "d": 2, "width": 2, "mu": (1.0, 1.5), "rotate": False,
    "init": "uniform", "init_high": 0.2, "lr": 0.01, "gd_steps": 2000,
}  # fmt: skip


def detect(seeds: range, also: tuple[str, ...] = (), **values: Any) -> list[dict[str, Any]]:
    """Outcomes of one point of SIM, a row a seed, from a table as the store would hand it over."""
    point = Sim.point(**values)
    trained = pa.concat_tables(Sim().run(Batch(tuple(point.cells(seeds)), Recording(also=also))))
    columns = {name: trained[name] for name in trained.column_names}
    for name, value in point.params.model_dump().items():
        if name in Descents.needs:
            columns[name] = pa.array([list(value) if isinstance(value, tuple) else value] * len(seeds))
    return Descents().detect(pa.table(columns)).to_pylist()


def test_the_symmetric_flow_swings_by_at_some_starts_and_slows_down_at_its_rates() -> None:
    """At mu = (1, 1.5) some of 12 starts memorize transiently; all learn concept 2 first and end at 2 a_1 +- 1 %."""
    found = detect(range(12), ("jacobian", "hierarchy"), **SYMMETRIC)
    assert {row["outcome"] for row in found} == {"generalized"}
    assert 0 < sum(row["transient_memorization"] for row in found) < 12
    for row in found:
        assert row["transient_memorization"] == row["non_monotone"]
        assert row["learning_order"] == [1, 0]
        assert row["order_follows_a"]
        assert row["terminal_rate"][0] == pytest.approx(row["terminal_predicted"][0], rel=0.01)
        assert row["minor_rate"] == pytest.approx(row["minor_predicted"], rel=0.01)


def test_descent_in_small_steps_has_the_outcomes_of_the_flow() -> None:
    """Full-batch descent at a small learning rate, recorded at its own steps, is told to do what the flow does."""
    flow, descent = (detect(range(8), **{**SYMMETRIC, "drive": drive}) for drive in ("flow", "gd"))
    for a, b in zip(flow, descent, strict=True):
        for name in ("descents", "transient_memorization", "retreat", "outcome", "learning_order"):
            assert a[name] == b[name]
        assert a["bump_height"] == pytest.approx(b["bump_height"], abs=0.005)


def test_too_narrow_a_net_fails_for_its_structure() -> None:
    """One hidden unit cannot carry two concepts, and a U with one column has rank 1."""
    linear = detect(range(2), model="linear", drive="gd", d=2, width=1, gd_steps=500, init="normal")
    symmetric = detect(range(2), **{**SYMMETRIC, "width": 1, "gd_steps": 500})
    assert {(row["outcome"], row["certain"]) for row in linear + symmetric} == {("structural", True)}


def test_a_dead_net_has_failed_and_a_slow_one_has_not() -> None:
    """A ReLU net whose units are silent on all data stands still for good; a saddle, or too few steps, is a plateau."""
    dead = ((-1.0, -1.0), (-1.0, -1.0), (1.0, 0.0), (0.0, 1.0))
    relu = {"model": "relu", "d": 2, "width": 2, "epochs": 1, "n": 500, "rotate": False, "mu": (3.0, 3.0)}
    (stuck,) = detect(range(1), init="explicit", init_weights=dead, **relu)
    assert (stuck["outcome"], stuck["certain"]) == ("failed", True)
    zero = ((0.0, 0.0),) * 4
    linear = {"model": "linear", "drive": "gd", "d": 2, "width": 2, "init": "explicit"}
    (saddle,) = detect(range(1), init_weights=zero, gd_steps=50, **linear)
    assert saddle["outcome"] == "plateau"
    short = {"model": "linear", "drive": "gd", "d": 2, "width": 8, "init": "normal", "init_gain": 0.1, "gd_steps": 5}
    assert {(row["outcome"], row["certain"]) for row in detect(range(2), **short)} == {("plateau", True)}


def test_a_learning_rate_of_a_thousand_diverges() -> None:
    """The outcome is told by the run itself, and the record up to there is read without complaint."""
    found = detect(range(3), model="linear", drive="sgd", d=2, width=4, layers=3, lr=1e3, epochs=1, n=200)
    assert {(row["outcome"], row["certain"]) for row in found} == {("diverged", True)}
    assert {tuple(row["t90"]) for row in found} == {(np.inf, np.inf)}


def test_one_layer_trained_by_sgd_learns_in_the_order_of_a_and_never_swings() -> None:
    """Theorem 4.1: concepts are independent, so the loss falls only, and each comes in at a_k within 5 %."""
    # Steps of lr a_2 = 0.02 add 1 % to the rate, and 140 batches of 128 points spread it by 0.8 %.
    found = detect(range(6), ("jacobian",), model="one_layer", layers=1, d=2, mu=(1.0, 2.0), epochs=20, lr=0.01)
    for row in found:
        assert (row["outcome"], row["non_monotone"], row["order_follows_a"]) == ("generalized", False, True)
        assert row["terminal_rate"] == pytest.approx(row["terminal_predicted"], rel=0.05)
