"""The curves of a stack of cells at recorded steps, its divergences, and the rows that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.columns import Columns, finished, known, lists, lost, offsets_of, rows_of

from .columns import CURVES, RECORDINGS
from .data import Points
from .observed import Sample, features, fit, spectra, spectrum
from .params import FeaturesParams

Array = np.ndarray
LIMIT = 1e6
"""A training loss above this many times those of an output of 0 and of the start is a divergence."""


@dataclass
class Record:
    """What is recorded of one cell.

    Attributes:
        rows: values of the curves at the recorded steps.
        spectra: of each step whose spectra are recorded: the step, intensities, quality and utilization.
        diverged: what is said of a cell that diverged; None of any other.
    """

    rows: list[dict[str, float]] = field(default_factory=list)
    spectra: list[tuple[int, list[Array]]] = field(default_factory=list)
    diverged: str | None = None


class InTraining(Protocol):
    """Cells in training, between two recorded steps."""

    def advance(self, begin: int, end: int) -> None:
        """Take the steps begin, ..., end - 1."""
        ...

    def samples(self) -> tuple[list[Sample], list[Sample]]:
        """Of each cell, what its net gives on training points and on test points."""
        ...

    def last_weights(self) -> Array:
        """The last layer's weights of each cell, (B, C, p), float64."""
        ...

    def freeze(self, cells: Array) -> None:
        """Stop the cells of a mask (B,), without an effect on the others."""
        ...


def follow(
    trained: InTraining,
    cells: Sequence[Cell[FeaturesParams]],
    points: Sequence[tuple[Points, Points]],
    steps: Sequence[int],
    spectral: Sequence[int] = (),
) -> list[Record]:
    """Train to the last of the recorded steps, and record; a cell that diverges is frozen.

    Args:
        steps: the recorded steps, rising from 0.
        spectral: those whose spectra are recorded, too, rising; none beyond the last step.
    """
    records, limits = [Record() for _ in cells], np.zeros(len(cells))
    at, before = 0, 0
    for step in sorted({*steps, *spectral}):
        trained.advance(at, step)
        at = step
        on_train, on_test = trained.samples()
        weights, diverged = trained.last_weights(), np.zeros(len(cells), dtype=bool)
        for k, record in enumerate(records):
            if record.diverged:
                continue
            p, (train, test) = cells[k].params, points[k]
            losses = fit(p, train, test, on_train[k], on_test[k])
            if step == 0:
                nothing = Sample(on_train[k].phi, np.zeros_like(on_train[k].f))
                limits[k] = LIMIT * (losses["train_loss"] + fit(p, train, test, nothing, on_test[k])["train_loss"])
            if not _sound(losses, limits[k], on_train[k], on_test[k]):
                what = f"loss not finite or above {LIMIT:g} (loss of 0 + loss of the start)"
                record.diverged = lost(what, [before, step], int(step > 0), len(record.rows))
                diverged[k] = True
                continue
            if step in spectral:
                record.spectra.append((step, spectra(spectrum(p, test, on_test[k]), on_test[k].phi.shape[1])))
            if step in steps:
                record.rows.append(losses | features(p, train, test, on_train[k], on_test[k], weights[k]))
        if diverged.any():
            trained.freeze(diverged)
        before = step if step in steps else before
        if all(record.diverged for record in records):
            break
    return records


def _sound(losses: dict[str, float], limit: float, *samples: Sample) -> bool:
    """Whether losses are finite and below the limit, and so is all that features are measured on."""
    finite = np.isfinite(limit) and losses["train_loss"] <= limit and np.isfinite(losses["test_loss"])
    return bool(finite) and all(np.isfinite(of).all() for sample in samples for of in (sample.phi, sample.f))


def rows(cells: Sequence[Cell], records: Sequence[Record], steps: Array, spectral: bool) -> Columns:
    """Final rows of the cells, without what is the same of all cells of a shape.

    Args:
        steps: the recorded steps.
        spectral: whether spectra were asked for.
    """
    lengths = np.array([len(record.rows) for record in records])
    every = [row for record in records for row in record.rows]
    columns = finished(cells, steps, lengths, {c: one.diverged for c, one in enumerate(records) if one.diverged})
    curves = {name: known([row[name] for row in every]) for name in CURVES}
    columns |= {name: lists(offsets_of(lengths), curve) for name, curve in curves.items()}
    return columns | _spectra(records) if spectral else columns


def _spectra(records: Sequence[Record]) -> Columns:
    """The columns of recorded spectra."""
    ends = offsets_of([len(record.spectra) for record in records])
    taken = [at for record in records for at in record.spectra]
    names = list(RECORDINGS["spectra"])
    columns: Columns = {names[0]: lists(ends, pa.array([step for step, _ in taken], pa.int64()))}
    for i, name in enumerate(names[1:]):
        parts = [three[i] for _, three in taken]
        columns[name] = lists(
            ends, lists(offsets_of([len(part) for part in parts]), rows_of(np.concatenate([*parts, np.zeros(0)])))
        )
    return columns
