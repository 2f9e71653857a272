"""The detector of unconstrained features on curves made up with a known fate and a known time of collapse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby_sweeps.features.unconstrained import theory
from swingby_sweeps.features.unconstrained.detect.fate import UnconstrainedFate

STEP = np.arange(0, 401, 10)
BASE: dict[str, Any] = {
    "status": "ok", "classes": 4, "points_per_class": 100, "imbalance": 1.0, "width": 16, "decay_w": 0.005,
    "decay_h": None, "time_per_step": 0.5, "step": STEP.tolist(),
}  # fmt: skip


def told(**values: Any) -> dict[str, Any]:
    """The outcomes of one made-up run: modes arrive with a rate of 0.1 a step, NC1-3 fall as exp(-rate t)."""
    rate, strength = values.pop("rate", 0.05), values.pop("strength", 8.0 * (1 - np.exp(-0.1 * STEP)))
    curve = np.exp(-rate * STEP * 0.5).tolist()
    curves = dict.fromkeys(("nc1", "nc2", "nc3", "predicted_nc1", "predicted_nc2"), curve)
    made = {"strongest": list(strength), "weakest": list(values.pop("weakest", strength)), **curves}
    row = {**BASE, **made, "final_strengths": [float(strength[-1])] * 4, **values}
    cells = {"cell_id": ["a"], **{name: [row.get(name)] for name in UnconstrainedFate.needs}}
    (found,) = UnconstrainedFate().detect(pa.table(cells)).to_pylist()
    return found


@pytest.mark.parametrize("rate", [0.03, 0.05, 0.2])
def test_the_time_of_collapse_is_where_the_slowest_measure_crosses_its_threshold(rate: float) -> None:
    """NC1 falls to .01 last, at ln(100)/rate, between records as well."""
    found = told(rate=rate)
    assert (found["fate"], found["predicted_fate"], found["rank"]) == ("collapsed", "collapsed", 4)
    assert found["collapse_time"] == pytest.approx(np.log(100) / rate, rel=1e-6)
    assert found["predicted_collapse_time"] == pytest.approx(np.log(100) / rate, rel=1e-6)
    assert found["off_end"] == pytest.approx(0, abs=1e-9)


def test_every_end_has_its_name() -> None:
    """Constant and falling, rising still, one mode dead, no collapse, and diverged."""
    falls, rises = 5 * np.exp(-0.05 * STEP), 1e-6 * np.exp(0.01 * STEP)
    ends = {
        "constant": told(strength=falls, decay_w=0.05),
        "unresolved": told(strength=rises, rate=0.0),
        "low_rank": told(weakest=falls, rate=0.0),
        "partial": told(rate=0.0),
        "diverged": told(status="diverged", nc1=None),
    }
    assert {name: found["fate"] for name, found in ends.items()} == {name: name for name in ends}
    assert ends["constant"]["predicted_fate"] == "constant"
    assert [found["collapse_time"] for found in ends.values()] == [None] * 5
    assert told(strength=5 + 0.01 * STEP, rate=0.0)["fate"] == "unresolved"
    assert told(nc1=None)["fate"] is None


def test_what_the_minimum_says_needs_no_curves() -> None:
    """The decays over their threshold, and unequal classes that are no simplex or die one by one."""
    assert told(decay_w=0.0125)["decay_ratio"] == pytest.approx(0.5)
    assert told(decay_w=0.0)["predicted_fate"] is None
    assert told(imbalance=16.0)["predicted_fate"] == "partial"
    assert told(imbalance=16.0, decay_w=0.03)["predicted_fate"] == "low_rank"
    assert told(width=3)["predicted_fate"] is None
    assert theory.printed_nc3(4) == pytest.approx(0.5176, abs=1e-4)
