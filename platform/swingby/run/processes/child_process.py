"""A process in which the driver trains what may kill a process: it ends with the driver, and tells how it died."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from swingby.errors import SwingbyError
from swingby.model.process_group import LostWorkerError
from swingby.run.processes.local_group import PR_SET_PDEATHSIG, died
from swingby.run.processes.timeout import Patience
from swingby.run.worker.batch import BatchDone, run_batch

_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from swingby.run.processes.child_process import main; main(*map(int, sys.argv[1:]))"
)


class Apart:
    """One process, for one batch after another; a context manager. It starts with the first, and anew after a death.

    It goes on when the driver is asked to stop, as running batches do.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._said = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, data: Path, plan_id: str, batch: int, device: str, seconds: float) -> BatchDone:
        """`run_batch` there.

        Args:
            seconds: how long it may take.

        Raises:
            LostWorkerError: the process died, or was ended since it took too long.
            SwingbyError: as `run_batch`.
        """
        process = self._begun()
        assert process.stdin is not None
        try:
            process.stdin.write(_line([str(data), plan_id, batch, device]))
            said = self._answer(seconds)
        except BrokenPipeError:
            said = b""
        if not said:
            code = process.wait()
            self.close()
            raise LostWorkerError(f"its process {died(code)}")
        told = json.loads(said)
        if "fault" in told:
            raise SwingbyError(told["fault"])
        return BatchDone(**told)

    def close(self) -> None:
        """Ends it."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._said)
        self._process = None

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        self._said, said = os.pipe()
        command = [sys.executable, "-c", _CHILD, str(os.getpid()), str(said)]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[said], bufsize=0)
        finally:
            os.close(said)
        assert process.stdin is not None
        self._process = process
        process.stdin.write(_line(sys.path))
        return process

    def _answer(self, seconds: float) -> bytes:
        """The line that it says; nothing, if it died."""
        patience, said = Patience(seconds), b""
        while not said.endswith(b"\n"):
            ready, _, _ = select.select([self._said], [], [], patience.slice())
            if not ready and patience.waited():
                continue
            if not ready:
                self.close()
                raise LostWorkerError(f"it took longer than {seconds:g} s, and was ended")
            part = os.read(self._said, 65536)
            if not part:
                return b""
            said += part
        return said


def main(parent: int, said: int) -> None:
    """What the process does: it trains what it is told, until nobody tells it more."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the driver drains, and ends it
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    while True:
        order = sys.stdin.readline()
        if not order:
            os._exit(0)
        data, plan_id, batch, device = json.loads(order)
        try:
            told = asdict(run_batch(data, plan_id, batch, device))
        except SwingbyError as error:
            told = {"fault": str(error)}
        os.write(said, _line(told))


def _line(told: Any) -> bytes:
    return json.dumps(told).encode() + b"\n"
