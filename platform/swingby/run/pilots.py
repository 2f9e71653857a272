"""Pilots: small batches that measure the cost of shapes nobody has measured; their cells are kept as results.

Pilots of several shapes run side by side. One that takes long is ended, and the run itself measures its shape: a pilot
of an hour would keep all other workers waiting. Where Ray trains, child processes train the pilots, so that the driver
survives one that dies.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from swingby.data.records import BatchNote, Records
from swingby.model.process_group import LostWorkerError
from swingby.run.batches import Chosen
from swingby.run.cost import PATIENCE, Sample, fit, worth_measuring
from swingby.run.forecast import Planned
from swingby.run.processes.child import ChildProcess
from swingby.run.processes.watchdog import DeadlineError, StoppedError, timeout
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, BatchDone, run_batch
from swingby.units import counted

SIZES = (1, 2, 16)
"""Cells of the batches that measure a shape: the first warms up, the other two give the fixed and the variable part."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of it, without what is before the point, lie far from one another."""
STAIRS = (1, 2, 4)
"""Multiples of `Experiment.lanes` that replace SIZES where that many cells cost as much as one."""
LONGEST = 20.0
"""Seconds that a later pilot may take; the third is left out if it would take longer by the cost known so far. Of the
second nothing is known: one cell alone cannot separate the cost of a batch from that of a cell."""


def unmeasured(samples: Iterable[Sample], most: Mapping[str, int], work: Mapping[str, float]) -> list[str]:
    """The shapes worth measuring that have no measured batch, cheapest first.

    A shape whose cells are trained one by one is not worth it: its pilot would be the run. A short batch of one
    cell measures nothing, because it cannot separate the cost of a batch from that of a cell.

    Args:
        most: the most cells that fit a batch of each shape.
        work: `Experiment.work` of a cell of each shape.
    """
    known = {sample.shape for sample in samples if sample.cells > 1 or sample.seconds >= PATIENCE}
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
    # Neighbours in the grid are alike: a cell far from the others tells more.
    left = {
        shape: positions[np.argsort(np.arange(len(positions)) * GOLDEN % 1)] for shape, positions in pending.items()
    }
    chosen, sizes = list[Chosen](), dict[str, tuple[int, ...]]()
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
        slow: the shapes of which nothing is known but that a pilot takes longer than PATIENCE.

    Args:
        stop: true once the run was asked to stop.
        deadline: seconds for which a pilot may give no sign of life, besides its patience; None: any.
        child: the process that trains them, perhaps with others beside it; None: this one does.
    """

    def __init__(
        self, records: Records, stop: Callable[[], bool], deadline: float | None, child: ChildProcess | None
    ) -> None:
        self._data, self._stop, self._child = records.data, stop, child
        self._seconds = deadline or math.inf
        self.trained = self.failed = 0
        self.slow: set[str] = set()
        self._over: set[str] = set()  # shapes that are measured as far as they can be

    def train(self, planned: Planned, progress: Progress, prepare: Callable[[], None]) -> None:
        """Trains the batches of a written plan, except those that take too long by the cost known so far.

        Once the run is asked to stop, the pilots in progress are ended, within two seconds where child processes train
        them. Rows that they have yielded are kept, as all pilots are that have ended.

        Args:
            prepare: `Experiment.prepare` for the shapes of the plan, in this process.
        """
        try:
            if self._child is not None:
                self._child.prepare(self._data, planned, progress.line, self._stop)
            else:
                with timeout(math.inf, self._stop):
                    prepare()
            progress.measuring(planned)
            self._train(planned, progress)
        except StoppedError:
            pass
        finally:
            progress.close()
        if self._stop():
            kept = f"{counted(self.trained, 'finished cell')} of it {'is' if self.trained == 1 else 'are'} kept"
            progress.line(f"stopping: measuring was ended, and {kept}")
        elif self.slow:
            progress.line(f"a cell takes longer than {PATIENCE:g} s: it is measured as all workers train")

    def _train(self, planned: Planned, progress: Progress) -> None:
        """Trains the batches of a shape one after another, and those of several shapes side by side."""
        waiting, known = defaultdict[str, deque[BatchNote]](deque), defaultdict[str, list[Sample]](list)
        for note in planned.batches:
            waiting[note.shape].append(note)
        running: dict[Future[BatchDone], tuple[BatchNote, ChildProcess | None]] = {}
        free, others = [self._child], list[ChildProcess]()
        pool = ThreadPoolExecutor(max(1, planned.workers), "pilot")
        try:
            while True:
                # The first ones of all shapes first: what they take says which others are worth it.
                for shape, notes in sorted(waiting.items(), key=lambda item: len(known[item[0]])):
                    if any(note.shape == shape for note, _ in running.values()):
                        continue
                    while notes and not self._is_worth(notes[0], known):
                        progress.left_out(notes.popleft().cells)
                    if notes and _fits(planned, [note for note, _ in running.values()], notes[0]):
                        if not free:
                            others.append(ChildProcess())
                            free.append(others[-1])
                        note, child = notes.popleft(), free.pop(0)
                        running[self._begun(pool, planned, note, child, progress, bool(known[shape]))] = note, child
                if not running:
                    return
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    note, child = running.pop(done)
                    free.append(child)
                    self._settle(note, done, known[note.shape], progress)
        finally:
            for _, child in running.values():  # left by an error of another
                if child is not None:
                    child.kill()
            pool.shutdown()
            for child in others:
                child.close()

    def _is_worth(self, note: BatchNote, known: Mapping[str, list[Sample]]) -> bool:
        """Whether to train a pilot, by what the others took."""
        samples = known[note.shape]
        if self.slow and not samples:  # shapes come by their work, the least first
            self.slow.add(note.shape)
        return not (
            self._stop()
            or note.shape in self.slow | self._over
            or (len(samples) > 1 and fit(samples).seconds(note.cells) > LONGEST)
        )

    def _begun(
        self,
        pool: ThreadPoolExecutor,
        planned: Planned,
        note: BatchNote,
        child: ChildProcess | None,
        progress: Progress,
        later: bool,
    ) -> Future[BatchDone]:
        """The training of a pilot, by a thread that waits for a child process; without one, here and to its end."""
        device, cpus = planned.device(note), planned.resources[note.shape].cpus
        assignment = Assignment(self._data, planned.plan.plan_id, (note.batch,), device=device, cpus=cpus)
        patience = LONGEST if later else PATIENCE

        def run() -> BatchDone:
            if child is not None and child is not self._child:
                child.prepare(self._data, planned, progress.line, self._stop)
            late = time.monotonic() + patience
            stop: Callable[[], bool] = lambda: self._stop() or time.monotonic() > late  # noqa: E731
            if child is not None:
                return child.run(assignment, self._seconds, stop)
            with timeout(self._seconds, stop) as beat:
                return run_batch(assignment, stop, beat)

        if child is not None:
            return pool.submit(run)
        here = Future[BatchDone]()
        try:
            here.set_result(run())
        except (StoppedError, LostWorkerError, DeadlineError) as error:
            here.set_exception(error)
        return here

    def _settle(self, note: BatchNote, done: Future[BatchDone], known: list[Sample], progress: Progress) -> None:
        """Counts a pilot that has ended."""
        try:
            result = done.result()
        except StoppedError:
            result = BatchDone(note.batch, left=note.cells)
        except (LostWorkerError, DeadlineError) as error:
            self._over.add(note.shape)
            progress.left_out(note.cells)
            progress.line(f"measuring {note.shape} was given up: {error}")
            return
        self.trained += result.cells
        self.failed += result.failed
        if result.left:
            progress.left_out(result.left)
            (self._over if known else self.slow).add(note.shape)
        else:
            known.append(Sample(note.shape, note.cells, result.seconds, 0))
        if result.cells:
            progress.batch_done(result)


def _fits(planned: Planned, running: Sequence[BatchNote], note: BatchNote) -> bool:
    """Whether there are CPUs for a pilot beside those that run; pilots on a GPU, of which each would take the first,
    run one after another."""
    cpus = sum(planned.resources[one.shape].cpus for one in (*running, note))
    on_gpu = [one for one in running if planned.device(one) != "cpu"]
    return not running or (cpus <= planned.workers and not (on_gpu and planned.device(note) != "cpu"))
