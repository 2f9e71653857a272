"""Unconstrained features: against an ODE of all points, metrics of all points, minimisation, and its closed forms."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.metrics import measure
from swingby_sweeps.features.unconstrained import engine, measures, theory
from tests.support import cells

Array = np.ndarray


params = partial(cells.params, "unconstrained")
cell = partial(cells.cell, "unconstrained")


def row(points: int = 30, **values: Any) -> cells.Row:
    """The result of one cell."""
    (result,) = cells.trained([cell(**values)], Recording(points=points, also=("strengths",)))
    return result


def rotation(sizes: Array, r: int, seed: int = 0) -> Array:
    """Orthonormal rows (C + r, N): the normalised indicator of each class, then directions within classes."""
    C, N = len(sizes), int(sizes.sum())
    classes = np.repeat(np.eye(C), sizes.astype(int), axis=0).T / np.sqrt(sizes)[:, None]
    draws = np.random.default_rng(seed).normal(size=(r, N))
    within = np.linalg.qr((draws - draws @ classes.T @ classes).T)[0].T
    return np.vstack([classes, within])


# Closed forms hold at any number of points.
@pytest.mark.filterwarnings("ignore::swingby_sweeps.dynamics.metrics.FeaturesWarning")
@pytest.mark.parametrize(("classes", "imbalance", "width"), [(3, 1.0, 5), (3, 3.0, 4), (4, 2.0, 2), (2, 1.0, 30)])
def test_the_flow_and_its_measures_are_those_of_all_points(classes: int, imbalance: float, width: int) -> None:
    """Singular values, losses, NC1-3 and kappa are those of an ODE solver on W and on every point's features,
    by the library that takes points."""
    values: dict[str, Any] = {"classes": classes, "imbalance": imbalance, "width": width, "points_per_class": 8}
    values |= {"start": 0.6, "decay_w": 0.02, "decay_h": 0.01, "training_steps": 60, "lr": 0.2}
    found, p = row(points=6, **values), params(**values)
    W0, H0 = engine.start(cell(**values))
    turn, C = rotation(p.sizes, p.spread), classes
    labels = np.repeat(np.arange(C), p.sizes.astype(int))
    Y, N = np.eye(C)[labels].T, p.total

    def slope(_: float, y: Array) -> Array:
        W, H = y[: C * width].reshape(C, width), y[C * width :].reshape(width, N)
        E = (W @ H - Y) / N
        return -np.concatenate([(E @ H.T + 0.02 * W).ravel(), (W.T @ E + 0.01 * H).ravel()])

    at = np.array(found["step"]) * p.time_per_step
    y0 = np.concatenate([W0.ravel(), (H0 @ turn).ravel()])
    solved = solve_ivp(slope, (0, at[-1]), y0, "DOP853", at, rtol=1e-10, atol=1e-12).y.T
    for place, y in enumerate(solved):
        W, H = y[: C * width].reshape(C, width), y[C * width :].reshape(width, N)
        fit = np.linalg.norm(W @ H - Y) ** 2 / (2 * N)
        whole = fit + 0.01 * np.linalg.norm(W) ** 2 + 0.005 * np.linalg.norm(H) ** 2
        strengths = np.linalg.svd(W @ H, compute_uv=False)[:C]
        np.testing.assert_allclose(found["strengths"][place], strengths, atol=1e-6)
        np.testing.assert_allclose([found["fit_loss"][place], found["loss"][place]], [fit, whole], rtol=1e-6)
        metrics = measure(H.T, (W @ H).T, labels, W, spectrum=False)
        variance = (W @ H).var(1).sum() / Y.var(1).sum()
        assert found["output_variance"][place] == pytest.approx(variance, rel=1e-5)
        for name in ("nc1", "nc2", "nc3", "kappa_cka", "evenness", "containment"):
            expected = getattr(metrics, name)
            if expected is None:
                assert (name, found[name][place], width) == ("nc1", None, 2)
            else:
                assert found[name][place] == pytest.approx(expected, rel=1e-4, abs=1e-6), name


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4).map(lambda found: np.array(sorted(found)[::-1], float)),
    decays=st.tuples(st.floats(-2.5, -0.3), st.floats(-2.5, -0.3)),
    width=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_no_minimisation_finds_less_than_the_closed_form(
    sizes: Array, decays: tuple[float, float], width: int, seed: int
) -> None:
    """From random starts scipy ends at the soft-thresholded singular values, or above their loss."""
    l_w, l_h = 10.0 ** decays[0], 10.0 ** decays[1]
    C, N, draws = len(sizes), sizes.sum(), np.random.default_rng(seed)
    Y = np.diag(np.sqrt(sizes))

    def loss(y: Array) -> tuple[float, Array]:
        W, H = y[: C * width].reshape(C, width), y[C * width :].reshape(width, C)
        E = (W @ H - Y) / N
        value = N / 2 * (E * E).sum() + l_w / 2 * (W * W).sum() + l_h / 2 * (H * H).sum()
        return float(value), np.concatenate([(E @ H.T + l_w * W).ravel(), (W.T @ E + l_h * H).ravel()])

    ends = [minimize(loss, draws.normal(size=2 * C * width), jac=True, tol=1e-12) for _ in range(3)]
    best = min(ends, key=lambda end: end.fun)
    sigma = theory.end_strengths(sizes, l_w, l_h, width)
    least = ((np.sqrt(sizes) - sigma) ** 2).sum() / (2 * N) + np.sqrt(l_w * l_h) * sigma.sum()
    assert best.fun >= least * (1 - 1e-9)
    assert best.fun == pytest.approx(least, rel=1e-5)
    W, H = best.x[: C * width].reshape(C, width), best.x[C * width :].reshape(width, C)
    np.testing.assert_allclose(np.linalg.svd(W @ H, compute_uv=False), sigma, atol=0.02 * np.sqrt(sizes[0]))
    if width >= C and sigma[-1] > 0.1:
        W, means = theory.end_state(sizes, l_w, l_h, width)
        np.testing.assert_allclose(np.diag(W @ means) * np.sqrt(sizes), sigma)


def test_long_runs_end_at_the_closed_form() -> None:
    """The strengths of flows of either balance end within a thousandth of sqrt(m) - N sqrt(l_W l_H), else at 0."""
    cases: list[dict[str, Any]] = [{}, {"decay_w": 0.02, "decay_h": 0.001}, {"imbalance": 9.0}, {"width": 3}]
    for values in [*cases, {"decay_w": 0.03}]:
        found, p = row(training_steps=16000, **values), params(**values)
        ends = theory.end_strengths(p.sizes, p.decays[0], p.decays[1], p.width)
        np.testing.assert_allclose(found["final_strengths"], ends, atol=1e-3 * 10)


@pytest.mark.parametrize("values", [{}, {"imbalance": 4.0}, {"decay_w": 0.0}, {"decay_w": 0.04}, {"classes": 3}])
def test_the_closed_form_of_small_starts_solves_its_riccati_equation(values: dict[str, Any]) -> None:
    """P and K H are those of an ODE solver on K' = A K - K K^T K/N and H' = -(K^T K/N + l) H; NC follows from both."""
    p = params(points_per_class=30, width=6, **values)
    draws = np.random.default_rng(3)
    C, N, s, decay = p.classes, p.total, np.sqrt(p.sizes), p.decay_w
    K0, H0 = draws.normal(size=(C, 6)) * 0.1, draws.normal(size=(6, 5))

    def slope(_: float, y: Array) -> Array:
        K, H = y[: C * 6].reshape(C, 6), y[C * 6 :].reshape(6, 5)
        return np.concatenate(
            [((s / N - decay)[:, None] * K - K @ K.T @ K / N).ravel(), -(K.T @ K / N @ H + decay * H).ravel()]
        )

    t = np.linspace(0, 8 * N / s[0], 9)
    solved = solve_ivp(slope, (0, t[-1]), np.concatenate([K0.ravel(), H0.ravel()]), "DOP853", t, rtol=1e-11, atol=1e-13)
    P, KH = theory.small_start(K0, H0, s, N, decay, t)
    for place, y in enumerate(solved.y.T):
        K, H = y[: C * 6].reshape(C, 6), y[C * 6 :].reshape(6, 5)
        np.testing.assert_allclose(P[place], K @ K.T, atol=1e-7 * s[0])
        np.testing.assert_allclose(KH[place], K @ H, atol=1e-7 * s[0])
        nc1, nc2 = measures.collapse(K / s[:, None], H, N)
        assert measures.predicted(P[[place]], KH[[place]], p.sizes) == pytest.approx((nc1, nc2), rel=1e-4, abs=1e-6)


def test_an_aligned_start_follows_the_sigmoid_of_each_mode() -> None:
    """(3.15) with decay: the strengths of aligned modes are the logistic curves of theory, dead ones as well."""
    cases: list[dict[str, Any]] = [{"imbalance": 16.0}, {"decay_w": 0.0}, {"decay_w": 0.025}]
    for values in cases:
        p = params(init="aligned", **values)
        found = row(init="aligned", **values)
        t = np.array(found["step"]) * p.time_per_step
        sigma_0 = p.start**2 * np.sqrt(p.points_per_class)
        laws = [theory.logistic(sigma_0, s, p.total, p.decay_w, t) for s in np.sqrt(p.sizes)]
        np.testing.assert_allclose(found["strengths"], np.sort(laws, axis=0)[::-1].T, atol=1e-6)


def test_unbalance_falls_at_twice_the_decay() -> None:
    """W^T W - H H^T, which (3.8) conserves, falls as exp(-2 l t) where l_W = l_H = l."""
    found, p = row(start=1.0), params(start=1.0)
    t = np.array(found["step"]) * p.time_per_step
    law = found["unbalance"][0] * np.exp(-2 * p.decay_w * t)
    np.testing.assert_allclose(found["unbalance"], law, atol=1e-6 * law[0])


def test_descent_in_short_steps_nears_the_flow() -> None:
    """With steps a tenth as long the error is about a tenth; momentum is the flow with lr / (1 - momentum)."""
    flow = row(training_steps=200, lr=0.1)["final_strengths"]
    errors = []
    for steps, lr in ((200, 0.1), (2000, 0.01)):
        errors.append(np.abs(np.array(row(drive="gd", training_steps=steps, lr=lr)["final_strengths"]) - flow).max())
    assert errors[1] < errors[0] / 5
    heavy = row(drive="gd", training_steps=2000, lr=0.001, momentum=0.9)["final_strengths"]
    np.testing.assert_allclose(heavy, flow, atol=0.1)


def test_bartletts_factor_has_the_moments_of_all_points() -> None:
    """The Gram matrix of the directions within classes has the mean (N - C) sd^2 I and Wishart's variances."""
    starts = [engine.start(cell(seed, width=3, points_per_class=5))[1] for seed in range(1000, 1600)]
    grams = np.array([(H := start[:, 4:]) @ H.T for start in starts])
    sd2, rest = 0.1**2 / 3 / np.sqrt(5), 16
    np.testing.assert_allclose(grams.mean(0) / (sd2 * rest), np.eye(3), atol=0.06)
    np.testing.assert_allclose(grams[:, 0, 1].var() / (sd2**2 * rest), 1, atol=0.25)
    np.testing.assert_allclose(grams[:, 2, 2].var() / (2 * sd2**2 * rest), 1, atol=0.25)


def test_long_steps_diverge_by_name() -> None:
    """Descent with a step far too long has the status diverged, keeps finite records, and says when."""
    found = row(drive="gd", lr=30.0)
    assert found["status"] == "diverged"
    assert "recorded steps kept" in found["message"]
    assert np.isfinite(found["loss"]).all()


def test_constant_and_lost_outputs_have_no_kappa() -> None:
    """Where all modes die the learned space is lost: kappa becomes null, and no number is NaN."""
    found = row(decay_w=0.1, training_steps=16000)
    assert found["final_kappa_cka"] is None
    assert found["final_strongest"] < 1e-3
    assert not any(value != value for name in ("nc1", "nc2", "nc3", "loss") for value in found[name])
