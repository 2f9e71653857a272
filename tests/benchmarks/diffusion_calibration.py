"""Calibration of the measured judge: its errors on drawn images, whose circles are known, and on images without any.

`python -m tests.benchmarks.diffusion_calibration` prints both tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from swingby.model.cell import philox, stream_key
from swingby_sweeps.diffusion.concepts import render, scenes
from swingby_sweeps.diffusion.measured import coordinates, measure, place
from swingby_sweeps.diffusion.params import CLASSES, DiffusionParams

Array = np.ndarray


class Errors(NamedTuple):
    """Errors of one coordinate of concept space, in its own units (the distance of the two class means is 1).

    Attributes:
        bias: mean of measured minus true.
        rmse: root of the mean square.
        q95: the size that 95 % of the errors stay below.
    """

    bias: float
    rmse: float
    q95: float

    @classmethod
    def of(cls, errors: Array) -> Errors:
        """Bias, rmse and quantile of errors (N,); N is at least 1."""
        return cls(
            float(errors.mean()), float(np.sqrt(np.square(errors).mean())), float(np.quantile(abs(errors), 0.95))
        )


class Calibration(NamedTuple):
    """How well known circles are measured: the share that is detected, and the errors of these."""

    detected: float
    color: Errors
    size: Errors


def calibrate(params: DiffusionParams, images: int = 128, seed: int = 0) -> Calibration:
    """Draws `images` of each of the four classes and measures them; an image's truth is its own circle, not its class.

    The images are those of `params`: their number of pixels, contrasts, noise and blur.

    Raises:
        ValueError: no circle was found.
    """
    detected, color, size = [], [], []
    for number in range(len(CLASSES)):
        drawn = scenes(params, stream_key(seed, "calibration"), number, range(images))
        seen = measure(render(drawn, params))
        true = place(drawn.radius, drawn.rgb, params)
        detected.append(seen.visible)
        for errors, measured, known in zip((color, size), coordinates(seen, params), true, strict=True):
            errors.append((measured - known)[seen.visible])
    if not np.any(detected):
        raise ValueError(f"none of {images * len(CLASSES)} circles was found")
    return Calibration(float(np.mean(detected)), Errors.of(np.concatenate(color)), Errors.of(np.concatenate(size)))


def empty(pixels: int, images: int, seed: int = 0) -> Iterator[tuple[str, Array]]:
    """Images without a circle by name, each (N, 3, P, P): the limits of `found` are checked on them."""
    stream = philox(seed, "empty")
    axis = (np.arange(pixels) * 2 + 1) / pixels - 1
    shape, one = (images, 3, pixels, pixels), (images, 3, 1, 1)
    yield "white noise", np.clip(0.5 + stream.uniform(0, 1, one) * stream.standard_normal(shape), 0, 1)
    yield "grey noise", np.broadcast_to(stream.standard_normal((images, 1, pixels, pixels)), shape)
    yield "constant", np.broadcast_to(stream.uniform(0, 1, one), shape)
    yield "faint noise", stream.uniform(0, 1, one) + 0.001 * stream.standard_normal(shape)
    for edge in (1, 3, 8):
        angle, offset = stream.uniform(0, 2 * np.pi, (images, 1, 1)), stream.uniform(-0.8, 0.8, (images, 1, 1))
        depth = axis * np.cos(angle) + axis[:, None] * np.sin(angle) - offset
        share = np.clip(0.5 + depth * pixels / (2 * edge), 0, 1)[:, None]
        one_side, other_side = stream.uniform(0, 1, one), stream.uniform(0, 1, one)
        noise = 0.01 * stream.standard_normal(shape)
        yield f"half-planes, edge {edge} px", one_side + (other_side - one_side) * share + noise
    slope = stream.normal(0, 0.2, (2, *one))
    yield "slopes", 0.5 + slope[0] * axis + slope[1] * axis[:, None]


def main() -> None:
    """Print the errors by contrast, noise and blur, and how often a circle is found where there is none."""
    print("pixels contrast size_contrast noise blur | found | colour: bias rmse q95 | size: bias rmse q95")
    for pixels in (16, 32):
        for contrast, size_contrast in ((0.1, 0.2), (0.2, 0.3), (0.4, 0.4), (0.8, 0.4)):
            for noise, blur in ((0.0, 1.0), (0.05, 1.0), (0.1, 1.0), (0.0, 3.0), (0.05, 3.0)):
                settings = {"pixels": pixels, "contrast": contrast, "size_contrast": size_contrast}
                detected, *errors = calibrate(DiffusionParams(**settings, pixel_noise=noise, blur=blur))
                numbers = " | ".join("{:+.3f} {:.3f} {:.3f}".format(*values) for values in errors)
                print(f"{pixels} {contrast} {size_contrast} {noise} {blur} | {detected:.3f} | {numbers}")
    for pixels in (8, 16, 32):
        for name, images in empty(pixels, 500):
            print(f"{name}, {pixels} pixels: found in {measure(images).visible.mean():.1%}")


if __name__ == "__main__":
    main()
