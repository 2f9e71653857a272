"""How sweeps and cells stand: the one place for `status`, `watch`, `serve`, `doctor` and reports.

A cell of a sweep is ok or diverged (it has a result), failed (it raised), in progress (it has rows and no final one),
or pending (it has no row at all). Missing cells are those without a final row: the last two kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from swingby.data.records import Records
from swingby.data.records.headers import plan_cells
from swingby.errors import SwingbyError
from swingby.function.travel import take
from swingby.model import registry
from swingby.model.cell import Cell
from swingby.store.functions import adopt_declared
from swingby.store.lookup import find_sweep
from swingby.store.reader import Store
from swingby.store.refined import Refined, refinements
from swingby.store.sql import query, script
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

MOST_FAILURES = 10
"""Cells that lack a piece of their curve, and files that are amiss, that are listed one by one."""
MOST_REMARKS = 5
"""What is said of results, that is listed."""
MOST_IN_PROGRESS = 100
"""Most cells in progress that are listed; where more run at once, none takes long."""


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """How a sweep stands as of a generation of the store.

    Attributes:
        created, resolved: of its newest plan.
        ok, diverged, failed: cells with a final row, by status.
        in_progress: cells with some rows and no final one; the furthest is at step `furthest`.
        steps: of all its rows together; it changes when any row comes.
        finished: when its newest shard was; None without one.
        holder: who runs it now, in words; None if nobody does, or it is not known.
        refined: how its refinement stands, if it was refined: `cells` are those that were asked for.
    """

    sweep_id: str
    name: str
    title: str
    experiment: str
    cells: int
    created: datetime
    resolved: str
    ok: int = 0
    diverged: int = 0
    failed: int = 0
    in_progress: int = 0
    furthest: int = 0
    steps: int = 0
    finished: datetime | None = None
    holder: str | None = None
    refined: Refined | None = None

    @property
    def missing(self) -> int:
        """Cells without a final row."""
        return max(0, self.cells - self.ok - self.diverged - self.failed)

    def __str__(self) -> str:
        return ends_line(self)

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes when a report of the sweep would."""
        counts = (self.ok, self.diverged, self.failed, self.in_progress)
        return (self.created, counts, self.steps, self.finished)  # a decision comes with a plan, which is newer


def ends_line(of: Any) -> str:
    """How many cells of a sweep, or of what a run made of it, have ended in which way."""
    counts = {"ok": of.ok, "diverged": of.diverged, "FAILED": of.failed, "MISSING": of.missing}
    shown = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "none"
    return f"{of.name} ({of.sweep_id}): {counted(of.cells, 'cell')}: {shown}"


class Delivery(NamedTuple):
    """Cells of a sweep that one process finished with one status, a shard each; seconds since 1970."""

    status: str
    cells: int
    host: str
    pid: int
    finished: float


@dataclass(frozen=True, slots=True)
class InProgress:
    """A cell that is being trained, or was when its run ended: its last recorded step, and how many it takes.

    `total` is 0 where it is not known, as when the experiment is not installed.
    """

    cell_id: str
    steps: int
    total: int

    @property
    def share(self) -> float:
        """How much of its training is done."""
        return min(1.0, self.steps / self.total) if self.total else 0.0

    def __str__(self) -> str:
        return f"cell {self.cell_id[:12]}: {self.steps:,}{f' of {self.total:,}' if self.total else ''} steps"


def statuses(store: Store) -> list[SweepStatus]:
    """How every sweep of the store stands, the newest first."""
    finished = {row.sweep_id: row.finished for row in store.sql(script("finished")).rows()}
    status_of = {
        row["sweep_id"]: SweepStatus(**{**row, "title": (row["title"] or "").strip() or row["name"]})
        for row in store.sql(script("sweeps")).arrow().to_pylist()
    }
    experiments = sorted({one.experiment for one in status_of.values() if one.experiment in store.names()})
    for experiment in experiments:
        for row in _counts(
            store, experiment, [one.sweep_id for one in status_of.values() if one.experiment == experiment]
        ):
            one = status_of.get(row.sweep_id)
            if one is None:
                continue
            counted = {"in_progress" if row.status == "running" else row.status: row.cells}
            furthest = {"furthest": int(row.furthest or 0)} if row.status == "running" else {}
            status_of[row.sweep_id] = replace(one, **counted, **furthest, steps=one.steps + int(row.steps or 0))
    refined = refinements(store)
    return [
        replace(one, finished=finished.get(one.sweep_id), refined=refined.get(one.sweep_id))
        for one in status_of.values()
    ]


def _counts(store: Store, experiment: str, sweep_ids: Sequence[str]) -> Iterator[Any]:
    """How many cells of each sweep of an experiment have which status; where they differ, as each sweep reads them."""
    text = query("counts", experiment, store.last_step(experiment))
    if experiment not in store.differing():
        yield from store.sql(text).rows()
        return
    for sweep_id in sweep_ids:
        with store.reading_as(sweep_id):
            yield from (row for row in store.sql(text).rows() if row.sweep_id == sweep_id)


def sweep_status(data: Path, sweep: str | None = None) -> list[SweepStatus]:
    """How each sweep stands (or the one named) and who runs it, the newest first, as of the last publication.

    Raises:
        SwingbyError: no such sweep, or no data folder.
    """
    records = Records.open(data, create=False)
    with Store.open(data) as store:
        sweep_id = None if sweep is None else find_sweep(store, sweep).sweep_id
        chosen = [one for one in statuses(store) if sweep_id in (None, one.sweep_id)]
    return [replace(one, holder=records.holder(one.sweep_id)) for one in chosen]


def final_counts(store: Store, experiment: str, sweep_id: str) -> dict[str, int]:
    """How many cells of a sweep have a final row, by status (ok, diverged, failed)."""
    rows = _rows(store, "final_counts", experiment, sweep_id)
    return {"ok": 0, "diverged": 0, "failed": 0} | {row.status: row.cells for row in rows}


def deliveries(store: Store, experiment: str, sweep_id: str) -> tuple[Delivery, ...]:
    """The sweep's cells that have a final row, by where and when they came."""
    return tuple(Delivery(*row) for row in _rows(store, "deliveries", experiment, sweep_id))


def _rows(store: Store, name: str, experiment: str, *parameters: Any) -> list[Any]:
    """The rows of a query about an experiment; none if the store has no results of it."""
    known = experiment in store.names()
    return store.sql(query(name, experiment, store.last_step(experiment)), parameters).rows() if known else []


# remarks on cells


def remarks(store: Store, experiment: str, sweep_id: str) -> tuple[tuple[str, int], ...]:
    """What is said of results of a sweep, such as that curves were thinned, and of how many cells."""
    return tuple((row.message, row.cells) for row in _rows(store, "remarks", experiment, sweep_id, MOST_REMARKS))


def remark_lines(remarks: Sequence[tuple[str, int]]) -> list[str]:
    """Lines about what is said of results."""
    return [f"  {counted(cells, 'cell')}{', such as' if cells > 1 else ''}: {message}" for message, cells in remarks]


# cells in progress


def cells_in_progress(store: Store, records: Records, experiment: str, sweep_id: str) -> list[InProgress]:
    """The cells of a sweep in progress as of the last publication, those that are furthest first."""
    rows = _rows(store, "cells_in_progress", experiment, sweep_id, MOST_IN_PROGRESS)
    return [InProgress(row.cell_id, row.steps, _steps_of(records, experiment, row.cell_id)) for row in rows]


def in_progress(records: Records, sweeps: Sequence[tuple[str, str]]) -> list[InProgress]:
    """The cells in progress of several sweeps (experiment and id of each), a cell once."""
    with Store.open(records.data) as store:
        cells = [one for pair in sweeps for one in cells_in_progress(store, records, *pair)]
    return list({one.cell_id: one for one in cells}.values())


@lru_cache(maxsize=10 * MOST_IN_PROGRESS)
def _steps_of(records: Records, experiment: str, cell_id: str) -> int:
    """The steps that a cell takes; 0 where it is not known."""
    try:
        return int(registry.experiment(experiment).steps(planned_cell(records, cell_id).params))
    except SwingbyError:
        return 0


def planned_cell(records: Records, cell_id: str, run_code: bool = False) -> Cell:
    """The cell of that id, from the newest plan that names it.

    Args:
        run_code: load the experiment from the code that came with the plan, if it is a function: this runs that code.

    Raises:
        SwingbyError: no plan names it.
    """
    for plan_id in reversed(records.plans()):
        plan = records.read_plan(plan_id)
        ids = plan.table["cell_id"].to_pylist()
        if cell_id in ids:
            adopt_declared(plan.experiment, plan.resolved)
            if run_code:
                take(plan.provenance, records.data / "cache" / "code")
            return plan_cells(plan, plan.table.slice(ids.index(cell_id), 1))[0]
    raise SwingbyError(f"no plan names the cell {cell_id}; its row came from records without their plans")


# records and the store


def is_presented(records: Records, sweep: Sweep) -> bool:
    """Whether the newest plan presents a sweep as it is written now, with the parameters that its function has now."""
    with Store.open(records.data) as store:
        rows = store.sql("select resolved from sweeps where sweep_id = ?", [sweep.sweep_id]).rows()
    declared = sweep.experiment.declaration()
    presentation = json.loads(
        json.dumps({**sweep.presentation, **({} if declared is None else {"declared": declared})})
    )
    # Plans that are older than outcomes of the sweep file, tags and notes have none.
    older = {"outcomes": {}, "tags": [], "notes": None}
    return bool(rows) and presentation.items() <= {**older, **json.loads(rows[0].resolved)}.items()


class Labels(NamedTuple):
    """The tags and the notes of a sweep."""

    tags: tuple[str, ...]
    notes: str


def labels(store: Store) -> dict[str, Labels]:
    """Tags and notes of every sweep by its id, as its newest plan has them."""
    labels_of = {}
    for row in store.sql("select sweep_id, resolved from sweeps").rows():
        resolved = json.loads(row.resolved)
        labels_of[row.sweep_id] = Labels(tuple(resolved.get("tags") or ()), resolved.get("notes") or "")
    return labels_of


def refused_records(store: Store, start: str) -> list[str]:
    """Records whose names begin so and that the store lists as bad, with the reasons."""
    listed = "select shard, reason from bad_shards where starts_with(shard, ?) order by shard"
    return [f"{row.shard}: {row.reason}" for row in store.sql(listed, [start]).rows()]


def set_aside(store: Store) -> list[tuple[str, str]]:
    """Every record that the store could not take, by its path below the data folder, with the reason."""
    rows = store.sql("select shard, reason from bad_shards order by shard").rows()
    folders = ("plans/", "derived/", "retractions/")
    return [(row.shard if row.shard.startswith(folders) else f"shards/{row.shard}", row.reason) for row in rows]


def aside_lines(store: Store) -> list[str]:
    """Lines about records that the store could not take."""
    aside = set_aside(store)
    lines = [f"set aside: {name}: {reason}" for name, reason in aside[:MOST_FAILURES]]
    if aside:
        more = f"and {len(aside) - MOST_FAILURES:,} files more; " if len(aside) > MOST_FAILURES else ""
        lines.append(f"{more}their rows are in no table; `swingby doctor` says what to do")
    return lines


def shards_to_ingest(store: Store, records: Records) -> int:
    """How many shards are neither in the store nor listed there as bad."""
    known = store.sql("select shard from shards union all select shard from bad_shards").arrow()["shard"]
    return len(set(records.shards()) - set(known.to_pylist()))


AGAIN = "run the sweep again: `swingby run` trains such a cell anew"


def data_findings(data: Path) -> Iterator[tuple[Literal["ok", "warn", "fault"], str, str]]:
    """Findings on a data folder: verdict, detail, remedy.

    Raises:
        SwingbyError: no data folder, or the store cannot be read.
    """
    records = Records.open(data, create=False)
    yield "ok", f"{data}: {len(records.plans())} plans, {len(records.shards())} shards", ""
    with Store.open(data) as store:
        bad = set_aside(store)
        waiting = shards_to_ingest(store, records)
        known = store.sql("select shard from shards").arrow()["shard"].to_pylist()
        lost = sorted(set(known) - set(records.shards()))  # a store made again would lack them
        gaps = store.gaps()
    for name, reason in bad:
        yield "fault", f"{name} is set aside: {reason}", "move the file away and run the sweep again"
    for name in lost[:MOST_FAILURES]:
        yield "warn", f"shards/{name} is gone, and the store still has its rows", "bring it back, or `swingby rebuild`"
    if len(lost) > MOST_FAILURES:
        yield "warn", f"{len(lost) - MOST_FAILURES:,} shards more are gone", "bring them back, or `swingby rebuild`"
    for gap in gaps[:MOST_FAILURES]:
        sweeps = ", ".join(gap.sweeps) or "no sweep here"
        yield "warn", f"cell {gap.cell_id[:12]} of {sweeps}: a piece of its curve is lost", AGAIN
    if len(gaps) > MOST_FAILURES:
        yield "warn", f"{len(gaps) - MOST_FAILURES:,} cells more lack a piece of their curve", AGAIN
    if waiting:
        yield "warn", f"{waiting} shards are not in the store yet", "swingby ingest"
