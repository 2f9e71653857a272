"""The general detector of features on made-up curves: each regime, its certainty, when it enters and leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.model import registry
from swingby_sweeps.features.detect.features import Features, Thresholds, outcomes

N = 40
STEPS = np.unique(np.geomspace(1, 4000, N).round().astype(int))
TIME = np.linspace(0, 1, len(STEPS))


def row(kappa: Any = 0.05, **others: Any) -> dict[str, Any]:
    """A run with constant curves where they are numbers."""
    curves: dict[str, Any] = {
        "kappa_cka": kappa, "evenness": 0.97, "containment": 0.98, "learned_rank": 9, "target_rank": 9,
        "output_variance": 0.9, "train_accuracy": 1.0, "nc1": 0.5, "nc2": 0.5, "nc3": 0.5, "nc4": 0.5, **others,
    }  # fmt: skip
    full = {
        name: value if value is None or isinstance(value, list) else (np.zeros(len(STEPS)) + value).tolist()
        for name, value in curves.items()
        if name != "status"
    }
    return {"cell_id": "a", "status": others.get("status", "ok"), "step": STEPS.tolist(), **full}


@pytest.mark.parametrize(
    ("others", "regime"),
    [
        ({}, "minimum"),
        ({"kappa": 0.3}, "uneven"),
        ({"kappa": 0.3, "containment": 0.8}, "extended"),
        ({"kappa": 0.3, "containment": 0.8, "train_accuracy": 0.4}, "unlearned"),
        ({"train_accuracy": None}, "minimum"),
        ({"output_variance": 1e-4}, "constant"),
        ({"kappa": [None] * len(STEPS), "learned_rank": 0}, "constant"),
        ({"kappa": [None] * len(STEPS), "learned_rank": 3, "target_rank": 3}, None),
        ({"learned_rank": 1}, "rank_deficient"),
        ({"kappa": 0.3, "learned_rank": 8}, "rank_deficient"),
        ({"kappa": [None] * len(STEPS), "learned_rank": 3, "target_rank": 4}, "rank_deficient"),
        ({"learned_rank": 1, "target_rank": None}, "minimum"),
        ({"learned_rank": None}, "minimum"),
        ({"learned_rank": 1, "train_accuracy": 0.4}, "unlearned"),
        ({"learned_rank": 1, "output_variance": 1e-4}, "constant"),
        ({"status": "diverged"}, "diverged"),
        ({"kappa": None}, None),
        ({"kappa": None, "status": "diverged"}, None),
    ],
)
def test_regimes(others: dict[str, Any], regime: str | None) -> None:
    found = outcomes(row(**others))
    assert found.get("regime") == regime
    expected = regime == "minimum" if regime in ("minimum", "uneven", "extended") else None
    assert found.get("minimum_features") is expected


@pytest.mark.parametrize(
    ("values", "collapse", "of"),
    [
        ({}, "none", ""),
        ({"nc1": 0.001, "nc4": 0.0}, "partial", "nc1, nc4"),
        ({"nc1": 0.001, "nc2": 0.1, "nc3": 0.1, "nc4": 0.0}, "full", "nc1, nc2, nc3, nc4"),
        ({"nc1": 0.001, "nc2": 0.1, "nc3": None, "nc4": 0.0}, "full", "nc1, nc2, nc4"),
        ({"nc1": None}, None, None),
        ({"nc2": [*[0.1] * (len(STEPS) - 1), None]}, None, None),
    ],
)
def test_collapse_is_judged_by_what_is_recorded(values: dict[str, Any], collapse: Any, of: Any) -> None:
    found = outcomes(row(**values))
    assert (found["collapse"], found["collapse_of"]) == (collapse, of)


def test_a_fall_enters_where_it_stays() -> None:
    """A dip of two records is no entrance; from there on it is told to a record."""
    kappa = 0.6 * np.exp(-4 * TIME)
    kappa[5:7] = 0.05
    found = outcomes(row(kappa))
    assert found["enters"] == STEPS[np.argmax(0.6 * np.exp(-4 * TIME) < 0.1)]
    assert found["leaves"] is False
    assert "enters" not in outcomes(row(0.2))


def test_a_rise_after_the_minimum_leaves() -> None:
    kappa = 0.04 + 0.4 * (TIME - 0.4) ** 2
    kappa += 0.5 * np.exp(-15 * TIME)
    found = outcomes(row(kappa))
    assert found["leaves"] is True
    assert found["enters"] is not None
    assert found["regime"] == "uneven"
    small = outcomes(row(0.04 + 0.02 * TIME))
    assert small["leaves"] is False


@pytest.mark.parametrize("slope", [0.08, 0.3, 1.0])
def test_a_rise_that_goes_on_to_the_end_is_no_noise(slope: float) -> None:
    """A kappa that still rises has left, however steep; the noise about the rise is what the spread says."""
    found = outcomes(row(0.02 + slope * np.clip(TIME - 0.3, 0, None)))
    assert found["leaves"] is True
    assert found["kappa_spread"] < 1e-12
    rng = np.random.default_rng(1)
    noisy = [
        outcomes(row(0.02 + slope * TIME + 0.004 * rng.normal(size=len(STEPS))))["kappa_spread"] for _ in range(200)
    ]
    assert np.sqrt(np.mean(np.square(noisy))) == pytest.approx(0.004, rel=0.1)


@pytest.mark.parametrize("noise", [0.002, 0.012])
def test_certainty_and_leaving_beside_noise(noise: float) -> None:
    """With the noise of a run (0.002) and of seeds (0.012), what could have been seen: 200 runs at a distance from the
    threshold are certain, almost none at it; none of 200 that stay is said to leave, all that rise by 0.15 are."""
    rng = np.random.default_rng(0)

    def share(name: str, curve: Any) -> float:
        found = [outcomes(row(curve + noise * rng.normal(size=len(STEPS)))).get(name) for _ in range(200)]
        return float(np.mean([value is True for value in found]))

    assert share("regime_certain", 0.1 + 8 * noise) > 0.95
    assert share("regime_certain", 0.1 + 0.5 * noise) < 0.05
    assert share("leaves", 0.05 + 0 * TIME) < 0.05
    assert share("leaves", 0.05 + 0.15 * np.clip(3 * TIME - 1, 0, 1)) > 0.95


def test_features_measured_at_some_records_only() -> None:
    """A function may measure seldom: the last measured record is the end."""
    seldom = np.arange(len(STEPS)) % 7 == 3
    curves = {
        name: [value if at else None for at in seldom]
        for name, value in (("kappa", 0.3), ("containment", 0.5), ("learned_rank", 9), ("output_variance", 1.0))
    }
    found = outcomes(row(**curves))
    assert (found["regime"], found["end_kappa"], found["end_containment"]) == ("extended", 0.3, 0.5)


def test_thresholds_are_parameters() -> None:
    table = pa.Table.from_pylist([row(0.15)])
    assert Features().detect(table)["regime"].to_pylist() == ["uneven"]
    assert Features(Thresholds(minimum=0.2)).detect(table)["regime"].to_pylist() == ["minimum"]


def test_it_reads_by_columns() -> None:
    """It is offered for results that have kappa, and for no others, whatever package trained them."""
    there = [item.name for item in registry.detectors_for("nobody-knows", ("kappa_cka", "step"))]
    assert "features" in there
    assert "features" not in [item.name for item in registry.detectors_for("nobody-knows", ("step",))]
