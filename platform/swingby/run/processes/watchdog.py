"""Deadlines of batches: the watchdog, a process that kills a worker past its deadline and notes how it died; and, for a
batch that the driver trains in its own process, a timeout that raises an exception."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from swingby.errors import SwingbyError
from swingby.model.ending import Halt

WRITING = (20.0, 300.0)
"""Seconds that a worker may take to write a shard while it holds the commit lock: its deadline, but at least the first
(a busy disk is slow) and at most the second (a frozen holder is killed before those who wait give up)."""
PUBLISHING = 300.0
"""Seconds that a worker may take to upload a shard to object storage, which is retried for long."""
SLICES = 20
"""Least number of slices that a countdown is waited for in."""
SLICE = 1.0
"""Most seconds of a slice."""
GRACE = 0.3
"""Seconds that a batch which is asked to stop has to do so by itself, before it is interrupted."""
_SCRIPT = Path(__file__).with_name("watchdog_process.py")

Doing = Literal["training", "writing", "publishing"]
Beat = Callable[[Doing], None]
"""A sign of life, with what the worker does next; a worker that waits for the commit lock counts as training."""


def allowed(doing: Doing, seconds: float) -> float:
    """Seconds for which a worker with the deadline `seconds` may be silent while it trains, writes or publishes."""
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
        """While inside, kills this process after `seconds` without a sign of life; gives the function that gives one.

        Args:
            seconds: the most from one sign of life to the next.
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
                worker = os.pidfd_open(os.getpid())  # a number may name another process by the time it is read
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
            except OSError as error:
                raise SwingbyError(f"a worker cannot start the process that watches over it: {error}") from error
            self._owner = os.getpid()
        assert self._process.stdin is not None
        return self._process.stdin.fileno()


WATCHDOG = Watchdog()
"""The watchdog of this process."""


class DeadlineError(Halt):
    """A batch gave no sign of life for too long."""


class StoppedError(Halt):
    """A batch was asked to stop, and interrupted."""


class Countdown:
    """A countdown that leaves out time in which this process itself was stopped, or the machine slept.

    It is waited for in slices; what a slice takes beyond twice its length does not count.
    """

    def __init__(self, seconds: float) -> None:
        self.left, self._slice = seconds, min(SLICE, seconds / SLICES)
        self._began = time.monotonic()

    def slice(self) -> float:
        """Begins a slice; returns its seconds."""
        self._began = time.monotonic()
        return max(0.0, min(self._slice, self.left))

    def waited(self) -> bool:
        """Ends the slice; true if there is time left."""
        self.left -= min(time.monotonic() - self._began, 2 * self._slice)
        return self.left > 0


class _Timer:
    """The thread that counts down, and interrupts the main thread."""

    def __init__(self, seconds: float, stop: Callable[[], bool] | None) -> None:
        self.seconds, self._stop = seconds, stop
        self.over = threading.Event()
        self.due: BaseException | None = None
        self._countdown: Countdown | None = Countdown(seconds)
        self._main = threading.main_thread().ident or 0
        self.thread = threading.Thread(target=self._count_down, name="timeout", daemon=True)

    def beat(self, doing: Doing) -> None:
        """Restarts the countdown; while rows are written there is none."""
        self._countdown = Countdown(self.seconds) if doing == "training" else None

    def _count_down(self) -> None:
        stop_seen: float | None = None
        while True:
            countdown = self._countdown or Countdown(self.seconds)
            if self.over.wait(countdown.slice() if self._stop is None else min(countdown.slice(), GRACE / 2)):
                return
            if self._stop is not None and stop_seen is None and self._stop():
                stop_seen = time.monotonic()
            stopped = stop_seen is not None and time.monotonic() - stop_seen > GRACE
            if (not countdown.waited() or stopped) and countdown is self._countdown:
                late = DeadlineError(f"deadline: no sign of life for {self.seconds:g} s")
                self._countdown, self.due = None, StoppedError() if stopped else late
                signal.pthread_kill(self._main, signal.SIGALRM)


@contextmanager
def timeout(seconds: float, stop: Callable[[], bool] | None = None) -> Iterator[Beat]:
    """While inside, raises `DeadlineError` after `seconds` without a sign of life; gives the function that gives one.

    Once `stop` is true, it raises `StoppedError` after GRACE seconds.

    It interrupts Python code in the main thread, which is all that can be done within one process: it waits for a call
    into compiled code to return, and never interrupts the writing of rows. In any other thread nothing happens. Time in
    which this process is stopped (Ctrl-Z, say) does not count.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda doing: None
        return
    timer = _Timer(seconds, stop)

    def ring(number: int, frame: Any) -> None:
        due = timer.due
        if due is not None and not timer.over.is_set():
            timer.due = None
            raise due
        if due is None and callable(before):  # the signal of another sender
            before(number, frame)

    before: Any = signal.signal(signal.SIGALRM, ring)
    try:
        timer.thread.start()
        yield timer.beat
    finally:
        timer.over.set()
        timer.thread.join()
        signal.signal(signal.SIGALRM, before)
