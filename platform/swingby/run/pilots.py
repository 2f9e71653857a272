"""Pilots: small batches that measure the cost of shapes nobody has measured; their cells are kept as results.

Where Ray trains, a child process trains the pilots, so that the driver survives one that dies.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.function.travel import take
from swingby.model import registry
from swingby.model.process_group import LostWorkerError
from swingby.run.batches import Chosen
from swingby.run.commit_lock import OvertakenError
from swingby.run.cost import Sample, fit, worth_measuring
from swingby.run.processes.local_group import PR_SET_PDEATHSIG, exit_text
from swingby.run.processes.watchdog import Countdown, DeadlineError, timeout
from swingby.run.worker.batch import Assignment, BatchDone, run_batch

if TYPE_CHECKING:  # the child process needs no store
    from swingby.run.forecast import Planned

SIZES = (1, 2, 16)
"""Cells of the batches that measure a shape: the first warms up, the other two give the fixed and the variable part."""
STAIRS = (1, 2, 4)
"""Multiples of `Experiment.lanes` that replace SIZES where that many cells cost as much as one."""
LONGEST = (20, 4)
"""Target times that the second pilot, and later ones, may take by the cost known so far. The second may take more: one
cell alone cannot separate the cost of a batch from that of a cell."""
SECONDS = 600.0
"""The deadline of a pilot, whose cost is unknown: long for a few cells of an experiment that has many."""
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from swingby.run.pilots import main; main(*map(int, sys.argv[1:]))"
)


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

    def train(self, planned: Planned, tell: Callable[[str], None]) -> None:
        """Trains the batches of a written plan, except those that take too long by the cost known so far."""
        child = self._child
        if child is not None:
            child.prepare(self._data, planned, tell)
        samples: dict[str, list[Sample]] = {}
        given_up: set[str] = set()
        for note in planned.batches:
            known = samples.setdefault(note.shape, [])
            most = LONGEST[len(known) > 1] * planned.options.target_seconds
            if self._stop() or note.shape in given_up or (known and fit(known).seconds(note.cells) > most):
                continue
            device = planned.device(note)
            assignment = Assignment(self._data, planned.plan.plan_id, (note.batch,), device=device)
            try:
                if child is not None:
                    done = child.run(assignment, self._seconds)
                else:
                    with timeout(self._seconds) as beat:
                        done = run_batch(assignment, self._stop, beat)
            except (LostWorkerError, DeadlineError) as error:
                given_up.add(note.shape)
                tell(f"measuring {note.shape} was given up: {error}")
                continue
            self.trained += done.cells
            self.failed += done.failed
            known.append(Sample(note.shape, note.cells, done.seconds, 0))


class ChildProcess:
    """One child process for one batch after another; a context manager. It starts with the first batch, and again after
    a death.

    It goes on when the driver is asked to stop, as running batches do.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._replies = -1  # the pipe that its replies come through
        self._read = b""  # of the pipe, and not yet replied

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, assignment: Assignment, seconds: float) -> BatchDone:
        """`run_batch` in the child process, alone and on one CPU.

        Args:
            seconds: how long the batch may take.

        Raises:
            LostWorkerError: the process died, or was killed because it took too long, or can train no more.
            SwingbyError: as `run_batch`.
        """
        where = str(assignment.data), assignment.plan_id, list(assignment.batches)
        return BatchDone(**self._ask([*where, assignment.device, assignment.part, assignment.attempt], seconds))

    def prepare(self, data: Path, planned: Planned, tell: Callable[[str], None]) -> None:
        """`Experiment.prepare` in the child process, for the shapes of a written plan.

        A process that dies of it is left to the batches, which tell of it.
        """
        first = {note.shape: note.batch for note in reversed(planned.batches)}
        with suppress(LostWorkerError):
            self._ask([str(data), planned.plan.plan_id, sorted(first.values())], SECONDS, tell)

    def kill(self) -> None:
        """Kills the process under a thread that waits for its reply, which then finds it dead."""
        if (process := self._process) is not None:
            process.kill()

    def _ask(self, order: Sequence[Any], seconds: float, tell: Callable[[str], None] = lambda text: None) -> Any:
        """The process's reply to an order; it is started if need be.

        Args:
            tell: shows a line of text to the user that the process sends before its reply.
        """
        if self._process is None:
            self._read = b""
            self._replies, end = os.pipe()
            command = [sys.executable, "-c", _CHILD, str(os.getpid()), str(end)]
            try:
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[end], bufsize=0)
            finally:
                os.close(end)
            assert self._process.stdin is not None
            self._process.stdin.write(_line(sys.path))
        process = self._process
        assert process.stdin is not None
        try:
            process.stdin.write(_line(order))
            while "tell" in (reply := self._reply(seconds)):
                tell(reply["tell"])
        except BrokenPipeError:
            reply = {}
        if not reply:
            code = process.wait()
            self.close()
            raise LostWorkerError(f"its process {exit_text(code)}")
        if "lost" in reply:
            self.close()
            raise LostWorkerError(reply["lost"])
        if "fault" in reply:
            raise SwingbyError(reply["fault"])
        return reply

    def close(self) -> None:
        """Kills the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._replies)
        self._process = None

    def _reply(self, seconds: float) -> dict[str, Any]:
        """The line that the process replies; empty if it died."""
        countdown = Countdown(seconds)
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._replies], [], [], countdown.slice())
            if not ready and countdown.waited():
                continue
            if not ready:
                self.close()
                raise LostWorkerError(f"it took longer than {seconds:g} s, and was ended")
            part = os.read(self._replies, 65536)
            if not part:
                return {}
            self._read += part
        reply, _, self._read = self._read.partition(b"\n")
        return json.loads(reply)


def main(parent: int, replies: int) -> None:
    """Main function of the child process: trains batches, or prepares, for each line that comes in, to its end."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the driver drains, and kills it
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    while True:
        order = sys.stdin.readline()
        if not order:
            os._exit(0)
        data, plan_id, batches, *how = json.loads(order)
        try:
            if how:
                device, part, attempt = how
                part = None if part is None else tuple(part)
                content = asdict(run_batch(Assignment(Path(data), plan_id, tuple(batches), part, attempt, device)))
            else:
                content = _prepared(Path(data), plan_id, batches, lambda text: os.write(replies, _line({"tell": text})))
        except (LostWorkerError, OvertakenError) as error:
            content = {"lost": str(error)}
        except SwingbyError as error:
            content = {"fault": str(error)}
        os.write(replies, _line(content))


def _prepared(data: Path, plan_id: str, batches: Sequence[int], tell: Callable[[str], object]) -> dict[str, Any]:
    """Runs `Experiment.prepare` for the first cell of each of these batches of a plan."""
    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    take(plan.provenance, records.data / "cache" / "code")
    cells = [records.read_cells(plan, (batch,))[0] for batch in batches]
    registry.experiment(plan.experiment).prepare([cell.params for cell in cells], tell)
    return {"prepared": len(cells)}


def _line(content: Any) -> bytes:
    return json.dumps(content).encode() + b"\n"
