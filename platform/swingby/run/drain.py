"""Draining: the first Ctrl-C (or SIGTERM) lets running batches finish, the second stops at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from swingby.model.ending import InterruptedRun

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Drain:
    """The switch that asks a run to stop; a flag file tells the workers on all machines."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._flag: Path | None = None

    def __call__(self) -> bool:
        """True once the run was asked to stop."""
        return self._requested.is_set()

    def within(self, seconds: float) -> bool:
        """Waits for `seconds`, or until the run is asked to stop; true if it was."""
        deadline = time.monotonic() + seconds
        while not self() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(0.1, left))  # an event that a signal's handler sets must not be waited for
        return self()

    def ask(self) -> None:
        """Asks the run to stop; running batches finish."""
        self._requested.set()
        if self._flag is not None:
            self._flag.touch()

    @contextmanager
    def flagged(self, flag: Path) -> Iterator[Path]:
        """While inside, the file `flag` exists if and only if the run was asked to stop."""
        flag.parent.mkdir(parents=True, exist_ok=True)
        flag.unlink(missing_ok=True)
        self._flag = flag
        try:
            if self():
                flag.touch()
            yield flag
        finally:
            self._flag = None
            flag.unlink(missing_ok=True)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """While inside, the first SIGINT or SIGTERM asks, the second interrupts; only the main thread can do this."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(number: int, frame: FrameType | None) -> None:
            if self():
                raise InterruptedRun
            self.ask()

        before: dict[int, Any] = {number: signal.signal(number, handle) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def flag_for(data: Path, plan_id: str) -> Path:
    """The flag file that asks the workers of a plan to stop."""
    return data / "work" / f"{plan_id}.drain"
