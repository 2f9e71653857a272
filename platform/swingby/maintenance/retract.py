"""Retracting: results are taken back by a record with a reason; the next run trains these cells again.

The files stay, so nothing is lost and a rebuild gives the same store. The rows that the cells have at that time are
taken back, and workers of dead drivers may add none to them; rows that are trained later are shown. There is no undo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.files import clear_os_errors, remove_whole
from swingby.data.records import Records
from swingby.data.records.retractions import Retraction, checked_reason
from swingby.errors import SwingbyError
from swingby.run.commit_lock import commit_lock, newest_plans, plan_token
from swingby.run.pending import PendingCells
from swingby.store import Store, ingest
from swingby.store.lookup import SHORTEST_ID, find_cell, find_sweep
from swingby.sweepfile.sweep import Sweep

_ID = re.compile(rf"[0-9a-f]{{{SHORTEST_ID},32}}")
AFFECTED = """
select sweep_id, any_value(s.name) as name, count(*) as cells from members join sweeps s using (sweep_id)
where case when $sweep = '' then list_contains($cells, cell_id)
           else cell_id in (select cell_id from members where sweep_id = $sweep) end
group by sweep_id order by sweep_id"""
"""Every sweep that has some of the cells, or some of the sweep's cells, and how many."""


@dataclass(frozen=True, slots=True)
class Retracted:
    """The outcome of `retract`, or what it would be.

    Attributes:
        cells: how many have rows that are taken back.
        shards: how many hold such rows.
        sweeps: how many of the cells each sweep has, by its name.
        record: the file of the retraction; empty if none was written.
    """

    cells: int
    shards: int
    sweeps: dict[str, int]
    record: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sweep that was named, empty if cells were, and the cells by experiment.

    Attributes:
        recording: the tokens of the recording whose rows are taken back; (): all rows of the cells.
    """

    sweep_id: str
    sweep: str
    cells: dict[str, tuple[str, ...]]
    recording: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [cell for cells in self.cells.values() for cell in cells]


def retract_older(data: str | Path, sweep: Sweep) -> Retracted | None:
    """Takes back the results of a sweep that another version of its experiment's code made; None: there are none.

    Raises:
        SwingbyError: as `retract`.
    """
    if not sweep.recording.code or not (Path(data) / "swingby.json").exists():
        return None
    pending = PendingCells(sweep, Records.open(data, create=False))
    try:
        pending.refresh()
    except SwingbyError:  # nothing was ever ingested there
        return None
    older = pending.ids.take(pa.array(pending.older)).to_pylist()
    if not older:
        return None
    # What other sweeps have recorded of these cells is theirs.
    chosen = Chosen("", "", {sweep.experiment_name: tuple(sorted(older))}, sweep.recording.requested)
    return retract(data, (), f"made by another version of the code of {sweep.experiment_name}", chosen=chosen)


def retract(
    data: str | Path, what: Sequence[str], reason: str, dry_run: bool = False, *, chosen: Chosen | None = None
) -> Retracted:
    """Takes back all rows of a sweep, or of cells, and removes their checkpoints.

    Args:
        what: one sweep (name, id, or file), or cells by their ids' first digits.
        reason: one line, which is kept.
        dry_run: write nothing, and go by the last publication; no reason is needed.
        chosen: the cells themselves, in place of `what`.

    Raises:
        SwingbyError: no such sweep or cell, or nothing to take back; the reason is empty; or a sweep with some of the
            cells is being run: says by whom.
    """
    reason = reason if dry_run else checked_reason(reason)
    records = Records.open(data, create=False)
    if not dry_run:
        ingest(records)
    with Store.open(records.data) as store:
        chosen = chosen or _choose(store, what)
        if dry_run:
            return _outcome(_rows(store, chosen), _affected(store, chosen), "")
        with ExitStack() as stack:
            # No run may plan or train these sweeps, and no worker of a dead driver may commit what it finished.
            sweep_ids = list[str]()
            while more := sorted({one.sweep_id for one in _affected(store, chosen)}.difference(sweep_ids)):
                for sweep_id in more:
                    stack.enter_context(records.lock(sweep_id))
                    stack.enter_context(commit_lock(records, sweep_id))
                sweep_ids += more
                ingest(records)  # another sweep may have been planned meanwhile
            rows, sweeps = _rows(store, chosen), _affected(store, chosen)
            for sweep_id in sweep_ids:
                _drop_checkpoints(records, sweep_id, set(chosen.ids))
            closed = tuple(map(plan_token, newest_plans(records, sweep_ids)))
            path = records.write_retraction(
                Retraction(reason, chosen.sweep_id, chosen.sweep, closed=closed, table=rows)
            )
            ingest(records)
    return _outcome(rows, sweeps, path.relative_to(records.data).as_posix())


def _affected(store: Store, chosen: Chosen) -> list[Any]:
    """The sweeps that have some of the cells: their ids, names, and how many."""
    return store.sql(AFFECTED, {"sweep": chosen.sweep_id, "cells": [] if chosen.sweep_id else chosen.ids}).rows()


def _choose(store: Store, what: Sequence[str]) -> Chosen:
    sweep = None
    if len(what) == 1:
        try:
            sweep = find_sweep(store, what[0], sole=True)
        except SwingbyError:
            if not _ID.fullmatch(what[0]):
                raise
    if sweep is not None:
        members = store.sql("select cell_id from members where sweep_id = ? order by cell_id", [sweep.sweep_id])
        cells = tuple(members.arrow()["cell_id"].to_pylist())
        return Chosen(sweep.sweep_id, sweep.name, {sweep.experiment: cells})
    ids: dict[str, tuple[str, ...]] = {}
    for start in what:
        if not _ID.fullmatch(start):
            raise SwingbyError(
                f"{start!r} is no cell's id; allowed: one sweep, or the first {SHORTEST_ID} to 32 digits"
            )
        cell_id, experiment = find_cell(store, start)
        ids[experiment] = tuple(sorted({*ids.get(experiment, ()), cell_id}))
    return Chosen("", "", ids)


def _rows(store: Store, chosen: Chosen) -> pa.Table:
    """The cells and shards whose rows are to be taken back.

    Raises:
        SwingbyError: there are none.
    """
    rows = pa.concat_tables([store.shards_of(*cells, chosen.recording) for cells in chosen.cells.items()])
    if not rows.num_rows:
        whose = f"{chosen.sweep} has" if chosen.sweep else "these cells have"
        raise SwingbyError(f"there is nothing to take back: {whose} no results here")
    return rows


def _outcome(rows: pa.Table, sweeps: Sequence[Any], record: str) -> Retracted:
    cells, shards = (len(rows[name].unique()) for name in ("cell_id", "shard"))
    return Retracted(cells, shards, {one.name: one.cells for one in sweeps}, record)


def batches_of(records: Records, sweep_id: str) -> Iterator[list[str]]:
    """The cells of every batch of every plan of a sweep; plans that cannot be read are skipped."""
    for plan_id in records.plans():
        if plan_id.split("-")[-2:-1] != [sweep_id[:8]]:
            continue
        with suppress(SwingbyError):
            table = records.read_plan(plan_id).table.select(["cell_id", "batch"])
            trained = table.filter(pc.call_function("is_valid", [table["batch"]]))
            grouped = trained.group_by("batch", use_threads=False).aggregate([("cell_id", "list")])
            yield from grouped["cell_id_list"].to_pylist()


def _drop_checkpoints(records: Records, sweep_id: str, cell_ids: set[str]) -> None:
    """Removes the sweep's checkpoints, save those of batches that have none of these cells.

    The name of a folder says its cells only if they are those of one batch, so any other folder is removed.
    """
    others = (cells for cells in batches_of(records, sweep_id) if cell_ids.isdisjoint(cells))
    kept = {records.workdir(sweep_id, cells) for cells in others}
    with clear_os_errors(f"remove checkpoints of sweep {sweep_id}"):
        for folder in (records.data / "work" / sweep_id).glob("*"):
            if folder not in kept and folder.is_dir():
                remove_whole(folder)
    if records.mirror is not None:
        for item in records.mirror.bucket.listing(f"work/{sweep_id}"):
            if Path(item.key).stem not in {folder.name for folder in kept}:
                records.mirror.bucket.remove(item.key)
