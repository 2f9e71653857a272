"""The meter of a trial that may come to share its GPU: its reports, by which the driver decides how many runs do so."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Experiment
from swingby.model.process_group import LostWorkerError
from swingby.run.resources import lacks_memory
from swingby.run.sharing import Report

LEAST_SECONDS = 0.2
"""Least seconds from one report to the next."""
_trained: list[int] = []
"""This process, once it has trained a batch that shares its GPU."""


class Meter:
    """Writes a trial's last report, and tells errors of a full GPU from those of cells.

    Args:
        path: the file of the report; None: the trial has what its plan says of a GPU, and nothing is reported.
        cells: the cells of the trial, by their ids.
    """

    def __init__(self, path: Path | None, experiment: Experiment[Any], cells: Mapping[str, Cell]) -> None:
        self.path, self._experiment, self._cells = path, experiment, cells
        self._began = time.monotonic() if os.getpid() in _trained else None
        self._last, self._number = -LEAST_SECONDS, 0

    def report(self, reached: Mapping[str, int], ended: bool = False) -> None:
        """Reports how far the trial is, unless it has just done so.

        Args:
            reached: the last step of each cell that has rows.
            ended: whether this is the last report.
        """
        now = time.monotonic()
        if self.path is None or (now - self._last < LEAST_SECONDS and not ended):
            return
        self._last, self._number, of, work = now, self._number + 1, self._experiment, 0.0
        for cell_id, step in reached.items():
            params = self._cells[cell_id].params
            work += of.work(params) * min(1.0, step / max(1, of.steps(params)))
        gpu = f"{socket.gethostname()}/{os.environ.get('CUDA_VISIBLE_DEVICES', '')}"
        report, memory = Report(now, work, self._number, self._began, ended, gpu), of.memory()
        if memory is not None:
            report = replace(report, used=1 - memory.free / memory.total, peak=memory.peak / memory.total)
        aside = self.path.with_name(f"{self.path.name}.part")
        with suppress(OSError):  # a report that is missing delays a decision, and nothing else
            aside.write_text(json.dumps(asdict(report)))
            aside.replace(self.path)
        if ended:
            _trained[:] = [os.getpid()]

    def check(self, message: str) -> None:
        """Takes the message of an error.

        Raises:
            LostWorkerError: a run that may share its GPU found no memory: it is to be tried again, with fewer beside
                it, and no cell has failed.
        """
        if self.path is not None and lacks_memory(message):
            raise LostWorkerError(message.splitlines()[0])

    def check_rows(self, rows: pa.Table) -> None:
        """Takes rows as an experiment yields them, some perhaps of cells that failed.

        Raises:
            LostWorkerError: as `check`.
        """
        if self.path is not None and {"status", "message"} <= set(rows.column_names):
            failed = zip(rows["status"].to_pylist(), rows["message"].to_pylist(), strict=True)
            self.check("\n".join(message or "" for status, message in failed if status == "failed"))


def read_report(path: Path) -> Report | None:
    """The report in a file; None if there is none."""
    try:
        return Report(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
