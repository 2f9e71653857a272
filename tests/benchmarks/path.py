"""From plan to diagram, stage by stage, on curves made up for the purpose: seconds, cells a second, peak memory.

Each stage runs in a process of its own, so that the peak is that stage's (what it imports included, see "start").
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records import Plan, Records, ShardHeader
from swingby.model import registry
from swingby.model.experiment import Recording
from swingby.run.plan import Planner
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep
from tests.benchmarks.tables import Benchmark, alone

SIZES = {1_000: (50, 20, 1), 10_000: (41, 41, 6), 100_000: (41, 41, 60), 1_000_000: (41, 41, 595)}
"""Cells, about -> places on each axis, and seeds."""
CURVES = 100_000
"""Curves are made up to this size: beyond, a cell has a row without them (a million with them are 12 GB on disk)."""
SHARD = 4096
POINTS = 200
SWEEP = """\
name: bench-{cells}
experiment: sim
base: {{d: 2, s: 2, init: normal}}
axes:
  mu.1: {{linspace: {{from: 1.0, to: 3.0, points: {x}}}}}
  init_gain: {{logspace: {{from: 0.01, to: 1.0, points: {y}}}}}
seeds: {{count: {seeds}}}
"""


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a stage at each size: cells, stage, seconds, cells/s, peak MB."""
    rows = []
    for cells in (1_000,) if quick else (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory(dir=os.environ.get("SWINGBY_BENCH")) as folder:
            for stage in STAGES:
                rows += _measured(stage, cells, Path(folder))
    return rows


def _measured(stage: str, cells: int, folder: Path) -> list[tuple[str, ...]]:
    """One stage in a process of its own; none if it does nothing at this size."""
    command = [sys.executable, "-m", "tests.benchmarks.path", stage, str(cells), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the stage {stage!r} of {cells:,} cells failed:\n{done.stderr}")
    rows = []
    for label, count, seconds, peak, _ in json.loads(done.stdout):
        rows.append((f"{cells:,}", label, f"{seconds:.2f}", f"{count / max(seconds, 1e-9):,.0f}", f"{peak:,.0f}"))
    return rows


class Clock:
    """Measures what is done within `of`, and nothing else."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int, float, float, float]] = []

    @contextmanager
    def of(self, label: str, count: int) -> Iterator[None]:
        """Times the block; the peak is the process's so far."""
        began, worked = time.perf_counter(), time.process_time()
        yield
        seconds, cpu = time.perf_counter() - began, time.process_time() - worked
        self.found.append((label, count, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, cpu))


def sweep(cells: int, seeds: int | None = None) -> Sweep:
    """The sweep of that size, on a square of points; with `seeds` 1 all cells are points."""
    x, y, count = SIZES[cells] if seeds is None else (round(cells**0.5), round(cells**0.5), seeds)
    text = SWEEP.format(cells=cells, x=x, y=y, seeds=count)
    return Sweep.parse(text, "bench.yaml", confirm_above=None)


def start(clock: Clock, cells: int, folder: Path) -> None:
    """What importing everything takes."""
    with clock.of("(imports alone)", 0):
        registry.detectors_for("sim")


def plan_points(clock: Clock, cells: int, folder: Path) -> None:
    """Planning where every cell is a point of its own, as `run --dry-run` does."""
    records = Records.open(folder / "points")
    registry.experiment("sim")
    with clock.of("plan: a point a cell, one seed", cells):
        Planner(sweep(cells, seeds=1), records).preview()


def plan_seeds(clock: Clock, cells: int, folder: Path) -> None:
    """Planning of few points with many seeds, and the plan written and taken into the store."""
    records = Records.open(folder / "data")
    registry.experiment("sim")
    with clock.of("plan: 41 x 41 points, the rest seeds", cells):
        planner = Planner(sweep(cells), records)
        planner.preview()
    with clock.of("write the plan, take it into the store", cells):
        planner.commit()


def plan_again(clock: Clock, cells: int, folder: Path) -> None:
    """Planning where all cells have results."""
    registry.experiment("sim")
    with clock.of("plan again: nothing is missing", cells):
        planned = Planner(sweep(cells), Records.open(folder / "data")).preview()
    assert planned.missing == 0, f"{planned.missing} cells are missing"


def shards(clock: Clock, cells: int, folder: Path) -> None:
    """Shards of a few thousand cells."""
    records = Records.open(folder / "data")
    plan = records.read_plan(records.plans()[0])
    ids = plan.table["cell_id"].combine_chunks()
    parts = [ids.slice(low, SHARD) for low in range(0, len(ids), SHARD)]
    spent = 0.0
    with clock.of(_told("write shards", cells), cells):
        for number, part in enumerate(parts):
            began = time.process_time()
            rows = made_up(part, number, POINTS if cells <= CURVES else 0)
            spent += time.process_time() - began
            records.write_shard(header(plan, number, len(part)), rows)
    label, count, seconds, peak, cpu = clock.found.pop()
    clock.found.append((label, count, seconds - spent, peak, cpu - spent))


def folding(clock: Clock, cells: int, folder: Path) -> None:
    """Ingest of all shards at once, and its publication."""
    pa.array([0])  # imports pandas, if there is one: see "start"
    with clock.of(_told("ingest and publish", cells), cells):
        ingest(Records.open(folder / "data"))


def read(clock: Clock, cells: int, folder: Path) -> None:
    """All curves, in chunks, as Arrow."""
    if cells > CURVES:
        return
    with Store.open(folder / "data") as store, clock.of("read all curves", cells):
        ids = store.sql("select cell_id from sim order by cell_id").arrow()["cell_id"].to_pylist()
        for low in range(0, len(ids), 20_000):
            chosen = ids[low : low + 20_000]
            store.sql("select * from sim where cell_id between ? and ?", [chosen[0], chosen[-1]]).arrow()


def detect(clock: Clock, cells: int, folder: Path) -> None:
    """The detector of descents on curves that are in memory."""
    if cells > CURVES:
        return
    detector = registry.detector("descents")
    with Store.open(folder / "data") as store:
        there = {name for name, _ in store.tables()["sim"]}
        needs = [name if name in there else f"null as {name}" for name in detector.needs]
        columns = ", ".join(["cell_id", *needs])
        rows = store.sql(f"select {columns} from sim limit 20000").arrow()
    detector.detect(rows.slice(0, 64))  # its compiled loops are loaded once a process
    with clock.of("detect", rows.num_rows):
        detector.detect(rows)


def derive(clock: Clock, cells: int, folder: Path) -> None:
    """All detectors over all cells, as a run ends, outcomes taken into the store."""
    from swingby.run.outcomes import derive as derived

    if cells > CURVES:
        return
    registry.detectors_for("sim")
    with clock.of("derive: read, detect, take in the outcomes", cells):
        derived(Records.open(folder / "data"))


def phase(clock: Clock, cells: int, folder: Path) -> None:
    """The query behind a phase diagram: shares of an outcome over seeds at each point."""
    with Store.open(folder / "data") as store, clock.of("phase query, with SQL", cells):
        rows = store.sql(
            """select m.point, any_value(s.init_gain), count(*) as cells, avg((s.final_ood_loss > 1)::int) as share
               from members m join sim s using (cell_id) group by m.point order by m.point"""
        ).arrow()
    assert rows.num_rows == len(sweep(cells).points)


def _told(stage: str, cells: int) -> str:
    return f"{stage} (four curves of {POINTS})" if cells <= CURVES else f"{stage} (without curves)"


STAGES: dict[str, Callable[[Clock, int, Path], None]] = {
    one.__name__: one
    for one in (start, plan_points, plan_seeds, shards, folding, plan_again, read, detect, derive, phase)
}


def header(plan: Plan, batch: int, cells: int) -> ShardHeader:
    """The header of one made-up shard."""
    return ShardHeader(
        plan_id=plan.plan_id,
        sweep_id=plan.sweep_id,
        experiment=plan.experiment,
        batch=batch,
        attempt=1001,
        recorded=plan.recording.tokens,
        curves=("step", "ood_loss", "train_loss", "output"),
        shape="made up",
        cells=cells,
        started=plan.created,
        finished=plan.created,
        seconds=1.0,
        host="bench",
        device="cpu",
        pid=0,
    )


def made_up(ids: pa.Array, seed: int, points: int) -> pa.Table:
    """Rows of one shard: random curves, in float32 as they are trained, with the columns of the real experiment."""
    sim: Any = registry.experiment("sim")
    n, draw = len(ids), np.random.default_rng(seed)
    step = Recording(points=points).at(3160) if points else np.zeros(1, np.int64)
    scalars = {name: pa.nulls(n, column.type) for name, column in sim.scalars.items()}
    scalars["l_ref"] = pa.array(np.full(n, 2.5))
    scalars["final_ood_loss"] = pa.array(draw.random(n) * 2)
    scalars["a"] = pa.array([[0.5, 2.0]] * n, sim.scalars["a"].type)
    decay = 2.5 * np.exp(-np.linspace(0, 8, len(step)))
    losses = [(decay * (1 + 0.01 * draw.standard_normal((n, len(step))))).astype(np.float32) for _ in range(2)]
    outputs = draw.random((n * len(step), 2), np.float32)
    return pa.table(
        {
            "cell_id": ids,
            "from_step": pa.array(np.zeros(n, np.int64)),
            "to_step": pa.array(np.full(n, step[-1])),
            "final": pa.array([True] * n),
            "status": pa.array(["ok"] * n),
            "message": pa.nulls(n, pa.string()),
            "step": lists(pa.array(np.tile(step, n)), n),
            "ood_loss": lists(pa.array(losses[0].astype(np.float64).ravel()), n),
            "train_loss": lists(pa.array(losses[1].astype(np.float64).ravel()), n),
            "output": lists(lists(pa.array(outputs.astype(np.float64).ravel()), n * len(step)), n),
            **scalars,
        }
    )


def lists(values: pa.Array, count: int) -> pa.ListArray:
    """So many lists of one length."""
    offsets = np.arange(count + 1, dtype=np.int32) * (len(values) // count)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def main() -> None:
    """One stage: its name, how many cells, the folder; prints what was measured as JSON."""
    stage, cells, folder = sys.argv[1:]
    clock = Clock()
    with contextlib.redirect_stdout(io.StringIO()):
        STAGES[stage](clock, int(cells), Path(folder))
    print(json.dumps(clock.found))


TABLES = (
    Benchmark(
        "From plan to diagram: curves of 200 points made up for the purpose, four a cell",
        ("cells", "stage", "seconds", "cells/s", "peak MB"),
        table,
    ),
)

if __name__ == "__main__":
    main() if sys.argv[1:] and sys.argv[1] in STAGES else alone(TABLES)
