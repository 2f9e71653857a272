"""The least-squares fit of one soft disc to each image: where, how large, how sharp, in what colour on what ground.

An image is ground + (colour - ground) x share, a pixel's share being clamp(1/2 + (radius - distance) / edge, 0, 1) as
in `concepts.render`. Given centre, radius and edge, colour and ground are linear, and solved in closed form for each
channel. The four are sought first on a fixed grid of discs (one matrix product for all), then by Levenberg-Marquardt
from the grid's best, with the linear part projected out (Kaufman 1975). A disc is an array (N, 4): x, y, radius, log of
the edge in pixels. Lengths are in half widths.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

Array = np.ndarray
GRID_RADII = 0.1 * 1.2 ** np.arange(13)
"""Radii of the grid's discs. Their centres lie in [-0.7, 0.7]^2, half a radius apart, but from 0.08 to 0.2."""
GRID_PIXELS = 32
"""Larger images are averaged down to this side while the grid is searched."""
HALF_ANGLES, HALF_OFFSETS, HALF_EDGES = np.arange(36) * np.pi / 36, np.linspace(-1, 1, 21), (1.0, 4.0)
"""The half-planes that a disc is compared with: directions, offsets in half widths, widths of the edge in pixels."""
LOWEST, HIGHEST = np.array([-1, -1, 0.08, np.log(0.5)]), np.array([1, 1, 1.2, np.log(8)])
"""Bounds of a disc. Besides, the edge is no wider than the disc, so that its middle has the full colour: otherwise a
blurred small disc is as well a smaller, stronger one."""
STEPS, LONGEST = 20, np.array([0.2, 0.2, 0.2, 0.7])
"""Steps of the refinement, and the largest change in one."""
EDGE_PRECISION = 4.0
"""The log of the edge has a normal prior about 0 (one pixel, as images are drawn) of this precision (sd 1/2), weighed
against the image's noise. It decides only where the noise hides the edge."""
_WORK = 2**17
"""Pixels handled at a time, so that they stay in the cache."""


class Fit(NamedTuple):
    """The best disc of each of N images.

    Attributes:
        disc: x, y, radius and log of the edge in pixels, (N, 4).
        rgb: colour of the disc, (N, 3), not clipped.
        background: of the ground, (N, 3).
        strength: sum of squares the disc explains, in units of the residual's variance, (N,); white noise alone gives
            about chi-square with 3 degrees of freedom for each disc that might have been chosen.
        share: of what is not white noise, the part that the disc explains, (N,): explained / (explained + covariance of
            neighbouring pixels in the residual, which white noise does not have); 0 for a constant image.
        straight: what the best of the grid's half-planes explains, over what the disc does, (N,).
    """

    disc: Array
    rgb: Array
    background: Array
    strength: Array
    share: Array
    straight: Array

    @property
    def contrast(self) -> Array:
        """Distance of disc and ground in colour space, (N,)."""
        return np.linalg.norm(self.rgb - self.background, axis=1)


def fit(images: Array) -> Fit:
    """The fit of every image, (N, 3, P, P) and finite; none depends on the others."""
    parts = -(-len(images) * images.shape[2] ** 2 // _WORK)
    fits = [_fit(part.astype(np.float64)) for part in np.array_split(images, max(1, parts))]
    return Fit(*(np.concatenate(columns) for columns in zip(*fits, strict=True)))


def _fit(images: Array) -> Fit:
    pixels = images.shape[2]
    level = images.mean((2, 3))
    centred = images - level[:, :, None, None]
    flat = centred.reshape(len(images), 3, pixels**2)
    start, half = _best_of_grid(centred)
    disc = _refined(flat, start, pixels)
    solved = _solve(flat, _shares(disc, pixels)[0])
    background = level - solved.slope * solved.mean[:, None]
    explained = np.square(solved.slope).sum(1) * solved.norm
    structure = explained + _structure(solved.rest.reshape(images.shape))
    tiny = np.finfo(np.float64).tiny
    # A residual at the level of rounding is none: a perfect disc is strong, not infinitely so.
    variance = np.maximum(solved.squares / (3 * pixels**2), 1e-12 * np.square(flat).mean((1, 2))) + tiny
    share = explained / np.maximum(structure, tiny)
    straight = half / np.maximum(explained, tiny)
    return Fit(disc, background + solved.slope, background, explained / variance, share, straight)


def _structure(rest: Array) -> Array:
    """The sum of squares in (N, 3, P, P) that neighbours have in common, (N,): what is not white noise; at least 0."""
    across, down = rest[..., 1:] * rest[..., :-1], rest[..., 1:, :] * rest[..., :-1, :]
    side = rest.shape[-1]
    return np.maximum((across.sum((1, 2, 3)) + down.sum((1, 2, 3))) / 2 * side / (side - 1), 0)


@lru_cache(maxsize=4)
def _grid(pixels: int) -> tuple[Array, Array, Array]:
    """The grid's discs, (K, 4), their shares, (K, M), and those of half-planes; shares are centred and of length 1."""
    discs = np.concatenate([_of_radius(radius) for radius in GRID_RADII])
    shares = np.concatenate([_shares(part, pixels)[0] for part in np.array_split(discs, 20)])
    axis = (np.arange(pixels) * 2 + 1) / pixels - 1
    angle, offset, edge = (v.reshape(-1, 1, 1) for v in np.meshgrid(HALF_ANGLES, HALF_OFFSETS, HALF_EDGES))
    depth = axis * np.cos(angle) + axis[:, None] * np.sin(angle) - offset
    halves = np.clip(0.5 + depth * pixels / (2 * edge), 0, 1).reshape(len(depth), -1)
    return discs, _unit(shares), _unit(halves)


def _unit(rows: Array) -> Array:
    rows = rows - rows.mean(1, keepdims=True)
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def _of_radius(radius: float) -> Array:
    """The grid's discs of one radius, (K, 4), their edges one pixel wide."""
    half = int(np.ceil(0.7 / np.clip(radius / 2, 0.08, 0.2)))
    x, y = np.meshgrid(*[np.linspace(-0.7, 0.7, 2 * half + 1)] * 2)
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, radius), np.zeros(x.size)])


def _best_of_grid(images: Array) -> tuple[Array, Array]:
    """The grid's disc that explains most of each centred image, (N, 4); what the best half-plane explains, (N,)."""
    count, _, pixels, _ = images.shape
    side = min(pixels, GRID_PIXELS)
    # To unit size first: single precision then does for any.
    size = np.maximum(np.abs(images).max((1, 2, 3)), np.finfo(np.float64).tiny)
    unit = torch.from_numpy((images / size[:, None, None, None]).astype(np.float32))
    small = torch.nn.functional.adaptive_avg_pool2d(unit, side).numpy().reshape(3 * count, side * side)
    discs, shares, halves = _grid(side)
    best = _explained(small, shares, count).argmax(1)
    return discs[best], _explained(small, halves, count).max(1) * (size * pixels / side) ** 2


def _explained(small: Array, shares: Array, count: int) -> Array:
    return np.square(small @ shares.T).reshape(count, 3, len(shares)).sum(1)


def _shares(discs: Array, pixels: int) -> tuple[Array, Array]:
    """The share of each pixel that the discs cover, (N, M), and its derivatives by the four numbers, (N, 4, M)."""
    axis = (np.arange(pixels) * 2 + 1) / pixels - 1
    x, y = axis - discs[:, :1], axis - discs[:, 1:2]
    distance = np.hypot(x[:, None, :], y[:, :, None])
    steep = pixels / (2 * np.exp(discs[:, 3]))[:, None, None]
    depth = (discs[:, 2, None, None] - distance) * steep
    slope = (np.abs(depth) < 0.5) * steep
    outward = slope / np.maximum(distance, 1e-9)
    by = np.stack([outward * x[:, None, :], outward * y[:, :, None], slope, -depth * (slope > 0)], axis=1)
    return np.clip(0.5 + depth, 0, 1).reshape(len(discs), pixels**2), by.reshape(len(discs), 4, pixels**2)


class _Solved(NamedTuple):
    """Colours in closed form: centred shares (N, M), their mean and squared length (N,), colour - ground (N, 3), the
    residual (N, 3, M) and its sum of squares (N,)."""

    shares: Array
    mean: Array
    norm: Array
    slope: Array
    rest: Array
    squares: Array


def _solve(images: Array, shares: Array) -> _Solved:
    mean = shares.mean(1)
    shares = shares - mean[:, None]
    norm = np.maximum(np.einsum("nm,nm->n", shares, shares), 1e-6)  # a disc that covers nothing, or all
    slope = np.einsum("ncm,nm->nc", images, shares) / norm[:, None]
    rest = images - slope[:, :, None] * shares[:, None]
    return _Solved(shares, mean, norm, slope, rest, np.einsum("ncm,ncm->n", rest, rest))


def _refined(images: Array, discs: Array, pixels: int) -> Array:
    """The discs after Levenberg-Marquardt on centred images (N, 3, M): each image has its own damping."""
    shares, by = _shares(discs, pixels)
    solved = _solve(images, shares)
    weight = EDGE_PRECISION * solved.squares / (3 * pixels**2)
    cost, damping = solved.squares + weight * discs[:, 3] ** 2, np.full(len(discs), 1e-2)
    for _ in range(STEPS):
        trial = _within(discs + _step(solved, by, weight, discs[:, 3], damping), pixels)
        trial_shares, trial_by = _shares(trial, pixels)
        tried = _solve(images, trial_shares)
        trial_cost = tried.squares + weight * trial[:, 3] ** 2
        better = trial_cost < cost
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-6, 1e6)
        for old, new in zip((discs, by, cost, *solved), (trial, trial_by, trial_cost, *tried), strict=True):
            old[better] = new[better]
    return discs


def _step(solved: _Solved, by: Array, weight: Array, log_edge: Array, damping: Array) -> Array:
    """The damped Gauss-Newton step of each disc, (N, 4)."""
    by = by - by.mean(2, keepdims=True)
    along = np.einsum("nkm,nm->nk", by, solved.shares) / solved.norm[:, None]
    by -= along[:, :, None] * solved.shares[:, None]
    curvature = by @ by.transpose(0, 2, 1) * np.square(solved.slope).sum(1)[:, None, None]
    downhill = np.einsum("nkm,nm->nk", by, np.einsum("nc,ncm->nm", solved.slope, solved.rest))
    curvature[:, 3, 3] += weight
    downhill[:, 3] -= weight * log_edge
    scale = np.einsum("nkk->nk", curvature)
    # Directions that change nothing (the edge of a disc all of whose pixels are in or out) stay where they are.
    ridge = damping[:, None] * scale + 1e-9 * scale.max(1, keepdims=True) + np.finfo(np.float64).tiny ** 0.5
    curvature = curvature + ridge[:, :, None] * np.eye(4)
    return np.clip(np.linalg.solve(curvature, downhill[:, :, None])[:, :, 0], -LONGEST, LONGEST)


def _within(discs: Array, pixels: int) -> Array:
    """Discs moved into their bounds."""
    discs = np.clip(discs, LOWEST, HIGHEST)
    discs[:, 3] = np.minimum(discs[:, 3], np.log(discs[:, 2] * pixels))
    return discs
