"""Turns a finished batch into rows: curves, scalars and certificates, in the columns of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pyarrow as pa

from swingby_sweeps.sim import task
from swingby_sweeps.sim.certificate import Certificate, certify
from swingby_sweeps.sim.engine import Training
from swingby_sweeps.sim.record import DIVERGED_AT

_CERTIFICATE = [field.name for field in fields(Certificate)]
Columns = dict[str, pa.Array]
_GENERALIZED = 0.01
"""Final OOD loss over L_ref up to which a cell counts as learned, and needs no growth rate."""


def trained(training: Training, engine: str, also: Sequence[str] = ()) -> Columns:
    """The columns of a batch that was trained: status ok, diverged, or failed (a flow that could not be integrated).

    `also` names the recordings on request.
    """
    recorder, ready = training.recorder, training.ready
    status = np.where(recorder.diverged, "diverged", np.where(training.failed, "failed", "ok"))
    final = {name: recorder.final(name) for name in ("ood_loss", "train_loss")}
    params = [item.params for item in ready]
    signals = task.Signals.of(params)
    reference = signals.l_ref
    learned = np.array(final["ood_loss"], dtype=np.float64) <= _GENERALIZED * reference
    certificates = _certificates(training, status == "ok", learned)
    return {
        "cell_id": pa.array([item.cell.cell_id for item in ready]),
        "from_step": pa.array([0] * len(ready), pa.int64()),
        "to_step": pa.array(recorder.last_step(), pa.int64()),
        "final": pa.array([True] * len(ready)),
        "status": pa.array(status.tolist(), pa.string()),
        "message": pa.array([_message(training, place) for place in range(len(ready))], pa.string()),
        **recorder.columns(),
        **({"training_point": _points(training)} if "points" in also else {}),
        "final_ood_loss": pa.array(final["ood_loss"], pa.float64()),
        "final_train_loss": pa.array(final["train_loss"], pa.float64()),
        "a": pa.array(list(signals.a)),
        "l_ref": pa.array(reference),
        "rank0": pa.array(training.rank0, pa.int64()),
        "narrowest": pa.array([p.narrowest for p in params]),
        "time_per_step": pa.array([p.time_per_step for p in params]),
        **{name: pa.array([getattr(c, name) for c in certificates], pa.float64()) for name in _CERTIFICATE},
        "engine": pa.array([engine] * len(ready)),
    }


def _certificates(training: Training, wanted: np.ndarray, learned: np.ndarray) -> list[Certificate]:
    """What `certify` tells of the end; for the recurrence, which descends nothing, W's worst state, diverged or not."""
    cone = training.cone
    if cone is None:
        return certify(training.ready, training.parameters, wanted, learned)
    seen = zip(cone.smallest_eigenvalue.tolist(), cone.trace.tolist(), strict=True)
    return [
        Certificate() if np.isnan(trace) else Certificate(smallest_eigenvalue=lowest, trace=trace)
        for lowest, trace in seen
    ]


def _points(training: Training) -> pa.Array:
    """Some training points of each cell; null where its drive looks at none."""
    drawn = ((item.params, item.points) for item in training.ready)
    rows = [None if points is None else task.shown_points(p, points).tolist() for p, points in drawn]
    return pa.array(rows, pa.list_(pa.list_(pa.float64())))


def _message(training: Training, place: int) -> str | None:
    recorder = training.recorder
    if not recorder.diverged[place]:
        return "the flow needed steps below the resolution of time" if training.failed[place] else None
    length = int(recorder.length[place])
    steps, found = recorder.steps, int(recorder.diverged_place[place])
    since = f"after step {steps[found - 1]}, at or before step {steps[found]}" if found else "at the start"
    return f"loss not finite or above {DIVERGED_AT:.0e} L_ref {since}; {length} recorded steps kept"


def table(columns: Columns, schema: pa.Schema) -> pa.Table:
    """The columns in the order and the types of a schema; a missing one becomes nulls."""
    rows = len(columns["cell_id"])
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
