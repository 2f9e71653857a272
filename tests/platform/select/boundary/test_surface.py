"""Laws of the fitted surface: it is what a dense computation of the same posterior says."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from swingby.select.boundary import laplace
from swingby.select.boundary.kernel import CONSTANT, Indices, Numbers, Setting, Waves
from swingby.select.boundary.laplace import ByPoints, ByWaves, Labels, fit
from swingby.select.boundary.surface import LADDER, SCALES, Posterior, settle, surface


@dataclass(frozen=True)
class Small:
    """A grid that a dense computation can do, with labels."""

    shape: tuple[int, ...]
    setting: Setting
    labels: Labels

    @property
    def all(self) -> Indices:
        return np.arange(int(np.prod(self.shape)))


@st.composite
def small(draw: st.DrawFn) -> Small:
    """Grids of one to three axes, any setting of the ladders, labels at some points."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    setting = Setting(tuple(draw(st.sampled_from(LADDER)) for _ in shape), draw(st.sampled_from(SCALES)))
    count = int(np.prod(shape))
    places = np.array(draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True)))
    n = np.array(draw(st.lists(st.integers(1, 20), min_size=len(places), max_size=len(places))), float)
    yes = np.array([draw(st.integers(0, int(most))) for most in n], float)
    return Small(shape, setting, Labels(places, yes, n))


def dense(case: Small) -> tuple[Numbers, Numbers, float]:
    """Mean and covariance of f at all points, and the evidence, by the covariance of all points and its inverse."""
    along = np.unravel_index(case.all, case.shape)
    prior = np.full((len(case.all),) * 2, case.setting.scale**2)
    for where, length in zip(along, case.setting.lengths, strict=True):
        distance = np.sqrt(3) * np.abs(np.subtract.outer(where, where)) / length
        prior *= (1 + distance) * np.exp(-distance)
    prior += CONSTANT**2 + 1e-10 * np.eye(len(prior))
    yes, n = np.zeros(len(prior)), np.zeros(len(prior))
    yes[case.labels.places], n[case.labels.places] = case.labels.yes, case.labels.n
    precision, f = np.linalg.inv(prior), np.zeros(len(prior))

    def value(f: Numbers) -> float:
        return float(yes @ f - n @ np.logaddexp(0, f) - 0.5 * f @ precision @ f)

    for _ in range(60):
        share = expit(f)
        step = np.linalg.solve(np.diag(n * share * (1 - share)) + precision, yes - n * share - precision @ f)
        size = 1.0
        while value(f + size * step) < value(f) and size > 1e-9:
            size /= 2
        f = f + size * step
        if np.abs(step).max() < 1e-10:
            break
    share = expit(f)
    weight = np.diag(n * share * (1 - share))
    _, determinant = np.linalg.slogdet(np.eye(len(prior)) + prior @ weight)
    evidence = value(f) - 0.5 * determinant + case.setting.log_prior
    return np.asarray(f, float), np.asarray(np.linalg.inv(weight + precision), float), float(evidence)


@given(small())
def test_a_fit_is_the_dense_posterior(case: Small) -> None:
    """Mean, variance, covariance, also of points without labels, and the evidence of the setting."""
    mean, covariance, evidence = dense(case)
    found = fit(case.shape, case.setting, case.labels)
    own_mean, own_covariance = found.covariance(case.all)
    np.testing.assert_allclose(own_mean, mean, atol=2e-3)
    np.testing.assert_allclose(own_covariance, covariance, rtol=2e-3, atol=2e-3)
    for own, of in zip(found.moments(case.all), (own_mean, np.diag(own_covariance)), strict=True):
        np.testing.assert_allclose(own, of, atol=1e-9)
    assert found.log_evidence == pytest.approx(evidence, abs=2e-3)


@given(small())
def test_both_forms_agree_where_waves_lose_nothing(case: Small) -> None:
    """A number for each point with labels, or a weight for each wave: one posterior."""
    waves = Waves.of(case.shape, case.setting, kept=1.0)
    forms = ByPoints(case.shape, case.setting, case.labels.places), ByWaves(waves, case.labels.places)
    assert waves.kept == pytest.approx(1)
    fits = [laplace.approximated(form, case.setting, case.labels, precise=1e-10) for form in forms]
    for one, other in zip(*(each.covariance(case.all) for each in fits), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert fits[0].log_evidence == pytest.approx(fits[1].log_evidence, abs=1e-5)


@pytest.mark.parametrize("length", [1.5, 5.0625, 17.0859375])
def test_waves_that_are_cut_off_are_told_as_variance(length: float) -> None:
    """On a larger grid the cheaper form differs from the exact one by little, and knows it."""
    shape, setting = (20, 20), Setting((length, length), 2.1)
    random = np.random.default_rng(0)
    places, n = random.permutation(400)[:300], np.full(300, 4.0)
    labels = Labels(places, random.binomial(4, 0.3, 300).astype(float), n)
    exact = laplace.approximated(ByPoints(shape, setting, places), setting, labels)
    cheap = laplace.approximated(ByWaves(Waves.of(shape, setting), places), setting, labels)
    (mean, variance), (other, wider) = exact.moments(np.arange(400)), cheap.moments(np.arange(400))
    assert np.abs(mean - other).max() < 0.25 * np.sqrt(variance).max()
    assert np.all(wider > 0.9 * variance)


@given(small(), st.randoms(use_true_random=False))
def test_the_order_of_labels_tells_nothing(case: Small, random: Random) -> None:
    """Points with labels may be given in any order."""
    order = np.array(random.sample(range(len(case.labels.n)), len(case.labels.n)))
    labels = Labels(case.labels.places[order], case.labels.yes[order], case.labels.n[order])
    for one, other in zip(*(fit(case.shape, case.setting, each).moments(case.all) for each in (case.labels, labels)),
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(one, other, atol=1e-6)


@given(small())
def test_no_is_the_mirror_of_yes(case: Small) -> None:
    """With all labels turned round, the surface is upside down."""
    turned = Labels(case.labels.places, case.labels.n - case.labels.yes, case.labels.n)
    mean, variance = fit(case.shape, case.setting, case.labels).moments(case.all)
    other, same = fit(case.shape, case.setting, turned).moments(case.all)
    np.testing.assert_allclose(other, -mean, atol=1e-4)
    np.testing.assert_allclose(same, variance, atol=1e-4)


@given(small())
def test_settings_are_on_the_ladders_and_the_best_comes_first(case: Small) -> None:
    """The search ends, no neighbour of its end is better, and a surface's weights are shares."""
    settings = settle(case.shape, case.labels)
    fits = [fit(case.shape, setting, case.labels) for setting in settings]
    assert max(fits, key=lambda one: one.log_evidence).log_evidence == pytest.approx(fits[0].log_evidence, abs=0.05)
    assert all(setting.scale in SCALES and set(setting.lengths) <= set(LADDER) for setting in settings)
    found = surface(case.shape, case.labels, settings)
    assert found.weights.sum() == pytest.approx(1)
    assert np.all(np.isfinite(found.at(case.all).mean))


def test_no_labels_leave_the_prior() -> None:
    """Nothing is known anywhere, and nothing fails."""
    none = np.zeros(0)
    labels = Labels(none.astype(np.int64), none, none)
    at = surface((4, 3), labels, settle((4, 3), labels)).at(np.arange(12))
    np.testing.assert_allclose(at.mean, 0)
    assert np.all(at.variance > CONSTANT**2)
    np.testing.assert_allclose(at.above(0.0), 0.5)


def test_a_mixture_is_what_its_parts_say() -> None:
    """Probability, mean and variance of the mixture, against draws."""
    found = Posterior(np.array([[0.0], [1.0]]), np.array([[0.25], [1.0]]), np.array([0.75, 0.25]))
    random = np.random.default_rng(0)
    first = random.random(400_000) < 0.75
    f = np.where(first, random.normal(0, 0.5, first.size), random.normal(1, 1, first.size))
    assert found.above(0.3)[0] == pytest.approx(np.mean(f > 0.3), abs=0.005)
    assert found.mean[0] == pytest.approx(f.mean(), abs=0.01)
    assert found.variance[0] == pytest.approx(f.var(), abs=0.01)
    assert found.share[0] == pytest.approx(expit(f).mean(), abs=0.01)
    low, high = found.interval(0.95)
    assert low[0] < found.share[0] < high[0]
