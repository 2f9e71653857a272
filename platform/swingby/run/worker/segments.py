"""Segments: the rows an experiment yields, checked against its contract, in the columns of a shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model.experiment import SEGMENT_COLUMNS, Column, Experiment, Recording

FINAL = ("ok", "diverged", "failed")
"""Statuses that a final row may have."""


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
        self.name = experiment.name
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

    def restart(self, cell_ids: Sequence[str]) -> None:
        """Allows these cells to run again from any step."""
        for cell_id in cell_ids:
            self._last_step.pop(cell_id, None)

    def resume(self, steps: Mapping[str, int]) -> None:
        """Takes note that rows of these cells exist up to these steps."""
        self._last_step.update(steps)

    def take(self, table: pa.Table) -> pa.Table:
        """The table in the columns of `schema`, after its rows were checked.

        Raises:
            ExperimentError: the table breaks the contract.
        """
        aligned = self._aligned(table)
        rows = zip(*(aligned[name].to_pylist() for name in SEGMENT_COLUMNS), strict=True)
        for cell_id, low, high, final, status, _ in rows:
            self._take_row(cell_id, low, high, final, status)
        self._check_steps(aligned)
        return aligned

    def failed(self, messages: Mapping[str, str]) -> pa.Table:
        """Final rows of failed cells, with their messages."""
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

    def _aligned(self, table: pa.Table) -> pa.Table:
        unknown = [name for name in table.column_names if name not in self.schema.names]
        if unknown:
            raise self._fault(f"it yields columns it does not declare: {', '.join(unknown)}")
        needed = {*SEGMENT_COLUMNS, *self.curves}
        if "final" in table.column_names and True in table["final"].to_pylist():
            needed |= self.scalars
        missing = [name for name in self.schema.names if name in needed and name not in table.column_names]
        if missing:
            raise self._fault(f"it yields no column {', '.join(map(repr, missing))}; it has {table.column_names}")
        return self._filled(table)

    def _filled(self, table: pa.Table) -> pa.Table:
        columns = []
        for field in self.schema:
            try:
                column = table[field.name].cast(field.type) if field.name in table.column_names else None
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                found = table.schema.field(field.name).type
                raise self._fault(f"the column {field.name!r} is {found}; declared: {field.type}") from error
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

    def _check_steps(self, table: pa.Table) -> None:
        """Refuses rows whose `step` does not increase strictly within from_step..to_step."""
        steps = pa.concat_arrays([*table["step"].chunks, pa.array([], self.schema.field("step").type)])
        rows = steps.value_parent_indices().to_numpy()
        flat = steps.flatten().to_numpy(zero_copy_only=False)
        low, high = (table[name].to_numpy()[rows] for name in ("from_step", "to_step"))
        wrong = (flat < low) | (flat > high)
        wrong[1:] |= (np.diff(flat) <= 0) & (np.diff(rows) == 0)
        if wrong.any():
            cell_id = table["cell_id"][int(rows[int(np.argmax(wrong))])]
            raise self._fault(f"the steps of cell {cell_id} do not increase strictly within from_step..to_step")
