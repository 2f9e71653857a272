"""The timeout of a batch that is trained in the driver itself, which no watchdog may kill."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from swingby.run.processes.watchdog import Beat, Doing

SLICES = 20
"""Slices that a deadline is waited for in, at least."""
SLICE = 1.0
"""Seconds of a slice, at most."""


class DeadlineError(BaseException):
    """A batch gave no sign of life for too long; no `Exception`, so that no experiment catches it."""


class Patience:
    """A countdown that leaves out time in which this process itself was stopped, or the machine slept.

    It is waited for in slices; what a slice takes beyond twice its length does not count.
    """

    def __init__(self, seconds: float) -> None:
        self.left, self._slice = seconds, min(SLICE, seconds / SLICES)
        self._began = time.monotonic()

    def slice(self) -> float:
        """The seconds of the slice that begins now."""
        self._began = time.monotonic()
        return max(0.0, min(self._slice, self.left))

    def waited(self) -> bool:
        """Ends the slice; true if there is time left."""
        self.left -= min(time.monotonic() - self._began, 2 * self._slice)
        return self.left > 0


class _Timer:
    """The thread that counts down, and interrupts the main thread."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over, self.due = threading.Event(), False
        self._patience: Patience | None = Patience(seconds)
        self._main = threading.main_thread().ident or 0
        self.thread = threading.Thread(target=self._count_down, name="timeout", daemon=True)

    def beat(self, doing: Doing) -> None:
        """Restarts the countdown; while rows are written there is none."""
        self._patience = Patience(self.seconds) if doing == "training" else None

    def _count_down(self) -> None:
        while True:
            patience = self._patience or Patience(self.seconds)
            if self.over.wait(patience.slice()):
                return
            if not patience.waited() and patience is self._patience:
                self._patience, self.due = None, True
                signal.pthread_kill(self._main, signal.SIGALRM)


@contextmanager
def timeout(seconds: float) -> Iterator[Beat]:
    """While inside, raises `DeadlineError` after so many seconds without a sign of life; gives the function that gives
    a sign of life.

    It interrupts Python code in the main thread, which is all that can be done within one process: it waits for a call
    into compiled code to return, and never interrupts the writing of rows. In any other thread nothing happens. Time in
    which this process is stopped (Ctrl-Z, say) does not count.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda doing: None
        return
    timer = _Timer(seconds)

    def ring(number: int, frame: Any) -> None:
        if timer.due and not timer.over.is_set():
            timer.due = False
            raise DeadlineError(f"deadline: no sign of life for {seconds:g} s")
        if not timer.due and callable(before):  # the signal of another sender
            before(number, frame)

    before: Any = signal.signal(signal.SIGALRM, ring)
    try:
        timer.thread.start()
        yield timer.beat
    finally:
        timer.over.set()
        timer.thread.join()
        signal.signal(signal.SIGALRM, before)
