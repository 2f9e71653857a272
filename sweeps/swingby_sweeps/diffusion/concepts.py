"""The images: one circle on a plain ground, big or small, red or blue ([S] 5.1, G.1); and the condition of each.

A sample is drawn from a stream of its own, keyed by its class and index, so that nothing else changes it: not how many
samples there are, nor their order, nor the device. Its stream gives 9 uniform draws and then the noise of its pixels:

| draw | law |
|---|---|
| radius | mean of its size +- radius_jitter, then raised to radius_floor where it lies below |
| red, green, blue | mean of its colour +- color_jitter x contrast, each channel alone, then clipped to [0, 1] |
| centre x, y | within +- centre: a circle may stick out of its image |
| ground red, green, blue | from `background` to 1, each channel alone |
| noise | normal with sd pixel_noise, each pixel and channel (3, P, P); not drawn at all at sd 0 |

Classes are numbered blue + 2 x small. Lengths are in half widths of the image, x right and y down; pixel i's centre is
at -1 + (2 i + 1) / P.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import torch

from swingby.model.cell import stream_key

from .draws import sample_stream
from .params import CLASSES, DiffusionParams

Array = np.ndarray
_UNIFORMS = 9
"""Uniform draws of a sample: radius, its three channels, the centre's two coordinates, the ground's three channels."""


@dataclass(frozen=True)
class Scenes:
    """The circles and grounds of N images of P x P pixels.

    Attributes:
        number: their classes, (N,) of int.
        radius: of the circles, (N,).
        rgb: of the circles, (N, 3), in [0, 1].
        centre: x and y, (N, 2).
        background: of the grounds, (N, 3), in [0, 1].
        noise: added to the pixels last, (N, 3, P, P), float32.
    """

    number: Array
    radius: Array
    rgb: Array
    centre: Array
    background: Array
    noise: Array


def class_means(params: DiffusionParams) -> Array:
    """Mean radius, red, green and blue of the four classes by number, (4, 4): the test conditions."""
    red, blue = _means(np.array([params.contrast]))[:, 0]
    return np.array([(radius, *rgb) for radius in params.radii for rgb in (red, blue)])


def _means(contrast: Array) -> Array:
    """Mean red and mean blue at contrasts (N,): (2, N, 3)."""
    low, high = 0.5 - contrast / 2, 0.5 + contrast / 2
    return np.stack([np.stack((high, low, low), axis=1), np.stack((low, low, high), axis=1)])


def scenes(
    params: DiffusionParams,
    key: bytes,
    number: int,
    indices: Sequence[int] | Array,
    contrasts: Array | None = None,
) -> Scenes:
    """Samples `indices` of class `number`: each depends on the key, the class, its own index and contrast alone.

    Args:
        params: of the run.
        key: 16 bytes, the cell's for its images.
        number: of the class, 0 to 3.
        indices: N of them, in any order.
        contrasts: of each sample's colours, (N,), in place of the run's; what is drawn is the same.

    Raises:
        ValueError: there is no such class.
    """
    if number not in range(len(CLASSES)):
        raise ValueError(f"there is no class {number}; allowed: {', '.join(map(str, range(len(CLASSES))))}")
    side, class_key = params.pixels, stream_key(key.hex(), number)
    uniform = np.empty((len(indices), _UNIFORMS))
    noise = np.zeros((len(indices), 3 * side * side), dtype=np.float32)
    for row, index in enumerate(indices):
        stream = sample_stream(class_key, int(index))
        uniform[row] = stream.random(_UNIFORMS)
        if params.pixel_noise:
            noise[row] = params.pixel_noise * stream.standard_normal(noise.shape[1])
    contrast = np.full(len(indices), params.contrast) if contrasts is None else contrasts
    about = 2 * uniform - 1
    return Scenes(
        number=np.full(len(indices), number),
        radius=np.maximum(params.radii[number >> 1] + params.radius_jitter * about[:, 0], params.radius_floor),
        rgb=np.clip(_means(contrast)[number & 1] + params.color_jitter * contrast[:, None] * about[:, 1:4], 0, 1),
        centre=params.centre * about[:, 4:6],
        background=params.background + (1 - params.background) * uniform[:, 6:9],
        noise=noise.reshape(-1, 3, side, side),
    )


def conditions(scenes: Scenes, params: DiffusionParams) -> Array:
    """The condition of each image, (N, 4): radius, red, green, blue; its own values, or the means of its class."""
    if params.condition == "class":
        return class_means(params)[scenes.number]
    return np.column_stack([scenes.radius, scenes.rgb])


def render(scenes: Scenes, params: DiffusionParams, device: torch.device | str = "cpu") -> torch.Tensor:
    """The images, float32 (N, 3, P, P) on the device, in [0, 1].

    A pixel is a mixture of circle and ground by the share covered, see `coverage`; then comes the noise, then the clip.
    """

    def there(values: Array) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=device)

    share = coverage(there(scenes.radius), there(scenes.centre), params.pixels, params.blur, params.circle_edge)[
        :, None
    ]
    ground = there(scenes.background)[:, :, None, None]
    images = torch.addcmul(ground, share, there(scenes.rgb)[:, :, None, None] - ground)
    return images.add_(there(scenes.noise)).clamp_(0, 1)


def coverage(
    radius: torch.Tensor,
    centre: torch.Tensor,
    pixels: int,
    blur: float,
    edge: Literal["ramp", "gaussian"] = "ramp",
) -> torch.Tensor:
    """The share of each pixel that a circle covers, (N, P, P).

    A ramp is clamp(1/2 + (radius - distance) / w, 0, 1), with the distance of the pixel's centre from the circle's and
    the edge's width w = blur pixels. The other edge is that of the code behind [S] Fig 6: a mask of the pixels whose
    centres lie in the circle, after the Gaussian filter of `smoothing`. At equal blur its edge is steepest at a slope
    of 1 / (sqrt(2 pi) blur), 2.5 times less than a ramp's, and its standard deviation is sqrt(12) = 3.5 times as large.

    Args:
        radius: (N,), in half widths.
        centre: x and y, (N, 2).
        pixels: side P of the images.
        blur: width of the edge in pixels, above 0: of a ramp, from 1 to 0; of a Gaussian, its standard deviation.
        edge: its form.
    """
    axis = (torch.arange(pixels, dtype=radius.dtype, device=radius.device) * 2 + 1) / pixels - 1
    x, y = axis - centre[:, :1], axis - centre[:, 1:]
    distance = torch.hypot(x[:, None, :], y[:, :, None])
    if edge == "ramp":
        return (0.5 + (radius[:, None, None] - distance) * (pixels / (2 * blur))).clamp(0, 1)
    share = (distance < radius[:, None, None]).to(radius.dtype)
    places, weights = smoothing(pixels, blur)
    there = torch.as_tensor(places, device=radius.device)
    for axis_of_image in (1, 2):
        # Pixel by pixel, in one order: a matrix product would depend on the batch in its last bits.
        smoothed = torch.zeros_like(share)
        for at, weight in zip(there, weights, strict=True):
            smoothed += weight * share.index_select(axis_of_image, at)
        share = smoothed
    return share.clamp(0, 1)


@lru_cache(maxsize=8)
def smoothing(pixels: int, sd: float) -> tuple[Array, tuple[float, ...]]:
    """A Gaussian filter along one axis of an image: the pixels that each pixel is a sum over, (K, P), and K weights.

    As in `scipy.ndimage.gaussian_filter` the Gaussian is sampled at whole pixels, cut off at 4 sd and normalised, and
    what lies beyond the border is the mirror image of the image.

    Args:
        pixels: side P of the images.
        sd: of the Gaussian, in pixels.
    """
    far = int(4 * sd + 0.5)
    offset = np.arange(-far, far + 1)
    weight = np.exp(-0.5 * (offset / sd) ** 2)
    folded = (np.arange(pixels) + offset[:, None]) % (2 * pixels)
    return np.minimum(folded, 2 * pixels - 1 - folded), tuple((weight / weight.sum()).tolist())
