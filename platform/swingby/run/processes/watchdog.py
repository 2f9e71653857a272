"""A warden: a process beside a worker that ends it past its deadline, whatever it is stuck in, and says how it died."""

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
"""Seconds that a worker may take to write a shard while the door to the records is shut behind it: its deadline, but no
fewer than these (a busy disk is slow), and no more (whoever is frozen there is ended before those who wait give up)."""
PUBLISHING = 300.0
"""Seconds that it may take to put a shard on object storage, which is tried for long."""
_SCRIPT = Path(__file__).with_name("warden_process.py")

Doing = Literal["training", "writing", "publishing"]
Beat = Callable[[Doing], None]
"""A sign of life, and what is done next; whoever waits to write gives signs of life as if it trained."""


def allowed(doing: Doing, seconds: float) -> float:
    """How long somebody whose deadline that is may be silent while it does this."""
    if doing == "writing":
        return min(max(seconds, WRITING[0]), WRITING[1])
    return PUBLISHING if doing == "publishing" else seconds


class Warden:
    """What a worker has beside it: one process, for one batch after another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    @contextmanager
    def watching(self, seconds: float, note: Path | None = None) -> Iterator[Beat]:
        """While inside, this process is killed if it gives no sign of life for so long; gives what does that.

        Args:
            seconds: from one sign of life to the next.
            note: the file that tells how this process died, if it does.

        Raises:
            SwingbyError: no process can be started.
        """
        told = None if note is None else str(note)
        self._tell(seconds=seconds, note=told)
        try:
            yield lambda doing: self._tell(seconds=allowed(doing, seconds), note=told)
        finally:
            self._tell()

    def close(self) -> None:
        """Sends it away."""
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                with suppress(BrokenPipeError):
                    self._process.stdin.close()
        self._process = None

    def _tell(self, **order: Any) -> None:
        line = json.dumps(order).encode() + b"\n"
        try:
            os.write(self._line(), line)
        except BrokenPipeError:  # somebody killed it
            self.close()
            if order:
                os.write(self._line(), line)

    def _line(self) -> int:
        """Where its orders go; it is started if there is none, or if this process is a fork of the one that did."""
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
        worker = os.pidfd_open(os.getpid())  # not by its number, which may be another's before anybody looks
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid()), str(worker)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[worker],
                start_new_session=True,  # what freezes or kills the group of the worker does not reach it
            )
        finally:
            os.close(worker)


WARDEN = Warden()
"""That of this process."""
