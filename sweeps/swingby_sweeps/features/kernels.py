"""Compiled passes over stacked nets: steps of SGD, slopes of activations, batch norm. Sums run within one cell."""

from __future__ import annotations

import numba
import numpy as np

Array = np.ndarray
NORM_EPS = 1e-5
"""Added to the variance in batch norm; torch's own."""
NORM_RATE = 0.1
"""Weight of a mini-batch in the running moments of batch norm; torch's own."""


@numba.njit(cache=True, error_model="numpy")
def sgd(w: Array, g: Array, v: Array, sizes: Array, lr: Array, momentum: Array, decay: Array) -> None:
    """One step v <- momentum v + g + decay w, w <- w - lr v: the rule of `torch.optim.SGD`.

    Args:
        w, g, v: weights, gradient and velocity, flat: for each parameter one part, the cells' own in turn.
        sizes: numbers of a cell in each part.
        lr, momentum, decay: of each cell, (B,), in the arithmetic of the weights.
    """
    place = 0
    for size in sizes:
        for b in range(len(lr)):
            rate, keep, shrink = lr[b], momentum[b], decay[b]
            # Slices, since a loop from 0 on is vectorised.
            weights, slopes, speeds = w[place : place + size], g[place : place + size], v[place : place + size]
            for i in range(size):
                speeds[i] = keep * speeds[i] + (slopes[i] + shrink * weights[i])
                weights[i] -= rate * speeds[i]
            place += size


@numba.njit(cache=True, error_model="numpy")
def slope(d: Array, h: Array, activation: int) -> None:
    """Multiply d by the slope of the activation (0 relu, 1 tanh, 2 none) of which h are the values; all flat."""
    zero, one = d.dtype.type(0), d.dtype.type(1)
    if activation == 0:
        for i in range(d.size):
            d[i] = d[i] if h[i] > zero else zero
    elif activation == 1:
        for i in range(d.size):
            d[i] *= one - h[i] * h[i]


@numba.njit(cache=True, error_model="numpy")
def sums(d: Array, out: Array) -> None:
    """out (B, q) = sum of d (B, rows, q) over the rows."""
    for b in range(d.shape[0]):
        total = out[b]
        total[:] = 0
        for r in range(d.shape[1]):
            row = d[b, r]
            for j in range(d.shape[2]):
                total[j] += row[j]


@numba.njit(cache=True, error_model="numpy")
def normalise(
    z: Array, gamma: Array, beta: Array, unit: Array, spread: Array, out: Array, mean: Array, variance: Array
) -> None:
    """Batch norm of z (B, rows, q) over the rows, as in training.

    Args:
        gamma, beta: factor and shift, (B, q).
        unit: takes (z - mean) / sd, (B, rows, q).
        spread: takes 1 / sd, (B, q).
        out: takes gamma unit + beta.
        mean, variance: running moments, (B, q), moved by this mini-batch.
    """
    B, rows, q = z.shape
    one, share, eps = z.dtype.type(1), z.dtype.type(1 / rows), z.dtype.type(NORM_EPS)
    rate, unbiased = z.dtype.type(NORM_RATE), z.dtype.type(rows / (rows - 1))
    middle, square = np.empty(q, z.dtype), np.empty(q, z.dtype)
    for b in range(B):
        middle[:] = 0
        square[:] = 0
        for r in range(rows):
            row = z[b, r]
            for j in range(q):
                middle[j] += row[j]
        for j in range(q):
            middle[j] *= share
        for r in range(rows):
            row = z[b, r]
            for j in range(q):
                off = row[j] - middle[j]
                square[j] += off * off
        for j in range(q):
            square[j] *= share
            spread[b, j] = one / np.sqrt(square[j] + eps)
            mean[b, j] += rate * (middle[j] - mean[b, j])
            variance[b, j] += rate * (square[j] * unbiased - variance[b, j])
        scale, up, down = spread[b], gamma[b], beta[b]
        for r in range(rows):
            row, normed, scaled = z[b, r], unit[b, r], out[b, r]
            for j in range(q):
                normed[j] = (row[j] - middle[j]) * scale[j]
                scaled[j] = up[j] * normed[j] + down[j]


@numba.njit(cache=True, error_model="numpy")
def normalise_back(d: Array, unit: Array, spread: Array, gamma: Array, d_gamma: Array, d_beta: Array) -> None:
    """Turn slopes d (B, rows, q) behind batch norm into those before it, and sum those of gamma and beta (B, q)."""
    B, rows, q = d.shape
    share = d.dtype.type(1 / rows)
    for b in range(B):
        up, down = d_gamma[b], d_beta[b]
        up[:] = 0
        down[:] = 0
        for r in range(rows):
            row, normed = d[b, r], unit[b, r]
            for j in range(q):
                up[j] += row[j] * normed[j]
                down[j] += row[j]
        for r in range(rows):
            row, normed = d[b, r], unit[b, r]
            for j in range(q):
                row[j] = gamma[b, j] * spread[b, j] * (row[j] - share * down[j] - normed[j] * share * up[j])
