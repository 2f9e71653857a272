"""Turns a finished batch into rows: curves, scalars and certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pyarrow as pa

from swingby_sweeps.dynamics.recorder import Columns
from swingby_sweeps.dynamics.training import final_rows

from . import task
from .certificate import Certificate, certify
from .engine import DIVERGED_AT, SimTraining

_CERTIFICATE = [field.name for field in fields(Certificate)]
_GENERALIZED = 0.01
"""Final OOD loss over L_ref up to which a cell counts as learned, and needs no growth rate."""


def trained(training: SimTraining, engine: str, also: Sequence[str] = ()) -> Columns:
    """The columns of a batch that was trained: status ok, diverged, or failed (a flow that could not be integrated).

    `also` names the recordings on request.
    """
    recorder, ready = training.recorder, training.ready
    columns = final_rows(training, training.cells, f"{DIVERGED_AT:.0e} L_ref")
    final = {name: recorder.final(name) for name in ("ood_loss", "train_loss")}
    params = [item.params for item in ready]
    signals = task.Signals.of(params)
    learned = np.array(final["ood_loss"], dtype=np.float64) <= _GENERALIZED * signals.l_ref
    certificates = _certificates(training, ~(recorder.diverged | training.failed), learned)
    return {
        **columns,
        **({"training_point": _points(training)} if "points" in also else {}),
        "final_ood_loss": pa.array(final["ood_loss"], pa.float64()),
        "final_train_loss": pa.array(final["train_loss"], pa.float64()),
        "a": pa.array(list(signals.a)),
        "l_ref": pa.array(signals.l_ref),
        "rank0": pa.array(training.rank0, pa.int64()),
        "narrowest": pa.array([p.narrowest for p in params]),
        "time_per_step": pa.array([p.time_per_step for p in params]),
        **{name: pa.array([getattr(c, name) for c in certificates], pa.float64()) for name in _CERTIFICATE},
        "engine": pa.array([engine] * len(ready)),
    }


def _certificates(training: SimTraining, wanted: np.ndarray, learned: np.ndarray) -> list[Certificate]:
    """What `certify` finds at the end; for the recurrence, which descends nothing, W's worst state, diverged or not."""
    cone = training.cone
    if cone is None:
        return certify(training.ready, training.parameters, wanted, learned)
    seen = zip(cone.smallest_eigenvalue.tolist(), cone.trace.tolist(), strict=True)
    return [
        Certificate() if np.isnan(trace) else Certificate(smallest_eigenvalue=lowest, trace=trace)
        for lowest, trace in seen
    ]


def _points(training: SimTraining) -> pa.Array:
    """Some training points of each cell; null where its drive looks at none."""
    drawn = ((item.params, item.points) for item in training.ready)
    rows = [None if points is None else task.shown_points(p, points).tolist() for p, points in drawn]
    return pa.array(rows, pa.list_(pa.list_(pa.float64())))
