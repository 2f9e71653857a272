"""Lineage: the rows that stand behind a batch's checkpoints, by which each new row says what it goes on from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa

from swingby.data.files import clear_os_errors, write_json
from swingby.data.records import Records
from swingby.model.experiment import AFTER

NOTE = "swingby-rows.json"
"""The file beside the checkpoints that tells of the rows."""

Span = tuple[int, int, str]
"""Steps from .. to, both included, and the shard that has them ("": none yet)."""


class Lineage:
    """The rows of a batch's cells, as they follow each other, and which cells are over; noted beside the checkpoints.

    Args:
        records: where the shards lie.
        folder: of the checkpoints; None: there are none.
    """

    def __init__(self, records: Records, folder: Path | None) -> None:
        self._records, self._folder = records, folder
        self._spans: dict[str, list[Span]] = {}
        self._over: set[str] = set()

    def begin(self) -> None:
        """Takes up the note, if there is one.

        A checkpoint is worth what its rows are: once one of them is torn or gone, what goes on from there could not
        become a whole curve; and that of a cell that was over, and is to be trained all the same, leads nowhere. Then
        the folder goes, and its cells begin anew.

        Raises:
            SwingbyError: the disk refuses, or object storage does not answer.
        """
        if self._folder is None or not (self._folder / NOTE).exists():
            return
        spans = _told(self._folder / NOTE)
        if spans is not None:
            shards = sorted({shard for of_cell in spans.values() for _, _, shard in of_cell})
            if all(map(self._records.has_whole_shard, shards)):
                self._spans = spans
                return
        with clear_os_errors(f"remove checkpoints in {self._folder}"):
            shutil.rmtree(self._folder)

    def resume(self, cell_id: str, step: int) -> None:
        """Of this cell rows are there already, up to this step."""
        self._spans[cell_id] = [(0, step, "")]

    def follow(self, rows: pa.Table) -> pa.Table:
        """The rows with the column `AFTER`: the last step before each that another row of its cell covers, or null."""
        names = "cell_id", "from_step", "to_step", "final", "status"
        spans = zip(*(rows[name].to_pylist() for name in names), strict=True)
        return rows.append_column(AFTER, pa.array([self._follow(*span) for span in spans], pa.int64()))

    def _follow(self, cell_id: str, low: int, high: int, final: bool, status: str | None) -> int | None:
        # What was computed again replaces the first try, as it does in the store.
        known = self._spans.pop(cell_id, [])
        before = [(first, min(last, low - 1), shard) for first, last, shard in known if first < low]
        if not final:
            self._spans[cell_id] = [*before, (low, high, "")]
        elif status == "failed":  # it may be tried again from its checkpoint
            self._spans[cell_id] = before
        else:
            self._over.add(cell_id)
        return max((last for _, last, _ in before), default=None)

    def left(self, shard: str) -> None:
        """The rows since the last time are in this shard: that is noted before any checkpoint can go on from them.

        Raises:
            SwingbyError: the disk refuses.
        """
        for cell_id, spans in self._spans.items():
            self._spans[cell_id] = [(first, last, where or shard) for first, last, where in spans]
        if self._folder is not None:
            write_json(self._folder / NOTE, {"spans": self._spans, "over": sorted(self._over)})


def _told(note: Path) -> dict[str, list[Span]] | None:
    """The rows that a note tells of; None if cells were over, or if it says nothing that can be read."""
    try:
        said = json.loads(note.read_bytes())
        found = {
            cell: [(int(low), int(high), str(name)) for low, high, name in of] for cell, of in said["spans"].items()
        }
        return None if said["over"] else found
    except (ValueError, TypeError, AttributeError, LookupError):
        return None
