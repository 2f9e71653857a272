"""Closed forms of `linear` beside an ODE, loops of steps, and laws of learnabilities."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Trained
from swingby_sweeps.linear import engine, features, solve, theory
from swingby_sweeps.linear.params import LinearParams
from tests.support import cells

FAMILIES = ["gaussian", "rademacher", "fourier", "sine", "hermite"]


def drawn(seed: int = 1000, **values: Any) -> tuple[LinearParams, np.ndarray, np.ndarray, np.ndarray]:
    """Parameters, E, rho and the noise of a cell."""
    cell = cells.cell("linear", seed, **values)
    p: LinearParams = cell.params
    E = features.matrix(p, cell.stream("points"))
    return p, E, features.intensities(p), cell.stream("noise").standard_normal(p.n)


def fitted(seed: int = 1000, **values: Any) -> Trained:
    """The result of a cell at every point of its curves."""
    return engine.fit(cells.cell("linear", seed, **values), Recording("every", also=("modes",)))


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("family", FAMILIES)
def test_flow_is_that_of_the_weights(family: str, ridge: float) -> None:
    """The closed form is the solution of dw/dt = -dLoss/dw ([T] 1.12), integrated over the weights."""
    values = {"features": family, "n": 8, "p": 15, "ridge": ridge, "target": "power", "end_time": 30.0, "points": 7}
    p, E, rho, noise = drawn(**values)
    A, c = E * np.sqrt(rho), features.target(p)
    y = E @ c + p.sigma * noise

    def slope(_: float, w: np.ndarray) -> np.ndarray:
        return (A.T @ (y - A @ w) - ridge * w) / p.n

    found = fitted(**values).curves
    times = found["eta_t"]
    run = solve_ivp(slope, (0, times[-1]), np.zeros(15), "DOP853", times, rtol=1e-10, atol=1e-12)
    fits = np.sqrt(rho)[:, None] * run.y
    assert found["test_loss"] == pytest.approx(((fits - c[:, None]) ** 2).sum(0) / 2, rel=1e-7)
    assert found["train_loss"] == pytest.approx(((E @ fits - y[:, None]) ** 2).sum(0) / 2 / p.n, rel=1e-7)
    assert found["learned"] == pytest.approx((fits[:8] / c[:8, None]).T, rel=1e-6, abs=1e-9)
    assert found["utilised"] == pytest.approx(theory.effective_dimension(fits.T**2), rel=1e-7)


@pytest.mark.parametrize("eta", [0.3, 1.0])
def test_descent_is_a_loop(eta: float) -> None:
    """The closed form of gradient descent after s steps is the loop's."""
    values: dict[str, Any] = {"n": 10, "p": 20, "drive": "descent", "eta": eta, "end_time": 40.0, "points": 9}
    p, E, rho, noise = drawn(**values)
    A, c = E * np.sqrt(rho), features.target(p)
    y, w, losses = E @ c + p.sigma * noise, np.zeros(20), [0.5]
    for _ in range(round(40 / eta)):
        w = w - eta * A.T @ (A @ w - y) / p.n
        losses.append(float(((np.sqrt(rho) * w - c) ** 2).sum() / 2))
    found = fitted(**values).curves
    assert found["test_loss"] == pytest.approx([losses[round(t / eta)] for t in found["eta_t"]], rel=1e-8)


def test_descent_diverges_beyond_two() -> None:
    """Above eta l_max = 2 descent diverges, its curves end there, and nothing is said of a fit; below it does not."""
    rate = fitted(n=20, p=50).scalars["largest_rate"]
    for factor, ends in ((1.9, False), (2.1, True)):
        found = fitted(n=20, p=50, drive="descent", eta=factor / rate, end_time=1e6)
        assert ("diverges" in (found.diverged or "")) == ends
        assert all(np.isfinite(curve).all() for name, curve in found.curves.items() if name != "utilised")
        assert (found.scalars["signal_error"] is None) == ends
    assert len(found.curves["step"]) < 60
    assert found.curves["test_loss"].max() < 1e12


def test_a_step_beyond_two_counts_only_where_it_is_taken() -> None:
    """A fit after few steps is judged though more of them would diverge."""
    found = fitted(n=20, p=50, drive="descent", eta=3.0, end_time=6.0, decades=1.0, stopped=True)
    assert found.diverged is None
    assert found.scalars["final_test_loss"] is not None


def test_descent_keeps_the_digits_of_slow_modes() -> None:
    """Filters of rates down to 1e-14 beside exact fractions, at steps that alternate, stop at once, or grow."""
    rates = np.array([1e-14, 3e-9, 1e-3, 0.4, 1.0, 1.7, 2.05])
    steps = np.array([0.0, 1.0, 6.0, 7.0, 400.0])
    found = solve.descent(rates, 0.0, 1.0, steps)
    exact = [[(1 - (1 - Fraction(rate)) ** int(s)) / Fraction(rate) for rate in rates] for s in steps]
    assert found == pytest.approx(np.array(exact, dtype=float), rel=1e-12)


def test_stable_descent_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many modes as points fit the noise many times over; descent is stable, whatever loss counts as gone."""
    monkeypatch.setattr(engine, "DIVERGED_AT", 1.0)
    values: dict[str, Any] = {"n": 20, "p": 20, "end_time": 1e12}
    rate = fitted(**values).scalars["largest_rate"]
    found = fitted(**values, drive="descent", eta=1.0 / rate, decades=12.0)
    assert found.curves["test_loss"].max() > (1 + 0.3**2) / 2
    assert found.diverged is None
    assert len(found.curves["test_loss"]) == 60
    assert found.scalars["final_test_loss"] is not None


@pytest.mark.parametrize("family", FAMILIES)
def test_flow_ends_at_the_least_norm(family: str) -> None:
    """Unlimited time leaves nothing on the points, has the least norm, and flow comes to it ([T] A.2)."""
    values = {"features": family, "n": 5, "p": 30, "alpha": 1.0, "end_time": 1e9, "decades": 9.0}
    p, E, rho, noise = drawn(**values)
    found, c = fitted(**values), features.target(p)
    weights = np.linalg.pinv(E * np.sqrt(rho)) @ (E @ c + p.sigma * noise)
    loss = ((np.sqrt(rho) * weights - c) ** 2).sum() / 2
    assert found.scalars["final_test_loss"] == pytest.approx(loss, rel=1e-6)
    assert found.curves["test_loss"][-1] == pytest.approx(loss, rel=1e-6)
    assert found.scalars["final_train_loss"] < 1e-18


@pytest.mark.parametrize("family", [*FAMILIES, "kernel"])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_learnabilities_sum_to_the_points(family: str, ridge: float) -> None:
    """Sum L_k(D) = n on every sample; with a ridge sum l/(l + delta) over the eigenvalues of K; each lies in [0, 1]."""
    _, E, rho, _ = drawn(features=family, n=16, p=60, pool=60, alpha=1.0)
    L = solve.Sample.of(E, rho).learnability(ridge)
    assert (L >= -1e-12).all()
    assert (L <= 1 + 1e-12).all()
    rates = np.linalg.eigvalsh(E * rho @ E.T)
    assert L.sum() == pytest.approx((rates / (rates + ridge)).sum() if ridge else 16, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(1000, 1999), mode=st.integers(0, 29), factor=st.floats(1.01, 100), scale=st.floats(0.01, 100))
def test_learnability_of_a_sample(seed: int, mode: int, factor: float, scale: float) -> None:
    """L(D) is unchanged by rho -> a rho and moves with its mode; a mode's own rises with its intensity, no other's."""
    _, E, rho, _ = drawn(seed, n=10, p=30)
    L = solve.Sample.of(E, rho).learnability(0.0)
    assert solve.Sample.of(E, scale * rho).learnability(0.0) == pytest.approx(L, rel=1e-8)
    assert solve.Sample.of(E[:, ::-1], rho[::-1]).learnability(0.0)[::-1] == pytest.approx(L, rel=1e-8)
    more = np.where(np.arange(30) == mode, factor, 1.0) * rho
    moved = solve.Sample.of(E, more).learnability(0.0) - L
    assert moved[mode] > 0
    assert (np.delete(moved, mode) < 1e-12).all()


def test_as_few_modes_as_points_are_learned_whole() -> None:
    """p <= n: every L_k(D) is 1, and the signal is found exactly."""
    found = fitted(n=40, p=15, sigma=0.0)
    assert found.scalars["sample_learnability"] == pytest.approx(1)
    assert found.scalars["signal_error"] < 1e-20
    assert found.scalars["rank"] == 15


def test_lost_rank_is_told() -> None:
    """Intensities that fall below rounding leave the kernel without its rank."""
    explicit = {"spectrum": "explicit", "rho": [1.0, 1.0, 1e-40, 1e-40, 1e-40], "n": 4, "p": 5}
    assert not fitted(**explicit).scalars["full_rank"]
    assert fitted(n=100, p=200, alpha=12.0).scalars["full_rank"]


def test_flow_comes_to_that_of_the_population() -> None:
    """The distance from (1.26) falls as the points become more."""
    gaps = []
    for n in (30, 120, 480):
        runs = [fitted(seed, n=n, p=10, sigma=0.0, target="power").curves for seed in range(1000, 1010)]
        gaps.append(np.mean([np.abs(run["aligned"] - run["population"]).max() for run in runs]))
    assert gaps[0] > 1.5 * gaps[1] > 2.25 * gaps[2]


def test_noise_of_equal_gaussian_features() -> None:
    """E V = n/(p - n - 1) exactly, and the mean over noise is that of the fit's own."""
    runs = [fitted(seed, n=10, p=30, alpha=0.0).scalars for seed in range(1000, 1200)]
    mean, own = (np.mean([run[name] for run in runs]) for name in ("mean_noise_gain", "noise_gain"))
    assert mean == pytest.approx(theory.isotropic_noise(10, 30), rel=0.03)
    assert own == pytest.approx(mean, rel=0.1)


def test_theory_predicts_the_error() -> None:
    """Test and training errors of ridge regression in the mean over samples are those of theory within 5 %."""
    values: dict[str, Any] = {"n": 60, "p": 600, "ridge": 1.0, "target": "power", "sigma": 0.5, "points": 2}
    runs = [fitted(seed, **values).scalars for seed in range(1000, 1040)]
    e0, missed, power = (runs[0][name] for name in ("e_0", "missed", "target_power"))
    unused = 1 - runs[0]["learned_modes"] / 60
    found = [np.mean([run[name] for run in runs]) for name in ("final_test_loss", "final_train_loss")]
    assert 2 * found[0] == pytest.approx(theory.excess(e0, missed, power, 0.25), rel=0.05)
    assert 2 * found[1] == pytest.approx(theory.train_error(e0, missed, power, 0.25, unused), rel=0.05)


@pytest.mark.parametrize("family", FAMILIES)
def test_features_are_orthonormal(family: str) -> None:
    """The mean of e_j e_k over many points is 1 for j = k and else 0; of hermite, whose higher moments are large, the
    first six, by quadrature."""
    if family == "hermite":
        x, weight = np.polynomial.hermite_e.hermegauss(40)
        e, weight = features.hermite(x, 6), weight / weight.sum()
        assert e.T * weight @ e == pytest.approx(np.eye(6), abs=1e-10)
        return
    e = np.vstack([drawn(seed, features=family, n=1000, p=7)[1] for seed in range(1000, 1020)])
    assert e.T @ e / len(e) == pytest.approx(np.eye(7), abs=0.05)


class Mirrored:
    """A stream of numbers 1 - x in place of x."""

    def __init__(self, stream: np.random.Generator) -> None:
        self.stream = stream

    def random(self, *size: Any) -> np.ndarray:
        """Uniform numbers, mirrored about one half."""
        return 1 - self.stream.random(*size)


def test_sine_fits_are_odd_about_one_half() -> None:
    """Points 1 - x with labels -y have the fit of points x with labels y, mode by mode, at every time."""
    values = {"features": "sine", "n": 9, "p": 20}
    p, E, rho, noise = drawn(**values)
    stream: Any = Mirrored(cells.cell("linear", **values).stream("points"))
    mirrored = features.matrix(p, stream)
    assert mirrored == pytest.approx(-E, abs=1e-12)
    one, other = solve.Sample.of(E, rho), solve.Sample.of(mirrored, rho)
    assert other.learnability(0.0) == pytest.approx(one.learnability(0.0), rel=1e-6)
    wanted, times = E @ features.target(p), np.geomspace(0.1, 1e3, 5)
    found, again = (
        sample.coefficients(solve.flow(sample.rates, 0.0, times), sign * wanted, sign * noise)
        for sample, sign in ((one, 1), (other, -1))
    )
    assert np.asarray(again) == pytest.approx(np.asarray(found), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("family", FAMILIES)
def test_rotated_features_have_the_same_fit(family: str, ridge: float) -> None:
    """Features O Phi, with O orthogonal, span the same kernel: weights on them give the fit of the engine."""
    values = {"features": family, "n": 6, "p": 12, "alpha": 1.0, "ridge": ridge}
    p, E, rho, noise = drawn(**values)
    c = features.target(p)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((12, 12)))[0]
    phi, y = E * np.sqrt(rho) @ turn, E @ c + p.sigma * noise
    weights = phi.T @ np.linalg.solve(phi @ phi.T + ridge * np.eye(6), y)
    loss = ((np.sqrt(rho) * (turn @ weights) - c) ** 2).sum() / 2
    assert fitted(**values).scalars["final_test_loss"] == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "polynomial"])
def test_kernel_fits_are_those_of_the_kernel(kernel: str) -> None:
    """The fit by eigenfunctions is kernel ridge regression on the images, and the errors over them are exact."""
    from sklearn.kernel_ridge import KernelRidge

    from swingby_sweeps.linear.kernel import eigenfunctions, images, parity

    values: dict[str, Any] = {"features": "kernel", "kernel": kernel, "pool": 80, "n": 30, "target": "labels"}
    p, E, _, noise = drawn(ridge=0.5, **values)
    every = eigenfunctions(kernel, *((0.0, 3, 1.0) if kernel == "polynomial" else (1.0, 0, 0.0)), 80)
    sample = [int(np.flatnonzero((every.e == row).all(1))[0]) for row in E]
    y = parity(80)[sample] + p.sigma * noise
    x = images()[0][:80]
    product = x @ x.T
    square = np.maximum(np.diag(product)[:, None] + np.diag(product) - 2 * product, 0)
    size = square.sum() / (80 * 79)
    gram = {
        "rbf": np.exp(-square / size / 2),
        "laplace": np.exp(-np.sqrt(square / size)),
        "polynomial": (product / np.diag(product).mean() + 1) ** 3,
    }[kernel]
    regression: Any = KernelRidge
    model = regression(alpha=0.5, kernel="precomputed").fit(gram[np.ix_(sample, sample)], y)
    wrong = (model.predict(gram[:, sample]) - parity(80)) ** 2
    found = fitted(ridge=0.5, **values).scalars
    assert 2 * found["final_test_loss"] == pytest.approx(wrong.mean(), rel=1e-6)
    assert 2 * found["unseen_loss"] == pytest.approx(np.delete(wrong, sample).mean(), rel=1e-6)
    assert found["target_power"] == pytest.approx(1)


def test_kernels_that_are_not_positive_are_refused() -> None:
    """An offset below 0 makes a polynomial kernel indefinite; the parameters refuse it before that."""
    from swingby_sweeps.linear.kernel import eigenfunctions

    with pytest.raises(ValueError, match="allowed: positive kernels"):
        eigenfunctions("polynomial", 0.0, 1, -0.5, 40)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra, and what can be had without it."""
    import sys

    from swingby.errors import SwingbyError
    from swingby_sweeps.dynamics.images import load
    from swingby_sweeps.linear import kernel

    load.cache_clear()
    kernel.images.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(SwingbyError, match=r"pip install 'swingby\[digits\]'.*every other value of `features`"):
        kernel.images()


def test_a_draw_more_leaves_the_first_sample() -> None:
    """Learnabilities are averaged over further samples, and the sample that is fitted stays."""
    one, three = fitted(n=10, p=30), fitted(n=10, p=30, draws=3)
    assert one.curves["test_loss"].tolist() == three.curves["test_loss"].tolist()
    assert one.scalars["sample_learnability"].tolist() != three.scalars["sample_learnability"].tolist()


def test_an_end_that_is_stopped_is_that_of_the_curve() -> None:
    """The judged fit is the last of the curve, else that of unlimited time."""
    for stopped in (True, False):
        found = fitted(n=20, p=60, end_time=1.0, decades=2.0, stopped=stopped)
        assert (found.scalars["final_test_loss"] == found.curves["test_loss"][-1]) == stopped


def test_rows_are_what_the_engine_says() -> None:
    """The experiment's rows have nulls where a number does not exist, and no NaN."""
    (row,) = cells.trained([cells.cell("linear", n=10, p=30)], Recording(also=("modes",)))
    assert row["target_ratio"][0] is not None
    assert row["target_ratio"][1] is None
    assert row["learnability_error"][0] is None
    assert np.shape(row["learned"]) == (60, 1)
