"""The watchdog: a process beside a worker that kills it past its deadline, whatever it is stuck in, and notes how it
died."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from swingby.errors import SwingbyError

WRITING = (20.0, 300.0)
"""Seconds that a worker may take to write a shard while it holds the commit lock: its deadline, but at least the first
(a busy disk is slow) and at most the second (a frozen holder is killed before those who wait give up)."""
PUBLISHING = 300.0
"""Seconds that a worker may take to upload a shard to object storage, which is retried for long."""
_SCRIPT = Path(__file__).with_name("watchdog_process.py")

Doing = Literal["training", "writing", "publishing"]
Beat = Callable[[Doing], None]
"""A sign of life, with what the worker does next; a worker that waits for the commit lock counts as training."""


def allowed(doing: Doing, seconds: float) -> float:
    """Seconds that a worker with this deadline may be silent while it does this."""
    if doing == "writing":
        return min(max(seconds, WRITING[0]), WRITING[1])
    return PUBLISHING if doing == "publishing" else seconds


class Watchdog:
    """The watchdog process of this worker, for one batch after another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    @contextmanager
    def watching(self, seconds: float, note: Path | None = None) -> Iterator[Beat]:
        """While inside, this process is killed if it gives no sign of life for so long; gives the function that does.

        Args:
            seconds: from one sign of life to the next.
            note: the file in which the watchdog notes how this process died, if it does.

        Raises:
            SwingbyError: no process can be started.
        """
        path = None if note is None else str(note)
        self._send(seconds=seconds, note=path)
        try:
            yield lambda doing: self._send(seconds=allowed(doing, seconds), note=path)
        finally:
            self._send()

    def close(self) -> None:
        """Ends the watchdog process."""
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()
        self._process = None

    def _send(self, **order: Any) -> None:
        line = json.dumps(order).encode() + b"\n"
        try:
            os.write(self._pipe(), line)
        except BrokenPipeError:  # the watchdog was killed
            self.close()
            if order:
                os.write(self._pipe(), line)

    def _pipe(self) -> int:
        """The pipe to the watchdog, which is started if there is none, or if this process is a fork of its owner."""
        if self._process is None or self._owner != os.getpid():
            try:
                self._begin()
            except OSError as error:
                raise SwingbyError(f"a worker cannot start the process that watches over it: {error}") from error
            self._owner = os.getpid()
        assert self._process is not None
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    def _begin(self) -> None:
        worker = os.pidfd_open(os.getpid())  # no number, which may name another process by the time it is read
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid()), str(worker)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[worker],
                start_new_session=True,  # a signal to the worker's process group does not reach it
            )
        finally:
            os.close(worker)


WATCHDOG = Watchdog()
"""The watchdog of this process."""
