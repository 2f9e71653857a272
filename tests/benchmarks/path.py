"""From plan to diagram, stage by stage, on curves made up for the purpose: seconds and cells a second."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from analysis.detect import Descents
from analysis.phase import shares
from sweeps.sim.experiment import Sim
from swingby.experiment import Recording
from swingby.records import BatchNote, Plan, Records, ShardHeader, plan_table, provenance
from swingby.store import Store, ingest

SHARD = 2000
POINTS = 200


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a stage at each size."""
    rows = []
    for count in (1_000,) if quick else (1_000, 10_000, 50_000):
        with tempfile.TemporaryDirectory() as folder:
            for stage, seconds in stages(Records.open(Path(folder)), count):
                rows.append((f"{count:,}", stage, f"{seconds:.2f}", f"{count / seconds:,.0f}"))
    return rows


def stages(records: Records, count: int) -> list[tuple[str, float]]:
    """Seconds of each stage for so many cells."""
    timed: list[tuple[str, float]] = []

    def clock(stage: str, call: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = call()
        timed.append((stage, time.perf_counter() - began))
        return result

    plan = clock("plan: points, ids, table", lambda: make_plan(count))
    clock("write the plan", lambda: records.write_plan(plan))
    written = records.read_plan(plan.plan_id)
    made = [made_up(written, start) for start in range(0, count, SHARD)]
    clock("write shards", lambda: [records.write_shard(header(written, k), t) for k, t in enumerate(made)])
    clock("ingest and publish", lambda: ingest(records))
    with Store.open(records.data) as store:
        query = "select * from sim"
        rows = clock("read all curves", lambda: store.sql(query).arrow())
        found = clock("detect", lambda: Descents().detect(rows))
        told = found.append_column("width", rows["width"])
        clock("shares with intervals", lambda: shares(told, "non_monotone", by=("width",)))
    return timed


def make_plan(count: int) -> Plan:
    """A plan of so many cells: 100 points or fewer, the rest seeds."""
    sim, width = Sim(), min(100, count)
    points = [Sim.point("paper", d=2, lr=0.01, width=number + 2) for number in range(width)]
    index = [number % width for number in range(count)]
    seeds = [number // width for number in range(count)]
    batches = [number // SHARD for number in range(count)]
    notes = tuple(BatchNote(k, "made up", SHARD) for k in range(max(batches) + 1))
    given = plan_table(points, index, seeds, batches)
    resolved: dict[str, Any] = {"title": None}
    return Plan(
        "0" * 16, "bench", sim.name, sim.stream_version, 1, resolved, Recording(), provenance(), notes, given=given
    )


def header(plan: Plan, batch: int) -> ShardHeader:
    """The header of one made-up shard."""
    return ShardHeader(
        plan_id=plan.plan_id,
        sweep_id=plan.sweep_id,
        experiment=plan.experiment,
        batch=batch,
        attempt=1001,
        recorded=Recording().tokens,
        curves=("step", "ood_loss", "train_loss", "output"),
        shape="made up",
        cells=SHARD,
        started=plan.created,
        finished=plan.created,
        seconds=1.0,
        host="bench",
        device="cpu",
        pid=0,
    )


def made_up(plan: Plan, start: int) -> pa.Table:
    """Rows of one shard: random curves of 200 points with the columns of the real experiment."""
    ids = plan.table["cell_id"].slice(start, SHARD)
    n, draw = len(ids), np.random.default_rng(start)
    step = Recording(points=POINTS).at(3160)
    scalars = {name: pa.nulls(n, column.type) for name, column in Sim.scalars.items()}
    scalars["l_ref"] = pa.array(np.full(n, 2.5))
    scalars["a"] = pa.array([[0.5, 2.0]] * n, Sim.scalars["a"].type)
    loss = 2.5 * np.exp(-np.linspace(0, 8, len(step))) * (1 + 0.01 * draw.standard_normal((n, len(step))))
    output = pa.array(draw.random((n, len(step), 2)).tolist(), Sim.curves["output"].type)
    return pa.table(
        {
            "cell_id": ids,
            "from_step": pa.array(np.zeros(n, np.int64)),
            "to_step": pa.array(np.full(n, step[-1])),
            "final": pa.array([True] * n),
            "status": pa.array(["ok"] * n),
            "message": pa.nulls(n, pa.string()),
            "step": pa.array([step] * n, Sim.curves["step"].type),
            "ood_loss": pa.array(list(loss), Sim.curves["ood_loss"].type),
            "train_loss": pa.array(list(loss), Sim.curves["train_loss"].type),
            "output": output,
            **scalars,
        }
    )
