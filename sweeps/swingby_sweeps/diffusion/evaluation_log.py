"""The evaluation log of a run: numbers of each evaluation and its images, kept until they are written as a segment."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
"""Evaluations of a run whose images are kept, where the recording `samples` is on."""
SAMPLES = 4
"""Images of each class that are kept of such an evaluation."""

Classifier = Callable[[Tensor], tuple[np.ndarray, np.ndarray]]
"""From images to P(blue) and P(small)."""


class EvaluationLog:
    """The rows of one run's evaluations that are not written yet.

    Args:
        params: of the run.
        recorded: its recorded steps.
        classifier: the trained judge, where the recording `trained` is on.
        also: the recordings on request.
        beside: whether images are judged by a thread of their own, while a GPU trains on.
    """

    def __init__(
        self,
        params: DiffusionParams,
        recorded: Sequence[int],
        classifier: Classifier | None,
        also: Sequence[str],
        beside: bool = False,
    ) -> None:
        self.params, self.classifier = params, classifier
        places = np.round(np.linspace(0, len(recorded) - 1, KEPT_SAMPLES)).astype(int) if "samples" in also else []
        self.pictured = {recorded[place] for place in places}
        self.columns = [*CURVES, *(name for key, columns in RECORDINGS.items() if key in also for name in columns)]
        self.pending: list[Callable[[], dict[str, Any]]] = []
        self._judge = ThreadPoolExecutor(1, "judge") if beside else None

    def add(self, evaluation: Evaluation) -> None:
        """Judge the images of an evaluation and keep the row."""
        if self._judge is not None:
            self.pending.append(self._judge.submit(self._row, evaluation).result)
        else:
            row = self._row(evaluation)
            self.pending.append(lambda: row)

    def close(self) -> None:
        """End the thread that judges; images that wait for it are not judged."""
        if self._judge is not None:
            self._judge.shutdown(cancel_futures=True)

    def _row(self, evaluation: Evaluation) -> dict[str, Any]:
        nothing = dict.fromkeys(("loss", "loss_diffusion", "loss_prior", "loss_reconstruction", "gradient_norm"), None)
        low, high = evaluation.ends
        row: dict[str, Any] = {"step": evaluation.step, **nothing, **(evaluation.means or {})}
        row |= {"gamma_0": low, "gamma_1": high}
        verdicts = [judged(images, self.params, number) for number, images in enumerate(evaluation.images)]
        row |= transposed(verdicts)
        if evaluation.nearest is not None:
            trained = self.params.trained_classes
            row |= evaluation.nearest.columns(trained)
            row["both_right"] = float(np.mean([verdicts[number]["both_right"] for number in trained]))
        if self.classifier is not None:
            color, size = zip(*map(self.classifier, evaluation.images), strict=True)
            row |= {"trained_color": [_mean(blue) for blue in color], "trained_color_sd": [_sd(blue) for blue in color]}
            row |= {"trained_size": [_mean(small) for small in size], "trained_size_sd": [_sd(small) for small in size]}
        if "samples" in self.columns:
            row["samples"] = picture(evaluation.images) if evaluation.step in self.pictured else None
        return row

    def take(self, cell_id: str, low: int, high: int, ending: Mapping[str, Any] | None = None) -> pa.Table:
        """The pending rows as one segment of the steps low..high; nothing is pending afterwards.

        Args:
            ending: status, message and scalars, of a run's last segment alone.
        """
        extent = {"cell_id": cell_id, "from_step": low, "to_step": high, "final": ending is not None}
        rows = [row() for row in self.pending]
        self.pending = []
        curves = {name: [row[name] for row in rows] for name in self.columns}
        declared = {
            name: column.type for part in (CURVES, SCALARS, *RECORDINGS.values()) for name, column in part.items()
        }
        types = {**SEGMENT_COLUMNS, **declared}
        values = {"status": None, "message": None, **extent, **curves, **(ending or {})}
        return pa.table({name: pa.array([value], types[name]) for name, value in values.items()})


def judged(images: Tensor, params: DiffusionParams, number: int) -> dict[str, float]:
    """The measured judge's verdict on images of one class; coordinates are means over those that have a circle."""
    seen = measured.measure(images)
    color, size = measured.coordinates(seen, params)
    color_right, size_right = measured.right(seen, params, number)
    return {
        "color": _mean(color[seen.visible]),
        "color_sd": _sd(color[seen.visible]),
        "size": _mean(size[seen.visible]),
        "size_sd": _sd(size[seen.visible]),
        "found": float(seen.visible.mean()),
        "color_right": float(color_right.mean()),
        "size_right": float(size_right.mean()),
        "both_right": float((color_right & size_right).mean()),
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else math.nan


def _sd(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def transposed(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Lists over the classes by name, from one mapping for each class."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def picture(images: Sequence[Tensor]) -> bytes:
    """A PNG with one row for each class: its first images side by side."""
    count = min(SAMPLES, *(len(of_class) for of_class in images))
    rows = [np.concatenate(list(of_class[:count].numpy()), axis=2) for of_class in images]
    pixels = np.round(255 * np.concatenate(rows, axis=1).clip(0, 1)).astype(np.uint8)
    written = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(written, "PNG", optimize=True)
    return written.getvalue()
