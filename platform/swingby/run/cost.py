"""What cells cost: seconds and bytes of a shape, fitted to batches that ran, carried over to shapes that did not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

PATIENCE = 10.0
"""Seconds after which the first pilot of a shape is ended. Its cells are trained anew, which is all that it costs."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One batch that ran: its shape, how many cells, wall seconds, bytes of its shards; the mean sizes of its cells, as
    of `estimate.sizes_of`, where they are known."""

    shape: str
    cells: int
    seconds: float
    size: int
    sizes: np.ndarray | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Cost:
    """A batch of B cells takes `fixed + each * B` seconds, and leaves `size * B` bytes.

    `measured` is False where the numbers were carried over from another shape by the experiment's own `work`.
    """

    fixed: float
    each: float
    size: float
    measured: bool = True

    def seconds(self, cells: int) -> float:
        """Forecast of one batch."""
        return self.fixed + self.each * cells

    def batch_size(self, target: float) -> int:
        """The most cells that fit into `target` seconds, at least one.

        Where what a batch costs however small it is takes most of that time, as many as make half of it theirs.
        """
        if self.each <= 0:
            return 1 << 30
        return max(1, int(max(target - self.fixed, self.fixed) / self.each))


def fit(samples: Sequence[Sample]) -> Cost:
    """The cost of one shape, from at least one batch of it.

    The first batch in a process also pays for imports and compilation, and neighbours can slow any of them. So the
    median over batches of one size counts, and sizes that took longer than a larger one are left out. Relative
    residuals are minimised; neither term becomes negative.
    """
    by_size: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        by_size[sample.cells].append(max(sample.seconds, 1e-6))
    cells = np.array(sorted(by_size), float)
    seconds = np.array([np.median(by_size[int(count)]) for count in cells])
    plausible = seconds <= np.minimum.accumulate(seconds[::-1])[::-1]
    cells, seconds = cells[plausible], seconds[plausible]
    size = sum(sample.size for sample in samples) / sum(sample.cells for sample in samples)
    fixed, each = 0.0, float(np.sum(cells / seconds) / np.sum((cells / seconds) ** 2))
    if len(cells) > 1:
        design = np.stack([np.ones_like(cells), cells], axis=1) / seconds[:, None]
        free = np.linalg.lstsq(design, np.ones_like(cells), rcond=None)[0]
        if free[1] <= 0:  # flat: the largest batch bounds the cost of a cell from above
            each = float(seconds[-1] / cells[-1])
        elif free[0] > 0:
            fixed, each = float(free[0]), float(free[1])
    return Cost(fixed, each, size)


def costs(samples: Iterable[Sample], work: Mapping[str, float]) -> dict[str, Cost]:
    """The cost of each shape in `work` (shape -> `Experiment.work` of one of its cells).

    A shape without samples takes the numbers of the measured one nearest in work, in proportion; with no samples at
    all, there are no costs.
    """
    by_shape: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.shape in work and sample.cells > 0:
            by_shape[sample.shape].append(sample)
    measured = {shape: fit(shape_samples) for shape, shape_samples in by_shape.items()}
    return {shape: measured.get(shape) or _carried(measured, work, shape) for shape in work} if measured else {}


def _carried(measured: Mapping[str, Cost], work: Mapping[str, float], shape: str) -> Cost:
    near = min(measured, key=lambda other: (abs(_log(work[other]) - _log(work[shape])), other))
    ratio = work[shape] / work[near] if work[near] > 0 else 1.0
    known = measured[near]
    return Cost(known.fixed * ratio, known.each * ratio, known.size, measured=False)


def _log(value: float) -> float:
    return math.log(max(value, 1e-300))


def worth_measuring(work: Mapping[str, float], most: int = 5) -> list[str]:
    """The shapes to run pilot cells of, cheapest first: all of a handful, else cheapest, median and dearest."""
    ordered = sorted(work, key=lambda shape: (work[shape], shape))
    if len(ordered) <= most:
        return ordered
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
