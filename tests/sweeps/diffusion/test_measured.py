"""Laws of the measured judge: how far off it is on known circles, what it takes for none, and what it does not see."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from swingby_sweeps.diffusion import concepts
from swingby_sweeps.diffusion.evaluation_log import EvaluationLog, judged
from swingby_sweeps.diffusion.measured import Measured, coordinates, measure, place, right
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.train import Evaluation
from tests.benchmarks.diffusion_calibration import calibrate, empty

KEY = bytes(range(16))
FRESH = 20_001
"""A seed that the limits and the printed calibration have not seen."""


def params(**values: Any) -> DiffusionParams:
    return DiffusionParams(**{"pixels": 16, "width": 8, "levels": 2, **values})


def drawn(p: DiffusionParams, number: int, images: int) -> tuple[concepts.Scenes, np.ndarray]:
    scenes = concepts.scenes(p, KEY, number, range(images))
    return scenes, concepts.render(scenes, p).numpy()


def columns(measured: Measured) -> list[np.ndarray]:
    return [getattr(measured, field.name) for field in dataclasses.fields(measured)]


# pixels, contrast, contrast of size, noise, edge; bounds on 95 % of the errors of colour and of size
BOUNDS = [
    (16, 0.1, 0.2, 0.001, 1.0, 0.01, 0.01),
    (16, 0.1, 0.2, 0.05, 1.0, 0.20, 0.04),
    (16, 0.1, 0.2, 0.1, 1.0, 0.40, 0.08),
    (16, 0.2, 0.3, 0.05, 1.0, 0.12, 0.03),
    (16, 0.4, 0.4, 0.05, 1.0, 0.08, 0.025),
    (16, 0.8, 0.4, 0.1, 1.0, 0.09, 0.04),
    (16, 0.8, 0.4, 0.05, 3.0, 0.25, 0.25),
    (32, 0.1, 0.2, 0.001, 1.0, 0.005, 0.005),
    (32, 0.1, 0.2, 0.1, 1.0, 0.22, 0.03),
    (32, 0.4, 0.4, 0.05, 3.0, 0.07, 0.03),
    (32, 0.8, 0.4, 0.05, 1.0, 0.03, 0.01),
]


@pytest.mark.parametrize(("pixels", "contrast", "size_contrast", "noise", "blur", "color", "size"), BOUNDS)
def test_errors_on_fresh_circles_stay_in_their_bounds(
    pixels: int, contrast: float, size_contrast: float, noise: float, blur: float, color: float, size: float
) -> None:
    """95 % of errors are below the bound, no bias is above a fifth of it, and 97 % of the circles are found."""
    p = params(pixels=pixels, contrast=contrast, size_contrast=size_contrast, pixel_noise=noise, blur=blur)
    seen = calibrate(p, 30, FRESH)
    assert seen.detected >= 0.97
    for errors, bound in ((seen.color, color), (seen.size, size)):
        assert errors.q95 <= bound
        assert abs(errors.bias) <= bound / 5


@pytest.mark.parametrize("pixels", [16, 32])
def test_error_shrinks_as_noise_does(pixels: int) -> None:
    """A tenth of the noise is a tenth of the error, within a factor of two: nothing but noise is in the way."""
    loud, faint = (calibrate(params(pixels=pixels, pixel_noise=noise), 25, FRESH) for noise in (0.03, 0.003))
    for a, b in ((loud.color, faint.color), (loud.size, faint.size)):
        assert 5 <= a.q95 / b.q95 <= 20


def smooth(scenes: concepts.Scenes, pixels: int) -> np.ndarray:
    """The same circles with hard edges at eight times the resolution, averaged: no edge that the judge assumes."""
    fine = dataclasses.replace(scenes, noise=np.zeros((len(scenes.radius), 3, 8 * pixels, 8 * pixels), np.float32))
    sharp = concepts.render(fine, params(pixels=8 * pixels, blur=0.01))
    return torch.nn.functional.avg_pool2d(sharp, 8).numpy()


@pytest.mark.parametrize(("pixels", "radius", "rgb"), [(16, 0.012, 0.1), (32, 0.004, 0.03)])
def test_another_edge_than_the_drawn_one_does_little(pixels: int, radius: float, rgb: float) -> None:
    """Circles rendered by averaging hard ones are all found; 95 % of radii and colours are off by less than stated."""
    for number in (1, 2):
        scenes, _ = drawn(params(pixels=pixels), number, 40)
        seen = measure(smooth(scenes, pixels))
        assert seen.visible.all()
        assert np.quantile(np.abs(seen.radius - scenes.radius), 0.95) < radius
        assert np.quantile(np.abs(seen.rgb - scenes.rgb).max(1), 0.95) < rgb


def test_circles_that_stick_out_are_measured_whole() -> None:
    """Where a third of a big circle is outside the image, its radius and centre are still those of the whole."""
    p = params(pixels=16, pixel_noise=0.005)
    scenes, _ = drawn(p, 0, 60)
    far = dataclasses.replace(scenes, centre=np.sign(scenes.centre) * 0.5, radius=np.full(60, 0.8))
    seen = measure(concepts.render(far, p))
    assert seen.visible.all()
    np.testing.assert_allclose(seen.radius, 0.8, atol=0.01)
    np.testing.assert_allclose(seen.centre, far.centre, atol=0.01)
    np.testing.assert_allclose(seen.background, far.background, atol=0.02)


@pytest.mark.parametrize("pixels", [8, 16, 32])
def test_where_no_circle_is_none_is_found(pixels: int) -> None:
    """Noise, constant images, half-planes and slopes: of 60 each at most one passes for a circle."""
    for name, images in empty(pixels, 60, FRESH):
        assert measure(images).visible.sum() <= 1, name


@pytest.mark.parametrize(("distance", "found"), [(0.09, False), (0.12, True)])
def test_a_circle_that_no_eye_sees_is_none(distance: float, found: bool) -> None:
    """However little noise there is, circle and ground differ by a tenth of the colour cube's side or more."""
    p = params(pixel_noise=0.0)
    scenes, _ = drawn(p, 0, 6)
    faint = dataclasses.replace(scenes, rgb=scenes.background - distance / np.sqrt(3))
    assert measure(concepts.render(faint, p)).visible.tolist() == [found] * 6


@pytest.mark.parametrize(("other", "found"), [(1.0, False), (0.5, False), (0.25, True)])
def test_two_circles_are_not_one(other: float, found: bool) -> None:
    """Where the best disc leaves more than a tenth of what is no noise none is found: a second one of half its strength
    has a fifth of all, one of a quarter a twentieth."""
    p = params(pixel_noise=0.0)
    scenes, _ = drawn(p, 2, 6)
    plain = dataclasses.replace(scenes, background=np.full((6, 3), 0.9), radius=np.full(6, 0.3))
    one, two = (
        concepts.render(dataclasses.replace(plain, centre=np.full((6, 2), corner)), p).double()
        for corner in (-0.5, 0.5)
    )
    assert measure(one).visible.all()
    assert measure(two).visible.all()
    assert measure(one + other * (two - 0.9)).visible.tolist() == [found] * 6


def test_images_are_measured_each_alone() -> None:
    """Any subset, any order: the same finding, and the same numbers to rounding; so for images of many sizes."""
    for pixels in (16, 40):
        _, images = drawn(params(pixels=pixels, pixel_noise=0.02), 3, 12)
        order = np.random.default_rng(0).permutation(12)[:7]
        whole, part = measure(images), measure(images[order])
        for a, b in zip(columns(whole), columns(part), strict=True):
            np.testing.assert_allclose(a[order], b, atol=1e-6)


@settings(max_examples=12)
@given(gain=st.floats(0.2, 5), shift=st.floats(-3, 3), turns=st.integers(0, 3), mirrored=st.booleans())
def test_the_circle_follows_the_image(gain: float, shift: float, turns: int, mirrored: bool) -> None:
    """Stretched colours stretch the colours alone; a turned or mirrored image has its circle turned or mirrored."""
    scenes, images = drawn(params(pixel_noise=0.01), 1, 8)
    seen = measure(images.astype(np.float64))
    colored = measure(gain * images.astype(np.float64) + shift)
    np.testing.assert_allclose(colored.rgb, gain * seen.rgb + shift, atol=1e-4 * max(1, gain))
    np.testing.assert_allclose(colored.radius, seen.radius, atol=1e-4)
    moved = np.rot90(images[..., ::-1] if mirrored else images, turns, (2, 3))
    x, y = scenes.centre.T * [[-1 if mirrored else 1], [1]]
    for _ in range(turns):
        x, y = y, -x
    again = measure(np.ascontiguousarray(moved))
    assert again.visible.all()
    np.testing.assert_allclose(again.centre, np.column_stack([x, y]), atol=0.02)
    np.testing.assert_allclose(again.radius, seen.radius, atol=1e-3)


def test_halves_and_doubles_are_measured_alike() -> None:
    """Images in half precision, as a GPU leaves them, give the same circles to that precision."""
    _, images = drawn(params(), 0, 20)
    seen = measure(images)
    for dtype, close in ((torch.float64, 1e-6), (torch.float16, 0.005), (torch.bfloat16, 0.03)):
        again = measure(torch.from_numpy(images).to(dtype))
        assert again.visible.all()
        np.testing.assert_allclose(again.radius, seen.radius, atol=close)
        np.testing.assert_allclose(again.rgb, seen.rgb, atol=close)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_what_a_diverged_sampler_leaves_is_no_circle(bad: float) -> None:
    """One bad pixel spoils its image, which is not found and NaN throughout, and no other image."""
    _, images = drawn(params(), 2, 5)
    spoilt = images.copy()
    spoilt[3, 1, 4, 4] = bad
    seen, whole = measure(spoilt), measure(images)
    assert seen.visible.tolist() == [True, True, True, False, True]
    assert all(np.isnan(values[3]).all() for values in columns(seen)[1:])
    others = [0, 1, 2, 4]
    for a, b in zip(columns(seen), columns(whole), strict=True):
        np.testing.assert_allclose(a[others], b[others], atol=1e-6)
    assert right(seen, params(), 2)[0].tolist() == [True, True, True, False, True]


def test_no_images_give_no_rows() -> None:
    """Zero images are measured too."""
    assert all(len(values) == 0 for values in columns(measure(np.zeros((0, 3, 16, 16)))))


def test_another_shape_is_refused() -> None:
    """The fault names the shape and what is allowed."""
    for shape in ((3, 16, 16), (1, 1, 16, 16), (1, 3, 16, 8)):
        with pytest.raises(ValueError, match=r"images have shape .* allowed: \(N, 3, P, P\)"):
            measure(np.zeros(shape))


@given(contrast=st.floats(0.05, 0.9), size_contrast=st.floats(0.05, 0.7), by=st.floats(-2, 3))
def test_class_means_are_the_corners_of_concept_space(contrast: float, size_contrast: float, by: float) -> None:
    """Each mean lies at (blue, small) of its class; beyond the means coordinates go on, unclipped; grey is half-way."""
    p = params(contrast=contrast, size_contrast=size_contrast)
    means = concepts.class_means(p)
    color, size = place(means[:, 0], means[:, 1:], p)
    np.testing.assert_allclose(color, [0, 1, 0, 1], atol=1e-9)
    np.testing.assert_allclose(size, [0, 0, 1, 1], atol=1e-9)
    between = means[0] + by * (means[3] - means[0])
    np.testing.assert_allclose(np.ravel(place(between[:1], between[None, 1:], p)), [by, by], atol=1e-9)
    grey = place(means[:1, 0], np.full((1, 3), 0.3), p)[0]
    np.testing.assert_allclose(grey, 0.5)


def test_right_is_found_on_the_own_side_of_one_half() -> None:
    """Means are right for their own class, wrong for the opposite, half right for neighbours; unfound: wrong."""
    p = params()
    means = concepts.class_means(p)
    seen = Measured(np.ones(4, bool), means[:, 0], means[:, 1:], np.zeros((4, 2)), np.ones((4, 3)))
    unseen = dataclasses.replace(seen, visible=np.zeros(4, bool))
    for number in range(4):
        color, size = right(seen, p, number)
        assert color.tolist() == [other % 2 == number % 2 for other in range(4)]
        assert size.tolist() == [other // 2 == number // 2 for other in range(4)]
        assert not np.any(right(unseen, p, number))
    with pytest.raises(ValueError, match="no class 4"):
        right(seen, p, 4)


def test_drawn_classes_are_told_apart() -> None:
    """Of clean images nearly all are right in colour; in size those whose own radius is on their class's side."""
    p = params(contrast=0.5)
    for number in range(4):
        scenes, images = drawn(p, number, 50)
        seen = measure(images)
        color, size = right(seen, p, number)
        own = (place(scenes.radius, scenes.rgb, p)[1] > 0.5) == number // 2
        assert color.all()
        assert (size == own).mean() >= 0.98
        assert np.abs(coordinates(seen, p)[1] - place(scenes.radius, scenes.rgb, p)[1]).max() < 0.2


def test_a_verdict_is_over_the_images_with_a_circle() -> None:
    """Means and spreads of colour and size, n - 1 in their denominators, are of those found; shares are of all."""
    p = params(contrast=0.5)
    own, other = (drawn(p, number, 3)[1] for number in (1, 2))
    noise = np.random.default_rng(0).uniform(size=(2, *own.shape[1:]))
    seen = judged(torch.from_numpy(np.concatenate([own, other[:1], noise]).astype(np.float32)), p, 1)
    color, size = coordinates(measure(np.concatenate([own, other[:1]])), p)
    assert seen["found"] == pytest.approx(4 / 6)
    for name, values in (("color", color), ("size", size)):
        assert seen[name] == pytest.approx(values.mean(), abs=1e-5)
        assert seen[f"{name}_sd"] == pytest.approx(np.std(values, ddof=1), abs=1e-5)
    assert seen["color_right"] == pytest.approx(((color > 0.5).sum()) / 6)
    assert seen["size_right"] == pytest.approx(((size < 0.5).sum()) / 6)
    assert [(color > 0.5).tolist(), (size < 0.5).tolist()] == [[True] * 3 + [False]] * 2
    none = judged(torch.from_numpy(noise.astype(np.float32)), p, 1)
    assert (none["found"], none["color_right"], none["size_right"]) == (0, 0, 0)
    assert all(np.isnan(none[name]) for name in ("color", "color_sd", "size", "size_sd"))
    assert np.isnan(judged(torch.from_numpy(own[:1]), p, 1)["color_sd"])


def test_images_judged_beside_the_training_are_judged_alike() -> None:
    """A thread of its own gives the same rows, in the order of the evaluations."""
    recorded, tables = (0, 5, 10), list[Any]()
    images = [torch.from_numpy(drawn(params(), number, 12)[1]) for number in range(4)]
    for beside in (False, True):
        log = EvaluationLog(params(), recorded, None, ("samples",), beside=beside)
        for turn, step in enumerate(recorded):
            log.add(Evaluation(step, [of[4 * turn : 4 * turn + 4] for of in images], None, (-5.0, 5.0)))
        tables.append(log.take("cell", 0, 10))
        log.close()
    assert tables[0]["step"].to_pylist() == [list(recorded)]
    assert tables[0].equals(tables[1])
