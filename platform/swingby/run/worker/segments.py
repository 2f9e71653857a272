"""Segments: rows of a cell for a range of its steps, as an experiment yields them and as attempts at a batch left them.

`Segments` checks the rows of a batch against the experiment's contract; `Lineage` notes which rows a checkpoint goes on
from, so that no curve has a gap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa

from swingby.data.files import clear_os_errors, remove_whole, write_json
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import AFTER, SEGMENT_COLUMNS, Column, Experiment, Recording

FINAL = ("ok", "diverged", "failed")
"""Statuses that a final row may have."""
NOTE = "swingby-rows.json"
"""The file beside the checkpoints with the rows that they go on from."""

Span = tuple[int, int, str]
"""Steps from .. to, both included, and the shard that has them ("": none yet)."""


class ExperimentError(SwingbyError):
    """An experiment broke its contract (see `Experiment.run`); no cell is at fault."""


def curve_columns(experiment: Experiment, recording: Recording) -> dict[str, Column]:
    """The list columns of a run with this recording."""
    columns = dict(experiment.curves)
    for name in recording.also:
        if name not in experiment.recordings:
            allowed = ", ".join(experiment.recordings) or "(none)"
            raise SwingbyError(f"experiment {experiment.name!r} has no recording {name!r}; allowed: {allowed}")
        columns.update(experiment.recordings[name])
    return columns


class Segments:
    """The check of the tables of one batch, and the statuses of its final cells."""

    def __init__(self, experiment: Experiment, recording: Recording, cell_ids: Sequence[str]) -> None:
        self.name, self._discovers = experiment.name, experiment.discovers
        self.curves = curve_columns(experiment, recording)
        results = {name: column.type for name, column in {**self.curves, **experiment.scalars}.items()}
        self.schema = pa.schema([*SEGMENT_COLUMNS.items(), *results.items()])
        self.scalars = frozenset(experiment.scalars)
        self.status: dict[str, str] = {}
        self._last_step: dict[str, int] = {}
        self._ids = frozenset(cell_ids)
        self._order = tuple(cell_ids)

    @property
    def unfinished(self) -> list[str]:
        """The cells without a final row, in the order of the batch."""
        return [cell_id for cell_id in self._order if cell_id not in self.status]

    def reached(self) -> Mapping[str, int]:
        """The last step of each cell that has rows."""
        return self._last_step

    def restart(self, cell_ids: Sequence[str]) -> None:
        """Allows these cells to run again from any step."""
        for cell_id in cell_ids:
            self._last_step.pop(cell_id, None)

    def resume(self, steps: Mapping[str, int]) -> None:
        """Notes that rows of these cells exist up to these steps."""
        self._last_step.update(steps)

    def take(self, table: pa.Table) -> pa.Table:
        """The table in the columns of `schema`, after its rows were checked.

        Raises:
            ExperimentError: the table breaks the contract.
        """
        if self._discovers:
            self._discover(table)
        declared = set(self.schema.names)
        unknown = [name for name in table.column_names if name not in declared]
        if unknown:
            raise self._fault(f"it yields columns it does not declare: {', '.join(unknown)}")
        needed = {*SEGMENT_COLUMNS, "step"} if self._discovers else {*SEGMENT_COLUMNS, *self.curves}
        if not self._discovers and "final" in table.column_names and True in table["final"].to_pylist():
            needed |= self.scalars
        names = set(table.column_names)
        missing = [name for name in self.schema.names if name in needed and name not in names]
        if missing:
            raise self._fault(f"it yields no column {', '.join(map(repr, missing))}; it has {table.column_names}")
        filled = self._filled(table)
        rows = zip(*(filled[name].to_pylist() for name in SEGMENT_COLUMNS), strict=True)
        for cell_id, low, high, final, status, _ in rows:
            self._take_row(cell_id, low, high, final, status)
        steps = pa.concat_arrays([*filled["step"].chunks, pa.array([], self.schema.field("step").type)])
        of_row = steps.value_parent_indices().to_numpy()
        flat = steps.flatten().to_numpy(zero_copy_only=False)
        first, last = (filled[name].to_numpy()[of_row] for name in ("from_step", "to_step"))
        wrong = (flat < first) | (flat > last)
        wrong[1:] |= (np.diff(flat) <= 0) & (np.diff(of_row) == 0)
        if wrong.any():
            cell_id = filled["cell_id"][int(of_row[int(np.argmax(wrong))])]
            raise self._fault(f"the steps of cell {cell_id} do not increase strictly within from_step..to_step")
        return filled

    def _discover(self, table: pa.Table) -> None:
        """Takes up columns that no table of this batch had before: lists of the steps' length are curves."""
        fields = {field.name: field for field in self.schema}
        for field in table.schema:
            known = fields.get(field.name)
            if known is not None and not pa.types.is_null(known.type):
                if pa.types.is_integer(known.type) and pa.types.is_floating(field.type):  # a whole number, so far
                    fields[field.name] = field.remove_metadata()
                continue
            if (field.metadata or {}).get(b"role") == b"curve":
                self.curves[field.name] = Column(field.type, "")
            else:
                self.scalars |= {field.name}
            fields[field.name] = field.remove_metadata()
        self.schema = pa.schema(list(fields.values()))

    def failed(self, messages: Mapping[str, str]) -> pa.Table:
        """Final rows of failed cells, with their messages, in the columns of `schema`."""
        steps = [self._last_step.get(cell_id, -1) + 1 for cell_id in messages]
        rows = pa.table(
            {
                "cell_id": list(messages),
                "from_step": steps,
                "to_step": steps,
                "final": [True] * len(messages),
                "status": ["failed"] * len(messages),
                "message": list(messages.values()),
            }
        )
        self.status.update(dict.fromkeys(messages, "failed"))
        return self._filled(rows)

    def _fault(self, message: str) -> ExperimentError:
        return ExperimentError(f"experiment {self.name!r} breaks its contract: {message}")

    def _filled(self, table: pa.Table) -> pa.Table:
        """The table in the columns of `schema`; columns that it lacks are null."""
        values = dict(zip(table.column_names, table.columns, strict=True))
        columns = []
        for field in self.schema:
            column = values.get(field.name)
            try:
                if column is not None and column.type != field.type:
                    column = column.cast(field.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                type_ = table.schema.field(field.name).type
                raise self._fault(f"the column {field.name!r} is {type_}; declared: {field.type}") from error
            columns.append(pa.nulls(table.num_rows, field.type) if column is None else column)
        return pa.table(columns, schema=self.schema)

    def _take_row(self, cell_id: str, low: int, high: int, final: bool, status: str | None) -> None:
        if cell_id not in self._ids:
            raise self._fault(f"a row has cell_id {cell_id!r}, which is not in the batch")
        if cell_id in self.status:
            raise self._fault(f"cell {cell_id} has a row after its final one")
        if low is None or high is None or not 0 <= low <= high:
            raise self._fault(f"a row of cell {cell_id} covers the steps {low}..{high}; allowed: 0 <= from <= to")
        before = self._last_step.get(cell_id, -1)
        if low <= before:
            raise self._fault(f"a row of cell {cell_id} begins at step {low}, but step {before} was yielded already")
        if final and status not in FINAL:
            raise self._fault(f"a final row of cell {cell_id} has status {status!r}; allowed: {', '.join(FINAL)}")
        self._last_step[cell_id] = high
        if final:
            self.status[cell_id] = str(status)


def shards_of(records: Records, plan: Plan, batch: int) -> list[str]:
    """The shards that attempts at a batch left."""
    paths = (records.data / "shards" / plan.plan_id).glob(f"b{batch:06d}-a*.parquet")
    return sorted(f"{plan.plan_id}/{path.name}" for path in paths)


def last_step(records: Records, plan: Plan, batch: int, cell_id: str) -> int:
    """The last step of a cell that an attempt at the batch committed; -1: none."""
    last = -1
    for name in shards_of(records, plan, batch):
        _, rows = records.read_shard(name)
        segments = rows.filter([row == cell_id for row in rows["cell_id"].to_pylist()])
        last = max([last, *segments["to_step"].to_pylist()])
    return last


def final_cells(records: Records, shards: Sequence[str]) -> set[str]:
    """The cells that are finished in these shards."""
    finished: set[str] = set()
    for name in shards:
        _, rows = records.read_shard(name)
        finished.update(rows.filter(rows["final"])["cell_id"].to_pylist())
    return finished


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

        A checkpoint is usable only if all rows before it exist: with a torn or missing shard, or one that was taken
        back, the curve would have a gap; who takes rows back removes their checkpoints, but a power cut may bring them
        back. The checkpoint of a finished cell that is to be trained all the same is not usable either.

        Raises:
            SwingbyError: the disk refuses, or object storage does not answer.
        """
        if self._folder is None or not (self._folder / NOTE).exists():
            return
        spans: dict[str, list[Span]] | None = None
        with suppress(ValueError, TypeError, AttributeError, LookupError):  # a note that cannot be read
            content = json.loads((self._folder / NOTE).read_bytes())
            if not content["over"]:
                spans = {
                    cell_id: [(int(low), int(high), str(shard)) for low, high, shard in of_cell]
                    for cell_id, of_cell in content["spans"].items()
                }
        if spans is not None:
            rows = {(cell_id, shard) for cell_id, of_cell in spans.items() for _, _, shard in of_cell}
            shards = sorted({shard for _, shard in rows})
            if all(map(self._records.has_whole_shard, shards)) and rows.isdisjoint(self._taken_back()):
                self._spans = spans
                return
        with clear_os_errors(f"remove checkpoints in {self._folder}"):
            remove_whole(self._folder)

    def _taken_back(self) -> Iterator[tuple[str, str]]:
        """The cells and shards whose rows were taken back."""
        for name in self._records.retractions():
            with suppress(SwingbyError):  # a torn one takes nothing back, and `doctor` reports it
                table = self._records.read_retraction(name).table
                yield from zip(table["cell_id"].to_pylist(), table["shard"].to_pylist(), strict=True)

    def resume(self, cell_id: str, step: int) -> None:
        """Notes that rows of a cell exist up to this step."""
        self._spans[cell_id] = [(0, step, "")]

    def follow(self, rows: pa.Table) -> pa.Table:
        """The rows with the column `AFTER`: the last step that an earlier row of the cell covers, or null."""
        names = "cell_id", "from_step", "to_step", "final", "status"
        after: list[int | None] = []
        for cell_id, low, high, final, status in zip(*(rows[name].to_pylist() for name in names), strict=True):
            # What was computed again replaces the first try, as it does in the store.
            known = self._spans.pop(cell_id, [])
            before = [(first, min(last, low - 1), shard) for first, last, shard in known if first < low]
            if not final:
                self._spans[cell_id] = [*before, (low, high, "")]
            elif status == "failed":  # it may be tried again from its checkpoint
                self._spans[cell_id] = before
            else:
                self._finished.add(cell_id)
            after.append(max((last for _, last, _ in before), default=None))
        return rows.append_column(AFTER, pa.array(after, pa.int64()))

    def committed(self, shard: str) -> None:
        """Notes that the rows since the last call are in this shard, before any checkpoint can go on from them.

        Raises:
            SwingbyError: the disk refuses.
        """
        for cell_id, spans in self._spans.items():
            self._spans[cell_id] = [(first, last, where or shard) for first, last, where in spans]
        if self._folder is not None:
            write_json(self._folder / NOTE, {"spans": self._spans, "over": sorted(self._finished)})
