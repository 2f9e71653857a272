"""Gaussian smoothing over evaluations, as the authors of [S] draw Fig 6; it flattens bumps, and is off unless asked."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .path import Floats


def smoothed(values: Floats, width: float) -> Floats:
    """A curve smoothed along its first axis; NaN counts for nothing, and stays where nothing is near.

    Args:
        values: (T, ...).
        width: standard deviation of the Gaussian, in evaluations whatever steps lie between; 0: as it is.
    """
    if width == 0:
        return values
    known = np.isfinite(values)
    weight = gaussian_filter1d(known.astype(np.float64), width, axis=0, mode="nearest")
    total = gaussian_filter1d(np.where(known, values, 0.0), width, axis=0, mode="nearest")
    return np.where(weight > 1e-6, total / np.maximum(weight, 1e-6), np.nan)
