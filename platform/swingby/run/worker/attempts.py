"""Attempts at a batch: the shards they left, and the lineage of rows that a checkpoint goes on from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from swingby.data.files import clear_os_errors, write_json
from swingby.data.records import Plan, Records
from swingby.model.cell import Cell
from swingby.model.experiment import AFTER

NOTE = "swingby-rows.json"
"""The file beside the checkpoints with the rows that they go on from."""

Span = tuple[int, int, str]
"""Steps from .. to, both included, and the shard that has them ("": none yet)."""


def shards_of(records: Records, plan: Plan, batch: int) -> list[str]:
    """The shards that attempts at a batch left."""
    found = (records.data / "shards" / plan.plan_id).glob(f"b{batch:06d}-a*.parquet")
    return sorted(f"{plan.plan_id}/{path.name}" for path in found)


def last_step(records: Records, plan: Plan, batch: int, cell_id: str) -> int:
    """The last step of a cell that an attempt at the batch committed; -1: none."""
    last = -1
    for name in shards_of(records, plan, batch):
        _, rows = records.read_shard(name)
        own = rows.filter([row == cell_id for row in rows["cell_id"].to_pylist()])
        last = max([last, *own["to_step"].to_pylist()])
    return last


def final_cells(records: Records, plan: Plan, batch: int) -> set[str]:
    """The cells that earlier attempts at a batch finished, read from their shards."""
    found: set[str] = set()
    for name in shards_of(records, plan, batch):
        _, rows = records.read_shard(name)
        found.update(rows.filter(rows["final"])["cell_id"].to_pylist())
    return found


def workdir(records: Records, plan: Plan, cells: Sequence[Cell]) -> Path:
    """The folder of checkpoints, which depends on sweep and cells alone, so that a later run continues a killed one."""
    return records.workdir(plan.sweep_id, [cell.cell_id for cell in cells])


class Lineage:
    """The rows of each cell of a batch in their order, and the cells that are finished; noted beside the checkpoints.

    Args:
        records: the data folder with the shards.
        folder: the folder of the checkpoints; None: there are none.
    """

    def __init__(self, records: Records, folder: Path | None) -> None:
        self._records, self._folder = records, folder
        self._spans: dict[str, list[Span]] = {}
        self._finished: set[str] = set()

    def begin(self) -> None:
        """Reads the note, if there is one, and removes checkpoints that no whole curve can go on from.

        A checkpoint is usable only if all rows before it exist: with a torn or missing shard the curve would have a
        gap. The checkpoint of a cell that is finished, and is to be trained all the same, is not usable either.

        Raises:
            SwingbyError: the disk refuses, or object storage does not answer.
        """
        if self._folder is None or not (self._folder / NOTE).exists():
            return
        spans = _noted_spans(self._folder / NOTE)
        if spans is not None:
            shards = sorted({shard for of_cell in spans.values() for _, _, shard in of_cell})
            if all(map(self._records.has_whole_shard, shards)):
                self._spans = spans
                return
        with clear_os_errors(f"remove checkpoints in {self._folder}"):
            shutil.rmtree(self._folder)

    def resume(self, cell_id: str, step: int) -> None:
        """Takes note that rows of a cell exist up to this step."""
        self._spans[cell_id] = [(0, step, "")]

    def follow(self, rows: pa.Table) -> pa.Table:
        """The rows with the column `AFTER`: the last step that an earlier row of the cell covers, or null."""
        names = "cell_id", "from_step", "to_step", "final", "status"
        spans = zip(*(rows[name].to_pylist() for name in names), strict=True)
        return rows.append_column(AFTER, pa.array([self._previous_step(*span) for span in spans], pa.int64()))

    def _previous_step(self, cell_id: str, low: int, high: int, final: bool, status: str | None) -> int | None:
        # What was computed again replaces the first try, as it does in the store.
        known = self._spans.pop(cell_id, [])
        before = [(first, min(last, low - 1), shard) for first, last, shard in known if first < low]
        if not final:
            self._spans[cell_id] = [*before, (low, high, "")]
        elif status == "failed":  # it may be tried again from its checkpoint
            self._spans[cell_id] = before
        else:
            self._finished.add(cell_id)
        return max((last for _, last, _ in before), default=None)

    def committed(self, shard: str) -> None:
        """Notes that the rows since the last call are in this shard, before any checkpoint can go on from them.

        Raises:
            SwingbyError: the disk refuses.
        """
        for cell_id, spans in self._spans.items():
            self._spans[cell_id] = [(first, last, where or shard) for first, last, where in spans]
        if self._folder is not None:
            write_json(self._folder / NOTE, {"spans": self._spans, "over": sorted(self._finished)})


def _noted_spans(note: Path) -> dict[str, list[Span]] | None:
    """The rows in a note; None if it names finished cells, or cannot be read."""
    try:
        content = json.loads(note.read_bytes())
        found = {
            cell: [(int(low), int(high), str(name)) for low, high, name in of] for cell, of in content["spans"].items()
        }
        return None if content["over"] else found
    except (ValueError, TypeError, AttributeError, LookupError):
        return None
