"""A process that forks a driver for each order it reads, so that a test can kill dozens of them in little time.

An order is a line of JSON: do ("run", "ingest"), data, ledger, text (a sweep file), at (a file), window, hit. The
driver stops for ever when it comes to that window for the hit-th time, having made the file `at`. The fork server
answers with the driver's process id, and with its exit status once it has ended.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.model import registry
from swingby.run import driver, executor, ingest_thread
from swingby.run.progress import Progress
from swingby.store import Ingest, ingest
from swingby.sweepfile.sweep import Sweep


class Barrier:
    """Stops whoever comes to the window for the hit-th time."""

    def __init__(self, window: str, hit: int, at: Path) -> None:
        self.window, self.left, self.at = window, hit, at
        self.lock = threading.Lock()

    def pass_by(self, window: str) -> None:
        """Somebody is at this window."""
        if window != self.window:
            return
        with self.lock:
            self.left -= 1
            stop = self.left == 0
        if stop:
            self.at.touch()
            while True:
                time.sleep(60)

    def around(self, owner: Any, name: str, label: Callable[..., str]) -> None:
        """Windows before and after a method."""
        real = getattr(owner, name)

        def passing(*arguments: Any, **options: Any) -> Any:
            self.pass_by(f"before {label(*arguments)}")
            result = real(*arguments, **options)
            self.pass_by(f"after {label(*arguments)}")
            return result

        setattr(owner, name, passing)


def work(order: dict[str, Any]) -> None:
    """What the driver does."""
    barrier = Barrier(order["window"], order["hit"], Path(order["at"]))
    data = Path(order["data"])
    os.environ["TEST_LEDGER"] = order["ledger"]

    def renaming(path: Path, target: Path) -> str:
        inside = Path(target).is_relative_to(data)
        return f"rename {Path(target).relative_to(data).parts[0]}" if inside else "rename elsewhere"

    barrier.around(Path, "rename", renaming)
    barrier.around(Ingest, "_apply", lambda *_: "apply")
    barrier.around(Ingest, "_commit", lambda _, database: f"commit {database}")
    barrier.around(Ingest, "_publish", lambda *_: "publish")
    (Ingest.__init__.__kwdefaults__ or {})["segment_rows"] = 10  # segments fill and are sealed on the way
    registry.experiment("walk").max_batch = lambda params: 3  # many batches, whatever they cost
    driver.WAIT_SECONDS = 0.1
    if order["window"]:  # the windows come in the same order every time if the store is fed between batches
        ingest_thread.INGEST_SECONDS = 1e9
        real = executor.run_batch
        executor.run_batch = lambda *given, **options: (
            real(*given, **options),
            ingest_thread.ingest_once(Records.open(data)),
        )[0]
    else:
        ingest_thread.INGEST_SECONDS = 0.25
    if order["do"] == "ingest":
        ingest(Records.open(data))
    else:
        driver.run_sweep(Sweep.parse(order["text"], "order"), data, local=True, pilot=False, progress=Progress())


def main() -> None:
    """Forks a driver an order."""
    # Imported once and not by each driver.
    registry.detectors_for(registry.experiment("walk").name)
    for late in ("pandas", "pyarrow.dataset", "numpy.random"):
        import_module(late)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                work(json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
