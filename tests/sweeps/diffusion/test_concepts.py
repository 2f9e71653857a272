"""Laws of the images: what a sample depends on, where its numbers lie, and what its pixels show."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from scipy.ndimage import gaussian_filter

from swingby_sweeps.diffusion import concepts
from swingby_sweeps.diffusion.concepts import Scenes
from swingby_sweeps.diffusion.params import CLASSES, DiffusionParams

KEY, OTHER = bytes(range(16)), bytes(range(1, 17))
PAPER: dict[str, Any] = {"size_mean": 0.5, "size_contrast": 0.4}
"""Diameters of 70 % and 30 % of an image; without these, the radii behind the figures."""


def params(**values: Any) -> DiffusionParams:
    return DiffusionParams(**{"pixels": 16, "width": 8, **values})


def parts(scenes: Scenes) -> list[np.ndarray]:
    return [getattr(scenes, field.name) for field in dataclasses.fields(scenes)]


@settings(max_examples=30)
@given(
    indices=st.lists(st.integers(0, 2**40), min_size=1, max_size=6),
    number=st.integers(0, 3),
    key=st.binary(min_size=16, max_size=16),
)
def test_a_sample_depends_on_key_class_and_index_alone(indices: list[int], number: int, key: bytes) -> None:
    """Together, alone, in any order or twice: a sample's numbers and pixels are the same bit for bit."""
    for edge in ("ramp", "gaussian"):
        p = params(pixels=8, circle_edge=edge)
        together = concepts.scenes(p, key, number, indices)
        images = concepts.render(together, p)
        for row, index in enumerate(indices):
            alone = concepts.scenes(p, key, number, [index])
            assert all(np.array_equal(a[row], b[0]) for a, b in zip(parts(together), parts(alone), strict=True))
            assert torch.equal(images[row], concepts.render(alone, p)[0])


def test_samples_of_many_contrasts_are_those_of_each() -> None:
    """A sample whose contrast is given is that of a run with this contrast, bit for bit; so is the run's own given."""
    p, contrasts = params(contrast=0.3), np.array([0.3, 0.137, 0.8, 0.3])
    for number in range(4):
        mixed = concepts.scenes(p, KEY, number, range(4), contrasts)
        for row, contrast in enumerate(contrasts.tolist()):
            alone = concepts.scenes(params(contrast=contrast), KEY, number, [row])
            assert all(np.array_equal(a[row], b[0]) for a, b in zip(parts(mixed), parts(alone), strict=True))


def test_keys_classes_and_indices_differ() -> None:
    """No two samples share their draws: another key, class or index gives another radius, centre and noise."""
    p = params()
    drawn = [concepts.scenes(p, key, number, range(50)) for key in (KEY, OTHER) for number in range(4)]
    centres = np.concatenate([scenes.centre for scenes in drawn])
    noise = np.concatenate([scenes.noise[:, 0, 0, 0] for scenes in drawn])
    assert len(np.unique(centres[:, 0])) == len(np.unique(centres[:, 1])) == len(np.unique(noise)) == 400


def test_what_is_drawn_is_no_function_of_size_and_colour() -> None:
    """Over contrasts and image sizes a seed's draws are common: the same centre, ground and place in the jitter."""
    one, other = params(contrast=0.2, pixels=16), params(contrast=0.8, pixels=32, size_contrast=0.2)
    a, b = (concepts.scenes(p, KEY, 1, range(20)) for p in (one, other))
    assert np.array_equal(a.centre, b.centre)
    assert np.array_equal(a.background, b.background)
    mean_a, mean_b = concepts.class_means(one)[1], concepts.class_means(other)[1]
    np.testing.assert_allclose((a.rgb - mean_a[1:]) / 0.2, (b.rgb - mean_b[1:]) / 0.8, atol=1e-12)


@pytest.mark.parametrize(("preset", "radii"), [(PAPER, (0.7, 0.3)), ({}, (0.65, 0.25))])
def test_class_means_are_the_presets_numbers(preset: dict[str, Any], radii: tuple[float, float]) -> None:
    """Red (.5 + c/2, .5 - c/2, .5 - c/2), blue its mirror image, and the two radii; by number blue + 2 x small."""
    means = concepts.class_means(params(contrast=0.3, **preset))
    for number, name in enumerate(CLASSES):
        color, size = name.split("-")
        rgb = [0.65, 0.35, 0.35] if color == "red" else [0.35, 0.35, 0.65]
        np.testing.assert_allclose(means[number], [radii[size == "small"], *rgb])


@settings(max_examples=20)
@given(
    contrast=st.floats(0.1, 0.8),
    color_jitter=st.floats(0, 0.25),
    jitter=st.floats(0, 0.3),
    centre=st.floats(0, 1),
    ground=st.floats(0, 1),
    number=st.integers(0, 3),
)
def test_every_number_lies_where_its_parameters_say(
    contrast: float, color_jitter: float, jitter: float, centre: float, ground: float, number: int
) -> None:
    """Each quantity stays within its range; its mean over 200 samples within 5 standard errors, unless it is cut."""
    p = params(
        pixels=8, contrast=contrast, color_jitter=color_jitter, radius_jitter=jitter, centre=centre, background=ground
    )
    scenes, mean = concepts.scenes(p, KEY, number, range(200)), concepts.class_means(p)[number]
    lowest, highest = mean[1:] - color_jitter * contrast, mean[1:] + color_jitter * contrast
    ranges = [
        (scenes.radius, max(p.radius_floor, mean[0] - jitter), mean[0] + jitter),
        (scenes.rgb, np.clip(lowest, 0, 1), np.clip(highest, 0, 1)),
        (scenes.centre, -centre, centre),
        (scenes.background, ground, 1.0),
    ]
    uncut = mean[0] - jitter >= p.radius_floor, (lowest >= 0).all() and (highest <= 1).all(), True, True
    for (values, low, high), whole in zip(ranges, uncut, strict=True):
        assert (values >= low - 1e-12).all()
        assert (values <= high + 1e-12).all()
        error = (np.asarray(high) - low) / np.sqrt(12 * 200)
        assert not whole or (np.abs(values.mean(0) - (np.asarray(low) + high) / 2) <= 5 * error + 1e-12).all()


def test_conditions_are_the_images_own_or_their_classes() -> None:
    """`image`: the drawn radius and colour; `class`: the mean of the class, the same for all its images."""
    own, shared = params(), params(condition="class")
    scenes = concepts.scenes(own, KEY, 2, range(30))
    conditions = concepts.conditions(scenes, own)
    assert np.array_equal(conditions[:, 0], scenes.radius)
    assert np.array_equal(conditions[:, 1:], scenes.rgb)
    assert np.array_equal(concepts.conditions(scenes, shared), np.tile(concepts.class_means(shared)[2], (30, 1)))


def reference(scenes: Scenes, p: DiffusionParams) -> np.ndarray:
    """The images in double precision, pixel by pixel."""
    images = np.empty_like(scenes.noise, dtype=np.float64)
    width = p.blur * 2 / p.pixels
    for n, row, column in np.ndindex(len(images), p.pixels, p.pixels):
        x, y = -1 + (column + 0.5) * 2 / p.pixels, -1 + (row + 0.5) * 2 / p.pixels
        distance = np.hypot(x - scenes.centre[n, 0], y - scenes.centre[n, 1])
        share = min(max(0.5 + (scenes.radius[n] - distance) / width, 0), 1)
        images[n, :, row, column] = share * scenes.rgb[n] + (1 - share) * scenes.background[n]
    return np.clip(images + scenes.noise, 0, 1)


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("blur", [0.5, 1.0, 3.0])
def test_pixels_are_those_of_the_definition(device: str, blur: float) -> None:
    """On every device: the share covered, noise and clip as the formula has them in doubles, to float32's rounding."""
    p = params(pixels=12, blur=blur, levels=2, pixel_noise=0.1)
    scenes = concepts.scenes(p, KEY, 3, range(5))
    images = concepts.render(scenes, p, device)
    assert images.dtype == torch.float32
    assert images.device.type == device
    np.testing.assert_allclose(images.cpu().numpy(), reference(scenes, p), atol=1e-5 / blur)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_images_keep_their_circle_in_every_precision(dtype: torch.dtype) -> None:
    """In halves, floats or doubles a pixel's share is the same, to the precision's rounding over the edge's width."""
    radius, centre = torch.tensor([0.65, 0.25]), torch.tensor([[0.1, -0.4], [0.5, 0.3]])
    shares = concepts.coverage(radius.to(dtype), centre.to(dtype), 16, 1.0)
    assert shares.dtype == dtype
    edge = 16 / 2
    expected = concepts.coverage(radius, centre, 16, 1.0)
    torch.testing.assert_close(shares.float(), expected, atol=4 * edge * max(torch.finfo(dtype).eps, 6e-8), rtol=0)


@settings(max_examples=30)
@given(radius=st.floats(0.1, 0.65), x=st.floats(-0.2, 0.2), y=st.floats(-0.2, 0.2), blur=st.floats(0.5, 2))
def test_a_circle_covers_pi_r_squared(radius: float, x: float, y: float, blur: float) -> None:
    """Inside the image its pixels cover pi (r^2 + w^2 / 12), w being the edge's width: the area, and what a ramp adds.

    A lattice of step h differs from the integral by less than h^1.5 sqrt(r) / pi times the sum over k of
    |k|^-1.5 |sinc(blur |k|)| (Poisson summation; J_1(x) <= sqrt(2 / (pi x))), which is below 5 / blur.
    """
    step = 2 / 32
    share = concepts.coverage(
        torch.tensor([radius], dtype=torch.float64), torch.tensor([[x, y]], dtype=torch.float64), 32, blur
    )
    area = float(share.sum()) * step**2
    expected = np.pi * (radius**2 + (blur * step) ** 2 / 12)
    assert area == pytest.approx(expected, abs=5 / blur * step**1.5 * radius**0.5 / np.pi)


@pytest.mark.parametrize(("pixels", "sd"), [(32, 1.0), (16, 0.5), (8, 3.0)])
def test_the_authors_edge_is_a_sharp_mask_after_a_gaussian_filter(pixels: int, sd: float) -> None:
    """As scipy filters the pixels whose centres lie in the circle, also where a circle sticks out of its image."""
    rng = np.random.default_rng(0)
    radius, centre = rng.uniform(0.1, 0.8, 6), rng.uniform(-0.9, 0.9, (6, 2))
    x, y = (c[:, None] - (np.arange(pixels) * 2 + 1) / pixels + 1 for c in centre.T)
    masks = np.hypot(x[:, None, :], y[:, :, None]) < radius[:, None, None]
    shares = concepts.coverage(torch.tensor(radius), torch.tensor(centre), pixels, sd, "gaussian")
    expected = np.stack([gaussian_filter(mask.astype(float), sd) for mask in masks])
    np.testing.assert_allclose(shares.numpy(), expected, atol=1e-12)


def test_the_authors_edge_is_softer_than_a_ramp_of_the_same_blur() -> None:
    """Along a line through a large circle it is steepest at 1 / sqrt(2 pi) a pixel, where a ramp falls by 1."""
    slopes = []
    for edge in ("ramp", "gaussian"):
        share = concepts.coverage(torch.tensor([0.5]), torch.zeros(1, 2), 512, 4.0, edge)[0, 256]
        slopes.append(4 * float(share.diff().abs().max()))
    assert slopes[0] == pytest.approx(1, abs=0.01)
    assert slopes[1] == pytest.approx(1 / np.sqrt(2 * np.pi), abs=0.01)


def test_a_circle_is_where_its_centre_says() -> None:
    """x points right and y down: a circle at (+.5, -.5) darkens the upper right quarter of its image most."""
    p = params(pixel_noise=0.0)
    scenes = dataclasses.replace(concepts.scenes(p, KEY, 2, [0]), centre=np.array([[0.5, -0.5]]))
    image = 1 - concepts.render(scenes, p)[0].mean(0)
    assert image[:8, 8:].sum() > 2 * max(image[8:, 8:].sum(), image[:8, :8].sum(), image[8:, :8].sum())


def test_no_noise_is_no_noise_and_moves_nothing_else() -> None:
    """At sd 0 the pixels are exact; at any other sd the same circles bear noise of that sd."""
    still, loud = params(pixel_noise=0.0), params(pixel_noise=0.02)
    a, b = (concepts.scenes(p, KEY, 0, range(40)) for p in (still, loud))
    assert not a.noise.any()
    assert all(np.array_equal(x, y) for x, y in zip(parts(a)[:-1], parts(b)[:-1], strict=True))
    assert b.noise.std() == pytest.approx(0.02, rel=0.05)


def test_a_class_that_there_is_not_is_refused() -> None:
    """The fault names the number and what is allowed."""
    with pytest.raises(ValueError, match=r"no class 4; allowed: 0, 1, 2, 3"):
        concepts.scenes(params(), KEY, 4, [0])
