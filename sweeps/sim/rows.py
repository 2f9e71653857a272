"""Turns a finished batch into rows: curves, scalars and certificates of every cell, and the cells that could not be trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sweeps.sim import task
from sweeps.sim.engine import Certificate, Ready, Training
from sweeps.sim.record import DIVERGED_AT
from swingby.cells import Cell

Columns = dict[str, pa.Array]
_GENERALIZED = 0.01
"""Final OOD loss over L_ref up to which a cell counts as learned, and needs no growth rate."""


def trained(training: Training, engine: str) -> Columns:
    """The columns of a batch that was trained: status ok, diverged, or failed (a flow that could not be integrated)."""
    recorder, ready = training.recorder, training.ready
    status = np.where(recorder.diverged, "diverged", np.where(training.failed, "failed", "ok"))
    final = {name: recorder.final(name) for name in ("ood_loss", "train_loss")}
    scalars = [_scalars(item, training, place, final["ood_loss"][place]) for place, item in enumerate(ready)]
    return {
        "cell_id": pa.array([item.cell.cell_id for item in ready]),
        "from_step": pa.array([0] * len(ready), pa.int64()),
        "to_step": pa.array(recorder.last_step(), pa.int64()),
        "final": pa.array([True] * len(ready)),
        "status": pa.array(status.tolist(), pa.string()),
        "message": pa.array([_message(training, place) for place in range(len(ready))], pa.string()),
        **recorder.columns(),
        "final_ood_loss": pa.array(final["ood_loss"], pa.float64()),
        "final_train_loss": pa.array(final["train_loss"], pa.float64()),
        **{name: pa.array([row[name] for row in scalars]) for name in scalars[0]},
        "engine": pa.array([engine] * len(ready)),
    }


def untrained(faults: Sequence[tuple[Cell, str]], engine: str) -> Columns:
    """The columns of cells that could not be trained at all: status failed, with the reason."""
    count = len(faults)
    return {
        "cell_id": pa.array([cell.cell_id for cell, _ in faults]),
        "from_step": pa.array([0] * count, pa.int64()),
        "to_step": pa.array([0] * count, pa.int64()),
        "final": pa.array([True] * count),
        "status": pa.array(["failed"] * count),
        "message": pa.array([message for _, message in faults]),
        "engine": pa.array([engine] * count),
    }


def _message(training: Training, place: int) -> str | None:
    recorder = training.recorder
    if not recorder.diverged[place]:
        return "the flow needed steps below the resolution of time" if training.failed[place] else None
    length = int(recorder.length[place])
    steps, found = recorder.steps, int(recorder.diverged_place[place])
    since = f"after step {steps[found - 1]}, at or before step {steps[found]}" if found else "at the start"
    return f"loss not finite or above {DIVERGED_AT:.0e} L_ref {since}; {length} recorded steps kept"


def _scalars(item: Ready, training: Training, place: int, final_ood: float | None) -> dict[str, Any]:
    p, reference = item.params, task.reference_loss(item.params)
    if training.recorder.diverged[place] or training.failed[place]:
        certificate = Certificate(rank0=item.rank0)
    else:
        learned = final_ood is not None and final_ood <= _GENERALIZED * reference
        certificate = Certificate.of(item, [part[place] for part in training.parameters], learned)
    return {
        "a": task.signal(p).tolist(),
        "l_ref": reference,
        "gradient_norm": certificate.gradient_norm,
        "growth_rate": certificate.growth_rate,
        "smallest_eigenvalue": certificate.smallest_eigenvalue,
        "trace": certificate.trace,
        "rank0": certificate.rank0,
        "narrowest": p.narrowest,
        "time_per_step": p.time_per_step,
    }


def table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """The columns in the order and the types of a schema; a missing one becomes nulls."""
    rows = len(columns["cell_id"])
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
