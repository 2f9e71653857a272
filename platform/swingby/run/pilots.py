"""Pilots: small batches that measure the cost of shapes nobody has measured; their cells are kept as results.

Where Ray trains, a child process trains the pilots, so that the driver survives one that dies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from swingby.data.records import Records
from swingby.model.process_group import LostWorkerError
from swingby.run.batches import Chosen
from swingby.run.cost import Sample, fit, worth_measuring
from swingby.run.forecast import Planned
from swingby.run.processes.child import ChildProcess
from swingby.run.processes.watchdog import DeadlineError, StoppedError, timeout
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, run_batch
from swingby.units import counted

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

    Args:
        most: the most cells that fit a batch of each shape.
        work: `Experiment.work` of a cell of each shape.
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
    chosen, left, sizes = list[Chosen](), dict(pending), dict[str, tuple[int, ...]]()
    for shape, positions in pending.items():
        stairs = tuple(count * lanes[shape] for count in STAIRS)
        side_by_side = lanes[shape] > 1 and stairs[1] <= min(len(positions) // 2, most[shape])
        sizes[shape] = stairs if side_by_side else SIZES
    for turn in range(len(SIZES)):
        for shape, positions in left.items():
            size = sizes[shape][turn]
            if size <= min(len(positions), max(2, len(positions) // 2), most[shape]):
                chosen.append(Chosen(shape, positions[:size], None))
                left[shape] = positions[size:]
    return chosen


class Pilots:
    """The training of pilots.

    Attributes:
        trained: how many cells so far.
        failed: how many of them failed.

    Args:
        stop: true once the run was asked to stop.
        deadline: seconds for which a pilot may give no sign of life; None: SECONDS.
        child: the process that trains them; None: this one does.
    """

    def __init__(
        self, records: Records, stop: Callable[[], bool], deadline: float | None, child: ChildProcess | None
    ) -> None:
        self._data, self._stop, self._child = records.data, stop, child
        self._seconds = deadline or SECONDS
        self.trained = self.failed = 0

    def train(self, planned: Planned, progress: Progress, prepare: Callable[[], None]) -> None:
        """Trains the batches of a written plan, except those that take too long by the cost known so far.

        Once the run is asked to stop, the pilot in progress is ended, within two seconds where a child process trains
        it. Rows that it has yielded are kept, as all pilots are that have ended.

        Args:
            prepare: `Experiment.prepare` for the shapes of the plan, in this process.
        """
        try:
            self._prepare(planned, progress, prepare)
            progress.measuring(planned)
            self._train(planned, progress)
        except StoppedError:
            pass
        finally:
            progress.close()
        if self._stop():
            kept = f"{counted(self.trained, 'finished cell')} of it {'is' if self.trained == 1 else 'are'} kept"
            progress.line(f"stopping: measuring was ended, and {kept}")

    def _prepare(self, planned: Planned, progress: Progress, prepare: Callable[[], None]) -> None:
        """Prepares the process that trains."""
        if self._child is not None:
            self._child.prepare(self._data, planned, progress.line, self._stop)
        else:
            with timeout(math.inf, self._stop):
                prepare()

    def _train(self, planned: Planned, progress: Progress) -> None:
        samples: dict[str, list[Sample]] = {}
        given_up: set[str] = set()
        for note in planned.batches:
            known = samples.setdefault(note.shape, [])
            most = LONGEST[len(known) > 1] * planned.options.target_seconds
            if self._stop() or note.shape in given_up or (known and fit(known).seconds(note.cells) > most):
                progress.left_out(note.cells)
                continue
            device = planned.device(note)
            assignment = Assignment(self._data, planned.plan.plan_id, (note.batch,), device=device)
            try:
                if self._child is not None:
                    done = self._child.run(assignment, self._seconds, self._stop)
                else:
                    with timeout(self._seconds, self._stop) as beat:
                        done = run_batch(assignment, self._stop, beat)
            except (LostWorkerError, DeadlineError) as error:
                given_up.add(note.shape)
                progress.left_out(note.cells)
                progress.line(f"measuring {note.shape} was given up: {error}")
                continue
            self.trained += done.cells
            self.failed += done.failed
            known.append(Sample(note.shape, note.cells, done.seconds, 0))
            progress.batch_done(done)
