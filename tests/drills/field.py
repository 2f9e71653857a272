"""A field: one data folder and one sweep on which a drill is held, and what is found there afterwards."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psutil

from swingby.maintenance.gc import collect
from swingby.store import Store, ingest
from tests.support.places import MISBEHAVING

DRIVER = """
import json, sys
from swingby.errors import SwingbyError
from swingby.run import batches
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
batches.UNMEASURED = 4
options = json.loads(sys.argv[2])
try:
    sweep = Sweep.load("walks.yaml")
    result = run_sweep(sweep, sys.argv[1], pilot=False, ray=True, progress=Lines(sys.stdout), **options)
except SwingbyError as error:
    print("refused:", error, flush=True)
    sys.exit(2)
print(result, flush=True)
sys.exit(1 if result.missing else 0)
"""


@dataclass(frozen=True)
class Found:
    """What is there after a drill: planned cells, those without a row, rows too many, cells that failed, those of which
    that was not expected, cells whose training began more than once, the most often that one did, files left."""

    cells: int
    lost: int
    doubled: int
    failed: int
    wrong: int
    again: int
    most: int
    left: int

    @property
    def good(self) -> bool:
        """Whether all promises were kept."""
        return not (self.lost or self.doubled or self.wrong or self.left)


class Field:
    """Where a drill is held.

    Args:
        folder: empty; the data folder is below it.
        rng: for moments and choices.
        changes: of the sweep, see `Kit.text`.
        options: of the run.
    """

    def __init__(self, folder: Path, rng: Random, changes: dict[str, Any], **options: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if str(MISBEHAVING) not in sys.path:
            sys.path.insert(0, str(MISBEHAVING))
        self.kit: Any = importlib.import_module("misbehaving_runs").Kit(folder)
        self.rng, self.changes = rng, changes
        self.options: dict[str, Any] = {"workers": 2, **options}
        self.environment: dict[str, str] = {}
        self.guilty = {"die", "leave", "memory", "hang", "kernel"}
        (folder / "walks.yaml").write_text(self.kit.text(**changes))

    def change(self, changes: dict[str, Any]) -> None:
        """Another sweep is to be run."""
        self.changes = changes
        (self.kit.folder / "walks.yaml").write_text(self.kit.text(**changes))

    def start(self, **options: Any) -> subprocess.Popen[str]:
        """The command, as a process."""
        log = (self.kit.folder / "log").open("a")
        child = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(self.kit.data), json.dumps({**self.options, **options})],
            env=self.kit.environment(**self.environment),
            cwd=self.kit.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        log.close()
        self.kit.children.append(child)
        return child

    def said(self) -> str:
        """What all drivers said so far."""
        return (self.kit.folder / "log").read_text()

    def trained(self, count: int, child: subprocess.Popen[str], seconds: float = 120) -> None:
        """Waits until so many trainings have begun, or the driver has ended."""
        self.until(lambda: child.poll() is not None or sum(self.kit.started().values()) >= count, seconds)

    def until(self, what: Callable[[], object], seconds: float = 120) -> None:
        """Waits until something is true.

        Raises:
            TimeoutError: it does not come to be.
        """
        deadline = time.monotonic() + seconds
        while not what():
            if time.monotonic() > deadline:
                raise TimeoutError(f"it does not happen; the log ends so: {self.said()[-500:]}")
            time.sleep(0.05)

    def end(self, child: subprocess.Popen[str]) -> None:
        """Kills a driver, and what would look for it for a minute."""
        below = psutil.Process(child.pid).children(recursive=True) if child.poll() is None else []
        with suppress(ProcessLookupError):
            child.kill()
        child.wait()
        for process in below:
            with suppress(psutil.Error):
                if "Agent" in " ".join(process.cmdline()):
                    process.kill()

    def worker(self) -> int:
        """The process that began a training last."""
        return int(self.kit.ledger.read_text().split("\n")[-2].split()[1])

    def finish(self, tries: int = 4) -> None:
        """The same command until it ends by itself."""
        for _ in range(tries):
            child = self.start()
            if child.wait(timeout=400) in (0, 1):
                return
        raise RuntimeError(f"the sweep cannot be finished: {self.said()[-800:]}")

    def found(self) -> Found:
        """What is there, after `gc`."""
        sweep = self.kit.sweep(**self.changes)
        planned = {cell.cell_id: cell for cell in sweep.cells()}
        ingest(self.kit.records())
        with Store.open(self.kit.data) as store:
            rows = store.sql("select cell_id, status, message, wants from walk where status <> 'running'").rows()
        count = Counter(row.cell_id for row in rows)
        failed = [row for row in rows if row.status == "failed"]
        wrong = [row for row in failed if row.wants not in self.guilty or "its process died" not in (row.message or "")]
        collect(self.kit.data, older_than=0)
        left = [*self.kit.records().unfinished(), *(p for p in (self.kit.data / "work").rglob("*") if p.is_file())]
        healthy = {cell for cell in planned if cell not in {row.cell_id for row in failed}}
        begun = [times for cell, times in self.kit.started().items() if cell in healthy]
        return Found(
            cells=len(planned),
            lost=len(planned.keys() - count.keys()),
            doubled=sum(count.values()) - len(count),
            failed=len(failed),
            wrong=len(wrong),
            again=sum(times > 1 for times in begun),
            most=max(begun, default=0),
            left=len(left),
        )

    def kill(self, pid: int, number: signal.Signals = signal.SIGKILL) -> None:
        """Sends a signal to a process that may be gone."""
        with suppress(ProcessLookupError):
            os.kill(pid, number)
