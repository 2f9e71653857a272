"""Bundles of conventions: what the paper says, what the code behind its figures does, and what a CPU can train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]
THEIRS = {"circle_edge": "gaussian", "classifier": "pooled"}
"""Conventions of the authors that came after cells had been recorded at the defaults, which they are not."""


def paper(values: Values) -> dict[str, Any]:
    """The conventions of [S] G; where it is silent (position, background, noise, a circle's edge) those of `authors`.

    [S] fixes the diameters to 70 % and 30 % of the image, and names no jitter of size or colour.
    """
    return {
        **THEIRS,
        "size_mean": 0.5,
        "radius_jitter": 0.0,
        "color_jitter": 0.0,
        "norm_groups": 1,
        "dropout": 0.0,
        "zero_init": False,
        "residual": False,
        "batch_size": 128,
        "sampling_steps": 100,
    }


def authors(values: Values) -> dict[str, Any]:
    """The conventions of the code behind [S] Fig 6: the defaults but for edge, classifier and `clip`."""
    return {**THEIRS, "clip": 0.01}


def small(values: Values) -> dict[str, Any]:
    """The authors' data and diffusion, with images and a network that one CPU core trains in a few minutes.

    Circles have the sharper edge of the defaults, and each contrast has a classifier of its own. `figure-6-small` and
    `learning-order` were recorded so; `figure-6-learned` has this preset with the authors' edge and classifier.

    There are fewer pixels, channels, layers and steps, and the learning rate is larger. It is constant, as in the
    paper, so that no decay of the rate makes learning slow down. The gradient of the reconstruction term by the
    schedule is a thousand times that of the network, whose gradient is therefore clipped by itself.
    """
    return {
        "pixels": 16,
        "width": 16,
        "layers": 1,
        "dropout": 0.0,
        "images": 1024,
        "batch_size": 32,
        "training_steps": 4000,
        "lr": 2e-3,
        "warmup": 100,
        "clip": 1.0,
        "clip_of": "network",
        "sampling_steps": 25,
    }
