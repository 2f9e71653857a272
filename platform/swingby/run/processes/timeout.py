"""An alarm: the deadline of a batch that is trained in the driver itself, which nobody can kill for it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from swingby.run.processes.watchdog import Beat, Doing

SLICES = 20
"""Looks at a batch within its deadline, at least."""
SLICE = 1.0
"""Seconds between two looks, at most."""


class DeadlineError(BaseException):
    """A batch gave no sign of life for too long; no `Exception`, so that no experiment takes it for its own."""


class Patience:
    """How long is still waited for somebody: time in which this process itself was stopped, or slept, does not count.

    It is asked for one slice after another; what a slice took beyond twice its length was nobody's silence.
    """

    def __init__(self, seconds: float) -> None:
        self.left, self._slice = seconds, min(SLICE, seconds / SLICES)
        self._began = time.monotonic()

    def slice(self) -> float:
        """Seconds to wait now."""
        self._began = time.monotonic()
        return max(0.0, min(self._slice, self.left))

    def waited(self) -> bool:
        """That slice is over; whether there is patience left."""
        self.left -= min(time.monotonic() - self._began, 2 * self._slice)
        return self.left > 0


class _Alarm:
    """The thread that listens, and interrupts the main one."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over, self.due = threading.Event(), False
        self._patience: Patience | None = Patience(seconds)
        self._main = threading.main_thread().ident or 0
        self.thread = threading.Thread(target=self._listen, name="alarm", daemon=True)

    def beat(self, doing: Doing) -> None:
        """A sign of life; rows that are being written are left in peace."""
        self._patience = Patience(self.seconds) if doing == "training" else None

    def _listen(self) -> None:
        while True:
            patience = self._patience or Patience(self.seconds)
            if self.over.wait(patience.slice()):
                return
            if not patience.waited() and patience is self._patience:
                self._patience, self.due = None, True
                signal.pthread_kill(self._main, signal.SIGALRM)


@contextmanager
def alarmed(seconds: float) -> Iterator[Beat]:
    """While inside, `DeadlineError` is raised after so many seconds without a sign of life; gives what does that.

    It interrupts Python code in the main thread, which is all that can be done within one process: a call into compiled
    code is waited for, and rows that are being written are left in peace. In any other thread nothing happens. Time in
    which this process is stopped (Ctrl-Z, say) is no silence.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda doing: None
        return
    alarm = _Alarm(seconds)

    def ring(number: int, frame: Any) -> None:
        if alarm.due and not alarm.over.is_set():
            alarm.due = False
            raise DeadlineError(f"deadline: no sign of life for {seconds:g} s")
        if not alarm.due and callable(before):  # somebody else's
            before(number, frame)

    before: Any = signal.signal(signal.SIGALRM, ring)
    try:
        alarm.thread.start()
        yield alarm.beat
    finally:
        alarm.over.set()
        alarm.thread.join()
        signal.signal(signal.SIGALRM, before)
