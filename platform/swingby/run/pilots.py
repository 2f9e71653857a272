"""Pilots: batches of a few cells, trained to measure what shapes of unknown cost take; they are kept as results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from swingby.data.records import Records
from swingby.model.process_group import LostWorkerError
from swingby.run.batches import Chosen
from swingby.run.cost import Sample, fit, worth_measuring
from swingby.run.planned import Planned
from swingby.run.processes.child_process import Apart
from swingby.run.processes.timeout import DeadlineError, alarmed
from swingby.run.worker.batch import BatchDone, run_batch

SIZES = (1, 2, 16)
"""Cells of the batches that measure a shape: the first warms up, the other two give the fixed and the variable part."""
STAIRS = (1, 2, 4)
"""The same where so many `Experiment.lanes` cost as much as one cell: in these."""
LONGEST = (20, 4)
"""Batches' worth of time that the second pilot, and those after it, may take by what is known: the second is worth
more, because one cell alone cannot tell what a batch costs from what a cell does."""
SECONDS = 600.0
"""The deadline of a pilot: what it takes is not known yet, but it is a few cells of an experiment that has many."""


def unmeasured(samples: Iterable[Sample], most: Mapping[str, int], work: Mapping[str, float]) -> list[str]:
    """The shapes worth measuring, cheapest first, that no batch was measured of.

    A shape whose cells are trained one by one is not worth it: its pilot would be the run. One cell alone (of a pilot
    that was stopped) measures nothing: it cannot tell what a batch costs from what a cell does.
    """
    known = {sample.shape for sample in samples if sample.cells > 1}
    return [
        shape
        for shape in worth_measuring({shape: work[shape] for shape in work if most[shape] > 1})
        if shape not in known
    ]


def pilots(waiting: Mapping[str, np.ndarray], most: Mapping[str, int], lanes: Mapping[str, int]) -> list[Chosen]:
    """Pilot batches, the first ones of all shapes first; none takes more than half of a shape's cells (or two).

    Args:
        waiting: the positions of each shape's cells.
        most: the most cells that fit a batch of each shape.
        lanes: how many cells of each shape cost as much as one.
    """
    chosen, left = [], dict(waiting)
    sizes = {shape: _sizes(len(found), most[shape], lanes[shape]) for shape, found in waiting.items()}
    for turn in range(len(SIZES)):
        for shape, positions in left.items():
            size = sizes[shape][turn]
            if size <= min(len(positions), max(2, len(positions) // 2), most[shape]):
                chosen.append(Chosen(shape, positions[:size], None))
                left[shape] = positions[size:]
    return chosen


def _sizes(waiting: int, most: int, lanes: int) -> tuple[int, ...]:
    """Cells of a shape's pilots: stairs where it has room for two of them, else cell by cell."""
    stairs = tuple(count * lanes for count in STAIRS)
    return stairs if lanes > 1 and stairs[1] <= min(waiting // 2, most) else SIZES


class Pilots:
    """The training of pilots.

    Attributes:
        trained: how many cells so far.

    Args:
        stop: true once the run was asked to stop.
        deadline: seconds for which a pilot may give no sign of life; None: SECONDS.
        apart: whether they are trained in a process of their own, which may die of them.
    """

    def __init__(self, records: Records, stop: Callable[[], bool], deadline: float | None, apart: bool) -> None:
        self._data, self._stop, self._apart = records.data, stop, apart
        self._seconds = deadline or SECONDS
        self.trained = 0

    def train(self, planned: Planned, tell: Callable[[str], None]) -> None:
        """Trains the batches of a plan that is written, but none that by what is known takes too long."""
        with Apart() if self._apart else nullcontext() as apart:
            took: dict[str, list[Sample]] = {}
            given_up: set[str] = set()
            for note in planned.batches:
                known = took.setdefault(note.shape, [])
                most = LONGEST[len(known) > 1] * planned.target
                if self._stop() or note.shape in given_up or (known and fit(known).seconds(note.cells) > most):
                    continue
                which = self._data, planned.plan.plan_id, note.batch, planned.device(note)
                try:
                    done = self._train(which, apart)
                except (LostWorkerError, DeadlineError) as error:
                    given_up.add(note.shape)
                    tell(f"measuring {note.shape} was given up: {error}")
                    continue
                self.trained += done.cells
                known.append(Sample(note.shape, note.cells, done.seconds, 0))

    def _train(self, which: tuple[Path, str, int, str], apart: Apart | None) -> BatchDone:
        if apart is not None:
            return apart.run(*which, self._seconds)
        with alarmed(self._seconds) as beat:
            return run_batch(*which, self._stop, beat=beat)
