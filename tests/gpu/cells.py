"""Real cells of named sweeps that want a GPU, by the product's own code, for as long as time is left.

A for-loop in each process (`--local`) needs no Ray. Several processes share the GPU where that was measured to be
faster; each trains the cells of some seeds into one data folder. What is cut short goes on from its checkpoints.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep
from tests.gpu import shared
from tests.gpu.sheet import Setting, Sheet

SWEEPS = ("figure-6",)
"""Named sweeps that are meant for a GPU, of image diffusion at the size `authors`."""
QUICK = """
name: quick
experiment: diffusion
preset: small
base: {pixels: 8, width: 8, images: 8, batch_size: 8, training_steps: 12, sampling_steps: 4}
seeds: [0]
record: {steps: sqrt, points: 3}
"""
_MARGIN = 25.0
"""Seconds before the limit at which runs are asked to stop: they end what they evaluate, and write a checkpoint."""


def run(sheet: Sheet, setting: Setting) -> str:
    """Trains, and counts the cells of each sweep by their status; returns how many are left for want of time.

    Raises:
        RuntimeError: a process that trains failed.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # of those that train it is asked for
    until = time.time() + max(setting.seconds / 2, setting.seconds - _MARGIN)
    names: Sequence[str] = SWEEPS
    if setting.quick:
        (setting.out / "quick.yaml").write_text(QUICK, encoding="utf-8")
        names = [str(setting.out / "quick.yaml")]
    count = shared.best(Sheet(setting.out / "parts" / "shared.json"), "authors")
    left = 0
    for name in names:
        seeds = list(Sweep.load(name).seeds)
        shares = [seeds[first::count] for first in range(min(count, len(seeds)))]
        orders = [json.dumps([name, share, str(setting.out / "data"), setting.device, until]) for share in shares]
        children = [subprocess.Popen([sys.executable, "-m", "tests.gpu.cells", order]) for order in orders]
        failed = [child.returncode for child in children if child.wait()]
        left += count_cells(sheet, name, setting.out / "data")
        if failed:
            raise RuntimeError(f"processes that train {name} ended with {failed}")
    return f"{left} cells are left, and the same command goes on with them" if left else ""


def count_cells(sheet: Sheet, name: str, data: Path) -> int:
    """Writes how many cells of a sweep have which status, and their steps; returns how many are left to train."""
    sweep, records = Sweep.load(name), Records.open(data)
    ingest(records)
    done = 0
    with Store.open(data) as store:
        if sweep.experiment_name not in store.names():
            return len(sweep)
        query = f"""select status, count(*) as cells, sum(steps) as steps from "{sweep.experiment_name}"
                    where cell_id in (select unnest($ids)) group by status order by status"""
        for row in store.sql(query, {"ids": [cell.cell_id for cell in sweep.cells()]}).rows():
            done += row.cells if row.status != "running" else 0
            sheet.put(f"{sweep.name}, {row.status}", {"cells": row.cells, "of": len(sweep), "steps": int(row.steps)})
    return len(sweep) - done


def follow(order: str) -> None:
    """One of the processes: trains the cells of its seeds until its time is over."""
    name, seeds, data, device, until = json.loads(order)
    drain = Drain()
    timer = threading.Timer(max(1.0, until - time.time()), drain.ask)
    timer.daemon = True
    timer.start()
    sweep = Sweep.load(name, [f"seeds={json.dumps(seeds)}"])
    try:
        options = {"local": True, "pilot": False, "device": device}
        print(run_sweep(sweep, data, progress=Lines(sys.stdout), drain=drain, **options), flush=True)
    except SwingbyError as error:
        print(f"error: {error}", flush=True)
        sys.exit(2)


if __name__ == "__main__":
    follow(sys.argv[1])
