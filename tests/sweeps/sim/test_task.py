"""Laws of the SIM task: what is drawn, from which stream, under which convention; and what parameters are refused."""

from __future__ import annotations

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from swingby.model.cell import Cell
from swingby_sweeps.sim import task
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start, draw_layers, full_layers
from swingby_sweeps.sim.params import SimParams
from tests.support import pins
from tests.sweeps.sim.plain import batch_moments, sample_moments

MODELS = ("linear", "relu", "symmetric", "one_layer")


def cell(seed: int = 0, preset: str = "paper", **values: Any) -> Cell:
    return Sim.point(preset, **values).cell(seed)


def params(preset: str = "paper", **values: Any) -> SimParams:
    p = Sim.point(preset, **values).params
    assert isinstance(p, SimParams)
    return p


@pytest.mark.parametrize("preset", ["paper", "authors"])
@pytest.mark.parametrize("s", [2, 3, 4])
def test_sample_moments_tend_to_a(preset: str, s: int) -> None:
    """E[x x^T] of the drawn points is diag(a), a_p = sigma_p^2 + mu_p^2/C over C clusters, within 5 standard errors."""
    values: dict[str, Any] = {"s": s, "d": s, "n": 20_000, "bias": False}
    p, points = params(preset, **values), task.draw_points(cell(3, preset, **values))
    products = points[:, :, None] * points[:, None, :]
    error = products.std(0) / np.sqrt(len(points))
    clusters = s + (preset == "authors" and s == 2)
    variance = np.array(p.sigma) if preset == "authors" else np.array(p.sigma) ** 2
    expected = np.diag(variance + np.array(p.mu) ** 2 / clusters)
    assert np.all(np.abs(sample_moments(p, points) - expected) <= 5 * error + 1e-12)
    np.testing.assert_allclose(task.population_moments(p), expected, rtol=1e-14)
    np.testing.assert_allclose(task.signal(p), np.diag(expected), rtol=1e-14)
    np.testing.assert_allclose(
        points.mean(0), np.array(p.mu) / clusters, atol=5 * points.std(0).max() / np.sqrt(len(points))
    )


def test_moments_with_bias_hold_the_mean() -> None:
    """With biases the last row and column of the moments are the mean and 1, of the sample and of the population."""
    p, points = params("authors"), task.draw_points(cell(preset="authors"))
    sample, population = sample_moments(p, points), task.population_moments(p)
    np.testing.assert_allclose(sample[-1], [*points.mean(0), 1.0], rtol=1e-12)
    np.testing.assert_allclose(population[-1], [1 / 3, 2 / 3, 1.0], rtol=1e-12)
    assert np.array_equal(population, population.T)


def test_every_cluster_has_a_stream_of_its_own() -> None:
    """More points extend a cluster, the origin's cluster comes last, and neither changes the others' points."""
    few, many = (task.draw_points(cell(n=n)).reshape(2, n, 2) for n in (10, 25))
    assert np.array_equal(few, many[:, :10])
    with_origin = task.draw_points(cell(n=10, zero_cluster=True)).reshape(3, 10, 2)
    assert np.array_equal(with_origin[:2], few)
    assert np.abs(with_origin[2]).max() < 0.5
    assert not np.array_equal(task.draw_points(cell(1, n=10)), few.reshape(20, 2))


def test_sigma_scales_the_same_normals() -> None:
    """Points are mu_p e_p + sigma z with z the stream's normals, so cells with other mu and sigma share their noise."""
    z = task.draw_points(cell(n=50, sigma=(1.0, 1.0))) - np.repeat(np.diag([1.0, 2.0]), 50, axis=0)
    spreads: list[dict[str, Any]] = [{"sigma": (0.3, 0.04)}, {"sigma": (0.09, 0.0016), "sigma_is": "variance"}]
    for values in spreads:
        points = task.draw_points(cell(n=50, mu=(1.5, 0.5), **values))
        np.testing.assert_allclose(points, np.repeat(np.diag([1.5, 0.5]), 50, axis=0) + z * [0.3, 0.04], atol=1e-14)


def test_truncation_keeps_the_points_that_are_far_enough() -> None:
    """A truncated set is the stream's points without those within min(mu)/2 of x^, drawn on until there are n."""
    values: dict[str, Any] = {"n": 400, "sigma": (0.5, 0.7), "mu": (1.0, 1.5)}
    kept = task.draw_points(cell(truncate=True, **values)).reshape(2, 400, 2)
    p = params(truncate=True, **values)
    longer = task.draw_points(cell(**{**values, "n": 1000})).reshape(2, 1000, 2)
    for cluster in range(2):
        near = np.hypot(*(longer[cluster] - [1.0, 1.5]).T) < 0.5
        assert near[:400].any(), "the test set has points to redraw"
        assert np.array_equal(kept[cluster], longer[cluster][~near][:400])
    assert task.far_enough(p, kept).all()


def test_the_order_is_one_permutation_or_many() -> None:
    """`once` gives the same permutation in every epoch, `every_epoch` a new one; both start alike."""
    once, fresh = task.order(cell(n=30)), task.order(cell(n=30, shuffle="every_epoch"))
    first, second = (once.next_epoch().copy() for _ in range(2))
    third, fourth = (fresh.next_epoch().copy() for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert not np.array_equal(third, fourth)
    assert np.array_equal(np.sort(first), np.arange(60))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.integers(1, 60), st.integers(1, 4), st.integers(0, 99))
def test_batch_moments_are_those_of_each_slice(count: int, size: int, k: int, seed: int) -> None:
    """The moments of mini-batch b are those of points[b size : (b + 1) size] over their own number."""
    points = np.random.default_rng(seed).normal(size=(count, k))
    found = batch_moments(points, size)
    slices = [points[start : start + size] for start in range(0, count, size)]
    assert len(found) == len(slices)
    for A, x in zip(found, slices, strict=True):
        np.testing.assert_allclose(A, x.T @ x / len(x), rtol=1e-12, atol=1e-15)


def test_the_rotation_is_a_rotation() -> None:
    """R is orthogonal with determinant 1, differs between seeds, and is the identity when turned off."""
    for d in (2, 3, 8):
        R = task.random_rotation(cell(d=d, rotate=True))
        np.testing.assert_allclose(R @ R.T, np.eye(d), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert not np.allclose(R, task.random_rotation(cell(1, d=d, rotate=True)))
    assert np.array_equal(task.random_rotation(cell(rotate=False)), np.eye(64))


def test_the_rotation_is_uniform() -> None:
    """Over seeds the image of a unit vector has mean 0 and covariance 1/d, within 5 standard errors (400 seeds)."""
    d = 3
    images = np.array([task.random_rotation(cell(seed, d=d, rotate=True))[:, 0] for seed in range(400)])
    assert np.abs(images.mean(0)).max() < 5 / np.sqrt(d * 400)
    np.testing.assert_allclose(images.T @ images / 400, np.eye(d) / d, atol=5 * 0.3 / np.sqrt(400))


def test_the_hierarchy_counts_in_binary() -> None:
    """Row v of the hierarchy is sum_p v_p mu_p e_p with bit p of v; the last row is x^, rows 2^p are the centres."""
    p = params(s=3, d=3, mu=(1.0, 2.0, 4.0))
    points = task.hierarchy(p)
    assert points.tolist() == [[float(v & 1), float(v & 2), float(v & 4)] for v in range(8)]
    assert np.array_equal(points[-1], task.test_point(p))
    assert np.array_equal(points[[1, 2, 4]], task.centres(p))
    assert task.Signals.of([p]).l_ref[0] == 0.5 * (1 + 4 + 16)


def test_default_initialisation_is_that_of_torch() -> None:
    """Weights and biases are uniform within 1/sqrt(fan in): bounds kept, second moment a third of the bound squared."""
    for layer, (weight, bias) in enumerate(draw_layers(cell(d=16, width=300, layers=3, bias=True))):
        bound = 1 / np.sqrt(weight.shape[1])
        assert bias is not None
        assert bias.shape == weight.shape[:1], layer
        assert max(np.abs(weight).max(), np.abs(bias).max()) <= bound
        assert np.square(weight).mean() == pytest.approx(bound**2 / 3, rel=0.1)


def test_other_initialisations_are_what_they_say() -> None:
    """normal has sd gain/sqrt(fan in), uniform lies on [0, high), both with zero biases; explicit is the rows given."""
    for weight, bias in draw_layers(cell(d=32, width=100, layers=2, bias=True, init="normal", init_gain=0.3)):
        assert weight.std() == pytest.approx(0.3 / np.sqrt(weight.shape[1]), rel=0.05)
        assert bias is not None
        assert not bias.any()
    ((U, _),) = draw_layers(cell(model="symmetric", preset="authors", s=2))
    assert U.shape == (2, 2)
    assert U.min() >= 0
    assert U.max() < 0.2
    rows = ((1.0, 2.0, 9.0), (3.0, 4.0, 8.0), (5.0, 6.0, 7.0), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    given = {"d": 2, "width": 3, "layers": 2, "bias": True, "init": "explicit"}
    (first, first_bias), (second, _) = draw_layers(
        cell(**given, init_weights=(*rows[:3], (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)))
    )
    assert first.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert first_bias is not None
    assert first_bias.tolist() == [9, 8, 7]
    assert second.tolist() == [[1, 2, 3], [5, 6, 7]]


def test_a_wider_grid_point_shares_no_accident() -> None:
    """With common seeds a layer's draws hang on the seed and the layer alone: not on mu, lr, dtype or depth."""
    first = draw_layers(cell(d=4, width=5, layers=3))
    other = draw_layers(cell(d=4, width=5, layers=2, mu=(3.0, 1.0), lr=0.5, dtype="float64", bias=True))
    assert np.array_equal(first[0][0], other[0][0])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("model", "layers"), [("linear", 1), ("linear", 2), ("relu", 4), ("one_layer", 1), ("symmetric", 2)]
)
def test_the_informative_frame_loses_nothing(model: str, layers: int, bias: bool) -> None:
    """Into the frame and back is the identity on the weights, and a net moved there moves back to where it should."""
    start = Start.of(cell(model=model, layers=layers, d=5, width=4, bias=bias and model != "symmetric", rotate=True))
    for (a, b), (c, d) in zip(full_layers(start, start.parameters), start.layers, strict=True):
        np.testing.assert_allclose(a, c, atol=1e-14)
        np.testing.assert_allclose(b if b is not None else 0, d if d is not None else 0, atol=1e-14)


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_presets_give_every_parameter_a_legal_value(preset: str) -> None:
    """For every model, s, depth, d and drive the preset names all parameters, and with what was set they are legal."""
    for model, s, d, layers in itertools.product(MODELS, (1, 2, 3, 4, 6), (None, 2, 3, 64), (None, 1, 3, 4)):
        if (d or 64) < s or (model == "one_layer" and layers not in (None, 1)):
            continue
        values = {"model": model, "s": s, "d": d, "layers": layers}
        values = {name: value for name, value in values.items() if value is not None}
        defaults = Sim.presets[preset](values)
        assert set(defaults) == set(SimParams.model_fields)
        SimParams(**{**defaults, **values})


def test_presets_leave_faults_to_the_checks() -> None:
    """A preset never stumbles over what a file sets wrongly: the parameters' own checks tell it."""
    for wrong in ({"s": "two"}, {"mu": 3}, {"d": -1}, {"model": 7}, {"layers": 2.5}, {"n": None}, {"s": True}):
        for preset in Sim.presets.values():
            with pytest.raises(ValidationError):
                SimParams(**{**preset(wrong), **wrong})


def test_presets_differ_as_the_sources_do() -> None:
    """The conventions on which the paper's text and the code behind its figures differ, one by one."""
    paper, authors = params("paper"), params("authors")
    assert (paper.sigma_is, paper.zero_cluster, paper.bias, paper.reduction) == ("sd", False, False, "half_sum")
    assert (authors.sigma_is, authors.zero_cluster, authors.bias, authors.reduction) == ("variance", True, True, "mean")
    for p in (paper, authors):
        assert (p.mu, p.sigma, p.d, p.width, p.n) == ((1.0, 2.0), (0.05, 0.05), 64, 64, 5000)
        assert (p.lr, p.epochs, p.batch_size, p.shuffle, p.init, p.rotate) == (0.1, 40, 128, "once", "default", True)
    assert params("authors", s=4).zero_cluster is False
    fig_7 = (params("paper", s=4), params("authors", s=4))
    assert [(p.mu, p.sigma, p.sigma_is) for p in fig_7] == [
        ((1.0, 2.0, 3.0, 4.0), (0.5,) * 4, "sd"),
        ((1.0, 2.0, 3.0, 4.0), (0.5,) * 4, "variance"),
    ]


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_presets_change_nothing_else_along_an_axis(preset: str) -> None:
    """Depth, width, d and signals as set move no other parameter: a diagram over them is not confounded."""
    plain = Sim.presets[preset]({})
    for values in ({"layers": 4, "d": 2}, {"layers": 3, "d": 3}, {"width": 3}, {"width": 4, "layers": 4, "d": 2}):
        changed = {**Sim.presets[preset](values), **values}
        assert {name for name in plain if plain[name] != changed[name]} <= set(values)


def test_the_symmetric_presets_differ_as_the_sources_do() -> None:
    """Figs 5, 8 and 9: mu, sigma, initialisation, A or A squared; flow on U in the time of eq 4.3, without rotation."""
    papers = [params("paper", model="symmetric", s=s) for s in (2, 3, 4)]
    authors = [params("authors", model="symmetric", s=s) for s in (2, 3, 4)]
    for p in (*papers, *authors):
        assert (p.drive, p.moments, p.reduction, p.dtype) == ("flow", "population", "quarter_sum", "float64")
        assert (p.sigma_is, p.zero_cluster, p.bias, p.rotate, p.d, p.width) == ("sd", False, False, False, p.s, p.s)
        assert p.lr == 0.01
    assert [p.mu for p in papers] == [(1.0, 1.5), (1.0, 1.5, 2.2), (1.0, 1.5, 2.2, 2.7)]
    assert [p.mu for p in authors] == [(1.0, 1.5), (1.0, 1.7, 2.25), (1.0, 1.5, 2.2, 2.7)]
    assert [p.sigma for p in papers] == [(0.05,) * 2, (0.05,) * 3, (0.05, 0.05, 0.05, 0.5)]
    assert [p.sigma for p in authors] == [(0.05,) * 2, (0.5, 0.25, 0.25), (0.05,) * 4]
    assert {(p.init, p.moment_power) for p in papers} == {("normal", 1)}
    assert {(p.init, p.moment_power) for p in authors} == {("uniform", 2)}
    assert [p.init_high for p in authors] == [0.2, 0.1, 0.1]


def test_s_follows_from_the_vectors() -> None:
    """Where s is not set it is the length of mu or sigma as set."""
    assert params(mu=(1.0, 2.0, 3.0)).s == 3
    assert params("authors", sigma=(0.1, 0.1, 0.1, 0.1)).mu == (1.0, 2.0, 3.0, 4.0)


def test_cells_that_differ_in_numbers_share_a_shape() -> None:
    """mu, sigma, lr, initialisation, reduction, rotation are a cell's numbers; sizes, steps and dtype are its shape."""
    sim = Sim()
    base = sim.shape(params())
    numbers: list[dict[str, Any]] = [
        {"mu": (3.0, 1.0)},
        {"sigma": (1.0, 0.0)},
        {"lr": 1.0},
        {"init": "normal"},
        {"reduction": "mean"},
        {"rotate": False},
    ]
    assert {sim.shape(params(**same)) for same in numbers} == {base}
    others: list[dict[str, Any]] = [
        {"d": 8},
        {"width": 8},
        {"layers": 3},
        {"bias": True},
        {"n": 10},
        {"zero_cluster": True},
        {"epochs": 2},
        {"batch_size": 64},
        {"shuffle": "every_epoch"},
        {"dtype": "float64"},
        {"model": "relu"},
        {"drive": "gd"},
    ]
    shapes = {base, *(sim.shape(params(**other)) for other in others)}
    assert len(shapes) == len(others) + 1


def test_larger_cells_make_smaller_batches() -> None:
    """Memory bounds a batch: between 1 and 4096 cells, fewer the larger they are; work grows with size."""
    sim = Sim()
    sizes = [params(model="relu", width=width, d=8) for width in (8, 64, 512, 4096)]
    limits, work = [sim.max_batch(p) for p in sizes], [sim.work(p) for p in sizes]
    assert limits == sorted(limits, reverse=True)
    assert work == sorted(work)
    assert all(1 <= limit <= 4096 for limit in limits)


def test_draws_are_pinned_exactly() -> None:
    """Points, order and initial weights are these, to the last bit, or there is a new `stream_version`; the rotation,
    which goes through LAPACK, to rounding."""
    trained = pins.cell("sim", "sgd")
    assert task.draw_points(trained)[[0, 100, 200]].tolist() == [
        [0.9177753398358268, 0.03959161526716493],
        [-0.07540333832359329, 2.1381607339999102],
        [-0.1272542164779187, -0.19677905548742433],
    ]
    assert task.order(trained).next_epoch()[:8].tolist() == [44, 126, 25, 209, 195, 218, 88, 237]
    (first, first_bias), (second, _) = draw_layers(trained)
    assert first_bias is not None
    assert first[0].tolist() == [0.4102579174632053, 0.2464415673956576, 0.480010020876822]
    assert first_bias[:2].tolist() == [0.16517784600746144, -0.43964244944699105]
    assert second[2].tolist() == [-0.47970139498376263, 0.38348450126740474, -0.01700579897916754, -0.4212359586273322]
    rotation = [-0.8735019435607119, 0.2570256566834001, -0.4134394349867051]
    np.testing.assert_allclose(task.random_rotation(trained)[0], rotation, rtol=1e-12)
