"""Laws of variational diffusion: each term of the bound, the posterior and the sampler against their closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given
from scipy import integrate, stats
from torch import Tensor

from swingby_sweeps.diffusion.bound import Losses, losses
from swingby_sweeps.diffusion.schedule import LinearSchedule, alpha_sigma, antithetic_times, network_time
from swingby_sweeps.diffusion.vdm import VDMScheduler, sample

MEAN, VARIANCE = 0.4, 0.3
"""Of the Gaussian data whose best eps_hat, posterior and likelihood are known."""
PARTS = ("diffusion", "prior", "reconstruction")


def best_eps(z: Tensor, gamma: Tensor) -> Tensor:
    """E[eps | z_t] for data N(MEAN, VARIANCE), every value alone."""
    alpha, sigma = (value.to(z).view(-1, *(1,) * (z.ndim - 1)) for value in alpha_sigma(gamma))
    return sigma * (z - alpha * MEAN) / (alpha**2 * VARIANCE + sigma**2)


def batch(n: int, seed: int = 0, side: int = 4) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images, times, and the noise in z_t and in z_0."""
    rng = np.random.default_rng(seed)
    x, eps, eps0 = (torch.tensor(rng.normal(size=(n, 3, side, side)), dtype=torch.float32) for _ in range(3))
    return MEAN + math.sqrt(VARIANCE) * x, torch.tensor(rng.uniform(size=n), dtype=torch.float32), eps, eps0


def expected_bound(x: float, low: float, high: float, data_noise: float, times: int = 400, nodes: int = 24) -> Losses:
    """The bound at one value x, its expectation over t by midpoints and over eps by Gauss and Hermite; in bits."""
    places, weights = np.polynomial.hermite_e.hermegauss(nodes)
    t = torch.tensor(np.repeat((np.arange(times) + 0.5) / times, nodes))
    eps = torch.tensor(np.tile(places, times)).view(-1, 1)
    schedule = LinearSchedule(low, high, learned=False)
    terms = losses(schedule, best_eps, torch.full_like(eps, x), t, eps, None, data_noise)
    weight = torch.tensor(np.tile(weights / weights.sum(), times) / times)
    return Losses(*(weight @ term.double() for term in terms))


# The schedule


@pytest.mark.parametrize("learned", [True, False])
def test_the_schedule_is_the_line_between_its_ends(learned: bool) -> None:
    """gamma(0) and gamma(1) are the ends, gamma'(t) the slope, whatever the sign of w; a fixed one trains nothing."""
    schedule = LinearSchedule(-5.0, 10.0, learned)
    t = torch.linspace(0, 1, 11)
    torch.testing.assert_close(schedule(t), -5 + 15 * t)
    assert [end.item() for end in schedule.ends] == [-5.0, 10.0]
    with torch.no_grad():
        schedule.w.neg_()
    torch.testing.assert_close(schedule(t), -5 + 15 * t)
    assert len(list(schedule.parameters())) == 2 * learned
    assert set(schedule.state_dict()) == {"b", "w"}
    with pytest.raises(ValueError, match="gamma_min = 3; allowed: less than gamma_max = 3"):
        LinearSchedule(3.0, 3.0, learned)


@given(st.floats(-15, 15))
def test_variance_is_preserved(gamma: float) -> None:
    """alpha^2 + sigma^2 = 1 and log(alpha^2 / sigma^2) = -gamma, at both ends in float32."""
    alpha, sigma = alpha_sigma(torch.tensor(gamma))
    assert float(alpha**2 + sigma**2) == pytest.approx(1, abs=3e-7)
    assert float(2 * (alpha.log() - sigma.log())) == pytest.approx(-gamma, abs=1e-5)


def test_the_network_is_told_the_noise_and_not_the_place_on_the_schedule() -> None:
    """Its time is 0 and 1 at the ends that the schedule began with, and leaves [0, 1] when the ends have moved out."""
    assert [network_time(gamma, -5.0, 10.0) for gamma in (-5.0, 2.5, 10.0, 13.0, -8.0)] == [0, 0.5, 1, 1.2, -0.2]


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 300), st.data())
def test_antithetic_times(offset: float, size: int, data: st.DataObject) -> None:
    """They are equally spaced on the circle, within [0, 1], begin at the offset, and a row is the same alone."""
    times = antithetic_times(offset, size)
    assert times.shape == (size,)
    assert times.dtype == torch.float32
    assert bool(((times >= 0) & (times <= 1)).all())
    assert times[0] == np.float32(offset)
    circle = np.sort(times.double().numpy() % 1.0)
    gaps = np.diff(np.append(circle, circle[0] + 1))
    if not np.any(circle < 1e-6):  # else rounding to float32 may have carried one around
        np.testing.assert_allclose(gaps, 1 / size, atol=2e-7)
    low, high = sorted((data.draw(st.integers(0, size)), data.draw(st.integers(0, size))))
    assert torch.equal(antithetic_times(offset, size, low, high), times[low:high])


@given(st.integers(1, 64), st.integers(0, 63))
def test_each_antithetic_time_is_uniform(size: int, row: int) -> None:
    """Over equally spaced offsets every row's times are those offsets again, in another order: no time is favoured."""
    offsets = (np.arange(256) + 0.5) / 256
    times = [antithetic_times(offset, size)[row % size].item() for offset in offsets]
    shift = np.sort((offsets + row % size / size) % 1)
    np.testing.assert_allclose(np.sort(times), shift, atol=1e-7)
    assert stats.kstest(times, "uniform").statistic <= 1 / 256 + 1e-6


# The bound


@given(st.floats(-3, 3), st.floats(-2, 10), st.integers(0, 100))
def test_the_prior_term_is_the_divergence(x: float, gamma_1: float, seed: int) -> None:
    """KL(q(z_1 | x) || N(0, 1)) by numerical integration, in bits."""
    schedule = LinearSchedule(-5.0, gamma_1, learned=False)
    one = torch.tensor([[x]], dtype=torch.float64)
    term = losses(schedule, lambda z, _: z, one, torch.zeros(1), one, None, 1.0).prior.item()
    alpha, sigma = (float(value) for value in alpha_sigma(torch.tensor(gamma_1, dtype=torch.float64)))

    def integrand(z: float) -> float:
        q = float(stats.norm.logpdf(z, alpha * x, sigma))
        return math.exp(q) * (q - float(stats.norm.logpdf(z)))

    integral, _ = integrate.quad(integrand, *stats.norm.interval(1 - 1e-14, alpha * x, sigma), epsabs=1e-12)
    assert term == pytest.approx(integral / math.log(2), rel=1e-5, abs=1e-8)


def test_a_small_prior_term_keeps_its_digits() -> None:
    """At gamma_1 = 10 the term is 1/2 alpha_1^2 x^2 to 1e-9, far below what float32 resolves of its parts near 1."""
    x, t, eps, _ = batch(2)
    term = losses(LinearSchedule(-5, 10, learned=False), lambda z, _: z, x, t, eps, None, 1.0).prior
    gamma = torch.tensor(10.0, dtype=torch.float64)
    exact = torch.sigmoid(-gamma) * (x.double() ** 2 - 1) + torch.nn.functional.softplus(-gamma)
    torch.testing.assert_close(term.double(), exact.flatten(1).mean(1) / 2 / math.log(2), rtol=1e-5, atol=0)


def test_the_reconstruction_term_is_a_gaussian_likelihood() -> None:
    """-log N(x; z_0 / alpha_0, data_noise^2) of the z_0 that eps0 gives; without eps0 its expectation."""
    schedule, noise = LinearSchedule(-5.0, 10.0, learned=False), 0.05
    x, t, eps, eps0 = batch(400, side=8)
    drawn = losses(schedule, best_eps, x, t, eps, eps0, noise).reconstruction
    alpha, sigma = (value.double() for value in alpha_sigma(torch.tensor(-5.0)))
    z_0 = alpha * x.double() + sigma * eps0.double()
    nats = -stats.norm.logpdf(x.double(), z_0 / alpha, noise)
    np.testing.assert_allclose(drawn, nats.reshape(400, -1).mean(1) / math.log(2), rtol=1e-5)
    expected = losses(schedule, best_eps, x, t, eps, None, noise).reconstruction
    assert bool((expected == expected[0]).all())
    assert abs(drawn.mean() - expected[0]) < 4 * drawn.std() / 20


@pytest.mark.parametrize("x", [MEAN, MEAN - 1.0, MEAN + 2.0])
@pytest.mark.parametrize(("low", "high"), [(-5.0, 10.0), (-3.0, 1.0)])
def test_the_diffusion_term_has_its_closed_form(x: float, low: float, high: float) -> None:
    """With the best eps_hat the integral over t is known, at any x, and so is its mean over the data.

    With V = alpha^2 v + sigma^2 and r = alpha^2 v / V, E[(eps - eps_hat)^2 | x] = r^2 + r (1 - r) (x - m)^2 / v, where
    dr / dgamma = -r (1 - r), and the integral of r (1 - r) + r^2 over gamma is that of r.
    """

    def r(gamma: float) -> float:
        return 1 / (1 + math.exp(gamma) / VARIANCE)

    whole = math.log1p(VARIANCE * math.exp(-low)) - math.log1p(VARIANCE * math.exp(-high))
    exact = 0.5 * (whole + (r(low) - r(high)) * ((x - MEAN) ** 2 / VARIANCE - 1)) / math.log(2)
    assert float(expected_bound(x, low, high, 1.0).diffusion) == pytest.approx(exact, rel=3e-4)


@pytest.mark.parametrize("x", [MEAN - 1.5, MEAN, MEAN + 0.7])
@pytest.mark.parametrize(("low", "high"), [(-3.0, 10.0), (-5.0, 10.0), (-9.0, 12.0)])
def test_the_bound_is_above_the_likelihood_by_the_posteriors_divergence(x: float, low: float, high: float) -> None:
    """The bound is -log2 p(x) of the model that samples without end, plus KL(q(z_0 | x) || p(z_0 | x)), at every x.

    In y = z_0 / alpha_0 that model is p(y) = N(m, v + e^low) and p(x | y) = N(y, data_noise^2), while q(y | x) is
    N(x, e^low); that z_1 is not quite N(0, 1) leaves e^-high.
    """
    data_noise = math.exp(low / 2)
    bound = float(expected_bound(x, low, high, data_noise, times=2000).total) * math.log(2)
    spread = VARIANCE + math.exp(low)
    precision = 1 / spread + 1 / data_noise**2
    pull, ratio = (MEAN - x) / spread / precision, math.exp(low) * precision
    divergence = 0.5 * (ratio - 1 - math.log(ratio) + precision * pull**2)
    likelihood = stats.norm.logpdf(x, MEAN, math.sqrt(spread + data_noise**2))
    assert divergence > 0
    assert bound + likelihood == pytest.approx(divergence, abs=2e-4)


def test_the_mean_bound_is_the_entropy_of_the_data() -> None:
    """Over data, times and noise as training draws them the bound is the data's entropy, and not below it; in bits."""
    rng = np.random.default_rng(1)
    schedule, size, found = LinearSchedule(-9.0, 12.0, learned=True), 128, []
    for _ in range(60):
        x, eps, eps0 = (torch.tensor(rng.standard_normal((size, 3, 8, 8)), dtype=torch.float32) for _ in range(3))
        x, t = MEAN + math.sqrt(VARIANCE) * x, antithetic_times(rng.uniform(), size)
        found.append(losses(schedule, best_eps, x, t, eps, eps0, math.exp(-4.5)).total.mean().item())
    entropy = 0.5 * math.log2(2 * math.pi * math.e * VARIANCE)
    error = stats.sem(found)
    # What the ends leave: 1/2 log2(1 + e^-9 / v), and as much again for the noise of the data.
    assert -4 * error < np.mean(found) - entropy < 4 * error + math.log2(1 + math.exp(-9) / VARIANCE)


def test_only_the_ends_matter() -> None:
    """The expected diffusion term over [a, c] is the sum of those over [a, b] and [b, c]: no other place counts."""
    whole = expected_bound(0.9, -5.0, 10.0, 1.0, times=2000).diffusion
    parts = [expected_bound(0.9, low, high, 1.0, times=2000).diffusion for low, high in ((-5.0, 1.0), (1.0, 10.0))]
    assert float(whole) == pytest.approx(float(sum(parts)), rel=1e-5)


def test_gradients_reach_both_ends() -> None:
    """Each part's gradient at b and w is its finite difference; the reconstruction's is of gamma(0) = b alone."""
    x, t, eps, eps0 = batch(16)

    def at(b: float, w: float) -> tuple[LinearSchedule, Losses]:
        schedule = LinearSchedule(b, b + w, learned=True)
        return schedule, losses(schedule, best_eps, x, t, eps, eps0, 0.1)

    for part in PARTS:
        schedule, found = at(-5.0, 15.0)
        getattr(found, part).mean().backward()
        for name, (b, w) in (("b", (0.1, 0.0)), ("w", (0.0, 0.1))):
            high, low = (getattr(at(-5 + s * b, 15 + s * w)[1], part).mean().item() for s in (1, -1))
            gradient = getattr(schedule, name).grad
            slope = 0.0 if gradient is None else gradient.item()
            assert slope == pytest.approx((high - low) / 0.2, rel=2e-2, abs=2e-6), (part, name)
            assert (slope == 0) == (part == "reconstruction" and name == "w")


def test_a_batch_is_its_rows() -> None:
    """Eight rows give what eight batches of one row give."""
    x, t, eps, eps0 = batch(8)
    schedule = LinearSchedule(-5.0, 10.0, learned=False)
    whole = losses(schedule, best_eps, x, t, eps, eps0, 0.1)
    for row in range(8):
        one = slice(row, row + 1)
        alone = losses(schedule, best_eps, x[one], t[one], eps[one], eps0[one], 0.1)
        for part in PARTS:
            torch.testing.assert_close(getattr(alone, part), getattr(whole, part)[one], rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_does_not_reach_the_bound(dtype: torch.dtype) -> None:
    """Images and network in half precision: the terms are float32, and exact sums of what they were given."""
    x, t, eps, eps0 = batch(3, side=32)
    x, eps, eps0 = (values.to(dtype) for values in (x, 20 * eps, 20 * eps0))
    schedule = LinearSchedule(-5.0, 10.0, learned=False)
    with torch.autocast("cpu", torch.bfloat16):
        found = losses(schedule, lambda z, _: -z.to(dtype), x, t, eps, eps0, 0.1)
    wide = losses(schedule, lambda z, _: -z.float().to(dtype), x.double(), t, eps.double(), eps0.double(), 0.1)
    for part in PARTS:
        assert getattr(found, part).dtype == torch.float32
        torch.testing.assert_close(getattr(found, part).double(), getattr(wide, part).double(), rtol=2e-5, atol=0)


# The scheduler


@given(st.floats(0, 0.98), st.floats(0.01, 1), st.integers(0, 1000))
def test_a_step_is_the_posterior_of_a_joint_gaussian(s: float, share: float, seed: int) -> None:
    """q(z_s | z_t, x) by conditioning the joint Gaussian of z_s and z_t given x, for any s < t."""
    t = s + share * (1 - s)
    scheduler = VDMScheduler(-5.0, 10.0)
    (alpha_s, sigma_s), (alpha_t, sigma_t) = (
        tuple(float(v) for v in alpha_sigma(scheduler.gamma(time))) for time in (s, t)
    )
    x, z = np.random.default_rng(seed).normal(size=2)
    # z_t = (alpha_t / alpha_s) z_s + independent noise, so cov(z_s, z_t | x) = (alpha_t / alpha_s) sigma_s^2.
    gain = alpha_t / alpha_s * sigma_s**2 / sigma_t**2
    mean = alpha_s * x + gain * (z - alpha_t * x)
    variance = sigma_s**2 - gain * alpha_t / alpha_s * sigma_s**2
    z_t = torch.tensor([[z]], dtype=torch.float64)
    eps = (z_t - alpha_t * x) / sigma_t
    still, moved = (scheduler.step(eps, t, z_t, torch.full_like(z_t, noise), s) for noise in (0.0, 1.0))
    assert not isinstance(still, tuple)
    assert not isinstance(moved, tuple)
    assert float(still.pred_original_sample) == pytest.approx(x, rel=1e-9, abs=1e-9)
    assert float(still.prev_sample) == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert float(moved.prev_sample - still.prev_sample) ** 2 == pytest.approx(variance, rel=1e-8)


def test_noise_is_added_as_the_posterior_takes_it_away() -> None:
    """Forward to t, then a step back with the true eps: z_s has the mean and variance of q(z_s | x)."""
    scheduler = VDMScheduler(-5.0, 10.0)
    rng = np.random.default_rng(0)
    x = torch.full((1, 1, 400, 400), 0.7, dtype=torch.float64)
    eps, noise = (torch.tensor(rng.standard_normal(x.shape)) for _ in range(2))
    for t, s in ((1.0, 0.5), (0.5, 0.4), (0.3, 0.0)):
        z_t = scheduler.add_noise(x, eps, t)
        z_s = scheduler.step(eps, t, z_t, noise, s, return_dict=False)[0]
        alpha, sigma = (float(value) for value in alpha_sigma(scheduler.gamma(s)))
        assert float(z_s.mean()) == pytest.approx(alpha * 0.7, abs=5 * sigma / 400)
        assert float(z_s.var()) == pytest.approx(sigma**2, rel=5 * math.sqrt(2) / 400)


def sampled_moments(steps: int) -> tuple[float, float]:
    """Mean and variance of what the sampler gives for Gaussian data, exactly: each step is a line in z and noise."""
    scheduler = VDMScheduler(-8.0, 12.0)
    scheduler.set_timesteps(steps)
    mean, variance = 0.0, scheduler.init_noise_sigma**2
    probes = torch.tensor([[0.0], [1.0], [0.0]], dtype=torch.float64)
    noise = torch.tensor([[0.0], [0.0], [1.0]], dtype=torch.float64)
    for t in scheduler.timesteps:
        eps = best_eps(probes, scheduler.gamma(t).expand(3))
        at = scheduler.step(eps, t, probes, noise, return_dict=False)[0].flatten()
        offset, slope, spread = float(at[0]), float(at[1] - at[0]), float(at[2] - at[0])
        mean, variance = offset + slope * mean, slope**2 * variance + spread**2
    scale = float(scheduler.decode(torch.ones(1, dtype=torch.float64)))
    return scale * mean, scale**2 * variance


def test_exact_predictions_sample_the_data() -> None:
    """Samples have the mean of z_0 / alpha_0 at any number of steps; their variance's error falls as one over them."""
    means, variances = np.array([sampled_moments(steps) for steps in (25, 50, 100, 200, 400, 800)]).T
    # z_1 begins at 0 and not at alpha_1 m: e^-12 of what is sampled, at most.
    np.testing.assert_allclose(means, MEAN, atol=math.exp(-12))
    errors = np.abs(variances - VARIANCE - math.exp(-8))
    assert np.all(np.diff(errors) < 0)
    # First order: the error halves, and what extrapolation leaves of the last is an order smaller.
    assert errors[-1] / errors[-2] == pytest.approx(0.5, abs=0.05)
    assert abs(2 * variances[-1] - variances[-2] - VARIANCE - math.exp(-8)) < errors[-1] / 10


def test_the_sampler_has_the_moments_of_its_steps() -> None:
    """Many samples drawn have the mean and variance that the steps say, within 5 standard errors."""
    scheduler = VDMScheduler(-8.0, 12.0)
    scheduler.set_timesteps(20)
    rng = np.random.default_rng(3)
    shape = (50, 3, 20, 20)
    drawn = sample(scheduler, best_eps, (torch.tensor(rng.standard_normal(shape)).float() for _ in range(21)))
    mean, variance = sampled_moments(20)
    n = drawn.numel()
    assert drawn.mean().item() == pytest.approx(mean, abs=5 * math.sqrt(variance / n))
    assert drawn.var().item() == pytest.approx(variance, rel=5 * math.sqrt(2 / n))


@given(st.floats(0, 0.98), st.floats(0.01, 1), st.integers(0, 1000))
def test_a_deterministic_step_keeps_the_predicted_noise(s: float, share: float, seed: int) -> None:
    """DDIM goes to alpha_s x_hat + sigma_s eps_hat for any s < t; noise that it is given changes nothing."""
    t = s + share * (1 - s)
    scheduler = VDMScheduler(-5.0, 10.0, sampler="ddim")
    z, eps, noise = torch.tensor(np.random.default_rng(seed).normal(size=(3, 1, 5)))
    taken = scheduler.step(eps, t, z, prev_timestep=s)
    assert not isinstance(taken, tuple)
    alpha, sigma = alpha_sigma(scheduler.gamma(s))
    torch.testing.assert_close(taken.prev_sample, alpha * taken.pred_original_sample + sigma * eps)
    noisy = scheduler.step(eps, t, z, noise, s, return_dict=False)[0]
    assert torch.equal(noisy, taken.prev_sample)


def test_many_deterministic_steps_follow_the_probability_flow() -> None:
    """For Gaussian data the flow of dz = (f z - g^2 score / 2) dt keeps (z_t - alpha_t m) / sd of z_t: each sample ends
    where that says, and the error is of first order in the length of a step."""
    z_1 = torch.tensor(np.random.default_rng(5).normal(size=(1, 200)))
    first = VDMScheduler(-8.0, 12.0, sampler="ddim")
    (alpha_1, sigma_1), (alpha_0, sigma_0) = (alpha_sigma(first.gamma(t)) for t in (1.0, 0.0))
    kept = (z_1 - alpha_1 * MEAN) / (alpha_1**2 * VARIANCE + sigma_1**2).sqrt()
    flowed = MEAN + kept * (alpha_0**2 * VARIANCE + sigma_0**2).sqrt() / alpha_0
    errors = []
    for steps in (50, 100, 200, 400, 800):
        scheduler = VDMScheduler(-8.0, 12.0, sampler="ddim")
        scheduler.set_timesteps(steps)
        drawn = sample(scheduler, lambda z, gamma: best_eps(z, gamma.double()), [z_1])
        errors.append(float((drawn - flowed).abs().max()))
    assert errors[-1] < 0.01
    assert errors[-1] / errors[-2] == pytest.approx(0.5, abs=0.05)


def test_samples_do_not_know_their_batch() -> None:
    """With its own noise a sample comes out the same alone, in a batch, and whatever torch's generators are at."""
    scheduler = VDMScheduler(-5.0, 10.0)
    scheduler.set_timesteps(6)
    noise = torch.tensor(np.random.default_rng(0).standard_normal((7, 8, 3, 4, 4)), dtype=torch.float32)
    before = torch.get_rng_state()
    whole = sample(scheduler, best_eps, noise)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(99)
    for row in range(8):
        torch.testing.assert_close(sample(scheduler, best_eps, noise[:, row : row + 1]), whole[row : row + 1])
    torch.set_rng_state(before)


def test_clipping_is_a_choice() -> None:
    """Clipped, x_hat lies in [0, 1] and z_s is drawn around it; where it lies there anyway nothing changes."""
    noise = torch.zeros(2, 1)
    z, eps = torch.tensor([[2.0], [0.5]]), torch.tensor([[-1.0], [0.1]])
    free, clipped = (VDMScheduler(-5.0, 10.0, clip).step(eps, 0.3, z, noise, 0.2) for clip in (False, True))
    assert not isinstance(free, tuple)
    assert not isinstance(clipped, tuple)
    assert free.pred_original_sample[0].item() > 1
    assert clipped.pred_original_sample[0].item() == 1
    toward = (z - alpha_sigma(torch.tensor(-0.5))[0] * 1.0) / alpha_sigma(torch.tensor(-0.5))[1]
    drawn = VDMScheduler(-5.0, 10.0).step(toward, 0.3, z, noise, 0.2, return_dict=False)[0]
    torch.testing.assert_close(clipped.prev_sample[0], drawn[0])
    torch.testing.assert_close(free.prev_sample[1], clipped.prev_sample[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_images_take_steps_in_float32(dtype: torch.dtype) -> None:
    """z_s of half-precision z_t is the float32 one, rounded once."""
    scheduler = VDMScheduler(-5.0, 10.0)
    _, t, eps, noise = (values.to(dtype) for values in batch(4))
    x = torch.rand(4, 3, 4, 4, generator=torch.Generator().manual_seed(0)).to(dtype)
    for method in (
        lambda *args: scheduler.add_noise(args[0], args[1], t.float()),
        lambda *args: scheduler.step(args[1], t.float(), args[0], args[2], t.float() / 2, return_dict=False)[0],
        lambda *args: scheduler.decode(args[0]),
    ):
        half = method(x, eps, noise)
        assert half.dtype == dtype
        assert torch.equal(half, method(x.float(), eps.float(), noise.float()).to(dtype))


def test_a_scheduler_is_saved_and_loaded_like_any_other(tmp_path: Path) -> None:
    """diffusers' own files keep its settings; one made of a learned schedule has that schedule's ends."""
    schedule = LinearSchedule(-5.0, 10.0, learned=True)
    with torch.no_grad():
        schedule.b.sub_(2.5)
    scheduler = VDMScheduler.of(schedule, 10, clip_sample=True)
    scheduler.save_pretrained(tmp_path)
    again = VDMScheduler.from_pretrained(tmp_path)
    assert isinstance(again, VDMScheduler)
    assert dict(again.config) == dict(scheduler.config)
    torch.testing.assert_close(again.gamma(torch.tensor([0.0, 1.0])), torch.tensor([-7.5, 7.5]).double())
    torch.testing.assert_close(scheduler.timesteps, torch.arange(10, 0, -1).double() / 10)


def test_a_sampler_that_cannot_go_on_says_why() -> None:
    """Bad ends, no steps, a step forward, an unset scheduler, too little noise: each is named with what is allowed."""
    with pytest.raises(ValueError, match="gamma_0 = 2; allowed: less than gamma_1 = 1"):
        VDMScheduler(2.0, 1.0)
    scheduler, z = VDMScheduler(), torch.zeros(1, 3, 4, 4)
    with pytest.raises(ValueError, match="num_inference_steps = 0; allowed: 1 or more"):
        scheduler.set_timesteps(0)
    with pytest.raises(ValueError, match="call set_timesteps, or give prev_timestep"):
        scheduler.step(z, 0.5, z, z)
    with pytest.raises(ValueError, match=r"prev_timestep = 0\.6 is after timestep = 0\.5"):
        scheduler.step(z, 0.5, z, z, 0.6)
    scheduler.set_timesteps(3)
    with pytest.raises(ValueError, match="one for z_1 and one for each of 3 steps"):
        sample(scheduler, best_eps, [z, z, z])
    with pytest.raises(ValueError, match="an ancestral step adds noise"):
        scheduler.step(z, 0.5, z)
