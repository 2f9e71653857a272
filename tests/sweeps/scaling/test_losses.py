"""Curves of the loss beside sums over every skill, and of drawn training sets beside their expectation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.model.cell import Cell
from swingby_sweeps.scaling import draws, theory
from swingby_sweeps.scaling.levels import HEAD, expected
from swingby_sweeps.scaling.losses import curves
from tests.support import cells


def cell(seed: int = 0, **values: Any) -> Cell:
    """One cell of the experiment."""
    return cells.cell("multilinear", seed, **values)


def frequencies(alpha: float, skills: int) -> np.ndarray:
    """p_k of every skill."""
    p = np.arange(1.0, skills + 1) ** -(alpha + 1)
    return p / p.sum()


@pytest.mark.parametrize("model", ["multilinear", "linear"])
@pytest.mark.parametrize("alpha", [0.1, 0.6, 2.0])
@pytest.mark.parametrize("skills", [3, HEAD, HEAD + 1, 300_000])
def test_time_beside_a_sum_over_every_skill(model: str, alpha: float, skills: int) -> None:
    """[T] 4.17 term by term."""
    found = curves(cell(model=model, alpha=alpha, skills=skills, s=2.0, lr=0.7, largest=1e7, decades=9.0, points=10))
    p, c = frequencies(alpha, skills), theory.lag(model, 2.0, 0.01)
    u = np.multiply.outer(found["x"], theory.pace(model, 2.0, 0.7) * p)
    direct = 2.0**2 / 2 * (theory.left(u, c) @ p)
    kept = direct > 1e-6
    assert found["loss"][kept] == pytest.approx(direct[kept], rel=1e-8)


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_width_and_compute_beside_a_sum_over_every_skill(alpha: float) -> None:
    """A skill without a basis function keeps S^2/2; the best width is no worse than its neighbours and any other."""
    p = frequencies(alpha, 5000)
    width = curves(cell(bottleneck="width", alpha=alpha, skills=5000, largest=1000.0, decades=2.0, points=12))
    assert width["loss"] == pytest.approx([p[int(n) :].sum() / 2 for n in width["x"]], rel=1e-10)
    best = curves(cell(bottleneck="compute", alpha=alpha, skills=5000, largest=1e6, decades=3.0, points=5))

    def loss(n: int, compute: float) -> float:
        return float(theory.left(2 * p[:n] * compute / n, 99.0) @ p[:n] + p[n:].sum()) / 2

    for compute, n, least in zip(best["x"], best["best_width"], best["loss"], strict=True):
        tried = [loss(int(m), compute) for m in {1, max(n - 1, 1), n, n + 1, *np.geomspace(1, 5000, 60).round()}]
        assert least == pytest.approx(loss(int(n), compute), rel=1e-8)
        assert least <= min(tried) * (1 + 1e-9)
    one = curves(cell(bottleneck="compute", width=200, alpha=alpha, skills=5000, largest=1e6, decades=3.0, points=5))
    assert one["loss"] == pytest.approx([loss(200, compute) for compute in one["x"]], rel=1e-8)


@pytest.mark.parametrize("alpha", [0.3, 0.6, 2.0])
def test_more_and_more_skills_become_infinitely_many(alpha: float) -> None:
    """The loss of n skills and what the others would add, at one frequency of skill 1, is that of infinitely many."""
    for bottleneck, share in (("time", theory.unseen(99.0)), ("data", theory.unseen(99.0)), ("width", 1.0)):
        common: dict[str, Any] = {"bottleneck": bottleneck, "alpha": alpha, "drawn": False, "largest": 300.0}
        found = curves(cell(skills=None, decades=2.0, points=5, **common))["loss"]
        off = []
        for skills in (10**4, 10**6, 10**8):
            ratio = theory.normalisation(alpha, skills) / theory.normalisation(alpha, None)
            own = {**common, "largest": 300.0 / ratio} if bottleneck == "time" else common
            loss = curves(cell(skills=skills, decades=2.0, points=5, **own))["loss"]
            missing = share / 2 * theory.mass_beyond(alpha, None, skills)
            off.append(np.abs((loss / ratio + missing) / found - 1).max())
        assert off[-1] < (1e-6 if bottleneck != "data" else 1e-2)
        assert off[-1] <= off[0] + 1e-9


@given(alpha=st.floats(0.05, 3), skills=st.sampled_from([1, 5, HEAD - 1, HEAD, 2500, 10**9, None]))
@settings(max_examples=25, deadline=None)
def test_training_sets_are_nested_and_whole(alpha: float, skills: int | None) -> None:
    """Every sample is of a skill; a set has the samples of the one before; what is seen and unseen makes 1."""
    sizes = np.array([1, 10, 10, 1000])
    sets = draws.draw(np.random.default_rng(3), alpha, skills, sizes)
    assert (sets.head.sum(1) + sets.drawn == sizes).all()
    assert (np.diff(sets.head, axis=0) >= 0).all()
    assert ((sets.tail > HEAD) & (sets.tail <= (skills or np.inf))).all()
    unseen = draws.unseen_mass(alpha, skills, sets)
    assert (np.diff(unseen) <= 1e-15).all()
    assert ((unseen >= 0) & (unseen < 1)).all()
    levels = draws.levels(alpha, skills, None, sets)
    assert levels.weight.sum() + levels.idle == pytest.approx(1)
    assert levels.idle == pytest.approx(unseen[-1], abs=1e-12)
    if skills == 1:
        assert unseen[-1] == 0


def test_draws_average_to_the_expectation() -> None:
    """The mean over 300 training sets lies within four standard errors of the expected loss ([T] 4.29)."""
    common: dict[str, Any] = {"bottleneck": "data", "alpha": 0.6, "skills": 50_000, "largest": 1e4, "decades": 4.0}
    drawn = np.array([curves(cell(seed, points=8, **common))["loss"] for seed in range(300)])
    mean = curves(cell(points=8, drawn=False, **common))["loss"]
    error = drawn.std(0, ddof=1) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(0) - mean) < 4 * error).all()
    p = frequencies(0.6, 50_000)
    x = curves(cell(points=8, drawn=False, **common))["x"]
    assert mean == pytest.approx([0.5 * 0.99**2 * (p * (1 - p) ** d).sum() for d in x], rel=1e-8)


def test_the_loss_where_all_is_limited() -> None:
    """[T] 4.17 term by term, with d_k of the drawn training set; each resource removed leaves the rest."""
    common: dict[str, Any] = {"bottleneck": "all", "alpha": 0.6, "skills": 3000, "largest": 1e3, "points": 4}
    one = cell(5, data=400, width=60, **common)
    found = curves(one)
    sets = draws.draw(one.stream("data"), 0.6, 3000, np.array([400]))
    d = np.append(sets.head[0], np.bincount(sets.tail.astype(int), minlength=3001)[HEAD + 1 :])
    assert d.sum() == 400
    p = frequencies(0.6, 3000)

    def loss(q: np.ndarray, n: int, time: float) -> float:
        return float(theory.left(2 * q[:n] * time, 99.0) @ p[:n] + p[n:].sum()) / 2

    for place, time in enumerate(found["x"]):
        assert found["loss"][place] == pytest.approx(loss(d / 400, 60, time), rel=1e-9)
        assert found["loss_any_data"][place] == pytest.approx(loss(p, 60, time), rel=1e-8)
        assert found["loss_any_width"][place] == pytest.approx(loss(d / 400, 3000, time), rel=1e-9)
        assert found["loss_any_time"][place] == pytest.approx(loss(d / 400, 60, 1e9), rel=1e-9)
    free = curves(cell(**common))
    assert free["loss"] == pytest.approx(free["loss_any_data"])
    assert free["loss_any_time"] == pytest.approx(np.zeros(4), abs=1e-12)


def test_a_level_for_each_frequency() -> None:
    """The levels of a model have all of the mass: of its skills, of those that do not move, of those without basis."""
    for skills, width in ((None, None), (None, 10**7), (10**6, 5), (10**12, None), (7, 7)):
        levels = expected(0.6, skills, width, 1e3)
        assert levels.weight.sum() + levels.idle + levels.missing == pytest.approx(1, abs=1e-8)
