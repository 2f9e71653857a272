"""Detectors of scaling on curves made for the purpose, and on curves of the closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from swingby.model.detector import Detector
from swingby.model.experiment import Recording
from swingby_sweeps.scaling import theory
from swingby_sweeps.scaling.detect.allocation import Allocation
from swingby_sweeps.scaling.detect.binding import Binding
from swingby_sweeps.scaling.detect.exponents import Exponents
from swingby_sweeps.scaling.detect.stages import Stages
from swingby_sweeps.scaling.losses import curves
from tests.support import cells

ALSO = ("strengths", "removals", "best_width")


def said(detector: Detector, seed: int = 0, curve: dict[str, Any] | None = None, **values: Any) -> dict[str, Any]:
    """What a detector says of one cell, whose curves may be replaced."""
    cell = cells.cell("multilinear", seed, **values)
    (row,) = cells.trained([cell], Recording("every", also=ALSO))
    return cells.detected(detector, {**row, **cell.params.model_dump(), **(curve or {})})


def power(exponent: float, lost: float = 0.0, noise: float = 0.0) -> dict[str, Any]:
    """A curve (1 + lost) x^exponent - lost over four decades, times e^noise."""
    x = np.geomspace(1, 1e4, 100)
    spread = np.random.default_rng(1000).normal(size=100)
    return {"x": x.tolist(), "loss": (((1 + lost) * x**exponent - lost) * np.exp(noise * spread)).tolist()}


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_the_exponent_of_a_power(noise: float) -> None:
    """Least squares find it; the extremes of the local exponent show the noise, by which it can be off."""
    found = said(Exponents(), curve=power(-0.375, noise=noise), alpha=0.6, skills=None)
    assert found["exponent"] == pytest.approx(-0.375, abs=1e-9 + 0.3 * noise)
    assert found["exponent_low"] <= found["exponent"] <= found["exponent_high"]
    assert found["theory_exponent"] == pytest.approx(-0.375)
    assert found["followed_law"] == "power law" or noise == 0.1
    assert (found["predicted_bias"], found["lost_share"]) == (pytest.approx(0, abs=1e-12), 0)


def test_a_constant_that_is_lost_is_a_bias() -> None:
    """A curve P x^e - L_C has the bias that the law says, and none once L_C is added."""
    alpha, skills = 0.3, 10_000
    model = said(Exponents(), alpha=alpha, skills=skills, s=5.0, largest=1e3)
    found = said(Exponents(), alpha=alpha, skills=10**9, s=5.0, largest=1e6)
    for one in (model, found):
        assert one["bias"] == pytest.approx(one["predicted_bias"], abs=3e-3)
        assert one["corrected_bias"] == pytest.approx(0, abs=3e-3)
    assert model["bias"] > 0.15
    assert model["followed_law"] == "corrected"


@pytest.mark.parametrize("model", ["multilinear", "linear"])
@pytest.mark.parametrize("bottleneck", ["time", "data", "width", "compute"])
@pytest.mark.parametrize("alpha", [0.3, 0.6, 0.9])
def test_the_scaling_regime_follows_the_table(model: str, bottleneck: str, alpha: float) -> None:
    """With infinitely many skills the exponents are those of Table 4.1 within 2 %, and so are the prefactors."""
    common: dict[str, Any] = {"model": model, "bottleneck": bottleneck, "alpha": alpha, "skills": None, "s": 5.0}
    found = said(Exponents(), largest=1e6, drawn=False, points=40, **common)
    assert found["regime"] == "scaling"
    assert found["bias"] == pytest.approx(0, abs=0.02)
    assert found["followed_law"] == "power law"
    assert found["prefactor"] == pytest.approx(found["predicted_prefactor"], rel=0.01)


@pytest.mark.parametrize("bottleneck", ["time", "data"])
def test_past_the_last_skill_its_own_loss_corrects_the_law(bottleneck: str) -> None:
    """Beyond the regime of a constant L_C the law is off, and the law with the last skill's loss is not."""
    found = said(Exponents(), bottleneck=bottleneck, alpha=0.3, skills=1000, s=5.0, largest=2.5e4, drawn=False)
    assert found["regime"] == "exhausted"
    assert found["last_gone"] > 0.2
    assert abs(found["predicted_bias"] / found["bias"] - 1) > 0.1
    assert found["boundary_bias"] == pytest.approx(found["bias"], rel=0.02)


def test_names_of_failures() -> None:
    """Nothing left is `nothing left`, too few points have no exponent, and a window before scaling is `head`."""
    seen = said(Exponents(), bottleneck="data", skills=3, largest=1e4)
    assert seen["followed_law"] == "nothing left"
    assert seen["exponent"] is None
    few = said(Exponents(), points=8, decades=4.0)
    assert few["fitted_points"] == 4
    assert few["followed_law"] is None
    assert said(Exponents(), largest=10.0, decades=2.0)["regime"] == "head"
    assert said(Exponents(), skills=5, largest=1e3, decades=3.0)["regime"] == "both"
    assert said(Exponents(), bottleneck="all", data=10)["theory_exponent"] is None


@pytest.mark.parametrize("model", ["multilinear", "linear"])
def test_the_best_allocation(model: str) -> None:
    """N ~ C^(1/(alpha + 2)), and T/N^(alpha + 1) is the constant of theory."""
    found = said(Allocation(), model=model, bottleneck="compute", alpha=0.6, skills=None, s=5.0, largest=1e9, points=30)
    assert found["width_exponent"] == pytest.approx(found["theory_width_exponent"], rel=2e-3)
    assert found["last_time"] == pytest.approx(found["predicted_last_time"], rel=2e-3)
    assert 0.5 < found["learned_share"] < 1


@pytest.mark.parametrize(
    ("scarce", "values"),
    [
        ("time", {"largest": 100.0, "data": 100_000, "width": 1000}),
        ("data", {"largest": 1e6, "data": 100, "width": 1000}),
        ("width", {"largest": 1e6, "data": 100_000, "width": 5}),
    ],
)
def test_the_scarce_resource_binds(scarce: str, values: dict[str, Any]) -> None:
    """A resource that is far scarcer than both others binds, as theory says."""
    common: dict[str, Any] = {"bottleneck": "all", "alpha": 0.6, "s": 5.0, "decades": 1.0, "points": 3}
    found = said(Binding(), **common, **values)
    assert found["binds"] == found["predicted_binds"] == scarce
    assert found["slack"] > 0
    free = said(Binding(), **common, largest=1e3)
    assert (free["binds"], free["slack"]) == ("time", None)


def test_stages_and_growth() -> None:
    """Pairs that come one after the other are counted as theory counts them, and R_1 grows as the last form of B.8."""
    for r0, alpha in ((0.01, 0.6), (1e-8, 0.6), (1e-8, 1.0), (1.0, 0.6)):
        found = said(Stages(), s=5.0, r0=r0, alpha=alpha, lr=0.5, largest=1e3, decades=4.0, points=1000)
        assert found["stages"] == min(found["predicted_stages"], 9)
        assert found["pair_overlap"] == pytest.approx(found["predicted_overlap"], rel=0.05, abs=1e-4)
        assert found["growth_ratio"] == pytest.approx(1, rel=1e-3)
        assert found["printed_growth_ratio"] == 0.25
    short = said(Stages(), s=5.0, largest=1.0, decades=2.0)
    assert (short["stages"], short["growth_ratio"]) == (None, None)
    assert said(Stages(), model="linear")["predicted_stages"] is None


def test_the_change_with_a_skill() -> None:
    """Over consecutive widths k dL/L lies below 0, near -alpha."""
    found = said(Stages(), bottleneck="width", alpha=0.6, skills=None, largest=200.0, decades=0.3, points=200)
    assert found["change_times_k"] == pytest.approx(found["predicted_change_times_k"])
    assert found["change_times_k"] == pytest.approx(-0.6, rel=0.01)


@pytest.mark.parametrize(
    ("bottleneck", "reach", "least", "most"),
    [("time", 0.2, 0, 0.005), ("time", 2.0, 0.05, 0.12), ("data", 0.02, 0, 0.021), ("data", 0.1, 0.04, 0.085)],
)
def test_where_a_constant_loss_of_missing_skills_holds(
    bottleneck: str, reach: float, least: float, most: float
) -> None:
    """The local exponent leaves the law of a constant L_C as 2 S p_last T (p_last D) comes to `reach`; S/R(0) = 100."""
    skills, off = 20_000, []
    for alpha in (0.1, 0.6):
        unit = theory.frequency(alpha, skills, skills) * (2 if bottleneck == "time" else 1)
        values = {"alpha": alpha, "skills": skills, "drawn": False, "decades": 0.02, "points": 3}
        found = curves(cells.cell("multilinear", bottleneck=bottleneck, largest=1.02 * reach / unit, **values))
        x, loss = found["x"], found["loss"]
        local = math.log(loss[-1] / loss[0]) / math.log(x[-1] / x[0])
        lost = theory.lost_loss(bottleneck, alpha, skills, 1.0, 99.0)
        off.append(abs(local / (-alpha / (alpha + 1) * (1 + lost / loss[1])) - 1))
    assert least <= max(off) <= most
