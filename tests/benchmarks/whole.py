"""The whole way: the engine alone in one process and in two at once, and a sweep through Ray, shards and DuckDB."""

from __future__ import annotations

import json
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.engine import Shape, batch_of
from tests.benchmarks.tables import Benchmark, alone

COLUMNS = ("what", "cells", "seconds", "cells/s", "beside", "goal")
SHAPE = Shape("linear d=2 L=2 w=2", {"d": 2, "width": 2}, 4096)
RUN = """
import json, sys
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep
text = "{name: whole, experiment: sim, base: {d: 2, width: 2, lr: 0.01}, seeds: %s}" % sys.argv[1]
sweep = Sweep.parse(text, "whole", confirm_above=10**6)
result = run_sweep(sweep, sys.argv[2], workers=int(sys.argv[3]), ray=True, progress=Progress())
assert result.ok == len(sweep), result
print(json.dumps([result.seconds, result.actual.wall_seconds, result.actual.core_seconds, result.trained]))
"""


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a way of running the same cells."""
    cells, repeats = (512, 1) if quick else (SHAPE.batch, 3)
    one = statistics.median(_at_once(1, cells) for _ in range(repeats))
    two = statistics.median(_at_once(2, cells) for _ in range(repeats))
    rows = [
        ("the engine, one process", f"{cells:,}", f"{one:.1f}", f"{cells / one:,.0f}", "", ""),
        (
            "the engine, two processes at once",
            f"{2 * cells:,}",
            f"{two:.1f}",
            f"{2 * cells / two:,.0f}",
            f"{2 * one / two:.2f} x one",
            "1.9 x",
        ),
    ]
    for count in (1_000,) if quick else (10_000, 50_000, 200_000):
        rows += _through_ray(count, 2, 2 * cells / two)
    return rows


def _at_once(processes: int, cells: int) -> float:
    """Seconds from a common start to the end of the last of some processes, each training a batch of its own."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Barrier(processes + 1), context.Barrier(processes + 1)
    children = [context.Process(target=_train, args=(cells, ready, go)) for _ in range(processes)]
    for child in children:
        child.start()
    ready.wait()
    go.wait()
    began = time.perf_counter()
    for child in children:
        child.join()
    assert all(child.exitcode == 0 for child in children)
    return time.perf_counter() - began


def _train(cells: int, ready, go) -> None:  # pyright: ignore[reportMissingParameterType]
    from swingby_sweeps.sim.experiment import Sim

    sim, batch = Sim("compiled"), batch_of(SHAPE, cells)
    list(sim.run(batch_of(SHAPE, 32)))
    ready.wait()
    go.wait()
    list(sim.run(batch))


def _through_ray(cells: int, workers: int, engine: float) -> list[tuple[str, ...]]:
    """The training of a sweep, and all of it: Ray's start, plan, pilots, shards, the store, outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", RUN, str(cells), str(Path(folder) / "data"), str(workers)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
    whole, training, core, trained = json.loads(done.stdout.splitlines()[-1])
    idle = 1 - core / (workers * training)
    name = f"through Ray, {workers} workers"
    return [
        (
            f"{name}: training, its shards and their intake",
            f"{cells:,}",
            f"{training:.1f}",
            f"{trained / training:,.0f}",
            f"{trained / training / engine:.0%} of the engine; workers idle {idle:.0%}",
            "80 %; 10 %",
        ),
        (
            f"{name}: from the command to outcomes in the store",
            f"{cells:,}",
            f"{whole:.1f}",
            f"{cells / whole:,.0f}",
            f"{cells / whole / engine:.0%} of the engine",
            "80 %",
        ),
    ]


TABLES = (Benchmark("The same through everything: linear d=2 L=2 w=2", COLUMNS, table),)

if __name__ == "__main__":
    alone(TABLES)
