"""Plans: what a driver set out to train, a file each, written once, before anything is trained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow.compute as pc

from swingby.data.files import clear_os_errors, entry
from swingby.data.folder import Folder, listing, numbers
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.data.records.headers import PLAN_COLUMNS, Plan, plan_cells
from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Recording


class Plans(Folder):
    """A data folder's plans."""

    def _plan_path(self, plan_id: str) -> Path:
        return entry(self.data / "plans", plan_id, ".parquet")

    def plans(self) -> list[str]:
        """The id of every plan, sorted."""
        return [name.removesuffix(".parquet") for name in listing(self.data / "plans", "*.parquet")]

    def next_sequence(self, name: str, sweep_id: str) -> int:
        """The sequence number of the sweep's next plan; hold the sweep's lock."""
        pattern = rf"{re.escape(name)}-{re.escape(sweep_id[:8])}-(\d+)"
        return 1 + max(numbers(self.plans(), pattern), default=0)

    def write_plan(self, plan: Plan) -> Path:
        """Writes a plan, its rows sorted by batch.

        Raises:
            SwingbyError: the plan exists, lacks a column, or the disk refuses.
        """
        path = self._plan_path(plan.plan_id)
        if path.exists():
            raise SwingbyError(f"plan {plan.plan_id} exists already; plans are never written twice")
        require(plan.table, PLAN_COLUMNS, f"plan {plan.plan_id}")
        order = pc.call_function("array_sort_indices", [plan.table["batch"].combine_chunks()])
        if self.mirror is None:
            return write_parquet(path, plan.table, plan.header(), order=order)
        return self._put_plan(
            path, write_parquet(self.data / "work" / path.name, plan.table, plan.header(), order=order)
        )

    def _put_plan(self, path: Path, made: Path) -> Path:
        """The storage has a plan first: its name says no content, and another machine may have one of that name."""
        assert self.mirror is not None
        key = f"plans/{path.name}"
        try:
            if self.mirror.bucket.find(key) is not None:
                raise SwingbyError(f"plan {path.stem} exists already in {self.where}; plans are never written twice")
            self.mirror.put(key, made)
            with clear_os_errors(f"write {path}"):
                path.parent.mkdir(parents=True, exist_ok=True)
                made.rename(path)
        finally:
            made.unlink(missing_ok=True)
        return path

    def read_plan(self, plan_id: str) -> Plan:
        """A plan; only the header is read now, `table` is read when it is asked for.

        Raises:
            SwingbyError: no such plan, or its file is torn or foreign.
        """
        path = self._plan_path(plan_id)
        if self.mirror is not None:
            self.mirror.fetch(f"plans/{path.name}")
        header, _ = read_parquet(path, "plan", columns=[])
        try:
            return Plan.of_header(header, path)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{path.name} is not a plan of this format: {error} is missing or wrong") from error

    def read_batch(self, plan_id: str, batch: int) -> tuple[tuple[Cell, ...], Recording]:
        """The cells of one batch, in the plan's order, and what to record of them.

        Raises:
            SwingbyError: no such plan or batch, or the installed experiment gives these cells other ids.
        """
        plan = self.read_plan(plan_id)
        return self.read_cells(plan, (batch,)), plan.recording

    def read_cells(self, plan: Plan, batches: Sequence[int]) -> tuple[Cell, ...]:
        """The cells of some batches, in the plan's order.

        Raises:
            SwingbyError: as `read_batch`.
        """
        among = [("batch", "in", list(batches))]
        _, rows = read_parquet(self._plan_path(plan.plan_id), "plan", filters=among)
        lacking = set(batches) - set(rows["batch"].unique().to_pylist())
        if lacking:
            has = f"it has {len(plan.batches)}, counted from 0"
            raise SwingbyError(f"plan {plan.plan_id} has no batch {min(lacking)}; {has}")
        return plan_cells(plan, rows)
