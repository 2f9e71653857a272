"""Imported cells as records: a plan with all cells of the sweep, and shards with the rows of those that are new."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.provenance import provenance
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader
from swingby.errors import SwingbyError
from swingby.imports.summary import Imported
from swingby.imports.sweep import RECORDING, Presented
from swingby.maintenance.retract import Chosen, retract
from swingby.model.columns import final_rows
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.store.status import refused_records

MARK = "imported"
"""What the column `recorded` says of an imported cell, and the shape of its batch."""
KEY = "imported"
"""Where a plan's provenance says from which file the cells came."""
BATCH = 20_000
"""Most cells of a shard."""


def write(records: Records, imported: Imported, how: Presented, shown: bool) -> None:
    """Writes what is new of an import; nothing, if nothing is.

    Args:
        shown: whether the newest sweep of the name is presented so already.

    Raises:
        SwingbyError: somebody else imports the sweep, the store cannot hold the cells, or the disk refuses.
    """
    sweep_id = imported.sweep.sweep_id
    if imported.changed:
        ids = tuple(sorted(imported.ids[place] for place in imported.changed))
        reason = f"{imported.file.path.name} has other values"
        retract(records.data, (), reason, chosen=Chosen("", "", {imported.sweep.of.name: ids}))
    places = sorted([*imported.added, *imported.changed])
    with records.lock(sweep_id):
        known = any(name.split("-")[-2] == sweep_id[:8] for name in records.plans())
        if known and shown and not places:
            return
        plan = _plan(records, imported, how, places)
        records.write_plan(plan)
        for note in plan.batches:
            low = note.batch * BATCH
            rows = _rows(imported, places[low : low + BATCH])
            header = _header(records, imported, plan, note)
            records.publish(records.write_shard(header, rows))
        ingest(records)
    with Store.open(records.data) as store:
        refused = [*refused_records(store, f"plans/{plan.plan_id}"), *refused_records(store, f"{plan.plan_id}/")]
    if refused:
        raise SwingbyError(f"the store cannot hold these cells: {refused[0]}")
    derive(records, [sweep_id])


def _plan(records: Records, imported: Imported, how: Presented, places: Sequence[int]) -> Plan:
    """A plan of all cells, in which those that are written now have a batch."""
    sweep, file = imported.sweep, imported.file
    batch_of = {imported.ids[place]: number // BATCH for number, place in enumerate(places)}
    batches = pa.array([batch_of.get(cell_id) for cell_id in sweep.ids], pa.int32())
    table = sweep.table.set_column(sweep.table.column_names.index("batch"), "batch", batches)
    sizes = [len(places[low : low + BATCH]) for low in range(0, len(places), BATCH)]
    origin = {
        "file": file.path.name,
        "sha256": file.digest,
        "rows": file.rows,
        "tool": imported.layout.tool or None,
        "columns": {
            name: imported.layout.renamed.get(name, name)
            for name in (*imported.layout.params, *imported.layout.results)
        },
        "account": imported.account(),
        "cells": len(places),
        "imported": utc_now(),
    }
    return Plan(
        sweep_id=sweep.sweep_id,
        name=sweep.name,
        experiment=sweep.of.name,
        stream_version=sweep.of.stream_version,
        sequence=records.next_sequence(sweep.name, sweep.sweep_id),
        resolved=sweep.resolved(file.path.name, how),
        recording=RECORDING,
        # The commit would be that of the code that trained them, which nobody said.
        provenance={**provenance(), "git_commit": None, "git_dirty": None, KEY: origin},
        batches=tuple(BatchNote(number, MARK, count) for number, count in enumerate(sizes)),
        source=table,
    )


def _rows(imported: Imported, places: Sequence[int]) -> pa.Table:
    """Rows of a shard: a final one for each cell."""
    table = imported.cells.table.take(pa.array(places, pa.int64()))
    ends = pa.array([steps[-1] if steps else 0 for steps in table["step"].to_pylist()], pa.int64())
    columns = {name: table[name] for name in ("step", *imported.cells.curves, *imported.cells.scalars)}
    return final_rows([imported.ids[place] for place in places], ends, table["status"], table["message"], columns)


def _header(records: Records, imported: Imported, plan: Plan, note: BatchNote) -> ShardHeader:
    """A shard's header: who imported its rows, and when."""
    now = utc_now()
    return ShardHeader(
        plan_id=plan.plan_id,
        sweep_id=plan.sweep_id,
        experiment=plan.experiment,
        batch=note.batch,
        attempt=records.next_attempt(plan, note.batch),
        recorded=(MARK,),
        curves=("step", *imported.cells.curves),
        shape=note.shape,
        cells=note.cells,
        started=now,
        finished=now,
        seconds=0.0,
        host=f"imported from {imported.file.path.name}",
        device="elsewhere",
        pid=os.getpid(),
        versions={},
    )
