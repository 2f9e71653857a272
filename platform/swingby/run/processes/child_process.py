"""A child process that trains pilots, so that the driver survives one that dies; it ends with the driver."""

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
from swingby.run.processes.local_group import PR_SET_PDEATHSIG, exit_text
from swingby.run.processes.timeout import Patience
from swingby.run.worker.batch import BatchDone, run_batch

_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from swingby.run.processes.child_process import main; main(*map(int, sys.argv[1:]))"
)


class ChildProcess:
    """One child process for one batch after another; a context manager. It starts with the first batch, and again after
    a death.

    It goes on when the driver is asked to stop, as running batches do.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._replies = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, data: Path, plan_id: str, batch: int, device: str, seconds: float) -> BatchDone:
        """`run_batch` in the child process.

        Args:
            seconds: how long the batch may take.

        Raises:
            LostWorkerError: the process died, or was killed because it took too long.
            SwingbyError: as `run_batch`.
        """
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(_line([str(data), plan_id, batch, device]))
            reply = self._reply(seconds)
        except BrokenPipeError:
            reply = b""
        if not reply:
            code = process.wait()
            self.close()
            raise LostWorkerError(f"its process {exit_text(code)}")
        content = json.loads(reply)
        if "fault" in content:
            raise SwingbyError(content["fault"])
        return BatchDone(**content)

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

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        self._replies, end = os.pipe()
        command = [sys.executable, "-c", _CHILD, str(os.getpid()), str(end)]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[end], bufsize=0)
        finally:
            os.close(end)
        assert process.stdin is not None
        self._process = process
        process.stdin.write(_line(sys.path))
        return process

    def _reply(self, seconds: float) -> bytes:
        """The line that the process replies; empty if it died."""
        patience, reply = Patience(seconds), b""
        while not reply.endswith(b"\n"):
            ready, _, _ = select.select([self._replies], [], [], patience.slice())
            if not ready and patience.waited():
                continue
            if not ready:
                self.close()
                raise LostWorkerError(f"it took longer than {seconds:g} s, and was ended")
            part = os.read(self._replies, 65536)
            if not part:
                return b""
            reply += part
        return reply


def main(parent: int, replies: int) -> None:
    """Main function of the child process: trains one batch for each line that comes in, until the input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the driver drains, and kills it
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
            content = asdict(run_batch(data, plan_id, batch, device))
        except SwingbyError as error:
            content = {"fault": str(error)}
        os.write(replies, _line(content))


def _line(content: Any) -> bytes:
    return json.dumps(content).encode() + b"\n"
