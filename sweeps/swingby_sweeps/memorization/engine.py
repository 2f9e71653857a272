"""Trains the denoisers of a batch side by side, and evaluates them at the recorded steps."""

from __future__ import annotations

import numpy as np

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Columns, cut_short, finished, known, prefixes

from .denoisers import Cells, Denoisers
from .evaluator import Evaluator

Array = np.ndarray


def train(cells: Cells, recording: Recording) -> Columns:
    """The columns of the cells: each evaluated at every recorded step up to the last at which its net is finite."""
    p = cells[0].params
    steps = recording.at(p.training_steps)
    nets = Denoisers(cells)
    evaluator = Evaluator(nets)
    lengths, rows = np.zeros(len(cells), np.int64), list[dict[str, Array]]()
    going = np.ones(len(cells), bool)
    for step in steps.tolist():
        nets.advance(step)
        going &= nets.finite()
        if not going.any():
            break
        rows.append(evaluator.measured())
        lengths += going
    diverged = cut_short("a weight was no finite number", steps, lengths)
    columns = finished(cells, steps, lengths, diverged=diverged)
    for name in rows[0] if rows else ():
        columns[name] = prefixes(lengths, np.stack([row[name] for row in rows], axis=1))
    return {
        **columns,
        "null_memorized": known(evaluator.null),
        "null_nearest": known(evaluator.null_distance),
        "gaussian_distance": known(evaluator.of_gaussian()),
    }
