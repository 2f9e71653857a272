"""A child process of the driver that trains batches: the driver survives one that dies, and can end it."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import math
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from swingby.data.arrow import arrow_without
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.function.faults import is_users
from swingby.function.travel import take
from swingby.model import registry
from swingby.model.process_group import LostWorkerError
from swingby.run.commit_lock import OvertakenError
from swingby.run.processes.local_group import PR_SET_PDEATHSIG, exit_text
from swingby.run.processes.watchdog import Countdown, StoppedError, timeout
from swingby.run.worker.batch import Assignment, BatchDone, run_batch

if TYPE_CHECKING:  # the child process needs no store
    from swingby.run.forecast import Planned

PREPARING = 600.0
"""Seconds that `Experiment.prepare` may take."""
STOPPING = 1.0
"""Seconds that the child process has to stop a pilot, and to write the rows that it has, before it is killed."""
LOOK = 0.1
"""Seconds after which it is looked again whether a pilot is to stop."""
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from swingby.run.processes.child import main; main(*map(int, sys.argv[1:]))"
)


class ChildProcess:
    """One child process for one batch after another; a context manager. It starts with the first batch, and again after
    a death.

    It goes on when the driver is asked to stop, as running batches do, unless it is told to stop.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._device = "cpu"  # the kind that its process can see
        self._replies = -1  # the pipe that its replies come through
        self._read = b""  # of the pipe, and not yet replied

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, assignment: Assignment, seconds: float, stop: Callable[[], bool] | None = None) -> BatchDone:
        """`run_batch` in the child process, alone; a batch that is not for a GPU sees none, as under Ray.

        Args:
            seconds: how long the batch may take.
            stop: true once the batch is to be ended.

        Raises:
            StoppedError: the batch was ended since `stop` became true.
            LostWorkerError: the process died, or was killed because it took too long, or can train no more.
            SwingbyError: as `run_batch`.
        """
        where = str(assignment.data), assignment.plan_id, list(assignment.batches)
        how = assignment.device, assignment.part, assignment.attempt, assignment.cpus
        self._see(assignment.device)
        return BatchDone(**self._ask([*where, *how], seconds, stop=stop))

    def prepare(
        self, data: Path, planned: Planned, tell: Callable[[str], None], stop: Callable[[], bool] | None = None
    ) -> None:
        """`Experiment.prepare` in the child process, for the shapes of a written plan.

        A process that dies of it is left to the batches, which tell of it.
        """
        first = {note.shape: note.batch for note in reversed(planned.batches)}
        self._see(max((planned.device(note) for note in planned.batches), default="cpu"))
        with suppress(LostWorkerError):
            self._ask([str(data), planned.plan.plan_id, sorted(first.values())], PREPARING, tell, stop)

    def _see(self, device: str) -> None:
        """Ends a process that cannot see this device, or could see a GPU that is not asked for."""
        kind = device.partition(":")[0]
        if kind != self._device:
            self.close()
        self._device = kind

    def kill(self) -> None:
        """Kills the process under a thread that waits for its reply, which then finds it dead."""
        if (process := self._process) is not None:
            process.kill()

    def _ask(
        self,
        order: Sequence[Any],
        seconds: float,
        tell: Callable[[str], None] = lambda text: None,
        stop: Callable[[], bool] | None = None,
    ) -> Any:
        """The process's reply to an order; it is started if need be.

        Args:
            tell: shows a line of text to the user that the process sends before its reply.
            stop: true once the process is to end what it does.
        """
        if self._process is None:
            self._read = b""
            self._replies, end = os.pipe()
            self._crash = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
            passed = [end, self._crash.fileno()]
            command = [sys.executable, "-c", _CHILD, *map(str, (os.getpid(), *passed))]
            hidden = {"CUDA_VISIBLE_DEVICES": ""} if self._device == "cpu" else {}
            try:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, pass_fds=passed, bufsize=0, env={**os.environ, **hidden}
                )
            finally:
                os.close(end)
            assert self._process.stdin is not None
            self._process.stdin.write(_line(sys.path))
        process = self._process
        assert process.stdin is not None
        try:
            process.stdin.write(_line(order))
            while "tell" in (reply := self._reply(seconds, stop)):
                tell(reply["tell"])
        except BrokenPipeError:
            reply = {}
        if not reply:
            code, place = process.wait(), self._crashed_at()
            self.close()
            raise LostWorkerError(f"its process {exit_text(code)}{place}")
        if "stopped" in reply:
            raise StoppedError
        if "lost" in reply:
            self.close()
            raise LostWorkerError(reply["lost"])
        if "fault" in reply:
            raise SwingbyError(reply["fault"])
        return reply

    def _crashed_at(self) -> str:
        """Where the user's code was when the process crashed, in brackets; "" if it says nothing of it."""
        self._crash.seek(0)
        for line in self._crash.read(100_000).decode(errors="replace").splitlines():
            match = re.match(r'\s*File "(.+)", line (\d+) in ', line)
            if match and is_users(match[1], None):
                return f" ({Path(match[1]).name}, line {match[2]})"
        return ""

    def close(self) -> None:
        """Kills the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._replies)
        self._crash.close()
        self._process = None

    def _reply(self, seconds: float, stop: Callable[[], bool] | None) -> dict[str, Any]:
        """The line that the process replies; empty if it died."""
        countdown, stop_sent = Countdown(seconds), math.inf
        while b"\n" not in self._read:
            if stop is not None and stop_sent == math.inf and stop() and self._process is not None:
                stop_sent = time.monotonic()
                self._process.send_signal(signal.SIGUSR1)  # one that is not so far yet as to heed it, ends
            slice_ = countdown.slice() if stop is None else min(countdown.slice(), LOOK)
            ready, _, _ = select.select([self._replies], [], [], slice_)
            if not ready and time.monotonic() - stop_sent > STOPPING:
                self.close()
                raise StoppedError
            if not ready and countdown.waited():
                continue
            if not ready:
                self.close()
                raise LostWorkerError(f"it took longer than {seconds:g} s, and was ended")
            part = os.read(self._replies, 65536)
            if not part and stop_sent < math.inf:
                self.close()
                raise StoppedError
            if not part:
                return {}
            self._read += part
        reply, _, self._read = self._read.partition(b"\n")
        return json.loads(reply)


def main(parent: int, replies: int, crash: int) -> None:
    """Main function of the child process: trains batches, or prepares, for each line that comes in, to its end."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the driver drains, and kills it
        signal.signal(number, signal.SIG_IGN)
    stop_signals: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: stop_signals.append(number))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    faulthandler.enable(crash)
    if os.getppid() != parent:
        os._exit(1)
    arrow_without("pandas")  # it takes half of the time in which a process starts, and no batch needs it
    while True:
        order = sys.stdin.readline()
        if not order:
            os._exit(0)
        data, plan_id, batches, *how = json.loads(order)
        try:
            with timeout(math.inf, lambda: bool(stop_signals)) as beat:
                if how:
                    device, part, attempt, cpus = how
                    part = None if part is None else tuple(part)
                    assignment = Assignment(Path(data), plan_id, tuple(batches), part, attempt, device, cpus=cpus)
                    content = asdict(run_batch(assignment, lambda: bool(stop_signals), beat))
                else:
                    content = _prepared(Path(data), plan_id, batches, replies)
        except StoppedError:
            content = {"stopped": True}
        except (LostWorkerError, OvertakenError) as error:
            content = {"lost": str(error)}
        except SwingbyError as error:
            content = {"fault": str(error)}
        os.write(replies, _line(content))


def _prepared(data: Path, plan_id: str, batches: Sequence[int], replies: int) -> dict[str, Any]:
    """Runs `Experiment.prepare` for the first cell of each of these batches of a plan; what it tells is replied."""

    def tell(text: str) -> None:
        os.write(replies, _line({"tell": text}))

    records = Records.open(data, create=False)
    plan = records.read_plan(plan_id)
    take(plan.provenance, records.data / "cache" / "code")
    cells = [records.read_cells(plan, (batch,))[0] for batch in batches]
    registry.experiment(plan.experiment).prepare([cell.params for cell in cells], tell)
    return {"prepared": len(cells)}


def _line(content: Any) -> bytes:
    return json.dumps(content).encode() + b"\n"
