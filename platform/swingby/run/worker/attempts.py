"""What attempts at a batch left: its shards, what they say of its cells, and the folder of its checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from swingby.data.records import Plan, Records
from swingby.model.cell import Cell


def shards_of(records: Records, plan: Plan, batch: int) -> list[str]:
    """What attempts at a batch left."""
    found = (records.data / "shards" / plan.plan_id).glob(f"b{batch:06d}-a*.parquet")
    return sorted(f"{plan.plan_id}/{path.name}" for path in found)


def last_step(records: Records, plan: Plan, batch: int, cell_id: str) -> int:
    """The last step that an attempt at this batch left of a cell; -1: none."""
    last = -1
    for name in shards_of(records, plan, batch):
        _, rows = records.read_shard(name)
        own = rows.filter([row == cell_id for row in rows["cell_id"].to_pylist()])
        last = max([last, *own["to_step"].to_pylist()])
    return last


def final_cells(records: Records, plan: Plan, batch: int) -> set[str]:
    """The cells that earlier attempts at this batch finished, by their shards."""
    found: set[str] = set()
    for name in shards_of(records, plan, batch):
        _, rows = records.read_shard(name)
        found.update(rows.filter(rows["final"])["cell_id"].to_pylist())
    return found


def workdir(records: Records, plan: Plan, cells: Sequence[Cell]) -> Path:
    """The folder of checkpoints: the same for the same cells in every run of a sweep, so a killed one is continued."""
    return records.workdir(plan.sweep_id, [cell.cell_id for cell in cells])
