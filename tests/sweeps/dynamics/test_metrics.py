"""Metrics of a last layer: invariances, exact cases, biases beside a known truth, refusals, and what they cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby_sweeps.dynamics.metrics import (
    COLUMNS,
    FeaturesWarning,
    Metrics,
    adjusted,
    collapse,
    effective_dimension,
    kappa,
    kappas,
    learned_space,
    measure,
    measures,
    spectrum,
)

FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 10_000)


def made(seed: int, n: int = 60, p: int = 12, classes: int = 4) -> tuple[np.ndarray, ...]:
    """Features, outputs, labels and weights of a made-up last layer; classes are balanced."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    phi = rng.normal(size=(n, p)) + 1.5 * rng.normal(size=(classes, p))[labels] + 1
    weights = rng.normal(size=(classes, p))
    return phi, phi @ weights.T + rng.normal(size=classes), labels, weights


def simplex(classes: int, of_each: int, p: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Features of a full collapse, with a global mean orthogonal to the class means; their outputs are one-hot."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(p, p)))[0]
    labels = np.arange(classes * of_each) % classes
    means = (np.eye(classes) - 1 / classes) @ directions[:classes] + 0.7 * directions[classes]
    return means[labels], np.eye(classes)[labels], labels, (np.eye(classes) - 1 / classes) @ directions[:classes]


@pytest.mark.parametrize("exponent", [-500, -298, 266, 531])
def test_no_scale_of_a_float_is_too_small_or_too_large(exponent: int) -> None:
    """Powers of two from 1e-150 to 1e160 on features, outputs or weights leave every bit of kappa and of collapse."""
    phi, outputs, labels, weights = made(3)
    factor = 2.0**exponent
    assert kappa(phi * factor, outputs) == kappa(phi, outputs) == kappa(phi, outputs * factor)
    assert collapse(phi * factor, outputs, labels, weights) == collapse(phi, outputs, labels, weights * factor)
    assert collapse(phi * factor, outputs, labels, weights) == collapse(phi, outputs, labels, weights)
    mine, plain = spectrum(phi * factor, outputs, labels), spectrum(phi, outputs, labels)
    assert mine.d_eff_intensity == plain.d_eff_intensity
    assert np.array_equal(mine.quality, plain.quality)
    other = spectrum(phi * factor, outputs, labels, inner_products="other", train_phi=phi[::-1] * factor)
    assert other.d_eff_intensity == pytest.approx(plain.d_eff_intensity)


@FEW
@given(SEEDS, st.floats(0.01, 100), st.floats(-5, 5))
def test_kappa_and_its_parts_are_shares_that_frames_do_not_move(seed: int, scale: float, shift: float) -> None:
    phi, outputs, _, _ = made(seed)
    rng = np.random.default_rng(seed + 1)
    one = kappa(phi, outputs)
    assert one.kappa is not None
    assert one.evenness is not None
    assert one.containment is not None
    assert all(0 <= share <= 1 for share in (one.kappa, one.evenness, one.containment))
    assert one.kappa == pytest.approx(1 - one.evenness * one.containment, abs=1e-12)
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    moved = scale * phi @ rotation + shift
    mixed = rng.normal(size=(4, 4)) + 4 * np.eye(4)
    mixed /= mixed.sum(0)  # equal sums of columns
    for other in (
        kappa(moved, outputs),
        kappa(phi, outputs + rng.normal(size=(60, 1))),
        kappa(phi, outputs @ mixed),
    ):
        assert (other.kappa, other.evenness, other.containment) == pytest.approx(
            (one.kappa, one.evenness, one.containment), abs=1e-8
        )
        assert other.rank == one.rank == 3


@pytest.mark.filterwarnings("ignore::swingby_sweeps.dynamics.metrics.FeaturesWarning")  # few points are the subject
@FEW
@given(SEEDS, st.integers(2, 6))
def test_kappa_is_one_minus_cka_of_kernels_written_out(seed: int, classes: int) -> None:
    """The n x n kernels of the definition, centred; Q is an orthonormal basis of the class-centred outputs."""
    phi, outputs, _, _ = made(seed, n=30, classes=classes)
    h = np.eye(30) - 1 / 30
    q = np.linalg.qr(h @ (outputs - outputs.mean(1, keepdims=True))[:, :-1])[0]
    t, t_mp = h @ phi @ phi.T @ h, q @ q.T
    cka = (t * t_mp).sum() / np.linalg.norm(t) / np.linalg.norm(t_mp)
    assert kappa(phi, outputs).kappa == pytest.approx(1 - cka, abs=1e-10)
    assert learned_space(outputs).shape == (30, classes - 1)


@pytest.mark.parametrize("modes", [1, 2, 3])
def test_dead_directions_leave_one_minus_the_root_of_their_share(modes: int) -> None:
    q = np.linalg.qr(np.random.default_rng(modes).normal(size=(80, 5)) - 0)[0]
    outputs = np.c_[q[:, :4] - q[:, :4].mean(0), -(q[:, :4] - q[:, :4].mean(0)).sum(1)]
    basis = learned_space(outputs)
    found = kappa(basis[:, :modes], outputs)
    assert found.kappa == pytest.approx(1 - np.sqrt(modes / 4), abs=1e-10)
    assert found.containment == pytest.approx(1)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_a_minimum_projection_is_exact(classes: int) -> None:
    phi, outputs, labels, weights = simplex(classes, 12 + 30 // classes, classes + 5)
    found = measure(phi, outputs, labels, weights, strict=True)
    assert found.kappa_cka == pytest.approx(0, abs=1e-12)
    assert found.d_eff_intensity == pytest.approx(classes)
    for name in ("nc1", "cdnv", "nc2", "nc2_norms", "nc2_angles", "nc3", "nc3_self_dual", "nc4"):
        assert getattr(found, name) == pytest.approx(0, abs=1e-6), name
    assert found.learned_rank == found.target_rank == classes - 1
    assert found.modes == pytest.approx(classes - 1)
    assert found.utilization_at_classes == pytest.approx(1)
    assert found.quality_at_classes == pytest.approx(1)
    assert found.reasons == {}


def test_on_the_training_set_kappa_is_0_just_where_nc1_and_nc2_are() -> None:
    """F = Y: noise within classes or unequal means raise it; a mean that is not orthogonal to the others does not."""
    phi, targets, labels, _ = simplex(4, 10, 9)
    rng = np.random.default_rng(1)
    means = phi[np.argsort(labels)[::10]]

    def both(phi: np.ndarray) -> tuple[float, float, float]:
        near, far = kappa(phi, targets), collapse(phi, targets, labels)
        assert near.kappa is not None
        assert far.nc1 is not None
        assert far.nc2 is not None
        return near.kappa, far.nc1, far.nc2

    assert both(phi) == pytest.approx((0, 0, 0), abs=1e-9)
    k, nc1, nc2 = both(phi + 0.1 * rng.normal(size=phi.shape))
    assert k > 1e-4
    assert nc1 > 1e-3
    stretched = phi * (1 + (labels == 0))[:, None]
    k, nc1, nc2 = both(stretched)
    assert nc1 == pytest.approx(0, abs=1e-9)
    assert k > 0.01
    assert nc2 > 0.1
    assert both(phi + 3 * means[0]) == pytest.approx((0, 0, 0), abs=1e-9)


@FEW
@given(SEEDS)
def test_utilization_sums_to_1_where_features_span_constant_and_outputs(seed: int) -> None:
    phi, outputs, labels, _ = made(seed)
    found = spectrum(np.c_[phi, np.ones(60)], outputs, labels)
    assert found.utilization.sum() == pytest.approx(1)
    assert 0 <= found.quality.sum() <= 1 + 1e-12
    assert (np.diff(found.intensities) <= 1e-12).all()
    gram = found.eigenfunctions.T @ found.eigenfunctions / 60
    assert gram == pytest.approx(np.eye(len(gram)), abs=1e-9)


def test_the_quality_of_balanced_classes_is_that_of_the_indicators() -> None:
    """Q*_k = sum_i <e_k | f_i>^2 with a mean over points for the product, [T] (2.3)."""
    phi, outputs, labels, _ = made(3)
    found = spectrum(phi, outputs, labels)
    indicators = np.eye(4)[labels]
    assert found.quality == pytest.approx(((found.eigenfunctions.T @ indicators / 60) ** 2).sum(1), abs=1e-12)


@FEW
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=8).filter(lambda v: max(v) > 1e-3), st.integers(1, 5))
def test_an_effective_dimension_is_free_of_scale_and_multiplies(values: list[float], equal: int) -> None:
    d = effective_dimension(values)
    assert d is not None
    assert 1 - 1e-9 <= d <= np.count_nonzero(values) + 1e-9
    assert effective_dimension(1e250 * np.array(values)) == pytest.approx(d, rel=1e-6)
    assert effective_dimension(np.outer(values, np.ones(equal)).ravel()) == pytest.approx(d * equal, rel=1e-9)
    assert effective_dimension([0.0, 0.0]) is None


@pytest.mark.filterwarnings("ignore::swingby_sweeps.dynamics.metrics.FeaturesWarning")  # few points are the subject
def test_white_features_read_fewer_dimensions_on_few_points() -> None:
    """p exp(-p / 2n), as for the entropy of a Marchenko-Pastur law."""
    p = 128
    rng = np.random.default_rng(0)
    for n in (256, 512, 2048):
        found = spectrum(rng.normal(size=(n, p)), rng.normal(size=(n, 3)), np.arange(n) % 3)
        assert effective_dimension(found.intensities) == pytest.approx(p * np.exp(-p / 2 / n), rel=0.01)


def deep(n: int, seed: int, p: int = 64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of a known net: features of unequal strength, outputs that read them through the strongest, labels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * np.arange(1, p + 1) ** -0.5
    outputs = x[:, :8] @ np.random.default_rng(99).normal(size=(8, 5))
    return np.c_[x, np.ones(n)], outputs, np.argmax(outputs, 1)


def test_inner_products_on_other_points_have_a_floor() -> None:
    """The same points read the truth of a large sample; others about 1/n too much a feature, with a sum beyond 1."""
    truth = spectrum(*deep(20_000, 0)).d_eff_utilization
    here = deep(300, 1)
    same = spectrum(*here)
    other = spectrum(*here, inner_products="other", train_phi=deep(300, 2)[0])
    qr = spectrum(*here, inner_products="other_qr", train_phi=deep(300, 2)[0])
    assert truth is not None
    assert same.d_eff_utilization == pytest.approx(truth, rel=0.25)
    assert other.d_eff_utilization is not None
    assert other.d_eff_utilization > 2 * truth
    assert other.utilization.sum() > 1.02
    assert other.utilization[20:].mean() > 0.5 / 300
    assert qr.utilization.sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.filterwarnings("ignore::swingby_sweeps.dynamics.metrics.FeaturesWarning")  # few points are the subject
def test_features_that_few_points_cannot_tell_apart_express_nothing() -> None:
    """Made orthonormal at 5 points, 12 eigenfunctions are 5; one that is the sum of others there is none."""
    phi, outputs, labels, _ = made(4)
    few = spectrum(phi[:5], outputs[:5], labels[:5], inner_products="other_qr", train_phi=phi)
    assert len(few.intensities) == len(few.quality) == len(few.utilization) == 12
    assert few.quality.sum() == pytest.approx(1)
    assert not few.quality[5:].any()
    rng = np.random.default_rng(4)
    flat = rng.normal(size=(60, 3)) @ np.linalg.svd(phi, full_matrices=False)[2][[0, 1, 7]]
    found = spectrum(flat, outputs, labels, inner_products="other_qr", train_phi=phi)
    assert np.flatnonzero((found.eigenfunctions**2).sum(0) > 1e-12).tolist() == [0, 1, 7]


def test_an_adjusted_quality_is_near_the_truth_where_the_raw_one_overfits() -> None:
    truth = spectrum(*deep(20_000, 0)).d_eff_quality
    few = spectrum(*deep(300, 1))
    assert truth is not None
    assert few.d_eff_quality is not None
    assert few.d_eff_quality_adjusted is not None
    assert few.d_eff_quality > 1.25 * truth
    assert abs(few.d_eff_quality_adjusted - truth) < 0.5 * (few.d_eff_quality - truth)
    assert len(adjusted(np.linspace(0, 1, 100), 11)) == 5


def test_the_printed_operator_is_another_number() -> None:
    phi, outputs, _, _ = made(0)
    skewed = outputs @ np.diag([1.0, 1.0, 1.0, 30.0]) + 3
    here, printed = kappa(phi, skewed), kappa(phi, skewed, "printed")
    assert here.kappa is not None
    assert printed.kappa is not None
    assert abs(here.kappa - printed.kappa) > 0.01
    assert printed.evenness is None
    q = learned_space(outputs)[:, :2]
    assert kappa(phi, q[:, :1], "printed").kappa == pytest.approx(kappa(phi, q[:, :1]).kappa)


@pytest.mark.parametrize("strict", [True, False])
def test_the_within_class_trace_is_that_of_the_covariances(strict: bool) -> None:
    """NC1 and CDNV from p x p covariances and a pseudo-inverse, written out."""
    phi, outputs, labels, weights = made(7, n=200)
    found = collapse(phi, outputs, labels, weights, strict)
    mu = np.array([phi[labels == c].mean(0) for c in range(4)])
    rest = phi - mu[labels]
    between = (mu - mu.mean(0)).T @ (mu - mu.mean(0)) / 4
    inverse = np.linalg.pinv(between, rcond=1e-10)
    assert found.nc1 == pytest.approx(np.trace(rest.T @ rest / 200 @ inverse) / 4)
    spread = [(rest[labels == c] ** 2).sum(1).mean() for c in range(4)]
    pairs = [(spread[i] + spread[j]) / 2 / ((mu[i] - mu[j]) ** 2).sum() for i in range(4) for j in range(i)]
    assert found.cdnv == pytest.approx(np.mean(pairs))
    nearest = ((phi[:, None] - mu) ** 2).sum(2).argmin(1)
    assert found.nc4 == pytest.approx((nearest != outputs.argmax(1)).mean())


def test_cells_in_company_read_what_each_reads_alone() -> None:
    alone = [made(seed) for seed in range(3)]
    phi, outputs, labels, weights = (np.array(each) for each in zip(*alone, strict=True))
    together = measures(phi, outputs, labels, weights)
    for one, cell in zip(together, alone, strict=True):
        mine = measure(*cell)
        assert one.numbers() == pytest.approx(mine.numbers(), rel=1e-12)
    assert [each.kappa for each in kappas(phi, outputs)] == [each.kappa_cka for each in together]


def test_torch_tensors_read_as_arrays() -> None:
    torch = pytest.importorskip("torch")
    cell = made(5)
    tensors = [torch.tensor(each, requires_grad=each.dtype.kind == "f") for each in cell]
    assert measure(*tensors).numbers() == measure(*cell).numbers()


def test_what_does_not_exist_is_none_with_a_reason() -> None:
    phi, outputs, labels, weights = made(1)
    flat = measure(phi, np.ones_like(outputs) * [1.0, 2, 3, 4], labels, weights)
    assert flat.kappa_cka is None
    assert flat.learned_rank == 0
    assert flat.reasons["kappa_cka"] == "the outputs are constant over the points"
    dead = measure(np.zeros_like(phi), outputs, labels, weights)
    there = {name for name, value in dead.numbers().items() if value is not None}
    assert there == {"learned_rank", "target_rank", "output_variance"}
    assert dead.reasons["kappa_cka"] == "the features are constant over the points"
    assert dead.reasons["nc1"] == "the class means are equal"
    assert dead.reasons["d_eff_intensity"] == "the features are 0 throughout"
    narrow = measure(phi[:, :2], outputs, labels, weights[:, :2])
    assert narrow.nc1 is None
    assert narrow.reasons["nc1"] == "the class means span fewer than 3 dimensions"
    one_label = measure(phi, outputs[:, :1], np.zeros(60, int))
    assert one_label.nc2 is None
    assert one_label.reasons["nc2"] == "all points have one label"
    numeric = measure(phi, outputs, outputs)
    assert numeric.nc1 is None
    assert numeric.quality_at_classes is not None
    none = measure(phi, outputs, labels, spectrum=False)
    assert none.reasons["nc3"] == "no weights were given"
    assert none.reasons["d_eff_quality"] == "it was not asked for"
    for found in (flat, dead, narrow, one_label, numeric, none):
        missing = {name for name, value in found.numbers().items() if value is None}
        assert missing == set(found.reasons)
        assert all(np.isfinite(value) for value in found.numbers().values() if value is not None)


def test_outputs_that_are_no_classes_keep_their_mean() -> None:
    """Of one-hot numbers the constant and C - 1 directions are learned as classes; numbers have one more, their sum."""
    phi, outputs, labels, _ = made(4)
    assert measure(phi, outputs, labels, spectrum=False).learned_rank == 3
    assert measure(phi, outputs, outputs).learned_rank == 4
    assert kappa(phi, phi[:, :5], classes=False).rank == 5


def test_the_span_of_the_outputs_is_an_operator_of_its_own() -> None:
    """Not centred over classes: another number where the outputs' mean varies, and none where there is one output."""
    for seed in range(5):
        phi, outputs, _, _ = made(seed)
        q = np.linalg.qr(outputs)[0]
        x, q = phi - phi.mean(0), q - q.mean(0)
        t, target = x @ x.T, q @ q.T
        cka = (t * target).sum() / np.linalg.norm(t) / np.linalg.norm(target)
        found = kappa(phi, outputs, "span")
        assert found.kappa == pytest.approx(1 - cka, abs=1e-10)
        assert (found.evenness, found.containment, found.rank) == (None, None, 4)
        assert found.kappa is not None
        assert abs(found.kappa - (kappa(phi, outputs).kappa or 0)) > 1e-4
    assert (
        kappa(made(0)[0], np.ones((60, 2)), "span").reason == "the features or the outputs are constant over the points"
    )


def test_words_that_are_no_choice_are_refused() -> None:
    """With what is allowed."""
    phi, outputs, labels, _ = made(0)
    wrong: Any = "proj"
    with pytest.raises(ValueError, match="operator: 'proj'; allowed: projection, span, printed"):
        kappa(phi, outputs, wrong)
    with pytest.raises(ValueError, match="operator: 'proj'; allowed: projection, span, printed"):
        measure(phi, outputs, labels, operator=wrong)
    with pytest.raises(ValueError, match="inner_products: 'proj'; allowed: same, other, other_qr"):
        spectrum(phi, outputs, labels, inner_products=wrong, train_phi=phi)


def test_outputs_that_lost_dimensions_span_fewer_than_the_targets() -> None:
    """Features that are the minimum of such outputs have a kappa of 0; the ranks tell it."""
    phi, _, labels, _ = made(4)
    one = phi[:, :1]
    found = measure(one, one @ np.array([[1.0, -1, 2, 0]]), labels, spectrum=False, collapse=False)
    assert found.kappa_cka == pytest.approx(0, abs=1e-12)
    assert (found.learned_rank, found.target_rank) == (1, 3)
    assert found.modes == pytest.approx(1)
    assert measure(phi, phi[:, :1], labels % 2, spectrum=False).target_rank == 1
    numbers = np.c_[phi[:, 0], 2 * phi[:, 0], np.ones(len(phi))]
    assert measure(phi, phi[:, :3], numbers, spectrum=False).target_rank == 1
    assert measure(phi, phi[:, :2], phi[:, :5], spectrum=False).target_rank == 2


def test_variances_beyond_a_float_are_scaled_or_none() -> None:
    """Outputs and targets of one large size are compared; where the ratio itself is too large there is a reason."""
    phi, outputs, labels, _ = made(4)
    mine = measure(phi, outputs, outputs * 0.5, spectrum=False).output_variance
    large = measure(phi, outputs * 1e200, outputs * 0.5e200, spectrum=False).output_variance
    assert mine == pytest.approx(4)
    assert large == pytest.approx(4)
    beyond = measure(phi, outputs * 1e200, labels, spectrum=False)
    assert beyond.output_variance is None
    assert beyond.reasons["output_variance"] == "the outputs are larger than a number can tell"


def test_a_class_without_a_point_is_refused_or_none() -> None:
    phi, outputs, labels, weights = made(2, n=80)
    some = labels != 3
    sample = phi[some], outputs[some], labels[some], weights
    with pytest.raises(ValueError, match="class 3 of 4 has no point"):
        measure(*sample)
    found = measure(*sample, strict=False)
    assert found.kappa_cka is not None
    assert found.d_eff_intensity is not None
    assert found.d_eff_quality is found.nc1 is None
    assert found.reasons["nc1"] == found.reasons["d_eff_quality"] == "class 3 of 4 has no point"
    with pytest.raises(ValueError, match="3 points for 4 classes"):
        collapse(phi[:3], outputs[:3], labels[:3])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda f, o, y, w: (f[:-1], o, y, w), r"phi has shape \(59, 12\) and outputs \(60, 4\)"),
        (lambda f, o, y, w: (f, o, y[:-1], w), "labels has 59 points and phi 60"),
        (lambda f, o, y, w: (f, o, y + 1, w), r"labels has 4; allowed: whole numbers from 0 to 3"),
        (lambda f, o, y, w: (f, o, y + 0.5, w), r"labels has 0.5; allowed: whole numbers"),
        (lambda f, o, y, w: (f, o, y, w.T), r"weights has shape \(12, 4\); allowed: \(4, 12\)"),
        (lambda f, o, y, w: (np.where(f > 2, np.nan, f), o, y, w), r"phi has \d+ of 720 entries that are not finite"),
        (lambda f, o, y, w: (f, o * 1j, y, w), r"outputs holds complex128; allowed: real numbers"),
        (lambda f, o, y, w: (f[0], o, y, w), r"phi has shape \(12,\); allowed: \(points, features\)"),
        (lambda f, o, y, w: (f[:, :0], o, y, w), r"phi has shape \(60, 0\)"),
    ],
)
def test_arrays_that_make_no_sense_are_refused(change: Callable[..., tuple[np.ndarray, ...]], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        measure(*change(*made(0)))


def test_labels_are_checked_whatever_is_asked_for() -> None:
    phi, outputs, labels, _ = made(0)
    with pytest.raises(ValueError, match=r"labels has 0.5; allowed: whole numbers"):
        measure(phi, outputs, labels + 0.5, spectrum=False, collapse=False)
    with pytest.raises(ValueError, match="labels has 1 of 60 entries that are not finite"):
        collapse(phi, outputs[:, :1], np.where(np.arange(60) == 7, np.nan, labels))


def test_few_points_a_feature_are_warned_of() -> None:
    phi, outputs, labels, _ = made(0, n=40)
    for call in (measure, spectrum, lambda f, o, _: kappa(f, o), lambda *a: measure(*a, spectrum=False)):
        with pytest.warns(FeaturesWarning, match="40 points for 12 features"):
            call(phi, outputs, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measures(phi[None], outputs[None], labels[None])
        kappas(phi[None], outputs[None])


def test_columns_and_fields_are_one_list() -> None:
    assert list(Metrics().numbers()) == list(COLUMNS)
