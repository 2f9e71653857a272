"""An alarm: the deadline of a batch that is trained in the driver itself, which nobody can kill for it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from swingby.run.warden import Beat


class DeadlineError(BaseException):
    """A batch gave no sign of life for too long; no `Exception`, so that no experiment takes it for its own."""


@contextmanager
def alarmed(seconds: float) -> Iterator[Beat]:
    """While inside, `DeadlineError` is raised after so many seconds without a sign of life; gives what does that.

    It interrupts Python code in the main thread, which is all that can be done within one process: a call into compiled
    code is waited for, and rows that are being written are left in peace. In any other thread nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda writing: None
        return

    def ring(number: int, frame: object) -> None:
        raise DeadlineError(f"deadline: no sign of life for {seconds:g} s")

    def beat(writing: bool) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0 if writing else seconds)

    began, (left, interval) = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, 0.0)
    before: Any = signal.signal(signal.SIGALRM, ring)
    try:
        beat(False)
        yield beat
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if left:  # somebody else's alarm
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)
