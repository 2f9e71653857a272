"""Retracting: results are taken back, with a reason, by a record of its own; the next run trains these cells again.

The files stay, so nothing is lost and a rebuild comes to the same. What is taken back are the rows that the cells had
when it was done, and whatever a worker of a dead driver would add to them is refused: what is trained afterwards is
shown. There is no undo.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.files import clear_os_errors
from swingby.data.records import Records
from swingby.data.records.retractions import Retraction, checked_reason
from swingby.errors import SwingbyError
from swingby.run.commit_lock import commit_lock, newest_plans, plan_token
from swingby.store import Store, ingest
from swingby.store.lookup import SHORTEST_ID, find_cell, find_sweep

_ID = re.compile(rf"[0-9a-f]{{{SHORTEST_ID},32}}")


@dataclass(frozen=True, slots=True)
class Retracted:
    """What was, or would be, taken back.

    Attributes:
        cells: with rows that are taken back; shards: in which they are.
        sweeps: name -> how many of these cells it has; every sweep that lacks them now.
        record: the file that says so; empty where nothing was written.
    """

    cells: int
    shards: int
    sweeps: dict[str, int]
    record: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What somebody named: the sweep, if it is one, and cells by experiment."""

    sweep_id: str
    sweep: str
    cells: dict[str, tuple[str, ...]]

    @property
    def ids(self) -> list[str]:
        return [cell for cells in self.cells.values() for cell in cells]


def retract(data: str | Path, what: Sequence[str], reason: str, dry_run: bool = False) -> Retracted:
    """Takes back the results of a sweep, or of cells, and whatever else their rows hold.

    Checkpoints of these cells go, too: nothing is continued that was taken back.

    Args:
        what: one sweep (name, id, or file), or cells by their ids' first digits.
        reason: one line for whoever asks later.
        dry_run: write nothing; as of the last publication.

    Raises:
        SwingbyError: no such sweep or cell, or nothing to take back; the reason says nothing; or somebody runs a sweep
            that has some of the cells: says who.
    """
    reason = checked_reason(reason)
    records = Records.open(data, create=False)
    if not dry_run:
        ingest(records)
    with Store.open(records.data) as store:
        chosen = _choose(store, what)
        sweeps = _sweeps_with(store, chosen)
        if dry_run:
            return _told(_rows(store, chosen), sweeps, "")
        sweep_ids = [sweep_id for sweep_id, _, _ in sweeps]
        with _nobody_runs(records, sweep_ids):
            ingest(records)
            rows = _rows(store, chosen)
            for sweep_id in sweep_ids:
                _drop_checkpoints(records, sweep_id, set(chosen.ids))
            closed = tuple(map(plan_token, newest_plans(records, sweep_ids)))
            path = records.write_retraction(
                Retraction(reason, chosen.sweep_id, chosen.sweep, closed=closed, table=rows)
            )
            ingest(records)
    return _told(rows, sweeps, path.relative_to(records.data).as_posix())


def _choose(store: Store, what: Sequence[str]) -> _Chosen:
    if len(what) == 1 and not (_ID.fullmatch(what[0]) and not _is_sweep(store, what[0])):
        sweep = find_sweep(store, what[0])
        members = store.sql("select cell_id from members where sweep_id = ? order by cell_id", [sweep.sweep_id])
        cells = tuple(members.arrow()["cell_id"].to_pylist())
        return _Chosen(sweep.sweep_id, sweep.name, {sweep.experiment: cells})
    found: dict[str, tuple[str, ...]] = {}
    for start in what:
        if not _ID.fullmatch(start):
            raise SwingbyError(
                f"{start!r} is no cell's id; allowed: one sweep, or the first {SHORTEST_ID} to 32 digits"
            )
        cell_id, experiment = find_cell(store, start)
        found[experiment] = tuple(sorted({*found.get(experiment, ()), cell_id}))
    return _Chosen("", "", found)


def _is_sweep(store: Store, text: str) -> bool:
    with suppress(SwingbyError):
        return bool(find_sweep(store, text))
    return False


def _sweeps_with(store: Store, chosen: _Chosen) -> list[tuple[str, str, int]]:
    """Id, name and number of these cells, of every sweep that has some."""
    of_sweep = "cell_id in (select cell_id from members where sweep_id = ?)"
    among, of = (of_sweep, chosen.sweep_id) if chosen.sweep_id else ("list_contains(?, cell_id)", chosen.ids)
    query = f"""select sweep_id, any_value(s.name) as name, count(*) as cells
                from members join sweeps s using (sweep_id)
                where {among} group by sweep_id order by sweep_id"""
    return [(row.sweep_id, row.name, row.cells) for row in store.sql(query, [of]).rows()]


def _rows(store: Store, chosen: _Chosen) -> pa.Table:
    """The cells and shards to take back.

    Raises:
        SwingbyError: there are none.
    """
    rows = pa.concat_tables([store.shards_of(experiment, cells) for experiment, cells in chosen.cells.items()])
    if not rows.num_rows:
        raise SwingbyError(f"there is nothing to take back: {chosen.sweep or 'these cells'} has no results here")
    return rows


def _told(rows: pa.Table, sweeps: Sequence[tuple[str, str, int]], record: str) -> Retracted:
    cells, shards = (len(rows[name].unique()) for name in ("cell_id", "shard"))
    return Retracted(cells, shards, {name: count for _, name, count in sweeps}, record)


@contextmanager
def _nobody_runs(records: Records, sweep_ids: Sequence[str]) -> Iterator[None]:
    """While nobody plans or trains these sweeps, and no worker of a dead driver commits what it finished."""
    with ExitStack() as stack:
        for sweep_id in sorted(sweep_ids):
            stack.enter_context(records.lock(sweep_id))
            stack.enter_context(commit_lock(records, sweep_id))
        yield


def batches_of(records: Records, sweep_id: str) -> Iterator[list[str]]:
    """The cells of every batch of every plan of a sweep; plans that cannot be read are passed over."""
    for plan_id in records.plans():
        if plan_id.split("-")[-2:-1] != [sweep_id[:8]]:
            continue
        with suppress(SwingbyError):
            table = records.read_plan(plan_id).table.select(["cell_id", "batch"])
            trained = table.filter(pc.call_function("is_valid", [table["batch"]]))
            grouped = trained.group_by("batch", use_threads=False).aggregate([("cell_id", "list")])
            yield from grouped["cell_id_list"].to_pylist()


def _drop_checkpoints(records: Records, sweep_id: str, cell_ids: set[str]) -> None:
    """Removes the checkpoints of these cells: all of the sweep's but those that are of batches with other cells only.

    Of several batches trained together, or of what was left of one, the folder's name does not tell which cells.
    """
    others = (cells for cells in batches_of(records, sweep_id) if cell_ids.isdisjoint(cells))
    kept = {records.workdir(sweep_id, cells) for cells in others}
    with clear_os_errors(f"remove checkpoints of sweep {sweep_id}"):
        for folder in (records.data / "work" / sweep_id).glob("*"):
            if folder not in kept and folder.is_dir():
                shutil.rmtree(folder)
    if records.mirror is not None:
        for item in records.mirror.bucket.listing(f"work/{sweep_id}"):
            if Path(item.key).stem not in {folder.name for folder in kept}:
                records.mirror.bucket.remove(item.key)
