"""Made-up SIM curves (engine "synthetic"), written as the plan and the shard that a run would leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.provenance import provenance
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader, plan_table
from swingby.model.cell import Cell
from swingby.model.experiment import SEGMENT_COLUMNS
from swingby.store import ingest
from swingby.sweepfile.sweep import Sweep

STEPS = np.unique(np.geomspace(1, 4001, 64).astype(np.int64)) - 1
Fate = Callable[[Cell], str | None]
SQUARE = """
name: {name}
title: {title}
experiment: sim
preset: paper
base: {{model: linear, drive: gd, d: 2, s: 2, mu: [1.0, 2.0], sigma: [0.05, 0.05], gd_steps: 4000,
  init: normal}}
axes:
  mu.1: {{linspace: {{from: 1.0, to: 3.0, points: {points}}}}}
  init_gain: {{logspace: {{from: 0.01, to: 1.0, points: {points}}}}}
seeds: {{count: {seeds}, mode: common}}
diagram: {{x: mu.1, y: init_gain, outcome: transient_memorization}}
"""


def square(name: str, points: int, seeds: int, title: str = "Synthetic curves") -> Sweep:
    """A sweep of points x points, whose bump grows with mu.1 and with the gain."""
    text = SQUARE.format(name=name, title=json.dumps(title), points=points, seeds=seeds)
    return Sweep.parse(text, f"{name}.yaml", confirm_above=None)


def write(data: Path, sweep: Sweep, fate: Fate = lambda cell: "ok") -> Records:
    """Leaves a data folder in which the sweep was planned and those cells ended whose fate is not None."""
    records = Records.open(data)
    cells = list(sweep.cells())
    ended = [(cell, status) for cell in cells if (status := fate(cell)) is not None]
    places = {point.point_id: index for index, point in enumerate(sweep.points)}
    table = plan_table(
        sweep.points, [places[cell.point.point_id] for cell in cells], [cell.seed for cell in cells], [0] * len(cells)
    )
    plan = Plan(
        sweep.sweep_id, sweep.name, "sim", sweep.points[0].stream_version, 1, sweep.resolved, sweep.recording,
        provenance(), (BatchNote(0, "synthetic", len(cells)),), source=table,
    )  # fmt: skip
    records.write_plan(plan)
    if ended:
        header = ShardHeader(
            plan.plan_id, sweep.sweep_id, "sim", 0, 1001, sweep.recording.tokens,
            ("step", "ood_loss", "train_loss", "output"), "synthetic", len(ended), utc_now(), utc_now(), 1.0,
            "nowhere", "cpu", 1,
        )  # fmt: skip
        records.write_shard(header, rows([cell for cell, _ in ended], [status for _, status in ended]))
    ingest(records)
    return records


def rows(cells: list[Cell], status: list[str]) -> pa.Table:
    """One final row a cell: a loss that falls, rises by an amount that hangs on the cell, and falls again."""
    count = len(cells)
    mu = np.array([getattr(cell.params, "mu") for cell in cells])  # noqa: B009  Params does not declare it
    gain = np.array([getattr(cell.params, "init_gain") for cell in cells])  # noqa: B009
    luck = np.random.default_rng(1).normal(size=count)
    bump = np.clip(0.25 * (mu[:, 1] - 2) + 0.1 * np.log10(gain / 0.1) + 0.1 * luck, 0, None)
    clock = np.log1p(STEPS) / np.log1p(STEPS[-1])
    fall = np.exp(-9 * clock)
    rise = np.exp(-(((clock - 0.55) / 0.1) ** 2))
    first, second = 1 - np.exp(-9 * clock**3), 1 - np.exp(-9 * clock)
    swing = bump[:, None] * rise
    output = np.stack([mu[:, :1] * (first - swing), mu[:, 1:] * np.broadcast_to(second, swing.shape)], axis=2)
    reference = (mu**2).sum(axis=1) / 2
    losses = {
        "ood_loss": reference[:, None] * (fall + swing),
        "train_loss": reference[:, None] * (0.5 * fall + 0 * swing),
    }
    lasting = len(STEPS)
    columns = {
        "cell_id": pa.array([cell.cell_id for cell in cells]),
        "from_step": pa.array(np.zeros(count, dtype=np.int64)),
        "to_step": pa.array(np.full(count, STEPS[-1])),
        "final": pa.array([True] * count),
        "status": pa.array(status),
        "message": pa.array(["made up" if item == "failed" else None for item in status], pa.string()),
        "step": _lists(np.tile(STEPS, count), count, lasting),
        **{name: _lists(loss.ravel(), count, lasting) for name, loss in losses.items()},
        "output": _lists(
            pa.FixedSizeListArray.from_arrays(pa.array(output.ravel()), 2).cast(pa.list_(pa.float64())), count, lasting
        ),
        "a": pa.array((mu**2 / 2).tolist()),
        "l_ref": pa.array(reference),
        "final_ood_loss": pa.array(losses["ood_loss"][:, -1]),
        "time_per_step": pa.array(np.full(count, 0.1)),
        "narrowest": pa.array(np.full(count, 64)),
        "engine": pa.array(["synthetic"] * count),
    }
    table = pa.table(columns)
    return table.select([*SEGMENT_COLUMNS, *(name for name in columns if name not in SEGMENT_COLUMNS)])


def _lists(values: np.ndarray | pa.Array, count: int, length: int) -> pa.Array:
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * length)
    return pa.ListArray.from_arrays(offsets, values if isinstance(values, pa.Array) else pa.array(values))
