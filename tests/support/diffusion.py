"""Diffusion runs small enough for tests: 8 x 8 pixels, a few channels, a few steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from swingby.model.cell import Cell, Point
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.presets import small

TINY: dict[str, Any] = {
    "pixels": 8,
    "width": 8,
    "levels": 2,
    "norm_groups": 4,
    "images": 32,
    "batch_size": 8,
    "training_steps": 12,
    "sampling_steps": 3,
    "judged": 3,
    "judged_trained": 2,
    "warmup": 3,
}


def params(**changes: Any) -> DiffusionParams:
    """The preset `small`, smaller."""
    given = {**TINY, **changes}
    return DiffusionParams(**{**small(given), **given})


def cell(seed: int = 0, **changes: Any) -> Cell:
    """A run of such parameters."""
    return Point("diffusion", 1, params(**changes)).cell(seed)


def close(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two lists of numbers agree to a relative tolerance; NaN agrees with NaN."""
    return bool(np.allclose(np.asarray(a, float), np.asarray(b, float), rtol=tolerance, atol=0, equal_nan=True))


def follow_astray(member: Any, task: Any) -> None:
    """What a process of a run does, in one that does not see the run's checkpoint."""
    from swingby_sweeps.diffusion.runner import follow  # torch, which planning tests do without

    follow(member, replace(task, path=None))
