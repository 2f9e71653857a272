"""Samples of the two denoisers that are known in closed form: new points of one, training points of the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby_sweeps.memorization import kernels, sampler, task
from swingby_sweeps.memorization.denoisers import Denoisers
from swingby_sweeps.memorization.evaluator import HIGHEST, LOWEST, NEAR, Evaluator
from tests.support import cells

SIGMAS = sampler.levels(LOWEST, HIGHEST, 24)


def sampled(denoiser: Any, d: int, count: int = 400) -> np.ndarray:
    """Samples of a denoiser of x (R, d) and sigma (R,)."""
    noise = np.random.default_rng(1).normal(size=(count, d))
    return sampler.sample(lambda x, sigma: denoiser(x, np.full(len(x), sigma)), noise, SIGMAS)


@pytest.mark.parametrize("n", [2, 30])
def test_the_best_denoiser_of_the_training_set_gives_copies(n: int) -> None:
    """Each sample is a training point, to the lowest noise level; and all of them are asked for about as often."""
    points, _ = task.balanced(np.random.default_rng(0), n, 6, 1.0, 0.5)
    found = sampled(lambda x, sigma: task.empirical_denoiser(x, sigma, points), 6)
    near = np.empty((len(found), 2))
    kernels.two_nearest(found, points, near)
    assert near[:, 0].max() < LOWEST
    assert (near[:, 0] < NEAR * near[:, 1]).all()
    nearest = np.argmin(((found[:, None] - points) ** 2).sum(axis=2), axis=1)
    assert len(set(nearest)) == n


def test_the_best_denoiser_of_the_mixture_gives_new_points() -> None:
    """Its samples have the mixture's moments and components, and look memorized no oftener than fresh points."""
    mean, rare, d = 2.0, 0.3, 3
    found = sampled(lambda x, sigma: task.exact_denoiser(x, sigma, mean, rare), d, 4000)
    is_rare = found.sum(axis=1) < 0
    assert abs(is_rare.mean() - rare) < 4 * np.sqrt(rare * (1 - rare) / 4000)
    for side, centre in ((~is_rare, mean), (is_rare, -mean)):
        part = found[side]
        assert np.allclose(part.mean(axis=0), centre, atol=0.1)
        assert np.allclose(np.cov(part.T), np.eye(d), atol=0.12)
    points, _ = task.draw(np.random.default_rng(5), 20, d, mean, rare)
    fresh, _ = task.draw(np.random.default_rng(6), 4000, d, mean, rare)
    shares = []
    for drawn in (found, fresh):
        near = np.empty((len(drawn), 2))
        kernels.two_nearest(drawn, points, near)
        shares.append((near[:, 0] < NEAR * near[:, 1]).mean())
    assert 0 < shares[1] < 0.1
    assert abs(shares[0] - shares[1]) < 4 * np.sqrt(2 * shares[1] / 4000)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    d=st.integers(1, 4),
    mean=st.floats(0, 3),
    rare=st.floats(0.05, 0.95),
    sigma=st.floats(0.05, 5),
)
def test_the_exact_denoiser_is_the_posterior_mean(seed: int, d: int, mean: float, rare: float, sigma: float) -> None:
    """It is x + sigma^2 d/dx ln p_sigma(x) (Tweedie), with the density of the mixture written out."""
    x = np.random.default_rng(seed).normal(size=(3, d)) * (1 + mean)
    at = task.centres(d, mean)

    def log_density(x: np.ndarray) -> np.ndarray:
        squares = ((x[:, None] - at) ** 2).sum(axis=2) / (2 * (1 + sigma**2))
        least = squares.min(axis=1, keepdims=True)
        return np.log(np.exp(least - squares) @ np.array([1 - rare, rare])) - least[:, 0]

    slopes = np.empty_like(x)
    for j in range(d):
        step = 1e-5 * np.eye(d)[j]
        slopes[:, j] = (log_density(x + step) - log_density(x - step)) / 2e-5
    found = task.exact_denoiser(x, np.full(3, sigma), mean, rare)
    assert np.allclose(found, x + sigma**2 * slopes, atol=1e-5 * (1 + sigma**2))


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), d=st.integers(1, 4), sigma=st.floats(0.01, 50))
def test_of_one_point_the_best_denoiser_says_that_point(seed: int, d: int, sigma: float) -> None:
    """n = 1: whatever the noise, so that each sample is a copy."""
    random = np.random.default_rng(seed)
    point, x = random.normal(size=(1, d)), 10 * random.normal(size=(5, d))
    assert np.array_equal(task.empirical_denoiser(x, np.full(5, sigma), point), np.repeat(point, 5, axis=0))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
def test_each_best_denoiser_is_best_on_its_own_points(sigma: float) -> None:
    """With the same noise on both: that of the training set there, that of the mixture on new points. Their gap on
    training points is the most that a net can know of these alone."""
    d, mean, rare, rows = 4, 2.0, 0.3, 4000
    points, _ = task.balanced(np.random.default_rng(0), 10, d, mean, rare)
    new, _ = task.draw(np.random.default_rng(1), rows, d, mean, rare)
    noise = sigma * np.random.default_rng(2).normal(size=(rows, d))
    for clean, least in ((np.resize(points, (rows, d)), "empirical"), (new, "exact")):
        x, sigmas = clean + noise, np.full(rows, sigma)
        of = {
            "exact": task.exact_denoiser(x, sigmas, mean, rare),
            "empirical": task.empirical_denoiser(x, sigmas, points),
        }
        loss = {name: ((denoised - clean) ** 2).sum(axis=1) for name, denoised in of.items()}
        (worse,) = set(loss) - {least}
        excess = loss[worse] - loss[least]
        assert excess.mean() > 3.5 * excess.std() / np.sqrt(rows)


@settings(max_examples=50)
@given(count=st.integers(2, 200), rare=st.floats(0.01, 0.99), seed=st.integers(0, 100))
def test_both_components_have_points_in_proportion(count: int, rare: float, seed: int) -> None:
    """In every training set, to less than a point, and at least one of each: no seed has a share of its own."""
    _, component = task.balanced(np.random.default_rng(seed), count, 2, 1.0, rare)
    number = component.sum()
    assert 1 <= number <= count - 1
    assert abs(number - rare * count) <= max(0.5, 1 - rare * count, 1 - (1 - rare) * count)


def test_a_net_at_its_start_knows_no_point_from_another() -> None:
    """The gap between its losses is 0 within its interval, over seeds."""
    several = [cells.cell("memorization_mixture", seed, preset="tiny", points=64, test_points=64) for seed in range(48)]
    losses = Evaluator(Denoisers(several)).losses()
    gap = losses["test_loss"] - losses["train_loss"]
    assert abs(gap.mean()) < 3.5 * gap.std(ddof=1) / np.sqrt(len(gap))


@pytest.mark.parametrize("rare", [0.5, 0.2])
def test_distances_of_samples_are_those_of_their_definitions(rare: float) -> None:
    """Against sums that are written out; fresh points, and the exact denoiser's, are at distance 0 within the noise."""
    cell = cells.cell("memorization_mixture", 0, preset="tiny", points=12, rare=rare, d=2, samples=64)
    nets = Denoisers([cell])
    evaluator = Evaluator(nets)
    random = np.random.default_rng(3)
    drawn, _ = task.draw(random, 64, 2, cell.params.mean, rare)
    found = evaluator.of_samples(drawn[None])
    distances = np.sort(np.linalg.norm(drawn[:, None] - nets.points[0], axis=2), axis=1)
    copied = distances[:, 0] * 3 < distances[:, 1]
    assert found["memorized"][0] == copied.mean()
    assert found["memorized_rare"][0] == copied[drawn.sum(axis=1) < 0].mean()
    assert found["nearest"][0] == pytest.approx(distances[:, 0].mean())
    assert found["ratio"][0][2] == pytest.approx(np.median(distances[:, 0] / distances[:, 1]))
    assert abs(found["energy_distance"][0]) < 0.2
    assert evaluator.of_gaussian()[0] > 0.1
    far = evaluator.of_samples(drawn[None] + 10.0)
    assert far["energy_distance"][0] > 5
