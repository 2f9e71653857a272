"""Pilots: small batches that measure the cost of shapes nobody has measured; their cells are kept as results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext

import numpy as np

from swingby.data.records import Records
from swingby.model.process_group import LostWorkerError
from swingby.run.batches import Chosen
from swingby.run.cost import Sample, fit, worth_measuring
from swingby.run.forecast import Planned
from swingby.run.processes.child_process import ChildProcess
from swingby.run.processes.timeout import DeadlineError, timeout
from swingby.run.worker.batch import run_batch

SIZES = (1, 2, 16)
"""Cells of the batches that measure a shape: the first warms up, the other two give the fixed and the variable part."""
STAIRS = (1, 2, 4)
"""Multiples of `Experiment.lanes` that replace SIZES where that many cells cost as much as one."""
LONGEST = (20, 4)
"""Target times that the second pilot, and later ones, may take by the cost known so far. The second may take more: one
cell alone cannot separate the cost of a batch from that of a cell."""
SECONDS = 600.0
"""The deadline of a pilot, whose cost is unknown: long for a few cells of an experiment that has many."""


def unmeasured(samples: Iterable[Sample], most: Mapping[str, int], work: Mapping[str, float]) -> list[str]:
    """The shapes worth measuring that have no measured batch, cheapest first.

    A shape whose cells are trained one by one is not worth it: its pilot would be the run. A batch of one cell (of a
    pilot that was stopped) measures nothing, because it cannot separate the cost of a batch from that of a cell.
    """
    known = {sample.shape for sample in samples if sample.cells > 1}
    return [
        shape
        for shape in worth_measuring({shape: work[shape] for shape in work if most[shape] > 1})
        if shape not in known
    ]


def choose_pilots(pending: Mapping[str, np.ndarray], most: Mapping[str, int], lanes: Mapping[str, int]) -> list[Chosen]:
    """Pilot batches, the first ones of all shapes first; none takes more than half of a shape's cells (or two).

    Args:
        pending: the positions of each shape's cells.
        most: the most cells that fit a batch of each shape.
        lanes: how many cells of each shape cost as much as one.
    """
    chosen, left = [], dict(pending)
    sizes = {shape: _sizes(len(found), most[shape], lanes[shape]) for shape, found in pending.items()}
    for turn in range(len(SIZES)):
        for shape, positions in left.items():
            size = sizes[shape][turn]
            if size <= min(len(positions), max(2, len(positions) // 2), most[shape]):
                chosen.append(Chosen(shape, positions[:size], None))
                left[shape] = positions[size:]
    return chosen


def _sizes(pending: int, most: int, lanes: int) -> tuple[int, ...]:
    """Cells of a shape's pilots: multiples of the lanes where two of them fit, else single cells."""
    stairs = tuple(count * lanes for count in STAIRS)
    return stairs if lanes > 1 and stairs[1] <= min(pending // 2, most) else SIZES


class Pilots:
    """The training of pilots.

    Attributes:
        trained: how many cells so far.

    Args:
        stop: true once the run was asked to stop.
        deadline: seconds for which a pilot may give no sign of life; None: SECONDS.
        child: whether a child process trains them, so that the driver survives one that dies.
    """

    def __init__(self, records: Records, stop: Callable[[], bool], deadline: float | None, child: bool) -> None:
        self._data, self._stop, self._child = records.data, stop, child
        self._seconds = deadline or SECONDS
        self.trained = 0

    def train(self, planned: Planned, tell: Callable[[str], None]) -> None:
        """Trains the batches of a written plan, except those that take too long by the cost known so far."""
        with ChildProcess() if self._child else nullcontext() as child:
            took: dict[str, list[Sample]] = {}
            given_up: set[str] = set()
            for note in planned.batches:
                known = took.setdefault(note.shape, [])
                most = LONGEST[len(known) > 1] * planned.options.target_seconds
                if self._stop() or note.shape in given_up or (known and fit(known).seconds(note.cells) > most):
                    continue
                which = self._data, planned.plan.plan_id, note.batch, planned.device(note)
                try:
                    if child is not None:
                        done = child.run(*which, self._seconds)
                    else:
                        with timeout(self._seconds) as beat:
                            done = run_batch(*which, self._stop, beat=beat)
                except (LostWorkerError, DeadlineError) as error:
                    given_up.add(note.shape)
                    tell(f"measuring {note.shape} was given up: {error}")
                    continue
                self.trained += done.cells
                known.append(Sample(note.shape, note.cells, done.seconds, 0))
