"""The book of a run: what the judges say of each evaluation's images, kept until it is written as a segment."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image
from torch import Tensor

from swingby.model.experiment import SEGMENT_COLUMNS

from . import measured
from .columns import CURVES, RECORDINGS, SCALARS
from .params import DiffusionParams
from .train import Evaluation

KEPT_SAMPLES = 8
"""Evaluations of a run whose images are kept, where that is asked for."""
SAMPLES = 4
"""Images of each class that are kept of such an evaluation."""

Classifier = Callable[[Tensor], tuple[np.ndarray, np.ndarray]]
"""From images to P(blue) and P(small)."""


class Book:
    """Keeps the rows of one run's evaluations until they are written.

    Args:
        params: of the run.
        recorded: its recorded steps.
        classifier: of the recording `trained`, if that was asked for.
        samples: whether images are kept.
    """

    def __init__(
        self, params: DiffusionParams, recorded: Sequence[int], classifier: Classifier | None, samples: bool
    ) -> None:
        self.params, self.classifier = params, classifier
        places = np.round(np.linspace(0, len(recorded) - 1, KEPT_SAMPLES)).astype(int) if samples else []
        self.pictured = {recorded[place] for place in places}
        self.columns = [*CURVES, *(RECORDINGS["trained"] if classifier else ()), *(("samples",) if samples else ())]
        self.pending: list[dict[str, Any]] = []

    def add(self, found: Evaluation) -> None:
        """Judges the images of an evaluation."""
        nothing = dict.fromkeys(("loss", "loss_diffusion", "loss_prior", "loss_reconstruction", "gradient_norm"), None)
        low, high = found.ends
        row: dict[str, Any] = {"step": found.step, **nothing, **(found.means or {}), "gamma_0": low, "gamma_1": high}
        row |= transposed([judged(images, self.params, number) for number, images in enumerate(found.images)])
        if self.classifier is not None:
            row |= transposed([_classified(self.classifier(images)) for images in found.images])
        if "samples" in self.columns:
            row["samples"] = picture(found.images) if found.step in self.pictured else None
        self.pending.append(row)

    def take(self, cell_id: str, low: int, high: int, ending: Mapping[str, Any] | None = None) -> pa.Table:
        """What is pending as one row of the steps low..high; it is pending no more.

        Args:
            ending: of the last row: status, message and scalars.
        """
        given = {"cell_id": cell_id, "from_step": low, "to_step": high, "final": ending is not None}
        curves = {name: [row[name] for row in self.pending] for name in self.columns}
        self.pending = []
        kinds = _kinds()
        values = {"status": None, "message": None, **given, **curves, **(ending or {})}
        return pa.table({name: pa.array([value], kinds[name]) for name, value in values.items()})


def _kinds() -> dict[str, pa.DataType]:
    declared = {**CURVES, **SCALARS, **{name: column for more in RECORDINGS.values() for name, column in more.items()}}
    return {**SEGMENT_COLUMNS, **{name: column.type for name, column in declared.items()}}


def judged(images: Tensor, params: DiffusionParams, number: int) -> dict[str, float]:
    """The measured judge's verdict on images of one class; coordinates are means over those that have a circle."""
    found = measured.measure(images)
    color, size = measured.coordinates(found, params)
    color_right, size_right = measured.right(found, params, number)
    there = found.found
    return {
        "color": _mean(color[there]),
        "color_sd": _sd(color[there]),
        "size": _mean(size[there]),
        "size_sd": _sd(size[there]),
        "found": float(there.mean()),
        "color_right": float(color_right.mean()),
        "size_right": float(size_right.mean()),
    }


def _classified(probabilities: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    blue, small = probabilities
    return {
        "trained_color": _mean(blue),
        "trained_color_sd": _sd(blue),
        "trained_size": _mean(small),
        "trained_size_sd": _sd(small),
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else math.nan


def _sd(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def transposed(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """From a mapping a class to a list over the classes."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def picture(images: Sequence[Tensor]) -> bytes:
    """A PNG with a row a class, of its first images side by side."""
    count = min(SAMPLES, *(len(of_class) for of_class in images))
    rows = [np.concatenate(list(of_class[:count].numpy()), axis=2) for of_class in images]
    pixels = np.round(255 * np.concatenate(rows, axis=1).clip(0, 1)).astype(np.uint8)
    written = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(written, "PNG", optimize=True)
    return written.getvalue()
