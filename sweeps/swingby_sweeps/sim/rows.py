"""Rows of a finished batch: curves, scalars and certificates; and, for one cell, the weights along its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa

from swingby_sweeps.dynamics.columns import ROWS, Columns, known, last_of, lists, rows_of
from swingby_sweeps.dynamics.training import final_rows

from . import task
from .certificate import Certificate, certify
from .engine import SimTraining
from .hidden import NAMES
from .init import Start, full_layers
from .params import DIVERGED_AT
from .report import GENERALIZED

Array = np.ndarray
_CERTIFICATE = [field.name for field in fields(Certificate)]
_MOST_NUMBERS = 25_000_000


def trained(training: SimTraining, engine: str, also: Sequence[str] = ()) -> Columns:
    """The columns of a batch that was trained: status ok, diverged, or failed (a flow that could not be integrated).

    `also` names the recordings on request.
    """
    recorder, ready = training.recorder, training.ready
    columns = final_rows(training, training.cells, f"{DIVERGED_AT:.0e} L_ref")
    if "features" in also:
        columns |= {name: _known(columns[name]) for name in NAMES}
    params = [item.params for item in ready]
    signals = task.Signals.of(params)
    if "points" in also:
        drawn = ((item.params, item.points) for item in ready)
        points = [None if points is None else task.shown_points(p, points).tolist() for p, points in drawn]
        columns["training_point"] = pa.array(points, ROWS)
    # A cell that has learned needs no growth rate.
    learned = last_of(columns["ood_loss"]).to_numpy(zero_copy_only=False) <= GENERALIZED * signals.l_ref
    cone = training.cone
    if cone is None:
        certificates = certify(ready, training.parameters, ~(recorder.diverged | training.failed), learned)
    else:
        # The recurrence descends no loss: it has its worst W instead, whether it diverged or not.
        certificates = [
            Certificate() if np.isnan(trace) else Certificate(smallest_eigenvalue=lowest, trace=trace)
            for lowest, trace in zip(cone.smallest_eigenvalue.tolist(), cone.trace.tolist(), strict=True)
        ]
    return {
        **columns,
        "a": pa.array(list(signals.a)),
        "l_ref": pa.array(signals.l_ref),
        "rank0": pa.array(training.rank0, pa.int64()),
        "narrowest": pa.array([p.narrowest for p in params]),
        "time_per_step": pa.array([p.time_per_step for p in params]),
        **{name: pa.array([getattr(c, name) for c in certificates], pa.float64()) for name in _CERTIFICATE},
        "engine": pa.array([engine] * len(ready)),
    }


def _known(curves: Any) -> pa.Array:
    """Curves with null for nan, which stands for a value that there is not."""
    return lists(curves.offsets.to_numpy(), known(curves.values.to_numpy(zero_copy_only=False)))


def of_twin(twin: SimTraining, run: SimTraining) -> Columns:
    """The curves of a batch's twins, named after their drive, up to the last record of each run.

    Null where a flow could not be integrated.
    """
    np.minimum(twin.recorder.length, run.recorder.length, out=twin.recorder.length)
    known = ~twin.failed & (twin.recorder.length > 0)
    places = pa.array(np.where(known, np.arange(len(known)), -1), mask=~known)  # a place that is null takes null
    return {f"twin_{twin.drive}_{name}": column.take(places) for name, column in twin.recorder.columns().items()}


class WeightHistory:
    """Collects the weights of one cell, in the original coordinates, as two more list columns of its row.

    It keeps those at every recorded step or, where they would exceed 2.5e7 numbers (200 MB), at every n-th one.
    `recorded` is the number of steps that will be recorded. An instance is a `Watch` of a batch of one cell.
    """

    def __init__(self, start: Start, recorded: int) -> None:
        numbers = sum(part.size for layer in full_layers(start, start.parameters) for part in layer if part is not None)
        self._start, self._stride = start, -(-recorded * numbers // _MOST_NUMBERS)
        self._seen, self._steps, self._weights = 0, list[int](), list[Array]()

    def __call__(self, step: int, parameters: list[Array]) -> None:
        """Keep the weights of the cell, unless this step is skipped."""
        if self._seen % self._stride == 0:
            layers = full_layers(self._start, [part[0] for part in parameters])
            self._steps.append(step)
            self._weights.append(np.concatenate([part.ravel() for pair in layers for part in pair if part is not None]))
        self._seen += 1

    def append_to(self, table: pa.Table) -> pa.Table:
        """The row with the columns `weights_step` (list<int64>) and `weights` (list<list<double>>) added."""
        ends = np.array([0, len(self._steps)])
        weights = rows_of(np.array(self._weights)) if self._weights else pa.array([], pa.list_(pa.float64()))
        table = table.append_column("weights_step", lists(ends, pa.array(self._steps, pa.int64())))
        return table.append_column("weights", lists(ends, weights))
