"""The measured judge: colour and size read off the image itself, as continuous coordinates of concept space.

Each image gets the one soft disc that fits it best (`discs`). Images early in training may hold no circle but noise,
haze or half-planes. A circle is found (`found`) if the disc is stronger than noise makes it, explains nearly all that
is not noise, differs visibly from its ground, and fits better than any half-plane. These four limits were fixed on
drawn images, with a circle and without, before any trained model was looked at.

`python -m tests.benchmarks.diffusion_calibration` prints the errors of the coordinates of known circles, and how often
a circle is found where there is none. It printed these 95 % quantiles of the error in colour and in size, in units of
the distance of the two means:

| pixels, noise sd, edge in pixels | contrast 0.1, of size 0.2 | 0.2, 0.3 | 0.4, 0.4 | 0.8, 0.4 |
|---|---|---|---|---|
| 16, 0, 1 | 0.000, 0.000 | 0.000, 0.000 | 0.000, 0.000 | 0.000, 0.000 |
| 16, 0.05, 1 | 0.134, 0.026 | 0.084, 0.019 | 0.060, 0.015 | 0.030, 0.011 |
| 16, 0.1, 1 | 0.270, 0.055 | 0.168, 0.037 | 0.108, 0.032 | 0.060, 0.021 |
| 16, 0.05, 3 | 0.170, 0.098 | 0.143, 0.141 | 0.176, 0.164 | 0.164, 0.157 |
| 32, 0.05, 1 | 0.073, 0.008 | 0.043, 0.005 | 0.027, 0.004 | 0.017, 0.003 |
| 32, 0.1, 1 | 0.145, 0.017 | 0.086, 0.012 | 0.053, 0.008 | 0.040, 0.006 |
| 32, 0.05, 3 | 0.076, 0.018 | 0.048, 0.012 | 0.043, 0.015 | 0.027, 0.011 |

It found every circle but for 1.4 % of them at most, at 16 pixels and noise 0.1, and none where there was none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from .concepts import class_means
from .discs import fit
from .params import CLASSES, DiffusionParams

Array = np.ndarray
MIN_STRENGTH = 120.0
"""Least strength of a circle: of 12,000 images of white noise, 8 to 32 pixels wide, none had 45; of 6,000 with the same
noise in all three channels none had 115."""
MIN_SHARE = 0.9
"""Least share explained of what is not white noise; slopes and smooth random fields mostly stay below."""
MIN_CONTRAST = 0.1
"""Least distance of circle and ground in colour space, the cube [0, 1]^3. Circles are drawn with 0.5 and more."""
MAX_STRAIGHT = 0.9
"""The best half-plane explains at most this part of what the circle does: at most 0.83 on images of circles, which may
stick out, and at least 0.97 on images of half-planes, sharp or soft."""
_LARGEST = 1e6
"""Largest pixel value of an image: beyond it, the sampler diverged."""


@dataclass(frozen=True)
class Measured:
    """The circles of N images; where none is found, the numbers are those of the best disc nevertheless.

    In an image with pixels that are not finite, or beyond a million, none is found, and its numbers are NaN.

    Attributes:
        visible: whether there is a circle, (N,).
        radius: in half widths, (N,); from 0.08 to 1.2.
        rgb: colour of the circle, (N, 3), not clipped to [0, 1]: a circle between pixels is extrapolated.
        centre: x and y in half widths, (N, 2); a circle may stick out of its image.
        background: of the ground, (N, 3).
    """

    visible: Array
    radius: Array
    rgb: Array
    centre: Array
    background: Array


def measure(images: Array | torch.Tensor) -> Measured:
    """The circle of every image, whatever the other images are; computed on the CPU in float64.

    Args:
        images: (N, 3, P, P), of any floating type.

    Raises:
        ValueError: images have another shape.
    """
    if isinstance(images, torch.Tensor):
        images = images.detach().to("cpu", torch.float64).numpy()
    if images.ndim != 4 or images.shape[1] != 3 or images.shape[2] != images.shape[3] or images.shape[2] < 4:
        raise ValueError(f"images have shape {images.shape}; allowed: (N, 3, P, P) with P at least 4")
    sound: Array = np.all(np.abs(images) <= _LARGEST, axis=(1, 2, 3))
    fitted = fit(np.where(sound[:, None, None, None], images, 0))
    disc = fitted.disc
    visible = (fitted.strength >= MIN_STRENGTH) & (fitted.share >= MIN_SHARE) & sound
    visible &= (fitted.contrast >= MIN_CONTRAST) & (fitted.straight <= MAX_STRAIGHT)

    def kept(values: Array) -> Array:
        return np.where(sound.reshape(-1, *[1] * (values.ndim - 1)), values, np.nan)

    return Measured(visible, kept(disc[:, 2]), kept(fitted.rgb), kept(disc[:, :2]), kept(fitted.background))


def place(radius: Array, rgb: Array, params: DiffusionParams) -> tuple[Array, Array]:
    """The coordinates of radii (N,) and colours (N, 3) in concept space: (colour, size), each (N,) and not clipped.

    Colour is 0 at mean red and 1 at mean blue, along the line through the two; size 0 at mean big and 1 at mean small.
    """
    red, blue, small = class_means(params)[:3]
    axis = blue[1:] - red[1:]
    return (rgb - red[1:]) @ axis / (axis @ axis), (radius - red[0]) / (small[0] - red[0])


def coordinates(measured: Measured, params: DiffusionParams) -> tuple[Array, Array]:
    """The coordinates of images in concept space: (colour, size), see `place`; also where no circle was found."""
    return place(measured.radius, measured.rgb, params)


def right(measured: Measured, params: DiffusionParams, number: int) -> tuple[Array, Array]:
    """Whether a circle was found, and lies on the side of 1/2 of class `number`: (colour, size), (N,) of bool each.

    Raises:
        ValueError: there is no such class.
    """
    if number not in range(len(CLASSES)):
        raise ValueError(f"there is no class {number}; allowed: {', '.join(map(str, range(len(CLASSES))))}")
    color, size = coordinates(measured, params)
    return measured.visible & ((color > 0.5) == number % 2), measured.visible & ((size > 0.5) == number // 2)
