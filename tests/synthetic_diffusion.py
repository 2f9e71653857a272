"""Made-up curves of diffusion runs (engine "synthetic") whose truth is known: what a path does, and the noise on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS = np.unique(np.round(np.linspace(0, np.sqrt(20_000), 60) ** 2)).astype(np.int64)
"""Evaluations evenly spaced in the root of the step."""
DEFAULT = "red-big, blue-big, red-small"


@dataclass(frozen=True)
class Truth:
    """How the held-out class is learned.

    Attributes:
        color, size: time scales at which each concept is learned, in steps; infinite: never.
        swing: how far size goes back at about step 6000 (0: not at all).
        spread: sd of both coordinates over images.
        jitter: sd of what the weights add to all images of an evaluation alike.
        memory: how much of it an evaluation keeps of the one before, AR(1).
        blind: evaluations at the start in which no circle is found.
        rest: where a concept that is learned comes to rest.
    """

    color: float = 1500.0
    size: float = 1500.0
    swing: float = 0.0
    spread: float = 0.1
    jitter: float = 0.0
    memory: float = 0.0
    blind: int = 0
    rest: float = 1.0
    images: int = 32
    scale: float = 1.0


def place(truth: Truth, steps: np.ndarray = STEPS) -> np.ndarray:
    """The held-out class's true place (T, 2), from (0, 0) toward (1, 1)."""
    time = steps / truth.scale
    color, size = (truth.rest * -np.expm1(-time / scale) for scale in (truth.color, truth.size))
    back = truth.swing * np.exp(-(((np.sqrt(time) - np.sqrt(6000)) / 12) ** 2))
    return np.stack([color, size - back], axis=1)


def run(truth: Truth, rng: np.random.Generator, number: int = 3, **more: Any) -> dict[str, Any]:
    """The curves of one run as a row has them: four classes an evaluation, the held-out one as the truth says.

    Args:
        number: the held-out class; its truth is the default's, turned to its corner.
        more: laid over the row.
    """
    steps = np.round(STEPS * truth.scale).astype(np.int64)
    own, times = place(truth, steps), len(STEPS)
    corners = np.array([[k & 1, k >> 1] for k in range(4)], dtype=float)
    places = np.repeat(corners[None], times, axis=0)
    target = corners[number]
    places[:, number] = np.where(target == 1, own, 1 - own)
    places += truth.jitter * _remembering(rng.normal(size=(times, 4, 2)), truth.memory)
    images = np.full(4, 8)
    images[number] = truth.images
    seen = places + truth.spread / np.sqrt(images)[None, :, None] * rng.normal(size=places.shape)
    found = np.ones((times, 4))
    found[: truth.blind], seen[: truth.blind] = 0, np.nan
    spread = np.where(np.isnan(seen), np.nan, truth.spread)
    names = ("red-big", "blue-big", "red-small", "blue-small")
    loss = 2 + 3 * np.exp(-STEPS / 2000) + 0.002 * rng.normal(size=times)
    loss[0] = np.nan
    row = {
        "trained": ", ".join(name for k, name in enumerate(names) if k != number),
        "judged": truth.images,
        "judged_trained": 8,
        "step": steps.tolist(),
        "loss": loss.tolist(),
        "found": found.tolist(),
        "color": seen[..., 0].tolist(),
        "size": seen[..., 1].tolist(),
        "color_sd": spread[..., 0].tolist(),
        "size_sd": spread[..., 1].tolist(),
    }
    return row | more


def _remembering(draws: np.ndarray, memory: float) -> np.ndarray:
    """Draws of sd 1 as an AR(1) process of sd 1 along the first axis."""
    found = draws.copy()
    for k in range(1, len(draws)):
        found[k] = memory * found[k - 1] + np.sqrt(1 - memory**2) * draws[k]
    return found


def mirrored(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same run with color and size exchanged, and so blue-big and red-small."""
    swap = {"color": "size", "size": "color", "color_sd": "size_sd", "size_sd": "color_sd"}
    turned = {name: [[e[k] for k in (0, 2, 1, 3)] for e in row[swap.get(name, name)]] for name in (*swap, "found")}
    names = {"blue-big": "red-small", "red-small": "blue-big"}
    order = ("red-big", "blue-big", "red-small", "blue-small")
    trained = {names.get(name, name) for name in row["trained"].split(", ")}
    return {**row, **turned, "trained": ", ".join(name for name in order if name in trained)}
