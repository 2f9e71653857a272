"""The meter: the reports of a trial that shares its GPU, in a file that the driver reads."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from swingby.model.memory import Memory
from swingby.run.sharing import Report

LEAST_SECONDS = 0.2
"""Least seconds from one report to the next."""
_trained: list[int] = []
"""This process, once it has trained a batch that shares its GPU."""


class Meter:
    """Writes a trial's last report.

    Args:
        path: the file.
        memory: gives the memory of the GPU (`Experiment.memory`).
    """

    def __init__(self, path: Path, memory: Callable[[], Memory | None]) -> None:
        self._path, self._memory = path, memory
        self._began = time.monotonic() if os.getpid() in _trained else None
        self._last, self._number = -LEAST_SECONDS, 0

    def report(self, work: float, ended: bool = False) -> None:
        """Reports how far the trial is, unless it has just done so.

        Args:
            work: `Experiment.work` of what is trained so far.
            ended: whether this is the last report.
        """
        now = time.monotonic()
        if now - self._last < LEAST_SECONDS and not ended:
            return
        self._last, self._number, memory = now, self._number + 1, self._memory()
        gpu = f"{socket.gethostname()}/{os.environ.get('CUDA_VISIBLE_DEVICES', '')}"
        report = Report(now, work, self._number, self._began, ended, gpu)
        content = asdict(report)
        if memory is not None:
            content |= {"used": 1 - memory.free / memory.total, "peak": memory.peak / memory.total}
        aside = self._path.with_name(f"{self._path.name}.part")
        with suppress(OSError):  # a report that is missing delays a decision, and nothing else
            aside.write_text(json.dumps(content))
            aside.replace(self._path)
        if ended:
            _trained[:] = [os.getpid()]


def read_report(path: Path) -> Report | None:
    """The report in a file; None if there is none."""
    try:
        return Report(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
